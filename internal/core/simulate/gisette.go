package simulate

import "math"

// gisette resembles GISETTE (by default 5,000 columns, 6,000 rows, half of them positive), which separates
// the digits 4 and 9 by products of pixels. The values are whole numbers from 0 to 999, about seven of eight
// are zero, and half of the columns are probes, which do not depend on the class.
//
// Ground truth. A row has 20 strokes h_1..h_20, standard normal; a positive has +0.5 and a negative -0.5
// added to h_1 to h_4. It has 20 more strokes g_1..g_20, standard normal for both classes. Column j (1-based)
// depends on h if j is odd and on g if j is even (a probe): v = (a h_p + b h_q + c h_r)/sqrt(3) + 0.5 e - t
// with a, b, c = 1 or -1, p, q, r and t in [1, 1.6] fixed by j alone, e normal; its value is floor(400 v),
// limited to 0..999. Columns do not depend on the seed, so that a model of one seed fits files of another.
type gisette struct {
	positives float64
	columns   []stroke
}

// stroke describes the dependence of a column on the strokes of a row.
type stroke struct {
	at   [3]int // indices into the 40 strokes of a row: h, then g
	sign [3]float64
	t    float64
}

const (
	strokes      = 20
	classStrokes = 4
)

func newGisette(o Options) (*Data, error) {
	if err := o.setRows(6_000, 1); err != nil {
		return nil, err
	}
	if err := o.onlyDetectors(); err != nil {
		return nil, err
	}
	if err := o.setColumns(5_000, 2, 1_000_000); err != nil {
		return nil, err
	}
	o.setPositives("50%")
	k := &gisette{positives: o.Positives.Float64(), columns: make([]stroke, o.Columns)}
	for j := range k.columns {
		k.columns[j] = strokeOf(j)
	}
	return &Data{options: o, names: numbered("pixel", o.Columns), kind: k}, nil
}

// strokeOf returns the strokes of column j (0-based).
func strokeOf(j int) stroke {
	r := newSource(uint64(j), kindNumber("gisette"), math.MaxUint64)
	first := 0
	if j%2 == 1 { // an even number counted from 1: a probe
		first = strokes
	}
	var s stroke
	for i := range s.at {
		s.at[i] = first + r.below(strokes)
		s.sign[i] = 1 - float64(2*float64(r.below(2)))
	}
	s.t = 1 + float64(0.6*r.uniform())
	return s
}

func (k *gisette) fill(r *source, _ int, row *Row) {
	row.Positive = r.uniform() < k.positives
	var h [2 * strokes]float64
	for i := range h {
		h[i] = r.normal()
	}
	shift := -0.5
	if row.Positive {
		shift = 0.5
	}
	for i := range classStrokes {
		h[i] += shift
	}
	for j := range k.columns {
		s := &k.columns[j]
		sum := float64(s.sign[0]*h[s.at[0]]) + float64(s.sign[1]*h[s.at[1]]) + float64(s.sign[2]*h[s.at[2]])
		v := sum/math.Sqrt(3) + float64(0.5*r.normal()) - s.t
		row.Values[j] = min(max(math.Floor(400*v), 0), 999)
	}
}
