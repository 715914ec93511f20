package surrogate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"toptau/diag"
)

// close reports whether got and want agree relative to a scale.
func close(got, want, scale float64) bool {
	return got == want || math.Abs(got-want) <= 1e-12*(1+math.Abs(scale))
}

// argument draws an s of any size: near the kinks, moderate, or large.
func argument(t *rapid.T, name string) float64 {
	switch rapid.IntRange(0, 3).Draw(t, name+" kind") {
	case 0:
		return rapid.Float64Range(-2, 1).Draw(t, name)
	case 1:
		return rapid.Float64Range(-50, 50).Draw(t, name)
	case 2:
		return float64(rapid.IntRange(-5, 5).Draw(t, name))
	default:
		return rapid.Float64Range(-1e6, 1e6).Draw(t, name)
	}
}

// A new loss must pass this test.
func TestEveryDeclaredPropertyOfEveryLoss(t *testing.T) {
	for _, l := range all {
		t.Run(string(l.Name()), func(t *testing.T) {
			p := l.Properties()
			if l.Value(0) != 1 {
				t.Errorf("l(0) = %v, want 1", l.Value(0))
			}
			if l.Conjugate(0) != 0 {
				t.Errorf("l*(0) = %v: the infimum of l is not 0", l.Conjugate(0))
			}
			checkKinks(t, l)
			checkSupremum(t, l)
			rapid.Check(t, func(t *rapid.T) {
				a, b := argument(t, "a"), argument(t, "b")
				checkRange(t, l, a)
				checkShape(t, l, min(a, b), max(a, b))
				checkDerivative(t, l, a)
				checkFenchelYoung(t, l, a, l.Derivative(b))
			})
			if !p.Convex || !p.NonDecreasing {
				t.Error("the theory needs a convex, non-decreasing loss")
			}
		})
	}
}

func checkRange(t *rapid.T, l Surrogate, s float64) {
	p := l.Properties()
	v, d := l.Value(s), l.Derivative(s)
	if !(v >= 0) || math.IsInf(v, 0) {
		t.Errorf("l(%v) = %v: negative or not finite", s, v)
	}
	if !(d <= p.MaxDerivative) {
		t.Errorf("l'(%v) = %v is above the declared %v", s, d, p.MaxDerivative)
	}
	if s <= p.ZeroBelow && (v != 0 || d != 0) {
		t.Errorf("l(%v) = %v, l' = %v: declared 0", s, v, d)
	}
	if s > p.ZeroBelow && s > -700 && !(v > 0) {
		t.Errorf("l(%v) = %v: declared positive", s, v)
	}
	if s >= 0 && !(v >= 1) {
		t.Errorf("l(%v) = %v is below the 0-1 loss", s, v)
	}
}

func checkShape(t *rapid.T, l Surrogate, a, b float64) {
	p := l.Properties()
	va, vb := l.Value(a), l.Value(b)
	if p.NonDecreasing && (va > vb || l.Derivative(a) < 0) {
		t.Errorf("decreases from %v at %v to %v at %v", va, a, vb, b)
	}
	if !p.Convex {
		return
	}
	if l.Derivative(a) > l.Derivative(b)*(1+1e-15) {
		t.Errorf("l' decreases from %v to %v", a, b)
	}
	for _, share := range []float64{0.1, 0.5, 0.75} {
		chord := (1-share)*va + share*vb
		if v := l.Value((1-share)*a + share*b); v > chord && !close(v, chord, chord) {
			t.Errorf("l lies above its chord between %v and %v: %v > %v", a, b, v, chord)
		}
	}
	if tangent := va + l.Derivative(a)*(b-a); vb < tangent && !close(vb, tangent, math.Abs(va)+math.Abs(tangent)) {
		t.Errorf("l(%v) = %v lies below the tangent at %v: %v", b, vb, a, tangent)
	}
}

// checkDerivative compares l' with a central difference, away from kinks.
func checkDerivative(t *rapid.T, l Surrogate, s float64) {
	h := 1e-4 * math.Max(1, math.Abs(s))
	for _, kink := range append([]float64{l.Properties().ZeroBelow}, l.Properties().Kinks...) {
		if math.Abs(s-kink) <= h {
			return
		}
	}
	difference := (l.Value(s+h) - l.Value(s-h)) / (2 * h)
	if d := l.Derivative(s); math.Abs(d-difference) > 1e-7*(1+math.Abs(d)) {
		t.Errorf("l'(%v) = %v, difference %v", s, d, difference)
	}
}

// checkFenchelYoung checks that l(s) + l*(p) >= p s for all s and p, with equality at p = l'(s).
func checkFenchelYoung(t *rapid.T, l Surrogate, s, p float64) {
	v := l.Value(s)
	if c := l.Conjugate(p); v+c < p*s && !close(v+c, p*s, math.Abs(v)+math.Abs(c)+math.Abs(p*s)) {
		t.Errorf("l(%v) + l*(%v) = %v < %v", s, p, v+c, p*s)
	}
	d := l.Derivative(s)
	if c := l.Conjugate(d); !close(v+c, d*s, math.Abs(v)+math.Abs(c)+math.Abs(d*s)) {
		t.Errorf("l(%v) + l*(l') = %v, want %v", s, v+c, d*s)
	}
}

