package certified

import (
	"context"
	"math"
	"testing"

	"toptau/internal/matrix"
)

// TestMoreColumnsThanRows solves problems in the space of their rows, some of which repeat.
func TestMoreColumnsThanRows(t *testing.T) {
	d := clouds(41, 15, 60, 300, .3)
	for i := range 10 {
		d.x, d.y = append(d.x, d.x[i], d.x[len(d.x)-1-2*i]), append(d.y, i%3 > 0, i%2 > 0)
	}
	x := d.matrix(t, matrix.Float64)
	for _, lambda := range []float64{10, 1e-2} {
		for _, n := range everyMethod(lambda) {
			o := bind(t, problem(t, n.name, n.h), x)
			r, err := Solve(context.Background(), o, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Converged {
				t.Errorf("%s: %s", label(n), describe(r))
			}
		}
	}
}

func TestRowSpaceKeepsScores(t *testing.T) {
	d := clouds(42, 20, 30, 300, .3)
	for _, sparse := range []bool{false, true} {
		pos, row := pack(d.x[:20], 300, sparse, nil), pack(append(d.x[20:], d.x[3], d.x[25]), 300, sparse, nil)
		s := newRowSpace(pos, row)
		w := clouds(43, 1, 0, 300, 0).x[0]
		u := s.reduce(w)
		back := s.expand(u)
		for k, in := range []*rows{pos, row} {
			out := []*rows{s.pos, s.row}[k]
			z, zu, zb := make([]float64, in.n), make([]float64, in.n), make([]float64, in.n)
			in.times(w, z)
			out.times(u, zu)
			in.times(back, zb)
			for i := range z {
				if math.Abs(z[i]-zu[i]) > 1e-10 || math.Abs(z[i]-zb[i]) > 1e-10 {
					t.Fatalf("row %d: %g, in the row space %g, back %g", i, z[i], zu[i], zb[i])
				}
			}
		}
		if a, b := dot(u, u), dot(back, back); math.Abs(a-b) > 1e-10*a {
			t.Errorf("norms %g and %g", a, b)
		}
	}
}
