package restricted

import (
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/core/certified/linalg"
)

// TestRowSpaceKeepsScores changes to the row space and back: scores and norms stay.
func TestRowSpaceKeepsScores(t *testing.T) {
	x := wideRows(42, 50)
	for _, sparse := range []bool{false, true} {
		pos, row := pack(x[:20], 300, sparse, nil), pack(append(x[20:], x[3], x[25]), 300, sparse, nil)
		s := newRowSpace(pos, row)
		w := wideRows(43, 1)[0]
		u := s.reduce(w)
		back := s.expand(u)
		for k, in := range []*linalg.Rows{pos, row} {
			out := []*linalg.Rows{s.positives, s.population}[k]
			z, zu, zb := make([]float64, in.N), make([]float64, in.N), make([]float64, in.N)
			in.Times(w, z)
			out.Times(u, zu)
			in.Times(back, zb)
			for i := range z {
				if math.Abs(z[i]-zu[i]) > 1e-10 || math.Abs(z[i]-zb[i]) > 1e-10 {
					t.Fatalf("row %d: %g, in the row space %g, back %g", i, z[i], zu[i], zb[i])
				}
			}
		}
		if a, b := linalg.Dot(u, u), linalg.Dot(back, back); math.Abs(a-b) > 1e-10*a {
			t.Errorf("norms %g and %g", a, b)
		}
	}
}

// wideRows returns n rows of 300 columns.
func wideRows(seed uint64, n int) [][]float64 {
	return randomRows(rand.New(rand.NewPCG(seed, 7)), n, 300, .1)
}
