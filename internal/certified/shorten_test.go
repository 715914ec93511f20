package certified

import (
	"context"
	"math"
	"slices"
	"testing"

	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
	"toptau/internal/matrix"
	"toptau/internal/objective"
)

// TestCollinearColumns has lambda = 0 on standardised one-hot columns. They are collinear up to the rounding
// of storage, and the inner solver's minimiser has norm 480,000.
func TestCollinearColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	o := bind(t, newProblem(t, "patmat-np", hyper(0, "0.05", .01, 0, false)), standardised(t, "a9a"))
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

// TestShorten lengthens a solution along a direction that changes no score, and shortens it.
func TestShorten(t *testing.T) {
	d := clouds(32, 60, 600, 3, .8)
	for i, x := range d.x {
		d.x[i] = append(x, x[0]+x[1])
	}
	x := d.matrix(t, matrix.Float64)
	o := bind(t, newProblem(t, "patmat-np", hyper(0, "0.05", 1, 0, false)), x)
	f, err := form.Bind(o.Problem(), o.Threshold())
	if err != nil {
		t.Fatal(err)
	}
	s := newSolver(context.Background(), NewMemory(x, o.Problem().Definition().Population), f, Options{Gap: 1e-5})
	if err := s.solve(); err != nil || !s.done() {
		t.Fatal(err)
	}
	before, lower, value := objective.Norm(s.best.at.W), s.lower, s.upper
	if err := s.shorten(); err != nil || objective.Norm(s.best.at.W) != before {
		t.Errorf("a short point was shortened from %g to %g: %v", before, objective.Norm(s.best.at.W), err)
	}
	null := []float64{1e4, 1e4, 0, -1e4}
	long := slices.Clone(s.best.at.W)
	linalg.Axpy(1, null, long)
	s.best.at = newPoint(long)
	if err := s.shorten(); err != nil {
		t.Fatal(err)
	}
	after := objective.Norm(s.best.at.W)
	t.Logf("|w| %g, lengthened %g, shortened %g; F %.12g, then %.12g, bound %.12g", before, math.Sqrt(3)*1e4, after, value, s.upper, s.lower)
	if after > longWeights || s.lower != lower || !s.done() || math.Abs(o.At(s.best.at.W, nil).F-s.upper) > 1e-12*s.upper {
		t.Errorf("|w| %g after %g; F %g after %g, bound %g after %g", after, before, s.upper, value, s.lower, lower)
	}
}
