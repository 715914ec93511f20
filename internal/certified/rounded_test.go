package certified

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"toptau/internal/matrix"
)

// A rounded corner lies above the sharp one, less so the narrower it is, and has the derivatives that it says.
func TestKink(t *testing.T) {
	for _, k := range []kink{{width: .5}, {width: 2}, {square: true}} {
		for x := -2.0; x <= 2; x += .01 {
			const h = 1e-6
			value, slope, bend := k.at(x)
			if got := (k.value(x+h) - k.value(x-h)) / (2 * h); math.Abs(got-slope) > 3*h {
				t.Errorf("%+v at %g: slope %g, differences %g", k, x, slope, got)
			}
			corner := math.Abs(math.Abs(x)-k.width/2) < 2*h
			if got := (k.slope(x+h) - k.slope(x-h)) / (2 * h); !corner && math.Abs(got-bend) > 1e-6 {
				t.Errorf("%+v at %g: second derivative %g, differences %g", k, x, bend, got)
			}
			if !k.square && (value < math.Max(0, x) || value < (kink{width: k.width / 3}).value(x) || slope < 0 || slope > 1) {
				t.Errorf("%+v at %g: %g, slope %g", k, x, value, slope)
			}
		}
	}
}

// roundedAt evaluates and differentiates a problem.
func roundedAt(t *testing.T, s *Memory, f form, w []float64, width float64) *rounded {
	t.Helper()
	r, err := s.rounded(context.Background(), f, w, width)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.differentiate(context.Background(), r, 1<<20); err != nil {
		t.Fatal(err)
	}
	return r
}

// The rounded value has the gradient that it says, the Newton step solves its second derivative's equation, and the
// bound is that of the multipliers, recomputed from the data.
func TestRounded(t *testing.T) {
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
			o := bind(t, problem(t, n.name, n.h), x)
			f, err := formOf(o.Problem(), o.Threshold().Kappa())
			if err != nil {
				t.Fatal(err)
			}
			f.rule = o.Threshold()
			s := NewMemory(x, o.Problem().Definition().Population)
			w := make([]float64, x.Cols())
			for j := range w {
				w[j] = 2 * (float64(r.Uint64()>>11)/(1<<53) - .5)
			}
			at := roundedAt(t, s, f, w, .3)
			value := func(w []float64) float64 { return roundedAt(t, s, f, w, .3).value }
			checkDerivatives(t, label(n), s, at, value)
			radius := f.ball(w)
			bound, scale := at.bound(s.shape[0].Mass, radius)
			p, a := s.dual(at, scale)
			b, err := Verify(o, w, p, a, radius)
			if err != nil {
				t.Fatalf("%s: %v", label(n), err)
			}
			if math.Abs(b.Upper-at.exact) > 1e-9*b.Upper || b.Lower < bound-1e-9*(1+math.Abs(bound)) || at.value < at.exact*(1-1e-12) {
				t.Errorf("%s: F %g, rounded %g, bound %g; recomputed %+v", label(n), at.exact, at.value, bound, b)
			}
		}
	}
}

// checkDerivatives compares with differences along one direction.
func checkDerivatives(t *testing.T, name string, source *Memory, at *rounded, value func(w []float64) float64) {
	t.Helper()
	const h = 1e-5
	d := len(at.w)
	s := &session{source: source, f: at.f, shape: source.Shape()}
	s.holdNothing(&frame{centre: make([]float64, d), common: make([]float64, d)})
	gradient := at.gradient()
	step := s.newtonStep(at)
	moved := func(by float64) []float64 {
		w := slices.Clone(at.w)
		axpy(by, step, w)
		return w
	}
	before, after := value(moved(-h)), value(moved(h))
	slope := dot(gradient, step)
	if got := (after - before) / (2 * h); math.Abs(got-slope) > 1e-4*math.Abs(slope)+1e-9*at.value {
		t.Errorf("%s: slope %g, differences %g", name, slope, got)
	}
	// Along Newton's step the second derivative is -slope, but for rows that cross the ends of a corner on the way.
	if got := (after - 2*at.value + before) / (h * h); at.f.lambda > 0 && math.Abs(got+slope) > .02*math.Abs(slope)+1e-5*at.value {
		t.Errorf("%s: second derivative %g, differences %g", name, -slope, got)
	}
}

// Problems large enough for a sample are solved with rounded kinks, in few passes, and the same on any number of threads.
func TestMillionsInSmall(t *testing.T) {
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
	var chain Chain
	for _, n := range problems {
		o := bind(t, problem(t, n.name, n.h), x)
		for _, c := range []*Chain{new(Chain), &chain} {
			r, err := c.Solve(context.Background(), o, Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s", label(n), describe(r))
			if !r.Converged || r.Passes > 16 {
				t.Errorf("%s: %s", label(n), describe(r))
			}
		}
	}
	o := bind(t, problem(t, problems[0].name, problems[0].h), x)
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
