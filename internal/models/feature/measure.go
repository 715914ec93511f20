package feature

import (
	"math"
	"slices"
	"sync"

	"toptau/internal/core/detmath"
	"toptau/internal/core/kernel"
	"toptau/internal/core/parallel"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// measured is what Fit measures of one column on the training rows.
type measured struct {
	MeasuredColumn
	err error

	card Card // for a scorecard, without its input
}

func (c *MeasuredColumn) setMoments(m moments) { c.Mean, c.SD, c.Constant = m.mean, m.sd, m.constant }

// measureAll measures all columns in parallel, apart from what Options.Measured has.
func (f *fitter) measureAll() []measured {
	all := make([]measured, len(f.t.Columns))
	var tasks [][]int
	for _, task := range f.tasks() {
		if m := f.o.Measured; m != nil && m.Has(f.o.Encode, f.t.Columns[task[0]].Kind) {
			for _, j := range task {
				all[j].MeasuredColumn = m.Columns[j]
			}
			continue
		}
		tasks = append(tasks, task)
	}
	scratch := sync.Pool{New: func() any { return new(columnSpace) }}
	parallel.For(len(tasks), func(k int) {
		if f.ctx.Err() == nil {
			space := scratch.Get().(*columnSpace)
			f.measure(tasks[k], all, space)
			scratch.Put(space)
		}
	})
	return all
}

// tasks returns groups of columns that are measured together: a few numeric ones if only moments are needed,
// otherwise one.
func (f *fitter) tasks() [][]int {
	var list [][]int
	var group []int
	plain := f.weights == nil && len(f.rows) == f.t.Rows() && f.o.Encode == EncodeRaw && f.o.Impute != schema.ImputeMedian
	for j := range f.t.Columns {
		if !plain || f.t.Columns[j].Kind == schema.Categorical {
			list = append(list, []int{j})
			continue
		}
		if group = append(group, j); len(group) == kernel.MomentColumns {
			list, group = append(list, group), nil
		}
	}
	if group != nil {
		list = append(list, group)
	}
	return list
}

// measure measures the columns of one task.
func (f *fitter) measure(columns []int, all []measured, space *columnSpace) {
	if f.t.Columns[columns[0]].Kind == schema.Categorical {
		all[columns[0]] = f.measureCodes(&f.t.Columns[columns[0]])
		return
	}
	alone := columns
	if len(columns) > 1 {
		alone = f.measureGroup(columns, all)
	}
	for _, j := range alone {
		all[j] = f.measureNumbers(&f.t.Columns[j], space)
	}
}

// columnSpace is memory for a column's values. Columns reuse it.
type columnSpace struct{ own, filled []float64 }

func (f *fitter) measureNumbers(column *table.Column, space *columnSpace) (c measured) {
	values, weights, err := f.present(column, space)
	if err != nil {
		return measured{err: err}
	}
	if c.Missing = len(f.rows) - len(values); c.Missing > 0 {
		c.MissingMass = f.mass(func(row int) bool { return math.IsNaN(column.Value(row)) })
	}
	if len(values) == 0 {
		return c
	}
	if f.o.Impute == schema.ImputeMedian { // also when training has none missing; a later file may
		c.Fill = medianOf(values, weights)
	}
	if c.Missing > 0 && f.o.Impute != schema.ImputeIndicator {
		space.filled = f.filled(column, c.Fill, space.filled)
		values, weights = space.filled, f.weights
	}
	c.setMoments(momentsOf(values, weights))
	indicator := c.Missing > 0 && f.o.Impute == schema.ImputeIndicator
	if c.Constant && !indicator {
		return c
	}
	if newCard := cards[f.o.Encode]; newCard != nil {
		c.card = newCard(values, weights, f.binsPerColumn(), indicator)
	}
	return c
}

// present returns the values of the training rows that are not missing, and their weights (nil: all 1). The
// memory is the column's or that of space.
func (f *fitter) present(column *table.Column, space *columnSpace) (values, weights []float64, err error) {
	space.own = slices.Grow(space.own[:0], len(f.rows))
	if n := len(f.rows); n == f.t.Rows() {
		if values = column.Range(0, n, space.own[:n]); complete(values) {
			return values, f.weights, nil
		}
	}
	values = space.own[:0]
	for i, row := range f.rows {
		x := column.Value(row)
		if math.IsNaN(x) {
			if f.o.Impute == schema.ImputeError {
				return nil, nil, missingError(f.t, row, column)
			}
			continue
		}
		values = append(values, x)
		if f.weights != nil {
			weights = append(weights, f.weights[i])
		}
	}
	return values, weights, nil
}

// complete reports whether no value is missing.
func complete(values []float64) bool {
	_, _, ordered := kernel.Extent(values)
	return ordered
}

// replacement returns the number that replaces a missing value; NaN if none does.
func (o Options) replacement(fill float64) float64 {
	if o.Impute == schema.ImputeIndicator {
		return math.NaN()
	}
	return fill
}

// filled returns the column on the training rows with fill for missing values, in the memory of space if that
// suffices.
func (f *fitter) filled(column *table.Column, fill float64, space []float64) []float64 {
	values := slices.Grow(space[:0], len(f.rows))[:len(f.rows)]
	for i, row := range f.rows {
		values[i] = column.Value(row)
		if math.IsNaN(values[i]) {
			values[i] = fill
		}
	}
	return values
}

func (f *fitter) measureCodes(column *table.Column) (c measured) {
	sums := make([]detmath.Sum, len(column.Dictionary))
	var missing detmath.Sum
	for i, row := range f.rows {
		code := column.Code(row)
		if code < 0 {
			if f.o.Impute == schema.ImputeError {
				return measured{err: missingError(f.t, row, column)}
			}
			c.Missing++
			missing.Add(trees.WeightAt(f.weights, i))
			continue
		}
		sums[code].Add(trees.WeightAt(f.weights, i))
	}
	c.setCategories(column.Dictionary, sums, missing)
	return c
}
