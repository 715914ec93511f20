package optim

import (
	"context"
	"math"
	"slices"
	"testing"
)

// plain is a function given by its value, gradient and Hessian, without stored scores.
type plain struct {
	value   func(x, g []float64) float64
	hessian func(x, s, out []float64)
	falls   func(x, p []float64) bool
	x, p, g []float64
}

func newPlain(d int, value func(x, g []float64) float64) *plain {
	return &plain{value: value, x: make([]float64, d), p: make([]float64, d), g: make([]float64, d)}
}

func (f *plain) Dim() int { return len(f.x) }
func (f *plain) Move(x, g []float64) float64 {
	copy(f.x, x)
	return f.value(x, g)
}
func (f *plain) Aim(p []float64) { copy(f.p, p) }
func (f *plain) Along(alpha float64) (value, slope float64) {
	x := slices.Clone(f.x)
	addScaled(alpha, f.p, x)
	value = f.value(x, f.g)
	return value, Dot(f.g, f.p)
}
func (f *plain) Advance(alpha float64, g []float64) float64 {
	addScaled(alpha, f.p, f.x)
	return f.value(f.x, g)
}
func (f *plain) Product(s, out []float64)      { f.hessian(f.x, s, out) }
func (f *plain) Factor(float64)                {}
func (f *plain) Precondition(r, out []float64) { copy(out, r) }
func (f *plain) Bounded() bool                 { return f.falls == nil }
func (f *plain) Falls(bool) bool               { return f.falls(f.x, f.p) }

// quadratic is sum c_j (x_j - j)^2 / 2 + 7.
func quadratic(c []float64) *plain {
	f := newPlain(len(c), func(x, g []float64) float64 {
		total := 7.0
		for j := range x {
			d := x[j] - float64(j)
			g[j] = c[j] * d
			total += c[j] * d * d / 2
		}
		return total
	})
	f.hessian = func(_, s, out []float64) {
		for j := range s {
			out[j] = c[j] * s[j]
		}
	}
	return f
}

func TestQuadratic(t *testing.T) {
	c := []float64{1, 10, 100, 1000}
	for name, solve := range map[string]func(x []float64) Result{
		"newton": func(x []float64) Result { return Newton(context.Background(), quadratic(c), x, Options{}) },
		"lbfgs":  func(x []float64) Result { return LBFGS(context.Background(), quadratic(c), x, Options{}) },
	} {
		x := []float64{5, 5, 5, 5}
		r := solve(x)
		if r.Reason != Converged || math.Abs(r.Value-7) > 1e-12 || r.Gradient > 1e-8 {
			t.Errorf("%s: %+v at %v", name, r, x)
		}
		for j := range x {
			if math.Abs(x[j]-float64(j)) > 1e-6 {
				t.Errorf("%s: x = %v", name, x)
			}
		}
	}
}

// rosenbrock is (1-x)^2 + 100 (y - x^2)^2: a curved valley, not convex.
func rosenbrock() *plain {
	return newPlain(2, func(x, g []float64) float64 {
		a, b := 1-x[0], x[1]-x[0]*x[0]
		g[0] = -2*a - 400*x[0]*b
		g[1] = 200 * b
		return a*a + 100*b*b
	})
}

func TestLBFGSFindsTheEndOfTheValley(t *testing.T) {
	x := []float64{-1.2, 1}
	last := math.Inf(1)
	r := LBFGS(context.Background(), rosenbrock(), x, Options{Progress: func(p Progress) {
		if p.Value > last {
			t.Errorf("step %d rises from %v to %v", p.Step, last, p.Value)
		}
		last = p.Value
	}})
	if r.Reason != Converged || math.Abs(x[0]-1) > 1e-6 || r.Steps > 60 {
		t.Errorf("%+v at %v", r, x)
	}
}

// A small limit ends the run at its best point so far.
func TestLimitAndCancel(t *testing.T) {
	x := []float64{-1.2, 1}
	r := LBFGS(context.Background(), rosenbrock(), x, Options{Steps: 3})
	if r.Reason != Limit || r.Steps != 3 || r.Value >= 24.2 {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	x = []float64{-1.2, 1}
	r = LBFGS(ctx, rosenbrock(), x, Options{Progress: func(p Progress) {
		if p.Step == 2 {
			cancel()
		}
	}})
	if r.Reason != Cancelled || r.Steps != 2 {
		t.Errorf("%+v", r)
	}
	x = []float64{9, 9}
	if r := Newton(ctx, quadratic([]float64{1, 2}), x, Options{}); r.Reason != Cancelled || r.Steps != 0 || x[0] != 9 {
		t.Errorf("%+v at %v", r, x)
	}
}

// e^-x falls without end. The run ends because the function reports that.
func TestNoMinimum(t *testing.T) {
	f := newPlain(1, func(x, g []float64) float64 { e := math.Exp(-x[0]); g[0] = -e; return e })
	f.hessian = func(x, s, out []float64) { out[0] = math.Exp(-x[0]) * s[0] }
	f.falls = func(_, p []float64) bool { return p[0] > 0 }
	x := []float64{0}
	if r := Newton(context.Background(), f, x, Options{}); r.Reason != NoMinimum {
		t.Errorf("%+v at %v", r, x)
	}
}

// sqrt(1 + x^2): far out the curvature is x^-3, and the plain Newton step leads to -x^3, ever further out.
func TestNewtonWithoutCurvature(t *testing.T) {
	f := newPlain(1, func(x, g []float64) float64 {
		v := math.Sqrt(1 + x[0]*x[0])
		g[0] = x[0] / v
		return v
	})
	f.hessian = func(x, s, out []float64) { out[0] = s[0] / math.Pow(1+x[0]*x[0], 1.5) }
	x := []float64{1e5}
	if r := Newton(context.Background(), f, x, Options{}); r.Reason != Converged || math.Abs(x[0]) > 1e-7 {
		t.Errorf("%+v at %v", r, x)
	}
}

// The line search meets both conditions on a line with several minima.
func TestSearchOnAHillyLine(t *testing.T) {
	f := newPlain(1, func(x, g []float64) float64 {
		g[0] = 2*(x[0]-3) + 4*math.Cos(4*x[0])
		return (x[0]-3)*(x[0]-3) + math.Sin(4*x[0])
	})
	for _, guess := range []float64{1e-6, 0.1, 1, 50, 1e6} {
		g := make([]float64, 1)
		value := f.Move([]float64{-2}, g)
		f.Aim([]float64{1})
		alpha := lineSearch(f, value, g[0], guess)
		at, slope := f.Along(alpha)
		if !(alpha > 0) || at > value+enoughFall*alpha*g[0]+1e-9 || math.Abs(slope) > smallSlope*math.Abs(g[0]) {
			t.Errorf("guess %v: alpha %v, value %v from %v, slope %v from %v", guess, alpha, at, value, slope, g[0])
		}
	}
}
