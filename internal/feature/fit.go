package feature

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/table"
	"toptau/schema"
)

// Fit makes a map from some rows of a table (nil: all): numeric columns as Options.Encode says, in one dense block or in
// coded ones, then categories and the missing-value indicators of raw columns in one coded block. The raw indices of a
// LIBSVM table are one sparse block; for other encodings each index is a numeric column. Labels are read for the leaves
// only. Rows of weight 0 do not count. Means, deviations, medians and the order of categories are those of the weighted
// rows.
//
// Columns that are constant on these rows are dropped and listed in Map.Dropped and in a warning.
// Errors: diag.Usage for unknown options and for too many LIBSVM indices to encode; diag.Data for missing values under
// schema.ImputeError and when no column is left.
func Fit(t *table.Table, s schema.Schema, rows []int, o Options) (*Map, []diag.Warning, error) {
	return FitContext(context.Background(), t, s, rows, o)
}

// FitContext is Fit that returns the cause of a context that ends.
func FitContext(ctx context.Context, t *table.Table, s schema.Schema, rows []int, o Options) (*Map, []diag.Warning, error) {
	o, err := o.Check()
	if err != nil {
		return nil, nil, err
	}
	f := newFitter(t, rows, o)
	f.ctx = ctx
	f.m.Numbered = !s.Header && !f.m.Sparse
	if len(f.rows) == 0 {
		return nil, nil, &diag.Error{Kind: diag.Data, Found: "no rows", Expected: "training rows with a positive weight"}
	}
	if t.Sparse == nil && len(t.Columns) == 0 {
		return nil, nil, &diag.Error{Kind: diag.Data, Found: "no columns", Expected: "features, which may have been given up"}
	}
	if t.Sparse != nil && o.Encode != EncodeRaw {
		if f.t, err = indexColumns(t, o.Encode); err != nil {
			return nil, nil, err
		}
	}
	if f.t.Sparse != nil {
		f.indices()
	} else if err := f.columns(); err != nil {
		return nil, nil, err
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err := f.m.prepare(); err != nil {
		return nil, nil, &diag.Error{Kind: diag.Data, Found: "the columns cannot be encoded", Err: err}
	}
	if f.m.cols == 0 {
		return nil, nil, &diag.Error{Kind: diag.Data, Found: "no column is left: all are constant on the training rows",
			Expected: "at least one column that varies"}
	}
	return f.m, f.warnings(), nil
}

// fitter carries what the fits of the columns share.
type fitter struct {
	ctx     context.Context // when it ends, what is unfinished stays so: its error is the only result
	t       *table.Table
	o       Options
	rows    []int     // of positive weight
	weights []float64 // beside rows; nil: all 1
	m       *Map
	never   int // LIBSVM: indices without a value
}

func newFitter(t *table.Table, rows []int, o Options) *fitter {
	f := &fitter{ctx: context.Background(), t: t, o: o, m: &Map{Scale: o.Scale, Impute: o.Impute, Sparse: t.Sparse != nil,
		Inputs: []Input{}, Dropped: []Dropped{}}} // empty rather than nil, so that JSON has lists
	n := rowCount(t, rows)
	f.rows = make([]int, 0, n)
	for i := range n {
		row := rowAt(rows, i)
		if w := weightAt(t.Weight, row); w > 0 {
			f.rows = append(f.rows, row)
			if t.Weight != nil {
				f.weights = append(f.weights, w)
			}
		}
	}
	return f
}

// columns fits every column in the order of the table.
func (f *fitter) columns() error {
	var b columnBlocks
	all := f.measureAll()
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	for j, measured := range all {
		take := f.numeric
		if f.t.Columns[j].Kind == schema.Categorical {
			take = f.categorical
		}
		if measured.err != nil {
			return measured.err
		}
		take(j, &measured, &b)
	}
	if len(b.numeric.Inputs) > 0 {
		f.m.Blocks = append(f.m.Blocks, &b.numeric)
	}
	if len(b.scorecard.Columns) > 0 {
		slices.SortStableFunc(b.scorecard.Columns, func(x, y Card) int { return min(len(y.Knots), 1) - min(len(x.Knots), 1) })
		f.m.Blocks = append(f.m.Blocks, &b.scorecard)
	}
	if len(b.asked) > 0 {
		leaves, err := f.leaves(b.asked, b.values)
		if err != nil {
			return err
		}
		if len(leaves.Trees) > 0 {
			f.m.Blocks = append(f.m.Blocks, leaves)
		}
	}
	if len(b.onehot.Columns) > 0 {
		f.m.Blocks = append(f.m.Blocks, &b.onehot)
	}
	return nil
}

// columnBlocks are the blocks that the columns of a table go to, in the order of the map.
type columnBlocks struct {
	numeric   NumericBlock
	scorecard ScorecardBlock
	onehot    OneHotBlock

	asked  []int       // the inputs of the trees
	values [][]float64 // theirs on the training rows
}

func (f *fitter) drop(j int, reason string) {
	f.m.Dropped = append(f.m.Dropped, Dropped{Column: j, Name: columnLabel(&f.t.Columns[j]), Reason: reason})
}

// numeric makes blocks of a measured column.
func (f *fitter) numeric(j int, c *measured, b *columnBlocks) {
	indicator := c.missing > 0 && f.o.Impute == schema.ImputeIndicator
	switch {
	case c.missing == len(f.rows):
		f.drop(j, "no values")
		return
	case c.moments.constant && !indicator:
		f.drop(j, "constant")
		return
	}
	k := len(f.m.Inputs)
	f.m.Inputs = append(f.m.Inputs, Input{Column: j, Name: f.t.Columns[j].Name, Kind: schema.Numeric, Fill: c.fill})
	if f.o.scorecard() {
		c.card.Input = k
		b.scorecard.Columns = append(b.scorecard.Columns, c.card)
	}
	if f.o.leaves() {
		b.asked = append(b.asked, k)
		b.values = append(b.values, c.asked)
	}
	if f.o.Encode != EncodeRaw {
		return
	}
	if !c.moments.constant {
		b.numeric.Inputs = append(b.numeric.Inputs, k)
		if f.o.Scale != schema.ScaleNone {
			b.numeric.Shift = append(b.numeric.Shift, c.moments.mean)
			b.numeric.Scale = append(b.numeric.Scale, c.moments.sd)
		}
	}
	if indicator {
		column := &f.t.Columns[j]
		mass := f.mass(func(row int) bool { return math.IsNaN(column.Value(row)) })
		b.onehot.Columns = append(b.onehot.Columns, OneHot{Input: k, Missing: true, Scale: f.scales([]float64{mass})})
	}
}

// bins is the number of bins of a scale, fewer where there are many columns.
func (f *fitter) bins() int {
	n := 0
	for j := range f.t.Columns {
		if f.t.Columns[j].Kind != schema.Categorical {
			n++
		}
	}
	if n > manyColumns {
		return binsOfMany
	}
	return bins
}

// mass is the weight of the training rows that are picked.
func (f *fitter) mass(picked func(row int) bool) float64 {
	var s sum
	for i, row := range f.rows {
		if picked(row) {
			s.add(weightAt(f.weights, i))
		}
	}
	return s.value()
}

// categorical makes a block of a measured column.
func (f *fitter) categorical(j int, c *measured, b *columnBlocks) {
	column := &f.t.Columns[j]
	missing := c.missingMass.value()
	level := missing > 0 && f.o.Impute == schema.ImputeIndicator
	order := byMass(c.masses, column.Dictionary)
	switch {
	case len(order) == 0:
		f.drop(j, "no values")
		return
	case len(order) == 1 && !level && !(missing > 0 && f.o.Impute == schema.ImputeZero):
		f.drop(j, "constant")
		return
	}
	in := Input{Column: j, Name: column.Name, Kind: schema.Categorical}
	var masses []float64
	for _, code := range order {
		in.Categories = append(in.Categories, column.Dictionary[code])
		masses = append(masses, c.masses[code].value())
	}
	if f.o.Impute == schema.ImputeMedian {
		masses[0] += missing
	}
	if level {
		masses = append(masses, missing)
	}
	b.onehot.Columns = append(b.onehot.Columns, OneHot{Input: len(f.m.Inputs), Missing: level, Scale: f.scales(masses)})
	f.m.Inputs = append(f.m.Inputs, in)
}

// byMass lists the categories that occur, heaviest first, equal ones by their bytes.
func byMass(sums []sum, dictionary []string) []int {
	var order []int
	for c := range sums {
		if sums[c].value() > 0 {
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(sums[b].value(), sums[a].value()), cmp.Compare(dictionary[a], dictionary[b]))
	})
	return order
}

