package simulate

import "fmt"

// The paper's Section 3 example of degenerate behaviour: n negatives uniform in [-1,0]x[-1,1], n positives
// uniform in [0,1]x[-1,1], and one negative outlier at (2,0), the last row. w = (1,0) separates all but the
// outlier, yet TopPush and TopMean prefer w = 0. Coordinates are multiples of 1e-6.
//
// There are 2n + 1 rows. With an even number of rows there is one more negative. Negatives and positives
// alternate.
type example struct{ rows int }

func newExample(o Options) (*Data, error) {
	if err := o.setRows(2001, 3); err != nil {
		return nil, err
	}
	if err := o.onlyDetectors(); err != nil {
		return nil, err
	}
	if o.Columns != 0 && o.Columns != 2 {
		return nil, wrong("columns", fmt.Sprint(o.Columns), "2 for example")
	}
	if !o.Positives.IsZero() {
		return nil, wrong("positives", o.Positives.String(),
			"no such option for example, which has as many positives as negatives")
	}
	o.Columns = 2
	return &Data{options: o, names: []string{"x1", "x2"}, kind: example{o.Rows}}, nil
}

func (e example) fill(r *source, index int, row *Row) {
	const grid = 1_000_000
	if index == e.rows-1 {
		row.Values[0], row.Values[1], row.Positive = 2, 0, false
		return
	}
	row.Positive = index%2 == 1
	row.Values[0] = float64(r.below(grid+1)) / grid
	if !row.Positive {
		row.Values[0] = float64(r.below(grid+1)-grid) / grid
	}
	row.Values[1] = float64(r.below(2*grid+1)-grid) / grid
}
