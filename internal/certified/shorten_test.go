package certified

import (
	"context"
	"math"
	"testing"

	"toptau/internal/matrix"
	"toptau/internal/objective"
)

// TestCollinearColumns has lambda = 0 on standardised one-hot columns, which are collinear but for the rounding of storage: the
// inner solver's minimiser is 480,000 long.
func TestCollinearColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	o := bind(t, problem(t, "patmat-np", hyper(0, "0.05", .01, 0, false)), standardised(t, "a9a"))
	r, err := Solve(context.Background(), o, Options{Gap: 1e-4})
	if err != nil {
		t.Fatal(err)
	}
	length := objective.Norm(r.W)
	t.Logf("|w| = %.4g, %s", length, describe(r))
	if !r.Converged || length > 1000 || length > r.BallRadius {
		t.Errorf("|w| = %g, %s", length, describe(r))
	}
}

// TestShorten lengthens a solution along a direction that changes no score and has it shortened.
func TestShorten(t *testing.T) {
	d := clouds(32, 60, 600, 3, .8)
	for i, x := range d.x {
		d.x[i] = append(x, x[0]+x[1])
	}
	x := d.matrix(t, matrix.Float64)
	o := bind(t, problem(t, "patmat-np", hyper(0, "0.05", 1, 0, false)), x)
	f, err := formOf(o.Problem(), o.Threshold().Kappa())
	if err != nil {
		t.Fatal(err)
	}
	f.rule = o.Threshold()
	s := &session{ctx: context.Background(), source: NewMemory(x, o.Problem().Definition().Population), f: f, opt: Options{Gap: 1e-5}}
	if err := s.solve(); err != nil || !s.done() {
		t.Fatal(err)
	}
	before, lower, value := objective.Norm(s.best.w), s.lower, s.upper
	if err := s.shorten(); err != nil || objective.Norm(s.best.w) != before {
		t.Errorf("a short point was shortened from %g to %g: %v", before, objective.Norm(s.best.w), err)
	}
	null := []float64{1e4, 1e4, 0, -1e4}
	axpy(1, null, s.best.w)
	if err := s.shorten(); err != nil {
		t.Fatal(err)
	}
	after := objective.Norm(s.best.w)
	t.Logf("|w| %g, lengthened %g, shortened %g; F %.12g, then %.12g, bound %.12g", before, math.Sqrt(3)*1e4, after, value, s.upper, s.lower)
	if after > longWeights || s.lower != lower || !s.done() || math.Abs(o.At(s.best.w, nil).F-s.upper) > 1e-12*s.upper {
		t.Errorf("|w| %g after %g; F %g after %g, bound %g after %g", after, before, s.upper, value, s.lower, lower)
	}
}
