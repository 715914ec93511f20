package feature

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/core/detmath"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// Fit makes a map from some rows of a table (nil: all). Options.Encode determines the blocks of numeric
// columns, one dense or several coded ones. Categories and the missing indicators of raw columns follow in
// one coded block; boosted trees read categories themselves. The raw indices of a LIBSVM table are one sparse block; for other encodings each index is
// a numeric column. Only leaves read the labels. Rows of weight 0 do not count. Means, deviations, medians
// and the order of categories are those of the weighted rows.
//
// Columns that are constant on these rows are dropped and listed in Map.Dropped and in a warning.
//
// Errors: diag.Usage for unknown options and for too many LIBSVM indices to encode; diag.Data for missing
// values under schema.ImputeError and when no column is left.
func Fit(t *table.Table, s schema.Schema, rows []int, o Options) (*Map, []diag.Warning, error) {
	return FitContext(context.Background(), t, s, rows, o)
}

// FitContext is Fit with a context. If ctx ends, it returns the cause.
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
		return nil, nil, &diag.Error{Kind: diag.Data, Found: "no column left for features",
			Expected: "at least one besides the label and the columns with other roles", Hint: "data that were released have no columns"}
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
	if t.Sparse == nil && o.Impute == schema.ImputeError {
		f.addMedians()
	}
	if err := f.m.Prepare(); err != nil {
		return nil, nil, &diag.Error{Kind: diag.Data, Found: "the columns cannot be encoded", Err: err}
	}
	if f.m.cols == 0 {
		return nil, nil, &diag.Error{Kind: diag.Data, Found: "no column is left: all are constant on the training rows",
			Expected: "at least one column that varies"}
	}
	return f.m, f.warnings(), nil
}

// fitter is the state of one Fit.
type fitter struct {
	ctx     context.Context // if it ends, its error is the only result
	t       *table.Table
	o       Options
	rows    []int     // of positive weight
	weights []float64 // by position in rows; nil: all 1
	m       *Map
	rare    []diag.Warning // about columns with rare names
	never   int            // LIBSVM: number of indices without a value
}