// checkKinks checks that l' jumps at the declared kinks only, that it is the left limit there, and that a
// loss without kinks declares Differentiable.
func checkKinks(t *testing.T, l Surrogate) {
	p := l.Properties()
	if p.Differentiable != (len(p.Kinks) == 0) {
		t.Errorf("Differentiable = %v with kinks %v", p.Differentiable, p.Kinks)
	}
	for _, k := range p.Kinks {
		left, at, right := l.Derivative(k-1e-9), l.Derivative(k), l.Derivative(k+1e-9)
		if at != left || right-left < 1e-6 {
			t.Errorf("at the kink %v: l' = %v, %v, %v", k, left, at, right)
		}
	}
	jumps := 0
	for s := -40.0; s < 40; s += 1.0 / 128 {
		if l.Derivative(s+1e-9)-l.Derivative(s) > 1e-6 {
			jumps++
		}
	}
	if jumps != len(p.Kinks) {
		t.Errorf("%d jumps of l' found, %d declared", jumps, len(p.Kinks))
	}
}

// checkSupremum checks that MaxDerivative is the supremum of l', and that the domain of l* ends there.
func checkSupremum(t *testing.T, l Surrogate) {
	p := l.Properties()
	d := l.Derivative(1e12)
	if math.IsInf(p.MaxDerivative, 1) {
		if d < 1e6 {
			t.Errorf("l'(1e12) = %v, declared unbounded", d)
		}
	} else if d != p.MaxDerivative || !math.IsInf(l.Conjugate(d*1.001), 1) || math.IsInf(l.Conjugate(d), 1) {
		t.Errorf("l'(1e12) = %v, declared %v; l* there %v", d, p.MaxDerivative, l.Conjugate(d))
	}
	if !math.IsInf(l.Conjugate(-1e-9), 1) || !math.IsInf(l.Conjugate(math.NaN()), 1) {
		t.Error("l* is finite outside its domain")
	}
}

func TestExactValues(t *testing.T) {
	for _, c := range []struct {
		l                    Surrogate
		s, value, derivative float64
		p, conjugate         float64
	}{
		{Hinge, 0.5, 1.5, 1, 0.25, -0.25},
		{Hinge, -1, 0, 0, 1, -1},
		{Hinge, -3, 0, 0, 0, 0},
		{SquaredHinge, 0.5, 2.25, 3, 1, -0.75},
		{SquaredHinge, -1, 0, 0, 2, -1},
		{SquaredHinge, -3, 0, 0, 6, 3},
		{Logistic, 0, 1, 0.5 / math.Ln2, 0.5 / math.Ln2, -1},
	} {
		if v := c.l.Value(c.s); v != c.value {
			t.Errorf("%s: l(%v) = %v, want %v", c.l.Name(), c.s, v, c.value)
		}
		if d := c.l.Derivative(c.s); d != c.derivative {
			t.Errorf("%s: l'(%v) = %v, want %v", c.l.Name(), c.s, d, c.derivative)
		}
		if v := c.l.Conjugate(c.p); v != c.conjugate {
			t.Errorf("%s: l*(%v) = %v, want %v", c.l.Name(), c.p, v, c.conjugate)
		}
	}
}

func TestLogisticIsStable(t *testing.T) {
	for _, c := range []struct{ s, want float64 }{
		{1e308, 1e308 / math.Ln2},
		{800, 800 / math.Ln2},
		{50, 50 / math.Ln2},
		{-50, 1.9287498479639178e-22 / math.Ln2},
		{-700, 9.859676543759770e-305 / math.Ln2},
		{-800, 0},
		{-1e308, 0},
		{math.Inf(-1), 0},
		{math.Inf(1), math.Inf(1)},
	} {
		if v := Logistic.Value(c.s); v != c.want && math.Abs(v-c.want) > 1e-14*c.want {
			t.Errorf("l(%v) = %v, want %v", c.s, v, c.want)
		}
	}
	if d := Logistic.Derivative(math.Inf(-1)); d != 0 {
		t.Errorf("l'(-Inf) = %v", d)
	}
}

func TestByName(t *testing.T) {
	for _, name := range Names() {
		l, err := ByName(name)
		if err != nil || l.Name() != name {
			t.Errorf("ByName(%q) = %v, %v", name, l, err)
		}
	}
	_, err := ByName("hing")
	if f := diag.Of(err); f == nil || f.Kind != diag.Usage {
		t.Fatalf("got %v", err)
	}
	const want = `surrogate "hing", expected one of hinge, squared-hinge, logistic`
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
