package learn

import (
	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
)

// class is the rows of one class, with their scores and coefficients.
type class struct {
	part   *matrix.ClassRows
	sign   float64   // s = sign * (w'x + b): -1 on positives, 1 on negatives
	unit   float64   // weight in the objective of a row of weight 1
	z, dz  []float64 // scores of the point and of the direction
	v      []float64 // coefficients of X'v
	active []int32   // rows whose v is not 0
	coeff  []float64 // their v
}

func newClass(part *matrix.ClassRows, sign, unit float64) *class {
	n := part.Rows()
	return &class{part: part, sign: sign, unit: unit,
		z: make([]float64, n), dz: make([]float64, n), v: make([]float64, n)}
}

// weight returns the weight of row i in the objective.
func (c *class) weight(i int) float64 {
	if m := c.part.Weights(); m != nil {
		return float64(c.unit * m[i])
	}
	return c.unit
}

// massOf returns the sum of the row weights of a class.
func massOf(part *matrix.ClassRows) float64 {
	m := part.Weights()
	if m == nil {
		return float64(part.Rows())
	}
	return sumInBlocks(len(m), func(first, end int) (total float64) {
		for _, x := range m[first:end] {
			total += x
		}
		return total
	})
}

// addGradient adds X'v to g. It reads only rows with v != 0.
func (c *class) addGradient(g []float64) {
	c.active, c.coeff = c.active[:0], c.coeff[:0]
	for i, v := range c.v {
		if v != 0 {
			c.active = append(c.active, int32(i))
			c.coeff = append(c.coeff, v)
		}
	}
	c.part.AddGradient(c.active, c.coeff, g)
}

const (
	// blockRows is the number of rows per block of a sum. Changing it changes results in the last bits.
	blockRows = 32 * kernel.PanelRows
	// inlineRows is the number of rows below which starting goroutines costs more than it saves. Chosen by
	// hand.
	inlineRows = 8 * blockRows
)

// sumInBlocks calls f for each block of the rows 0 to n-1, in parallel for many rows, and returns the sum of
// the results in the order of the blocks.
func sumInBlocks(n int, f func(first, end int) float64) float64 {
	return pairInBlocks(n, func(first, end int) (float64, float64) { return f(first, end), 0 }).first
}

type pair struct{ first, second float64 }

// pairInBlocks is sumInBlocks for two sums.
func pairInBlocks(n int, f func(first, end int) (float64, float64)) pair {
	blocks := (n + blockRows - 1) / blockRows
	parts := make([]pair, blocks)
	inParallel(blocks, n >= inlineRows, func(b int) {
		x, y := f(b*blockRows, min((b+1)*blockRows, n))
		parts[b] = pair{x, y}
	})
	var total pair
	for _, p := range parts {
		total.first += p.first
		total.second += p.second
	}
	return total
}

// inParallel calls f for 0 to n-1, on several goroutines if that pays.
func inParallel(n int, pays bool, f func(k int)) {
	if pays {
		parallel.For(n, f)
		return
	}
	for k := range n {
		f(k)
	}
}
