package certified

import (
	"context"
	"testing"

	"toptau/internal/core/matrix"
)

// TestWideDataAreSolvedByProducts solves wide problems by the products of rows, and the same in the usual way.
func TestWideDataAreSolvedByProducts(t *testing.T) {
	x := clouds(41, 40, 90, WideColumns+10, .1).matrix(t, matrix.Float64)
	for _, n := range everyMethod(1e-2) {
		p := newProblem(t, n.name, n.h)
		if !Wide(p) {
			continue
		}
		o := bind(t, p, x)
		r, err := Solve(context.Background(), o, Options{})
		if err != nil {
			t.Fatal(err)
		}
		usual, err := SolveSource(context.Background(), NewMemory(x, p.Definition().Population), p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Converged || r.LowerBound > usual.Objective || usual.LowerBound > r.Objective {
			t.Errorf("%s: %s, otherwise %s", label(n), describe(r), describe(usual))
		}
	}
}

// TestMoreColumnsThanRows solves problems with more columns than rows, some of which repeat.
func TestMoreColumnsThanRows(t *testing.T) {
	d := clouds(41, 15, 60, 300, .3)
	for i := range 10 {
		d.x, d.y = append(d.x, d.x[i], d.x[len(d.x)-1-2*i]), append(d.y, i%3 > 0, i%2 > 0)
	}
	x := d.matrix(t, matrix.Float64)
	for _, lambda := range []float64{10, 1e-2} {
		for _, n := range everyMethod(lambda) {
			o := bind(t, newProblem(t, n.name, n.h), x)
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
