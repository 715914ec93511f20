package certified

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/certified/smoothed"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
)

// smoothedAt evaluates a problem smoothed over a width.
func smoothedAt(t *testing.T, s *solver, w []float64, width float64) *smoothedPoint {
	t.Helper()
	e, err := s.descent.evaluateSmoothed(newPoint(w), width)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestSmoothed compares the gradient and Newton's step with differences of the smoothed value, and the bound
// of the solver's cells with that of their members' multipliers, recomputed from the data.
func TestSmoothed(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	x := clouds(21, 60, 500, 4, .8)
	weights := make([]float64, len(x.x))
	for i := range weights {
		weights[i] = 1 + float64(r.IntN(3))
	}
	weighted, err := matrix.FromDense(x.x, x.y, weights, matrix.Float64)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*matrix.Matrix{x.matrix(t, matrix.Float64), weighted} {
		for _, n := range append(everyMethod(.01), everyMethod(0)...) {
			o := bind(t, newProblem(t, n.name, n.h), x)
			f, err := form.Bind(o.Problem(), o.Threshold())
			if err != nil {
				t.Fatal(err)
			}
			memory := NewMemory(x, o.Problem().Definition().Population)
			w := make([]float64, x.Cols())
			for j := range w {
				w[j] = 2 * (float64(r.Uint64()>>11)/(1<<53) - .5)
			}
			s := newSolver(context.Background(), memory, f, Options{})
			s.startAtZero()
			s.eval.precise = true
			s.empty(&s.shape, linalg.NewShift(len(w)))
			at := smoothedAt(t, s, w, .3)
			checkDerivatives(t, label(n), smoothedAt(t, s, w, .3).Evaluation,
				func(w []float64) float64 { return smoothedAt(t, s, w, .3).Value })
			s.lower = math.Inf(-1)
			bound := s.descent.acceptSmoothBound(at)
			result := s.result()
			memory.divide(result.GroupsP, 0, x.Positives.Rows(), &result.P)
			memory.divide(result.GroupsA, memory.first(), x.Rows(), &result.A)
			b, err := Verify(o, w, result.P, result.A, f.Ball(w))
			if err != nil {
				t.Fatalf("%s: %v", label(n), err)
			}
			if math.Abs(b.Upper-at.f) > 1e-9*b.Upper || math.Abs(b.Lower-math.Max(0, bound)) > 1e-9*(1+math.Abs(bound)) ||
				at.Value < at.f*(1-1e-12) {
				t.Errorf("%s: F %.12g, smoothed %.15g (%.2g more), bound %.15g; recomputed %.15g, %+v", label(n), at.f, at.Value, at.Value-at.f, bound, b.Lower, b)
			}
			checkAtOnce(t, label(n), s, o, at)
		}
	}
}

// checkAtOnce evaluates the same point with one question, for which a sample tells where the corners are. Value, gradient and bound must be
// about the same, and the bound that of the multipliers.
func checkAtOnce(t *testing.T, name string, exact *solver, o *objective.Objective, want *smoothedPoint) {
	t.Helper()
	x := o.Matrix()
	memory := NewMemory(x, o.Problem().Definition().Population)
	source := &remote{Memory: memory}
	s := newSolver(context.Background(), source, exact.form, Options{Gap: 1e-2})
	s.startAtZero()
	s.empty(&s.shape, linalg.NewShift(x.Cols()))
	sample := &matrix.Matrix{Positives: x.Positives.Every(1, 2), Negatives: x.Negatives.Every(1, 2)}
	s.eval.expected = newExpectation(sample, o.Problem().Definition().Population, s.form, s.shape)
	got := smoothedAt(t, s, want.W, want.Hinge.Width)
	if source.asked > 3 { // more than 1 if the sample was far off
		t.Errorf("%s: %d questions", name, source.asked)
	}
	if off := math.Abs(got.Value - want.Value); !(off <= got.Off+1e-12*want.Value) && !(off <= 1e-4*want.Value) {
		t.Errorf("%s: value %.9g with an error of %g, exactly %.9g", name, got.Value, got.Off, want.Value)
	}
	g, h := got.Gradient(), want.Gradient()
	linalg.Axpy(-1, h, g)
	if math.Sqrt(square(g)) > .02*(1+math.Sqrt(square(h))) {
		t.Errorf("%s: gradient off by %g of %g", name, math.Sqrt(square(g)), math.Sqrt(square(h)))
	}
	s.lower = math.Inf(-1)
	bound := s.descent.acceptSmoothBound(got)
	result := s.result()
	memory.divide(result.GroupsP, 0, x.Positives.Rows(), &result.P)
	memory.divide(result.GroupsA, memory.first(), x.Rows(), &result.A)
	b, err := Verify(o, want.W, result.P, result.A, s.form.Ball(want.W))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got.f < b.Upper*(1-1e-12) || math.Abs(b.Lower-math.Max(0, bound)) > 1e-9*(1+math.Abs(bound)) {
		t.Errorf("%s: F at most %.12g, bound %.15g; recomputed %.12g, %.15g", name, got.f, bound, b.Upper, b.Lower)
	}
}

// checkDerivatives compares with differences along one direction.
func checkDerivatives(t *testing.T, name string, at *smoothed.Evaluation, value func(w []float64) float64) {
	t.Helper()
	const h = 1e-5
	gradient := at.Gradient()
	step := at.NewtonStep(linalg.NewShift(len(at.W)))
	moved := func(by float64) []float64 {
		w := slices.Clone(at.W)
		linalg.Axpy(by, step, w)
		return w
	}
	before, after := value(moved(-h)), value(moved(h))
	slope := linalg.Dot(gradient, step)
	if at.Smooth() < len(at.W) {
		return // too little curvature: the step has no scale
	}
	if got := (after - before) / (2 * h); math.Abs(got-slope) > 1e-4*math.Abs(slope)+1e-9*at.Value {
		t.Errorf("%s: slope %g, differences %g", name, slope, got)
	}
	// Along Newton's step the second derivative is -slope, except for rows that cross the end of a corner on
	// the way.
	if got := (after - 2*at.Value + before) / (h * h); at.Form.Lambda > 0 && math.Abs(got+slope) > .02*math.Abs(slope)+1e-5*at.Value {
		t.Errorf("%s: second derivative %g, differences %g", name, -slope, got)
	}
}

// TestLargeProblems solves problems large enough for a sample on the smoothed problem: in few passes, and
// with the same bits on any number of threads.
func TestLargeProblems(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	x := clouds(22, 60_000, 150_000, 4, .5).matrix(t, matrix.Float32)
	problems := []named{
		{"patmat-np", hyper(1e-3, "0.01", 1, 0, false)},
		{"patmat", hyper(1e-4, "0.02", .1, 0, false)},
		{"patmat-np", hyper(1e-3, "0.01", 1, 0, true)},
		{"topmean-np", hyper(1e-3, "0.01", 0, 0, false)},
		{"topmean-np", hyper(1e-3, "0.05", 0, 0, true)},
		{"patmat-np", hyper(0, "0.01", 1e-2, 0, false)},
	}
	for _, n := range problems {
		o := bind(t, newProblem(t, n.name, n.h), x)
		r, err := Solve(context.Background(), o, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s", label(n), describe(r))
		if !r.Converged || r.Passes > 16 {
			t.Errorf("%s: %s", label(n), describe(r))
		}
	}
	o := bind(t, newProblem(t, problems[0].name, problems[0].h), x)
	var first Result
	for _, threads := range []int{1, 3} {
		before := runtime.GOMAXPROCS(threads)
		r, err := Solve(context.Background(), o, Options{})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if first.W == nil {
			first = r
		}
		if !slices.Equal(r.W, first.W) || r.LowerBound != first.LowerBound {
			t.Errorf("%d threads: %v %v, one thread: %v %v", threads, r.W, r.LowerBound, first.W, first.LowerBound)
		}
	}
}

// TestZeroOfManyRows has more rows than largeRows and w = 0 as the optimum: the descent proves it, without rows.
func TestZeroOfManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 600,000 rows")
	}
	for _, tau := range []string{"0.02", "0.05"} {
		o := bind(t, newProblem(t, "topmean-np", hyper(1e-3, tau, 0, 0, false)), clouds(6, 20_000, largeRows, 3, .2).matrix(t, matrix.Float32))
		r, err := Solve(t.Context(), o, Options{})
		if err != nil || !r.Converged || r.Zero != ZeroIsOptimal || r.WorkingSet > 0 {
			t.Errorf("tau %s: %s, %v, %v", tau, describe(r), r.Zero, err)
		}
		t.Logf("tau %s: %s", tau, describe(r))
	}
}
