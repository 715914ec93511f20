package learn

import (
	"math"
	"math/rand/v2"
	"slices"

	"toptau/internal/core/optim"
)

// preconditioner approximates the Hessian by that of a sample of the rows, with its Cholesky factor. With too
// many columns it keeps the diagonal only. With all rows in the sample it is the Hessian, and the conjugate
// gradients end at once.
//
// The rows are divided into stretches of equal length, and a generator with a fixed seed draws one row from
// each. The drawn row represents its stretch. All rows of a small class are in the sample. The sample grows
// when the products since the last factor have cost more than the factor of a larger sample: rare columns are
// then represented better.
type preconditioner struct {
	f        *pointwise
	dim      int
	size     int       // rows of the sample
	products int       // Hessian products since the last factor
	rows     [2][]int  // of each class
	sparse   bool      // the sampled rows are kept without their zeros
	values   []float64 // of the sampled rows, positives first; the last of each is 1, for the intercept
	cols     []int32   // of values; sparse rows only
	ends     []int     // of each row in values; sparse rows only
	scale    []float64 // number of rows that each sampled row represents
	full     bool      // matrix is a factor; false: a diagonal
	matrix   []float64 // lower triangle, row by row, dim x dim; or the diagonal
	weighted []float64 // curvature times scale of each sampled row
}

// These numbers decide the speed only. All were chosen by hand.
const (
	fullDim      = 640            // unknowns up to which a factor pays
	sampleRows   = 1024           // of the first sample, or rowsPerDim for each unknown
	rowsPerDim   = 4              //
	sampleGrowth = 4              // factor of the number of rows
	sampleValues = 1 << 24        // at most: 128 MB
	sampleSeed   = 0x6e6561726279 // of the generator; any number
	mostlyZero   = 0.25           // fraction of values that are not 0 below which rows are kept sparse

	// The ridge, as a part of the mean diagonal element. It keeps the matrix positive definite where the
	// sample has no information, and against rounding where the sample is the whole data.
	sampleRidge = 1e-4
	wholeRidge  = 1e-10
	// diagonalRidge is the factor of the ridge of a diagonal. Its elements ignore that columns are
	// correlated.
	diagonalRidge = 100

	// lostPivot is the part of the diagonal element below which a pivot is rounding error, and frozen
	// replaces such a pivot. It sets its unknown to about 0.
	lostPivot = 1e-15
	frozen    = 1e100
)

func newPreconditioner(f *pointwise) *preconditioner {
	n := &preconditioner{f: f, dim: f.Dim(), full: f.Dim() <= fullDim}
	n.size = max(sampleRows, rowsPerDim*n.dim)
	if !n.full {
		n.size = 2 * sampleRows
	}
	n.size = min(n.size, max(1, sampleValues/n.dim))
	n.sparse = !n.full || n.hasFewValues()
	n.drawSample()
	return n
}

// hasFewValues reports whether most values are 0 in the first row of each class.
func (n *preconditioner) hasFewValues() bool {
	row, some := make([]float64, n.dim-1), 0
	for _, c := range n.f.classes {
		c.part.Row(0, row)
		for _, x := range row {
			if x != 0 {
				some++
			}
		}
	}
	return float64(some) < mostlyZero*float64(2*len(row))
}

// drawSample draws the sample.
func (n *preconditioner) drawSample() {
	positives, negatives := n.f.classes[0].part.Rows(), n.f.classes[1].part.Rows()
	n.size = min(n.size, positives+negatives)
	few := min(positives, negatives, n.size/2)
	n.rows, n.values, n.scale = [2][]int{}, n.values[:0], n.scale[:0]
	n.cols, n.ends = n.cols[:0], n.ends[:0]
	if !n.sparse {
		n.values = slices.Grow(n.values, n.size*n.dim)
	}
	n.drawClass(0, min(positives, max(few, n.size-negatives)))
	n.drawClass(1, min(negatives, max(few, n.size-positives)))
}

