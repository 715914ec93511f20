package learn

import (
	"math"
	"math/rand/v2"
	"slices"

	"toptau/internal/optim"
)

// nearby is a matrix near the Hessian: that of a sample of the rows, with its Cholesky factor, or its diagonal alone
// when there are too many columns. With all rows in the sample it is the Hessian and the conjugate gradients end at
// once.
//
// The sample has one row from each of as many equal stretches, drawn by a generator with a fixed seed; all rows of a
// class with few of them are in it. A row of the sample stands for the stretch that it was drawn from. When the
// products since the last factor have cost more than a factor of a larger sample would, the sample grows: rare columns
// that it hardly knows are then known better.
type nearby struct {
	f        *pointwise
	dim      int
	size     int       // rows of the sample
	products int       // Hessian products since the last factor
	rows     [2][]int  // of each class
	thin     bool      // the sampled rows are kept without their zeros
	values   []float64 // the sampled rows, positives first, with a 1 for the intercept last
	cols     []int32   // thin: beside values
	ends     []int     // thin: where each row ends
	scale    []float64 // rows that a sampled row stands for
	full     bool      // a factor, not a diagonal
	matrix   []float64 // lower triangle, row by row, dim x dim; or the diagonal
	weighted []float64
}

// Up to fullDim unknowns the factor pays. The sample starts with sampleRows rows, or a few for every unknown, and has at
// most sampleValues values.
const (
	fullDim      = 640
	sampleRows   = 1024
	sampleGrowth = 4
	sampleValues = 1 << 24
	sampleSeed   = 0x6e6561726279
)

func newNearby(f *pointwise) *nearby {
	n := &nearby{f: f, dim: f.Dim(), full: f.Dim() <= fullDim}
	n.size = max(sampleRows, 4*n.dim)
	if !n.full {
		n.size = 2 * sampleRows
	}
	n.size = min(n.size, max(1, sampleValues/n.dim))
	n.thin = !n.full || n.mostlyZero()
	n.sample()
	return n
}

// mostlyZero judges by the first row of each class.
func (n *nearby) mostlyZero() bool {
	row, some := make([]float64, n.dim-1), 0
	for _, c := range n.f.classes {
		c.part.Row(0, row)
		for _, x := range row {
			if x != 0 {
				some++
			}
		}
	}
	return 4*some < 2*len(row)
}

// sample draws the sample.
func (n *nearby) sample() {
	positives, negatives := n.f.classes[0].part.Rows(), n.f.classes[1].part.Rows()
	n.size = min(n.size, positives+negatives)
	few := min(positives, negatives, n.size/2)
	n.rows, n.values, n.scale = [2][]int{}, n.values[:0], n.scale[:0]
	n.cols, n.ends = n.cols[:0], n.ends[:0]
	if !n.thin {
		n.values = slices.Grow(n.values, n.size*n.dim)
	}
	n.draw(0, min(positives, max(few, n.size-negatives)))
	n.draw(1, min(negatives, max(few, n.size-positives)))
}

// grow enlarges the sample when that pays: a product takes two operations a value of the data, a factor half an operation
// for each sampled row and pair of columns.
func (n *nearby) grow() {
	positives, negatives := n.f.classes[0].part.Rows(), n.f.classes[1].part.Rows()
	larger := min(sampleGrowth*n.size, positives+negatives, sampleValues/n.dim)
	if n.full && larger > n.size && 4*float64(n.products)*float64(positives+negatives) > float64(larger)*float64(n.dim) {
		n.size = larger
		n.sample()
	}
	n.products = 0
}

// draw adds count rows of class k to the sample.
func (n *nearby) draw(k, count int) {
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
		n.add(row)
	}
}

// add keeps a sampled row.
func (n *nearby) add(row []float64) {
	if !n.thin {
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

// factor forms and factors the matrix for the current curvatures, with the damping on its diagonal.
func (n *nearby) factor(damping float64) {
	n.grow()
	n.weighted = n.weighted[:0]
	for k, rows := range n.rows {
		for _, row := range rows {
			n.weighted = append(n.weighted, float64(n.f.curve[k][row]*n.scale[len(n.weighted)]))
		}
	}
	if !n.full {
		n.diagonal(damping)
		return
	}
	if n.matrix == nil {
		n.matrix = make([]float64, n.dim*n.dim)
	}
	clear(n.matrix)
	if n.thin {
		n.thinGram()
	} else {
		n.gram()
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
	cholesky(n.matrix, n.dim)
}

// ridge keeps the matrix positive definite where the sample says nothing: little when it is the whole data.
func (n *nearby) ridge(trace float64) float64 {
	share := 1e-4
	if len(n.weighted) == n.f.classes[0].part.Rows()+n.f.classes[1].part.Rows() {
		share = 1e-10
	}
	if trace == 0 {
		return 1
	}
	return share * trace / float64(n.dim)
}

// diagonal keeps the diagonal alone.
func (n *nearby) diagonal(damping float64) {
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
	ridge := n.ridge(100*trace) + damping
	for j := range n.matrix {
		n.matrix[j] += ridge
		if j < n.dim-1 {
			n.matrix[j] += n.f.lambda
		}
	}
}

// strip is the rows of the matrix that a goroutine adds to at a time.
const strip = 16

// thinGram adds the weighted products of the sampled rows, pair by pair of what is not 0.
func (n *nearby) thinGram() {
	d := n.dim
	strips := (d + strip - 1) / strip
	inParallel(strips, len(n.values) > 1<<14, func(k int) {
		k = strips - 1 - k // long rows first
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

// gram adds the weighted products of the sampled rows, four rows at a time, a strip of the matrix on each goroutine.
func (n *nearby) gram() {
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

// apply writes the inverse times r to out.
func (n *nearby) apply(r, out []float64) {
	if !n.full {
		for j, x := range r {
			out[j] = x / n.matrix[j]
		}
		return
	}
	copy(out, r)
	solve(n.matrix, n.dim, out)
}

// cholesky overwrites the lower triangle of a with its factor. A pivot that is lost to rounding becomes very large, which
// freezes its unknown: the result stays positive definite.
func cholesky(a []float64, n int) {
	for i := range n {
		row := a[i*n : i*n+i+1]
		for j := range i {
			row[j] = (row[j] - optim.Dot(row[:j], a[j*n:j*n+j])) / a[j*n+j]
		}
		pivot := row[i] - optim.Dot(row[:i], row[:i])
		if !(pivot > 1e-15*row[i]) {
			row[i] = 1e100
			continue
		}
		row[i] = math.Sqrt(pivot)
	}
}

// solve overwrites b with the solution of L L' x = b.
func solve(l []float64, n int, b []float64) {
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
