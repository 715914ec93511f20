package feature

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"toptau/internal/kernel"
	"toptau/internal/table"
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

	// symbolic
	masses      []sum // by code
	missingMass sum
}

// measureAll measures all columns, several at a time. Each by itself, so that the results do not depend on how many.
func (f *fitter) measureAll() []measured {
	all := make([]measured, len(f.t.Columns))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		workers.Go(func() {
			var space columnSpace
			for j := int(next.Add(1)) - 1; j < len(all); j = int(next.Add(1)) - 1 {
				if f.t.Columns[j].Kind == table.Symbolic {
					all[j] = f.measureCodes(&f.t.Columns[j])
				} else {
					all[j] = f.measureNumbers(&f.t.Columns[j], &space)
				}
			}
		})
	}
	workers.Wait()
	return all
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
	if f.o.Impute == ImputeMedian { // also when training has none missing; a later file may
		c.fill = medianOf(values, weights)
	}
	if c.missing > 0 && f.o.Impute != ImputeOwn {
		space.filled = f.filled(column, c.fill, space.filled)
		values, weights = space.filled, f.weights
	}
	c.moments = momentsOf(values, weights)
	indicator := c.missing > 0 && f.o.Impute == ImputeOwn
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
			if f.o.Impute == ImputeError {
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
	if f.o.Impute == ImputeOwn {
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
			if f.o.Impute == ImputeError {
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