// grow enlarges the sample if that pays. A product takes two operations for each value of the data, a factor
// half an operation for each sampled row and pair of columns.
func (n *preconditioner) grow() {
	positives, negatives := n.f.classes[0].part.Rows(), n.f.classes[1].part.Rows()
	larger := min(sampleGrowth*n.size, positives+negatives, sampleValues/n.dim)
	if n.full && larger > n.size && 4*float64(n.products)*float64(positives+negatives) > float64(larger)*float64(n.dim) {
		n.size = larger
		n.drawSample()
	}
	n.products = 0
}

// drawClass adds count rows of class k to the sample.
func (n *preconditioner) drawClass(k, count int) {
	part := n.f.classes[k].part
	rows := part.Rows()
	row := make([]float64, n.dim)
	row[n.dim-1] = 1
	random := rand.NewPCG(sampleSeed, uint64(k))
	for s := range count {
		first, end := s*rows/count, (s+1)*rows/count
		drawn := first + int(random.Uint64()%uint64(end-first))
		n.rows[k] = append(n.rows[k], drawn)
		n.scale = append(n.scale, float64(end-first))
		part.Row(drawn, row[:n.dim-1])
		n.addRow(row)
	}
}

// addRow keeps a sampled row.
func (n *preconditioner) addRow(row []float64) {
	if !n.sparse {
		n.values = append(n.values, row...)
		return
	}
	for j, x := range row {
		if x != 0 {
			n.cols, n.values = append(n.cols, int32(j)), append(n.values, x)
		}
	}
	n.ends = append(n.ends, len(n.cols))
}

// factor computes the matrix for the current curvatures, with damping on its diagonal, and factors it.
func (n *preconditioner) factor(damping float64) {
	n.grow()
	n.weighted = n.weighted[:0]
	for k, rows := range n.rows {
		for _, row := range rows {
			n.weighted = append(n.weighted, float64(n.f.curve[k][row]*n.scale[len(n.weighted)]))
		}
	}
	if !n.full {
		n.keepDiagonal(damping)
		return
	}
	if n.matrix == nil {
		n.matrix = make([]float64, n.dim*n.dim)
	}
	clear(n.matrix)
	if n.sparse {
		n.sparseGram()
	} else {
		n.denseGram()
	}
	trace := 0.0
	for j := range n.dim {
		trace += n.matrix[j*n.dim+j]
	}
	ridge := n.ridge(trace) + damping
	for j := range n.dim {
		n.matrix[j*n.dim+j] += ridge
		if j < n.dim-1 {
			n.matrix[j*n.dim+j] += n.f.lambda
		}
	}
	factorInPlace(n.matrix, n.dim)
}

// ridge returns the number to add to the diagonal.
func (n *preconditioner) ridge(trace float64) float64 {
	part := sampleRidge
	if len(n.weighted) == n.f.classes[0].part.Rows()+n.f.classes[1].part.Rows() {
		part = wholeRidge
	}
	if trace == 0 {
		return 1
	}
	return part * trace / float64(n.dim)
}

// keepDiagonal forms the diagonal alone.
func (n *preconditioner) keepDiagonal(damping float64) {
	if n.matrix == nil {
		n.matrix = make([]float64, n.dim)
	}
	clear(n.matrix)
	first := 0
	for s, m := range n.weighted {
		for k := first; k < n.ends[s]; k++ {
			x := n.values[k]
			n.matrix[n.cols[k]] += float64(m * float64(x*x))
		}
		first = n.ends[s]
	}
	trace := 0.0
	for _, x := range n.matrix {
		trace += x
	}
	ridge := n.ridge(diagonalRidge*trace) + damping
	for j := range n.matrix {
		n.matrix[j] += ridge
		if j < n.dim-1 {
			n.matrix[j] += n.f.lambda
		}
	}
}