// scales are the standard deviations sqrt(p (1 - p)) of one-hot columns of the given masses; nil unless they are wanted.
func (f *fitter) scales(masses []float64) []float64 {
	if f.o.Scale != schema.ScaleAll {
		return nil
	}
	total := f.mass(func(int) bool { return true })
	list := make([]float64, len(masses))
	for i, mass := range masses {
		p := mass / total
		list[i] = math.Sqrt(p * (1 - p))
	}
	return list
}

// warnings says what was dropped and which columns look like names of rows.
func (f *fitter) warnings() []diag.Warning {
	var list []diag.Warning
	names := map[string][]string{}
	for _, d := range f.m.Dropped {
		names[d.Reason] = append(names[d.Reason], d.Name)
	}
	for _, reason := range []string{"constant", "no values"} {
		if n := len(names[reason]); n > 0 {
			what := map[string]string{"constant": "constant", "no values": "without any value"}[reason]
			list = append(list, diag.Warning{Code: "dropped_columns", Text: fmt.Sprintf("%s on the training rows, so left out: %s",
				count(n, "column is "+what, "columns are "+what), enumerate(names[reason]))})
		}
	}
	if f.never > 0 {
		list = append(list, diag.Warning{Code: "unused_indices", Text: count(f.never, "index never occurs", "indices never occur") +
			" in the training rows, so left out"})
	}
	for _, in := range f.m.Inputs {
		if n := len(in.Categories); ManyCategories(n, len(f.rows)) {
			list = append(list, diag.Warning{Code: "many_categories", Text: fmt.Sprintf(
				"column %q has %d different values in %d rows: it may name the rows (--id or --drop)", in.Name, n, len(f.rows))})
		}
	}
	return list
}

// ManyCategories reports whether a column of that many categories may name the rows.
func ManyCategories(categories, rows int) bool { return categories >= 20 && categories > rows/2 }

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// enumerate joins names and keeps the text short.
func enumerate(names []string) string {
	const shown = 10
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
