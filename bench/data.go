package main

import (
	"errors"
	"math"
	"math/rand/v2"

	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
	"toptau/internal/core/simulate"
)

// random returns n numbers between -1 and 1.
func random(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = 2*r.Float64() - 1
	}
	return x
}

// normals returns n nearly normal numbers, each the sum of four uniform ones.
func normals(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64() + r.Float64() + r.Float64() + r.Float64() - 2
	}
	return x
}

// build packs n rows into the positives of a matrix, as training does. The matrix has one negative.
func build(l matrix.Layout, n int, row func(i int) (dense []float64, cols []uint32, values []float64)) (*matrix.ClassRows, error) {
	builder := matrix.NewBuilder(l, matrix.Float32)
	for i := range n + 1 {
		dense, cols, values := row(min(i, n-1))
		builder.Add(i < n, dense, cols, values, 1, i)
	}
	m, err := builder.Build()
	if err != nil {
		return nil, err
	}
	return m.Positives, nil
}

// densePart returns whole panels of d float32 columns that take about the given number of bytes.
func densePart(d, bytes int) (*matrix.ClassRows, error) {
	rows := max(1, bytes/(4*d*kernel.PanelRows)) * kernel.PanelRows
	const period = 8191
	x := random(3, d+period)
	return build(matrix.Layout{{Kind: matrix.Dense, Cols: d}}, rows, func(i int) ([]float64, []uint32, []float64) {
		return x[i%period:][:d], nil, nil
	})
}

// memory returns the arrays of the only block of some rows, which must be dense float32, so that a probe reads the same bytes
// as the passes do.
func memory(p *matrix.ClassRows) ([][]float32, error) {
	panels := p.Block(0).Panels
	if panels == nil {
		return nil, errors.New("the block has no float32 panels")
	}
	var pieces [][]float32
	for i := 0; i < p.Panels(); {
		x, n := panels.Span(i, p.Panels())
		pieces = append(pieces, x)
		i += n
	}
	return pieces, nil
}

// read is the probe.
func read(pieces [][]float32) {
	for _, x := range pieces {
		readAll(x)
	}
}

// everyRow returns the numbers of every step-th row.
func everyRow(p *matrix.ClassRows, step int) []int32 {
	var rows []int32
	for i := 0; i < p.Rows(); i += step {
		rows = append(rows, int32(i))
	}
	return rows
}

// simulated is a data set of internal/core/simulate whose columns have mean 0 and variance 1.
type simulated struct {
	cols     int
	values   []float64 // row by row
	positive []bool
}

func simulation(kind string, rows int) (*simulated, error) {
	data, err := simulate.New(simulate.Options{Kind: kind, Rows: rows, Seed: 1})
	if err != nil {
		return nil, err
	}
	s := &simulated{cols: len(data.Names())}
	data.Each(func(_ int, row *simulate.Row) bool {
		s.values = append(s.values, row.Values...)
		s.positive = append(s.positive, row.Positive)
		return true
	})
	for j := range s.cols {
		s.standardise(j)
	}
	return s, nil
}

func (s *simulated) standardise(j int) {
	sum, squares, n := 0.0, 0.0, float64(len(s.positive))
	for i := j; i < len(s.values); i += s.cols {
		sum += s.values[i]
		squares += s.values[i] * s.values[i]
	}
	mean := sum / n
	deviation := math.Sqrt(max(squares/n-mean*mean, 1e-12))
	for i := j; i < len(s.values); i += s.cols {
		s.values[i] = (s.values[i] - mean) / deviation
	}
}

func (s *simulated) row(i int) []float64 { return s.values[i*s.cols : (i+1)*s.cols] }

func (s *simulated) matrix() (*matrix.Matrix, error) {
	builder := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: s.cols}}, matrix.Float32)
	for i, positive := range s.positive {
		builder.Add(positive, s.row(i), nil, nil, 1, i)
	}
	return builder.Build()
}
