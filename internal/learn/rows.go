package learn

import (
	"runtime"
	"sync"
	"sync/atomic"

	"toptau/internal/kernel"
	"toptau/internal/matrix"
)

// class is the rows of one class with what is kept of them.
type class struct {
	part   *matrix.Part
	sign   float64 // s = sign * (w'x + b): -1 on positives, 1 on negatives
	unit   float64 // what a row of weight 1 counts in the objective
	z, dz  []float64
	v      []float64 // coefficients of X'v
	active []int32   // rows whose v is not 0
	coeff  []float64 // their v
}

func newClass(part *matrix.Part, sign, unit float64) *class {
	n := part.Rows()
	return &class{part: part, sign: sign, unit: unit,
		z: make([]float64, n), dz: make([]float64, n), v: make([]float64, n)}
}

// share is what row i counts in the objective.
func (c *class) share(i int) float64 {
	if m := c.part.Weights(); m != nil {
		return float64(c.unit * m[i])
	}
	return c.unit
}

// massOf is the sum of the row weights of a part.
func massOf(part *matrix.Part) float64 {
	m := part.Weights()
	if m == nil {
		return float64(part.Rows())
	}
	return inBlocks(len(m), func(first, end int) (total float64) {
		for _, x := range m[first:end] {
			total += x
		}
		return total
	})
}

// addGradient adds X'v to g.
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

// blockRows is the number of rows whose terms are added before the blocks are, and inlineRows the number below which
// starting a goroutine does not pay.
const (
	blockRows  = 32 * kernel.PanelRows
	inlineRows = 8 * blockRows
)

// inBlocks calls f for each block of the rows 0 to n-1, at the same time for many rows, and returns the sum of the
// results in the order of the blocks.
func inBlocks(n int, f func(first, end int) float64) float64 {
	return pairInBlocks(n, func(first, end int) (float64, float64) { return f(first, end), 0 }).first
}

type pair struct{ first, second float64 }

// pairInBlocks is inBlocks for two sums.
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

// inParallel calls f for 0 to n-1, on several goroutines when that pays.
func inParallel(n int, pays bool, f func(k int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if !pays || workers <= 1 {
		for k := range n {
			f(k)
		}
		return
	}
	var next atomic.Int64
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for k := int(next.Add(1) - 1); k < n; k = int(next.Add(1) - 1) {
				f(k)
			}
		})
	}
	done.Wait()
}
