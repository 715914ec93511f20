package linalg

import (
	"math"

	"toptau/internal/core/kernel"
)

// Cholesky is the factor L of a symmetric positive definite n x n matrix A = L L', row-major, lower triangle.
//
// The matrices of an interior-point method are only semidefinite, up to rounding, when columns are collinear.
// A pivot that is not clearly positive is replaced by FrozenPivot. This sets its unknown to 0, about, and the
// caller's iterative refinement corrects the others.
type Cholesky struct {
	n      int
	l      []float64
	Frozen int       // pivots replaced in the last factorisation
	strips []float64 // scratch: some columns of each panel of rows
}

// FrozenPivot replaces a pivot that is not positive. Its size does not matter as long as 1/FrozenPivot is
// negligible and the square of the solution does not overflow.
const FrozenPivot = 1e100

// pivotNoise is the fraction of the diagonal element below which a pivot is rounding error. It is about 5
// units in the last place of a float64.
const pivotNoise = 1e-15

// panel is the number of columns that are eliminated together: the width of a panel of package kernel.
const panel = kernel.PanelRows

// Lower returns L, row-major. The elements above the diagonal are those of the memory that L is in: zeros after the
// first Factor.
func (c *Cholesky) Lower() []float64 { return c.l }

// Factor computes L of the n x n matrix whose lower triangle is in a, row-major. a is not changed.
func (c *Cholesky) Factor(a []float64, n int) {
	c.n = n
	if cap(c.l) < n*n {
		c.l = make([]float64, n*n)
	}
	c.l = c.l[:n*n]
	for i := range n {
		copy(c.l[i*n:i*n+i+1], a[i*n:i*n+i+1])
	}
	c.eliminate()
}

// FactorInPlace is Factor with L in the memory of a, which takes half the memory.
func (c *Cholesky) FactorInPlace(a []float64, n int) {
	c.n, c.l = n, a[:n*n]
	c.eliminate()
}

// eliminate overwrites A with L.
func (c *Cholesky) eliminate() {
	l, n := c.l, c.n
	if size := (n + panel - 1) / panel * panel * kernel.PanelRows; cap(c.strips) < size {
		c.strips = make([]float64, size)
	}
	diagonal := make([]float64, n)
	for j := range diagonal {
		diagonal[j] = l[j*n+j]
	}
	c.Frozen = 0
	for j0 := 0; j0 < n; j0 += panel {
		j1 := min(j0+panel, n)
		// Left-looking: subtract the products of all finished columns from columns j0..j1, then factor these.
		if j0 > 0 {
			c.subtract(j0, j1)
		}
		c.eliminateStrip(diagonal, j0, j0, j1)
		// The rows below the diagonal block: forward substitution, a strip of rows on each goroutine.
		strips := (n - j1 + panel - 1) / panel
		For(strips, float64(n-j1)*float64(j1-j0)*float64(j1-j0)/2, func(s int) { c.eliminateStrip(diagonal, j1+s*panel, j0, j1) })
	}
}

// eliminateStrip sets l[i][j] = (l[i][j] - sum over k in j0..j of l[i][k] l[j][k]) / l[j][j] for j in j0..j1 and the rows i of the panel
// that starts at first. All earlier columns are already subtracted. Where first is j0, these are the rows of the pivots, which it computes.
// The diagonal is that of A.
//
// The elements are copied to a panel of package kernel. The sums of a column are then the scores of the panel's rows for the weights l[j].
func (c *Cholesky) eliminateStrip(diagonal []float64, first, j0, j1 int) {
	l, n := c.l, c.n
	end := min(first+panel, n)
	columns := c.strips[first*kernel.PanelRows:][:(j1-j0)*kernel.PanelRows]
	for i := first; i < end; i++ {
		for k, v := range l[i*n+j0 : i*n+min(j1, i+1)] {
			columns[k*kernel.PanelRows+i-first] = v
		}
	}
	var sums [kernel.PanelRows]float64
	for j := j0; j < j1; j++ {
		k := j - j0
		column, weights := columns[k*kernel.PanelRows:(k+1)*kernel.PanelRows], l[j*n+j0:j*n+j]
		if first == j0 {
			for i := range weights {
				weights[i] = columns[i*kernel.PanelRows+k]
			}
		}
		kernel.ScorePanels(columns[:k*kernel.PanelRows], weights, sums[:], false)
		if first == j0 {
			c.setPivot(j, column[k]-sums[k], diagonal[j])
		}
		pivot := l[j*n+j]
		for i, v := range column {
			column[i] = (v - sums[i]) / pivot
		}
	}
	if first == j0 {
		return // their rows were weights
	}
	for i := first; i < end; i++ {
		row := l[i*n+j0 : i*n+j1]
		for k := range row {
			row[k] = columns[k*kernel.PanelRows+i-first]
		}
	}
}