func newFitter(t *table.Table, rows []int, o Options) *fitter {
	f := &fitter{ctx: context.Background(), t: t, o: o, m: &Map{Scale: o.Scale, Impute: o.Impute, Sparse: t.Sparse != nil,
		Inputs: []Input{}, Dropped: []Dropped{}}} // empty rather than nil, so that JSON has lists
	n := rowCount(t, rows)
	f.rows = make([]int, 0, n)
	for i := range n {
		row := rowAt(rows, i)
		if w := trees.WeightAt(t.Weight, row); w > 0 {
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
		add := f.addNumeric
		if f.t.Columns[j].Kind == schema.Categorical {
			add = f.addCategorical
		}
		if measured.err != nil {
			return measured.err
		}
		add(j, &measured, &b)
	}
	if len(b.numeric.Inputs) > 0 {
		f.m.Blocks = append(f.m.Blocks, &b.numeric)
	}
	if len(b.scorecard.Columns) > 0 {
		slices.SortStableFunc(b.scorecard.Columns, func(x, y Card) int { return min(len(y.Knots), 1) - min(len(x.Knots), 1) })
		f.m.Blocks = append(f.m.Blocks, &b.scorecard)
	}
	if len(b.read) > 0 {
		f.addDerived(&b)
		block, err := growers[f.o.Encode](f, b.read)
		if err != nil {
			return err
		}
		if block != nil {
			f.m.Blocks = append(f.m.Blocks, block)
		}
	}
	if len(b.onehot.Columns) > 0 {
		f.m.Blocks = append(f.m.Blocks, &b.onehot)
	}
	return nil
}

// columnBlocks are the blocks of the columns of a table, in the order of the map.
type columnBlocks struct {
	numeric   NumericBlock
	scorecard ScorecardBlock
	onehot    OneHotBlock

	read []int // what a grower may read
}

// addDerived adds the derived columns to what trees read. One of a column that is not in use is left out.
func (f *fitter) addDerived(b *columnBlocks) {
	numeric := len(b.read)
	place := func(column int) int {
		return slices.IndexFunc(b.read[:numeric], func(k int) bool { return f.m.Inputs[k].Column == column })
	}
	for _, d := range f.o.Derived {
		i, j := place(d.A), place(d.B)
		if i < 0 || j < 0 {
			continue
		}
		b.read = append(b.read, numberCount(f.m))
		f.m.Derived = append(f.m.Derived, Derived{d.Op, b.read[i], b.read[j]})
	}
}

func (f *fitter) drop(j int, reason string) {
	f.m.Dropped = append(f.m.Dropped, Dropped{Column: j, Name: columnLabel(&f.t.Columns[j]), Reason: reason})
}

// addNumeric adds a measured numeric column to the blocks.
func (f *fitter) addNumeric(j int, c *measured, b *columnBlocks) {
	indicator := c.Missing > 0 && f.o.Impute == schema.ImputeIndicator
	switch {
	case c.Missing == f.allRows():
		f.drop(j, "no values")
		return
	case c.Constant && !indicator:
		f.drop(j, "constant")
		return
	}
	k := len(f.m.Inputs)
	f.m.Inputs = append(f.m.Inputs, Input{Column: j, Name: f.t.Columns[j].Name, Kind: schema.Numeric, Fill: c.Fill})
	if cards[f.o.Encode] != nil {
		c.card.Input = k
		b.scorecard.Columns = append(b.scorecard.Columns, c.card)
	}
	if growers[f.o.Encode] != nil {
		b.read = append(b.read, k)
	}
	if f.o.Encode != EncodeRaw {
		return
	}
	if !c.Constant {
		b.numeric.Inputs = append(b.numeric.Inputs, k)
		if f.o.Scale != schema.ScaleNone {
			b.numeric.Shift = append(b.numeric.Shift, c.Mean)
			b.numeric.Scale = append(b.numeric.Scale, c.SD)
		}
	}
	if indicator {
		b.onehot.Columns = append(b.onehot.Columns, OneHot{Input: k, Missing: true, Scale: f.o.scales([]float64{c.MissingMass}, f.allMass())})
	}
}

// binsPerColumn returns the number of bins of a scorecard column: fewer if there are many columns.
func (f *fitter) binsPerColumn() int {
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

// allRows returns the number of rows that columns are measured on.
func (f *fitter) allRows() int {
	if f.o.Measured != nil {
		return f.o.Measured.Rows
	}
	return len(f.rows)
}

// allMass returns the weight of the rows that columns are measured on.
func (f *fitter) allMass() float64 {
	if f.o.Measured != nil {
		return f.o.Measured.Mass
	}
	return f.mass(func(int) bool { return true })
}

// mass returns the weight of the training rows that picked selects.
func (f *fitter) mass(picked func(row int) bool) float64 {
	var s detmath.Sum
	for i, row := range f.rows {
		if picked(row) {
			s.Add(trees.WeightAt(f.weights, i))
		}
	}
	return s.Value()
}

// addCategorical adds a measured categorical column to the blocks.
func (f *fitter) addCategorical(j int, c *measured, b *columnBlocks) {
	column := &f.t.Columns[j]
	missing := c.MissingMass
	level := missing > 0 && f.o.Impute == schema.ImputeIndicator
	order := byMass(c.Masses, c.Categories)
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
	kept := f.frequent(order, c.Masses)
	if in.Rare = len(kept) < len(order); in.Rare {
		f.rare = append(f.rare, warnRare(columnLabel(column), len(order), len(kept), f.allRows()))
	}
	if len(kept) == 0 {
		f.drop(j, "rare values")
		return
	}
	for _, code := range kept {
		in.Categories = append(in.Categories, c.Categories[code])
		masses = append(masses, c.Masses[code])
	}
	k := len(f.m.Inputs)
	f.m.Inputs = append(f.m.Inputs, in)
	if f.o.Encode.Boosted() {
		b.read = append(b.read, k)
		return
	}
	if f.o.Impute == schema.ImputeMedian {
		masses[0] += missing
	}
	if level {
		masses = append(masses, missing)
	}
	if in.Rare {
		var rare detmath.Sum
		for _, code := range order[len(kept):] {
			rare.Add(c.Masses[code])
		}
		masses = append(masses, rare.Value())
	}
	b.onehot.Columns = append(b.onehot.Columns, OneHot{Input: k, Missing: level, Scale: f.o.scales(masses, f.allMass())})
}

// byMass returns the codes of the categories that occur by descending mass, those of equal mass by the bytes
// of their text.
func byMass(masses []float64, names []string) []int {
	var order []int
	for c := range masses {
		if masses[c] > 0 {
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(masses[b], masses[a]), cmp.Compare(names[a], names[b]))
	})
	return order
}

// scales returns the standard deviations sqrt(p (1 - p)) of one-hot columns of the given masses; nil unless
// they are scaled.
func (o Options) scales(masses []float64, total float64) []float64 {
	if o.Scale != schema.ScaleAll {
		return nil
	}
	return deviations(masses, total)
}

// deviations returns the standard deviations of indicators by their masses.
func deviations(masses []float64, total float64) []float64 {
	list := make([]float64, len(masses))
	for i, mass := range masses {
		p := mass / total
		list[i] = math.Sqrt(p * (1 - p))
	}
	return list
}

// warnings lists the dropped columns and those that look like identifiers of rows.
func (f *fitter) warnings() []diag.Warning {
	var list []diag.Warning
	names := map[string][]string{}
	for _, d := range f.m.Dropped {
		names[d.Reason] = append(names[d.Reason], d.Name)
	}
	for _, reason := range []string{"constant", "no values"} {
		if n := len(names[reason]); n > 0 {
			what := map[string]string{"constant": "constant column", "no values": "column without values"}[reason]
			if n > 1 {
				what = strings.Replace(what, "column", "columns", 1)
			}
			list = append(list, diag.Warning{Code: "dropped-columns",
				Text: fmt.Sprintf("dropped %s %s: %s", text.Count(n), what, enumerate(names[reason]))})
		}
	}
	list = append(list, f.rare...)
	if f.never > 0 {
		noun := "indices"
		if f.never == 1 {
			noun = "index"
		}
		list = append(list, diag.Warning{Code: "unused-indices",
			Text: fmt.Sprintf("dropped %s %s without a value in the training rows", text.Count(f.never), noun)})
	}
	for _, in := range f.m.Inputs {
		if n := len(in.Categories); ManyCategories(n, f.allRows()) {
			list = append(list, diag.Warning{Code: "many-categories",
				Text:  fmt.Sprintf("column %q has %s different values in %s rows: it may be an identifier", in.Name, text.Count(n), text.Count(f.allRows())),
				Fixes: []diag.Fix{{Param: "id", Value: in.Name}, {Param: "drop", Value: in.Name}}})
		}
	}
	return list
}

// ManyCategories reports whether a column with this many categories may identify the rows.
func ManyCategories(categories, rows int) bool { return categories >= 20 && categories > rows/2 }

// enumerate joins at most ten names.
func enumerate(names []string) string {
	const shown = 10
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
