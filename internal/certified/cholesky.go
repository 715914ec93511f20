package certified

import (
	"math"

	"toptau/internal/kernel"
)

// cholesky is the factor L of a symmetric positive definite n x n matrix A = L L', row-major, lower triangle.
// A pivot that is not clearly positive is replaced by a very large one, which freezes its unknown: the matrices of an
// interior-point method are semidefinite up to rounding when columns are collinear, and refinement mends the rest.
type cholesky struct {
	n      int
	l      []float64
	frozen int // pivots replaced in the last factorisation
}

// frozenPivot stands for a pivot that is not positive.
const frozenPivot = 1e100

// choleskyBlock is the number of columns that are finished together: a panel of package kernel.
const choleskyBlock = kernel.PanelRows

// factor computes the factor of the matrix whose lower triangle stands in a (n x n, row-major). a is not changed.
func (c *cholesky) factor(a []float64, n int) {
	c.n = n
	if cap(c.l) < n*n {
		c.l = make([]float64, n*n)
	}
	c.l = c.l[:n*n]
	l := c.l
	for i := range n {
		copy(l[i*n:i*n+i+1], a[i*n:i*n+i+1])
	}
	c.frozen = 0
	for j0 := 0; j0 < n; j0 += choleskyBlock {
		j1 := min(j0+choleskyBlock, n)
		// Left-looking: subtract what the finished columns contribute to columns j0..j1 of all rows below.
		if j0 > 0 {
			c.subtract(j0, j1)
		}
		c.factorBlock(a, j0, j1)
		strips := (n - j1 + choleskyBlock - 1) / choleskyBlock
		parallel(strips, float64(n-j1)*float64(j1-j0)*float64(j1-j0)/2, func(s int) {
			i0 := j1 + s*choleskyBlock
			for i := i0; i < min(i0+choleskyBlock, n); i++ {
				row := l[i*n : i*n+j1]
				for j := j0; j < j1; j++ {
					row[j] = (row[j] - dot(l[j*n+j0:j*n+j], row[j0:j])) / l[j*n+j]
				}
			}
		})
	}
}

// factorBlock finishes the diagonal block of columns j0..j1, from which all earlier columns are already subtracted.
func (c *cholesky) factorBlock(a []float64, j0, j1 int) {
	l, n := c.l, c.n
	for j := j0; j < j1; j++ {
		row := l[j*n : j*n+j+1]
		for k := j0; k < j; k++ {
			row[k] = (row[k] - dot(l[k*n+j0:k*n+k], row[j0:k])) / l[k*n+k]
		}
		pivot := row[j] - dot(row[j0:j], row[j0:j])
		if !(pivot > 1e-15*math.Abs(a[j*n+j])) || math.IsInf(pivot, 0) {
			row[j] = frozenPivot
			c.frozen++
			continue
		}
		row[j] = math.Sqrt(pivot)
	}
}

// subtract sets l[i][j] -= sum over k < j0 of l[i][k] l[j][k] for j in j0..j1 and all i >= j. Rows j lie in a panel, k by k,
// so that the sums of a row i are the scores of the panel's rows with l[i] for weights.
func (c *cholesky) subtract(j0, j1 int) {
	l, n := c.l, c.n
	panel := make([]float64, j0*kernel.PanelRows)
	for j := j0; j < j1; j++ {
		for k, v := range l[j*n : j*n+j0] {
			panel[k*kernel.PanelRows+j-j0] = v
		}
	}
	strips := (n - j0 + choleskyBlock - 1) / choleskyBlock
	parallel(strips, float64(n-j0)*float64(j1-j0)*float64(j0), func(s int) {
		i0 := j0 + s*choleskyBlock
		i1 := min(i0+choleskyBlock, n)
		sums := make([]float64, (i1-i0)*kernel.PanelRows)
		for k0 := 0; k0 < j0; k0 += productChunk {
			k1 := min(k0+productChunk, j0)
			part := panel[k0*kernel.PanelRows : k1*kernel.PanelRows]
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

// productChunk is the number of terms whose part of a panel stays in cache while many sums use it.
const productChunk = 128

// solve overwrites b with the solution of A x = b.
func (c *cholesky) solve(b []float64) {
	n, l := c.n, c.l
	row := func(i int) []float64 { return l[i*n : i*n+n] }
	i := 0
	for ; i+4 <= n; i += 4 {
		// Four rows up to the first of them, then the rest of each: the order of one row's sum.
		var sums [4]float64
		sums[0], sums[1], sums[2], sums[3] = dot4(row(i), row(i+1), row(i+2), row(i+3), b[:i])
		for k := range sums {
			for j := i; j < i+k; j++ {
				sums[k] += float64(l[(i+k)*n+j] * b[j])
			}
			b[i+k] = (b[i+k] - sums[k]) / l[(i+k)*n+i+k]
		}
	}
	for ; i < n; i++ {
		b[i] = (b[i] - dot(row(i)[:i], b[:i])) / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		b[i] /= l[i*n+i]
		axpy(-b[i], l[i*n:i*n+i], b[:i])
	}
}
