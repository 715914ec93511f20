package linalg

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Four rows at a time give the bits of one at a time, for matrices of all sizes.
func TestRowsInFoursHaveTheBitsOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 22, panel + 3, 2*panel + 6} {
		m := make([]float64, n*n)
		for i := range m {
			m[i] = r.NormFloat64()
		}
		for i := range n {
			m[i*n+i] += 300
		}
		x, b := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], b[i] = r.NormFloat64(), r.NormFloat64()
		}
		want := append([]float64(nil), b...)
		for i := range n {
			want[i] -= Dot(m[i*n:i*n+i], x[:i]) + float64(m[i*n+i]*x[i])
			Axpy(-x[i], m[i*n:i*n+i], want[:i])
		}
		got := append([]float64(nil), b...)
		SubtractSymmetric(m, n, x, got)
		same(t, "residual", n, got, want)

		var c Cholesky
		c.Factor(m, n)
		l := c.Lower()
		factor := make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				at := m[i*n+j]
				if first := j / panel * panel; first > 0 { // the columns of earlier panels, whose products are added first
					at -= Dot(factor[i*n:i*n+first], factor[j*n:j*n+first])
				}
				at -= Dot(factor[j*n+j/panel*panel:j*n+j], factor[i*n+j/panel*panel:i*n+j])
				if factor[i*n+j] = at / factor[j*n+j]; i == j {
					factor[i*n+j] = math.Sqrt(at)
				}
			}
			same(t, "factor", n, l[i*n:i*n+i+1], factor[i*n:i*n+i+1])
		}
		want = append(want[:0], b...)
		for i := range n {
			want[i] = (want[i] - Dot(l[i*n:i*n+i], want[:i])) / l[i*n+i]
		}
		for i := n - 1; i >= 0; i-- {
			want[i] /= l[i*n+i]
			Axpy(-want[i], l[i*n:i*n+i], want[:i])
		}
		got = append(got[:0], b...)
		c.Solve(got)
		same(t, "solution", n, got, want)
	}
}

// Products with all rows have the bits of products with one row after the other. Rows without a coefficient do not count.
func TestProductsOfRowsHaveTheirBits(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for _, n := range []int{0, 1, 3, 4, 9, 31, rowBlock - 1, rowBlock + 5} {
		for _, d := range []int{1, 2, 10, 13} {
			set, x := NewRows(NewShift(d)), make([]float64, d)
			for range n {
				for j := range x {
					x[j] = r.NormFloat64()
				}
				set.Add(x, 1)
			}
			w, v := make([]float64, d), make([]float64, n)
			for j := range w {
				w[j] = r.NormFloat64()
			}
			z, scores := make([]float64, n), make([]float64, n)
			g, sums, part := make([]float64, d), make([]float64, d), make([]float64, d)
			for i := range n {
				if v[i] = r.NormFloat64(); r.IntN(3) == 0 {
					v[i] = 0
				}
				set.Row(i, x)
				scores[i] = Dot(x, w)
				if i%rowBlock == 0 {
					Axpy(-2, part, sums)
					clear(part)
				}
				if v[i] != 0 {
					Axpy(v[i], x, part)
				}
			}
			Axpy(-2, part, sums)
			set.Times(w, z)
			set.AddTransposed(v, -2, g)
			same(t, "scores", n, z, scores)
			same(t, "sums", n, g, sums)
		}
	}
}

// Products of sparse rows by columns have the bits of products row after row, also where rows were taken back.
func TestProductsOfSparseRowsHaveTheirBits(t *testing.T) {
	const d = 40
	r := rand.New(rand.NewPCG(35, 36))
	row := func(x []float64) []float64 {
		for j := range x {
			if x[j] = 0; r.IntN(8) == 0 {
				x[j] = r.NormFloat64()
			}
		}
		return x
	}
	centre, x := row(make([]float64, d)), make([]float64, d)
	set := NewRows(&Shift{Centre: centre, Common: make([]float64, d), Sparse: true})
	for _, n := range []int{1, 3, rowBlock - 1, rowBlock - 2, rowBlock, rowBlock - 1, 2*rowBlock + 7, 2*rowBlock + 2, 2*rowBlock + 7, 5} {
		for set.N > n {
			set.Truncate(n)
		}
		for set.N < n {
			set.Add(row(x), 1)
		}
		w, v, g, h := make([]float64, d), make([]float64, n), make([]float64, d), make([]float64, d*d)
		for j := range w {
			w[j] = r.NormFloat64()
		}
		for i := range v {
			v[i] = max(0, r.NormFloat64())
		}
		z := make([]float64, n)
		set.Times(w, z)
		set.AddTransposed(v, -2, g)
		set.AddGram(v, h, d)
		sums, part, u, products := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d*d)
		scores, offset := make([]float64, n), Dot(set.offset, w)
		var total float64
		for i := range n {
			if i > 0 && i%rowBlock == 0 {
				Axpy(-2, part, sums)
				clear(part)
			}
			total += v[i]
			index, value := set.index[set.start[i]:set.start[i+1]], set.value[set.start[i]:set.start[i+1]]
			for a, j := range index {
				scores[i] += float64(value[a] * w[j])
				part[j] += float64(v[i] * value[a])
				u[j] += float64(v[i] * value[a])
				for b := range a + 1 {
					products[int(j)*d+int(index[b])] += float64(v[i] * value[a] * value[b])
				}
			}
			scores[i] -= offset
		}
		Axpy(-2, part, sums)
		Axpy(2*Sum(v), set.offset, sums)
		for i, ci := range set.offset {
			for j := range i + 1 {
				cj := set.offset[j]
				products[i*d+j] += float64(total*ci*cj) - (float64(u[i]*cj) + float64(ci*u[j]))
			}
		}
		same(t, "scores", n, z, scores)
		same(t, "sums", n, g, sums)
		same(t, "Gram matrix", n, h, products)
	}
}

func same(t *testing.T, what string, n int, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s, %d rows: element %d is %v instead of %v", what, n, i, got[i], want[i])
		}
	}
}