// strip is the number of rows of the matrix that a goroutine adds to at a time.
const strip = 16

// sparseGram adds the weighted products of the sampled rows, for each pair of values that are not 0.
func (n *preconditioner) sparseGram() {
	d := n.dim
	strips := (d + strip - 1) / strip
	inParallel(strips, len(n.values) > 1<<14, func(k int) {
		k = strips - 1 - k // long rows first: the last ones to finish are short
		first := 0
		for s, m := range n.weighted {
			cols, values := n.cols[first:n.ends[s]], n.values[first:n.ends[s]]
			first = n.ends[s]
			if m == 0 {
				continue
			}
			p, _ := slices.BinarySearch(cols, int32(k*strip))
			for ; p < len(cols) && int(cols[p]) < (k+1)*strip; p++ {
				row, a := n.matrix[int(cols[p])*d:], float64(m*values[p])
				for q, j := range cols[:p+1] {
					row[j] += float64(a * values[q])
				}
			}
		}
	})
}

// denseGram adds the weighted products of the sampled rows, four rows at a time, a strip of the matrix on
// each goroutine.
func (n *preconditioner) denseGram() {
	d := n.dim
	strips := (d + strip - 1) / strip
	inParallel(strips, len(n.weighted)*d*d > 1<<22, func(k int) {
		k = strips - 1 - k // long rows first
		for s := 0; s < len(n.weighted); s += 4 {
			var m [4]float64
			var x [4][]float64
			for q := range m {
				x[q] = n.values[:d]
				if s+q < len(n.weighted) {
					m[q], x[q] = n.weighted[s+q], n.values[(s+q)*d:(s+q+1)*d]
				}
			}
			if m == [4]float64{} {
				continue
			}
			for i := k * strip; i < min((k+1)*strip, d); i++ {
				a, b, c, e := m[0]*x[0][i], m[1]*x[1][i], m[2]*x[2][i], m[3]*x[3][i]
				if a == 0 && b == 0 && c == 0 && e == 0 {
					continue
				}
				row := n.matrix[i*d : i*d+i+1]
				x0, x1, x2, x3 := x[0][:len(row)], x[1][:len(row)], x[2][:len(row)], x[3][:len(row)]
				for j := range row {
					row[j] += (float64(a*x0[j]) + float64(b*x1[j])) + (float64(c*x2[j]) + float64(e*x3[j]))
				}
			}
		}
	})
}

// apply writes the inverse of the matrix times r to out.
func (n *preconditioner) apply(r, out []float64) {
	if !n.full {
		for j, x := range r {
			out[j] = x / n.matrix[j]
		}
		return
	}
	copy(out, r)
	solveFactored(n.matrix, n.dim, out)
}

// This Cholesky factorisation is simpler than that of certified/linalg, which is blocked for systems of
// thousands of unknowns. Sharing it would change the last bits of every fit.

// factorInPlace overwrites the lower triangle of a with its Cholesky factor. A pivot that is lost to rounding
// is frozen, so the result stays positive definite.
func factorInPlace(a []float64, n int) {
	for i := range n {
		row := a[i*n : i*n+i+1]
		for j := range i {
			row[j] = (row[j] - optim.Dot(row[:j], a[j*n:j*n+j])) / a[j*n+j]
		}
		pivot := row[i] - optim.Dot(row[:i], row[:i])
		if !(pivot > lostPivot*row[i]) {
			row[i] = frozen
			continue
		}
		row[i] = math.Sqrt(pivot)
	}
}

// solveFactored overwrites b with the solution of L L' x = b.
func solveFactored(l []float64, n int, b []float64) {
	for i := range n {
		b[i] = (b[i] - optim.Dot(l[i*n:i*n+i], b[:i])) / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		b[i] /= l[i*n+i]
		for j, x := range l[i*n : i*n+i] {
			b[j] -= float64(b[i] * x)
		}
	}
}
