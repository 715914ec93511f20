package certified

import (
	"context"
	"slices"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
)

// TestCertificateCannotBeFooled changes a certificate in the ways that mistakes could. It must be refused, or
// have a lower bound that is weaker and never above the optimum.
func TestCertificateCannotBeFooled(t *testing.T) {
	if testing.Short() {
		t.Skip("solves many problems")
	}
	d := clouds(31, 40, 300, 4, .9)
	x := d.matrix(t, matrix.Float64)
	other := clouds(32, 40, 300, 4, .9).matrix(t, matrix.Float64)
	fewer := clouds(33, 20, 150, 4, .9).matrix(t, matrix.Float64)
	for _, lambda := range []float64{1e-2, 0} {
		for _, n := range everyMethod(lambda) {
			o := bind(t, newProblem(t, n.name, n.h), x)
			r, err := Solve(context.Background(), o, Options{Gap: 1e-8})
			if err != nil {
				t.Fatal(err)
			}
			if r.Zero == ZeroIsOptimal {
				continue
			}
			radius := r.BallRadius
			optimum := r.Objective // within 1e-8 of the smallest value
			check := func(what string, o *objective.Objective, optimum float64, w []float64, p, a Sparse, weaker bool) {
				b, err := Verify(o, w, p, a, radius)
				if err != nil {
					return // refused
				}
				if b.Lower > optimum*(1+1e-9) {
					t.Errorf("%s, %s: the bound %.12g is above the optimum %.12g", label(n), what, b.Lower, optimum)
				}
				if weaker && b.Lower >= r.LowerBound {
					t.Errorf("%s, %s: the bound %.12g is no weaker than %.12g", label(n), what, b.Lower, r.LowerBound)
				}
				if b.Upper < optimum*(1-1e-7) {
					t.Errorf("%s, %s: F = %.12g is below the optimum %.12g", label(n), what, b.Upper, optimum)
				}
			}
			check("unchanged", o, optimum, r.W, r.P, r.A, false)

			w := slices.Clone(r.W)
			w[0] += .1
			if b, err := Verify(o, w, r.P, r.A, radius); err != nil || b.Upper <= r.Objective {
				t.Errorf("%s: perturbed weights have F = %.12g, the solution %.12g, %v", label(n), b.Upper, r.Objective, err)
			}
			p := Sparse{slices.Clone(r.P.Rows), slices.Clone(r.P.Values)}
			for k := range p.Rows {
				p.Rows[k] = int32(x.Positives.Rows()) - 1 - p.Rows[k]
			}
			// If every positive has the same p, a permutation changes nothing.
			same := len(p.Values) == x.Positives.Rows() && slices.Max(p.Values)-slices.Min(p.Values) < 1e-9*slices.Max(p.Values)
			check("a permuted p", o, optimum, r.W, p, r.A, !same)
			a := Sparse{slices.Clone(r.A.Rows), slices.Clone(r.A.Values)}
			for k := range a.Rows {
				a.Rows[k] = int32(o.Population().Rows) - 1 - a.Rows[k]
			}
			check("a permuted a", o, optimum, r.W, r.P, a, true)

			for what, factor := range map[string]float64{"a larger p": 1.5, "a negative p": -1} {
				p := Sparse{r.P.Rows, slices.Clone(r.P.Values)}
				for k := range p.Values {
					p.Values[k] *= factor
				}
				check(what, o, optimum, r.W, p, r.A, true)
			}
			for what, factor := range map[string]float64{"a sum of a above 1": 1.01, "a sum of a below 1": .9, "a negative a": -1} {
				a := Sparse{r.A.Rows, slices.Clone(r.A.Values)}
				for k := range a.Values {
					a.Values[k] *= factor
				}
				if _, err := Verify(o, r.W, r.P, a, radius); err == nil {
					t.Errorf("%s: %s was accepted", label(n), what)
				}
			}
			point := Sparse{[]int32{r.A.Rows[0]}, []float64{1}}
			check("all of a on one row", o, optimum, r.W, r.P, point, true)
			for what, data := range map[string]*matrix.Matrix{"other data": other, "fewer rows": fewer} {
				theirs := bind(t, newProblem(t, n.name, n.h), data)
				best, err := Solve(context.Background(), theirs, Options{})
				if err != nil {
					t.Fatal(err)
				}
				check(what, theirs, best.Objective, r.W, r.P, r.A, false)
			}
		}
	}
}

// TestWrongK uses a certificate for K = 2 with K = 5, which breaks the cap, and one for K = 5 with K = 2,
// which is feasible.
func TestWrongK(t *testing.T) {
	x := clouds(34, 60, 700, 5, .9).matrix(t, matrix.Float64)
	two := bind(t, newProblem(t, "toppushk", hyper(1e-2, "", 0, 2, false)), x)
	five := bind(t, newProblem(t, "toppushk", hyper(1e-2, "", 0, 5, false)), x)
	a, err := Solve(context.Background(), two, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Solve(context.Background(), five, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if bounds, err := Verify(five, a.W, a.P, a.A, 0); err == nil {
		t.Errorf("a certificate for K = 2 was accepted for K = 5, with the bound %g", bounds.Lower)
	}
	bounds, err := Verify(two, b.W, b.P, b.A, 0)
	if err != nil || bounds.Lower > a.Objective {
		t.Errorf("a certificate for K = 5 gives %g for K = 2, whose optimum is %g: %v", bounds.Lower, a.Objective, err)
	}
}
