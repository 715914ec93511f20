package linalg

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Four rows at a time give the bits of one at a time, for matrices of all sizes.
func TestRowsInFoursHaveTheBitsOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for n := range 23 {
		m := make([]float64, n*n)
		for i := range m {
			m[i] = r.NormFloat64()
		}
		for i := range n {
			m[i*n+i] += 30
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

func same(t *testing.T, what string, n int, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s, %d rows: element %d is %v instead of %v", what, n, i, got[i], want[i])
		}
	}
}