// setPivot sets l[j][j] for the square of a pivot, or freezes it. The diagonal element is that of A.
func (c *Cholesky) setPivot(j int, square, diagonal float64) {
	if !(square > pivotNoise*math.Abs(diagonal)) || math.IsInf(square, 0) {
		c.l[j*c.n+j] = FrozenPivot
		c.Frozen++
		return
	}
	c.l[j*c.n+j] = math.Sqrt(square)
}

// subtract sets l[i][j] -= sum over k < j0 of l[i][k] l[j][k] for j in j0..j1 and all i >= j. Rows j are
// copied to a panel of package kernel, k by k. The sums of a row i are then the scores of the panel's rows
// for the weights l[i].
func (c *Cholesky) subtract(j0, j1 int) {
	l, n := c.l, c.n
	rows := make([]float64, j0*kernel.PanelRows)
	for j := j0; j < j1; j++ {
		for k, v := range l[j*n : j*n+j0] {
			rows[k*kernel.PanelRows+j-j0] = v
		}
	}
	strips := (n - j0 + panel - 1) / panel
	For(strips, float64(n-j0)*float64(j1-j0)*float64(j0), func(s int) {
		i0 := j0 + s*panel
		i1 := min(i0+panel, n)
		sums := make([]float64, (i1-i0)*kernel.PanelRows)
		for k0 := 0; k0 < j0; k0 += productChunk {
			k1 := min(k0+productChunk, j0)
			part := rows[k0*kernel.PanelRows : k1*kernel.PanelRows]
			for i := i0; i < i1; i++ {
				kernel.ScorePanels(part, l[i*n+k0:i*n+k1], sums[(i-i0)*kernel.PanelRows:][:kernel.PanelRows], k0 > 0)
			}
		}
		for i := i0; i < i1; i++ {
			row := l[i*n+j0 : i*n+min(j1, i+1)]
			for j := range row {
				row[j] -= sums[(i-i0)*kernel.PanelRows+j]
			}
		}
	})
}

// productChunk is the number of terms k whose part of the panel (64 KB) stays in the second-level cache while
// all rows i use it. It does not change the order of a sum.
const productChunk = 128

// Solve overwrites b with the solution of A x = b.
func (c *Cholesky) Solve(b []float64) {
	n, l := c.n, c.l
	row := func(i int) []float64 { return l[i*n : i*n+n] }
	// L y = b.
	i := 0
	for ; i+4 <= n; i += 4 {
		// Four rows at a time up to column i, then the remaining terms of each: still ascending order within
		// a row.
		var sums [4]float64
		sums[0], sums[1], sums[2], sums[3] = Dot4(row(i), row(i+1), row(i+2), row(i+3), b[:i])
		for k := range sums {
			for j := i; j < i+k; j++ {
				sums[k] += float64(l[(i+k)*n+j] * b[j])
			}
			b[i+k] = (b[i+k] - sums[k]) / l[(i+k)*n+i+k]
		}
	}
	for ; i < n; i++ {
		b[i] = (b[i] - Dot(row(i)[:i], b[:i])) / l[i*n+i]
	}
	// L' x = b, column by column of L', which are the rows of L: four at a time, first within these columns.
	i = n
	for ; i >= 4; i -= 4 {
		for k := i - 1; k >= i-4; k-- {
			b[k] /= l[k*n+k]
			Axpy(-b[k], l[k*n+i-4:k*n+k], b[i-4:k])
		}
		Axpy4(-b[i-1], -b[i-2], -b[i-3], -b[i-4], row(i-1), row(i-2), row(i-3), row(i-4), b[:i-4])
	}
	for i--; i >= 0; i-- {
		b[i] /= l[i*n+i]
		Axpy(-b[i], l[i*n:i*n+i], b[:i])
	}
}
