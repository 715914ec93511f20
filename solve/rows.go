package solve

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/solver"
	"toptau/method"
)

// Rows are the rows of a problem: Dense, Flat or CSR.
type Rows interface {
	// size returns the numbers of rows and columns, or an error if the slices do not fit together.
	size() (rows, cols int, err error)
	// compressed reports whether row leaves out zeros.
	compressed() bool
	// row returns the numbers of row i, with their columns if it is compressed.
	row(i int) (cols []int, values []float64)
}

// Dense has one slice for each row. All have the same length.
type Dense [][]float64

// Flat has all rows in one slice, one after the other.
type Flat struct {
	Cols  int
	Value []float64
}

// CSR has compressed rows. Row i has the numbers Value[k] in the columns Column[k], for k from Start[i] to before Start[i+1]. Its columns
// are 0-based and ascend. All other numbers are 0.
type CSR struct {
	Cols   int
	Start  []int
	Column []int
	Value  []float64
}

func (x Dense) compressed() bool { return false }

func (x Dense) size() (rows, cols int, err error) {
	if len(x) == 0 {
		return 0, 0, nil
	}
	for i, row := range x {
		if len(row) != len(x[0]) {
			return 0, 0, badData(fmt.Sprintf("x[%d]", i), fmt.Sprintf("with %d numbers", len(row)), fmt.Sprintf("%d, as in x[0]", len(x[0])))
		}
	}
	return len(x), len(x[0]), nil
}

func (x Dense) row(i int) (cols []int, values []float64) { return nil, x[i] }

func (x Flat) compressed() bool { return false }

func (x Flat) size() (rows, cols int, err error) {
	if x.Cols < 1 || len(x.Value)%x.Cols != 0 {
		return 0, 0, badData("x", fmt.Sprintf("with %d numbers in rows of %d", len(x.Value), x.Cols), "whole rows of at least 1 number")
	}
	return len(x.Value) / x.Cols, x.Cols, nil
}

func (x Flat) row(i int) (cols []int, values []float64) { return nil, x.Value[i*x.Cols : (i+1)*x.Cols] }

func (x CSR) compressed() bool { return true }

func (x CSR) size() (rows, cols int, err error) {
	if x.Cols < 0 || x.Cols > math.MaxInt32 {
		return 0, 0, badData("x.cols", fmt.Sprint(x.Cols), fmt.Sprintf("a number from 1 to %d", math.MaxInt32))
	}
	if len(x.Start) == 0 || x.Start[0] != 0 || x.Start[len(x.Start)-1] != len(x.Value) || len(x.Column) != len(x.Value) {
		return 0, 0, badData("x", fmt.Sprintf("with %d columns and %d numbers of %d rows", len(x.Column), len(x.Value), len(x.Start)-1),
			"as many columns as numbers, and starts from 0 to that number")
	}
	for i, first := range x.Start[:len(x.Start)-1] {
		if end := x.Start[i+1]; end < first || end > len(x.Value) {
			return 0, 0, badData(fmt.Sprintf("x.start[%d]", i+1), fmt.Sprint(end), fmt.Sprintf("a number from %d to %d", first, len(x.Value)))
		}
		last := -1
		for k, j := range x.Column[first:x.Start[i+1]] {
			if j <= last || j >= x.Cols {
				return 0, 0, badData(fmt.Sprintf("x.column[%d]", first+k), fmt.Sprint(j),
					fmt.Sprintf("ascending columns below %d in row %d", x.Cols, i))
			}
			last = j
		}
	}
	return len(x.Start) - 1, x.Cols, nil
}

func (x CSR) row(i int) (cols []int, values []float64) {
	return x.Column[x.Start[i]:x.Start[i+1]], x.Value[x.Start[i]:x.Start[i+1]]
}

// size returns the numbers of rows and columns, or an error if the rows, labels and weights are no problem.
func (p *Problem) size() (rows, cols int, err error) {
	if p.X == nil {
		return 0, 0, &diag.Error{Kind: diag.Data, Param: "x", Expected: "rows: Dense, Flat or CSR"}
	}
	if rows, cols, err = p.X.size(); err != nil {
		return 0, 0, err
	}
	switch {
	case rows == 0 || cols == 0:
		return 0, 0, badData("x", fmt.Sprintf("with %d rows and %d columns", rows, cols), "rows and columns")
	case len(p.Positive) != rows:
		return 0, 0, badData("positive", fmt.Sprintf("with %d elements", len(p.Positive)), fmt.Sprintf("%d, one for each row", rows))
	case p.Weight != nil && len(p.Weight) != rows:
		return 0, 0, badData("weight", fmt.Sprintf("with %d elements", len(p.Weight)), fmt.Sprintf("%d, one for each row, or nil", rows))
	case !slices.Contains(p.Positive, !p.Positive[0]):
		return 0, 0, badData("positive", fmt.Sprintf("with %v only", p.Positive[0]), "both classes")
	}
	for i, m := range p.Weight {
		if !(m > 0 && m <= math.MaxFloat64) {
			err := badData(fmt.Sprintf("weight[%d]", i), fmt.Sprint(m), "a finite number above 0")
			err.Hint = "leave out rows that have no weight"
			return 0, 0, err
		}
	}
	return rows, cols, nil
}

// pack packs the rows from first to before end. part means that they may all be of one class.
func (p *Problem) pack(cols, first, end int, part bool) (*matrix.Matrix, error) {
	kind := matrix.Dense
	if p.X.compressed() {
		kind = matrix.Sparse
	}
	b := matrix.NewBuilder(matrix.Layout{{Kind: kind, Cols: cols}}, solver.Storage(p.Settings.Storage))
	if part {
		b.Part()
	}
	var columns []uint32
	for i := first; i < end; i++ {
		at, values := p.X.row(i)
		weight := 1.0
		if p.Weight != nil {
			weight = p.Weight[i]
		}
		if kind == matrix.Dense {
			b.Add(p.Positive[i], values, nil, nil, weight, i)
			continue
		}
		columns = columns[:0]
		for _, j := range at {
			columns = append(columns, uint32(j))
		}
		b.Add(p.Positive[i], nil, columns, values, weight, i)
	}
	x, err := b.Build()
	if bad, ok := errors.AsType[*matrix.ValueError](err); ok {
		return nil, badNumber(bad)
	}
	return x, err
}

// badNumber returns the error for a number that cannot be stored. Its place is 0-based, as in the slices.
func badNumber(bad *matrix.ValueError) error {
	err := badData(fmt.Sprintf("x[%d][%d]", bad.Source, bad.Col), fmt.Sprint(bad.Value), "a finite number")
	if math.Abs(bad.Value) <= math.MaxFloat64 {
		err.Expected = "a number that float32 can hold"
		err.Fixes = []diag.Fix{{Param: "storage", Value: string(method.Float64)}}
	}
	return err
}

func badData(place, found, expected string) *diag.Error {
	return &diag.Error{Kind: diag.Data, Param: place, Found: found, Expected: expected}
}
