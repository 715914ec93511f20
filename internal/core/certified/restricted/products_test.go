package restricted

import (
	"math/rand/v2"
	"testing"

	"toptau/internal/core/certified/linalg"
)

// TestProductsGrow adds rows of both classes in rounds, and compares the products with sums formed one by one.
func TestProductsGrow(t *testing.T) {
	const d = 150
	for _, sparse := range []bool{false, true} {
		r := rand.New(rand.NewPCG(3, 5))
		shift := linalg.NewShift(d)
		shift.Sparse = sparse
		for j := range d {
			shift.Centre[j] = r.NormFloat64() / 8
		}
		classes := [2]*linalg.Rows{linalg.NewRows(shift), linalg.NewRows(shift)}
		var g products
		for _, more := range [][2]int{{3, 70}, {61, 0}, {0, 1}, {1, 58}, {90, 130}} {
			for a, n := range more {
				for range n {
					x := make([]float64, d)
					for range 20 {
						x[r.IntN(d)] = r.NormFloat64()
					}
					classes[a].Add(x, 1)
				}
			}
			g.grow(classes[0], classes[1])
		}
		n := classes[0].N
		c, z := make([]float64, n+classes[1].N), make([]float64, n+classes[1].N)
		w, want := make([]float64, d), make([]float64, n+classes[1].N)
		for i := range c {
			c[i] = max(0, r.NormFloat64())
		}
		g.times(c[:n], c[n:], z)
		classes[0].AddTransposed(c[:n], 1, w)
		classes[1].AddTransposed(c[n:], -1, w)
		classes[0].Times(w, want[:n])
		classes[1].Times(w, want[n:])
		for i := range z {
			if diff := z[i] - want[i]; diff > 1e-4 || diff < -1e-4 {
				t.Fatalf("sparse %v: row %d has score %v, want %v", sparse, i, z[i], want[i])
			}
		}
	}
}
