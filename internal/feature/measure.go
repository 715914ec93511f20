package feature

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"toptau/internal/kernel"
	"toptau/internal/table"
	"toptau/schema"
)

// measured is what the training rows say about one column.
type measured struct {
	missing int // rows
	err     error

	// numeric
	fill    float64 // what stands for a missing value; 0 for nothing
	moments moments
	card    Card      // for a scorecard, without its input
	asked   []float64 // for trees: the values, and what stands for missing ones

	// categorical
	masses      []sum // by code
	missingMass sum
}

// measureAll measures all columns, several at a time. The results do not depend on how many.
func (f *fitter) measureAll() []measured {
	all := make([]measured, len(f.t.Columns))
	tasks := f.tasks()
	inParallel(f.ctx, len(tasks), func(k int, space *columnSpace) { f.measure(tasks[k], all, space) })
	return all
}

// inParallel calls f for 0 to n-1, on several goroutines, each with space of its own, until the context ends.
func inParallel(ctx context.Context, n int, f func(k int, space *columnSpace)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			var space columnSpace
			for k := int(next.Add(1)) - 1; k < n && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
				f(k, &space)
			}
		})
	}
	workers.Wait()
}

// tasks are the columns that are measured together: a few numeric ones where only moments are asked for, otherwise one.
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

// measure measures some columns that are one of tasks.
func (f *fitter) measure(columns []int, all []measured, space *columnSpace) {
	if f.t.Columns[columns[0]].Kind == schema.Categorical {
		all[columns[0]] = f.measureCodes(&f.t.Columns[columns[0]])
		return
	}
	alone := columns
	if len(columns) > 1 {
		alone = f.measureTogether(columns, all)
	}
	for _, j := range alone {
		all[j] = f.measureNumbers(&f.t.Columns[j], space)
	}
}

// columnSpace is memory for a column's values that the next column uses again.
type columnSpace struct{ own, filled []float64 }

func (f *fitter) measureNumbers(column *table.Column, space *columnSpace) (c measured) {
	values, weights, err := f.present(column, space)
	if err != nil {
		return measured{err: err}
	}
	c.missing = len(f.rows) - len(values)
	if len(values) == 0 {
		return c
	}
	if f.o.Impute == schema.ImputeMedian { // also when training has none missing; a later file may
		c.fill = medianOf(values, weights)
	}
	if c.missing > 0 && f.o.Impute != schema.ImputeIndicator {
		space.filled = f.filled(column, c.fill, space.filled)
		values, weights = space.filled, f.weights
	}
	c.moments = momentsOf(values, weights)
	indicator := c.missing > 0 && f.o.Impute == schema.ImputeIndicator
	if c.moments.constant && !indicator {
		return c
	}
	if f.o.scorecard() {
		c.card = card(0, values, weights, f.bins(), indicator)
	}
	if f.o.leaves() {
		c.asked = f.filled(column, f.standIn(c.fill), nil)
	}
	return c
}

// present lists the values of the training rows that are not missing, and their weights (nil: all 1), in the column or in
// space.
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

// standIn is what an input has for a missing value; NaN for nothing.
func (f *fitter) standIn(fill float64) float64 {
	if f.o.Impute == schema.ImputeIndicator {
		return math.NaN()
	}
	return fill
}

// filled is the column on the training rows with a stand-in for missing values, in the memory of space if that suffices.
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
	c.masses = make([]sum, len(column.Dictionary))
	for i, row := range f.rows {
		code := column.Code(row)
		if code < 0 {
			if f.o.Impute == schema.ImputeError {
				return measured{err: missingError(f.t, row, column)}
			}
			c.missing++
			c.missingMass.add(weightAt(f.weights, i))
			continue
		}
		c.masses[code].add(weightAt(f.weights, i))
	}
	return c
}
