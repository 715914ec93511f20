package certified

import "math"

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

// choleskyBlock is the number of columns that are finished together.
const choleskyBlock = 48

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
			strips := (n - j0 + choleskyBlock - 1) / choleskyBlock
			parallel(strips, float64(n-j0)*float64(j1-j0)*float64(j0), func(s int) {
				i0 := j0 + s*choleskyBlock
				subtractProducts(l, n, i0, min(i0+choleskyBlock, n), j0, j1, j0)
			})
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

// subtractProducts sets l[i][j] -= sum over k < depth of l[i][k] l[j][k] for i in i0..i1, j in j0..j1, j <= i.
func subtractProducts(l []float64, n, i0, i1, j0, j1, depth int) {
	i := i0
	for ; i+3 <= i1; i += 3 {
		a0, a1, a2 := l[i*n:i*n+depth], l[(i+1)*n:(i+1)*n+depth], l[(i+2)*n:(i+2)*n+depth]
		last := min(j1, i+3)
		j := j0
		for ; j+3 <= last; j += 3 {
			s00, s01, s02, s10, s11, s12, s20, s21, s22 := dot33(a0, a1, a2,
				l[j*n:j*n+depth], l[(j+1)*n:(j+1)*n+depth], l[(j+2)*n:(j+2)*n+depth])
			// Entries above the diagonal are written too; they are never read.
			t0, t1, t2 := l[i*n+j:i*n+j+3], l[(i+1)*n+j:(i+1)*n+j+3], l[(i+2)*n+j:(i+2)*n+j+3]
			t0[0] -= s00
			t0[1] -= s01
			t0[2] -= s02
			t1[0] -= s10
			t1[1] -= s11
			t1[2] -= s12
			t2[0] -= s20
			t2[1] -= s21
			t2[2] -= s22
		}
		for ; j < last; j++ {
			b := l[j*n : j*n+depth]
			l[i*n+j] -= dot(a0, b)
			l[(i+1)*n+j] -= dot(a1, b)
			l[(i+2)*n+j] -= dot(a2, b)
		}
	}
	for ; i < i1; i++ {
		for j := j0; j < min(j1, i+1); j++ {
			l[i*n+j] -= dot(l[i*n:i*n+depth], l[j*n:j*n+depth])
		}
	}
}

// solve overwrites b with the solution of A x = b.
func (c *cholesky) solve(b []float64) {
	n, l := c.n, c.l
	for i := range n {
		b[i] = (b[i] - dot(l[i*n:i*n+i], b[:i])) / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		b[i] /= l[i*n+i]
		axpy(-b[i], l[i*n:i*n+i], b[:i])
	}
}
