package form

import (
	"math"
	"math/rand/v2"
	"testing"

	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// problems lists the convex methods with both losses, bound to a population.
func problems(t *testing.T, rows int, weights []float64) (list []Form) {
	t.Helper()
	for _, squared := range []bool{false, true} {
		for _, h := range []method.Problem{{K: 1}, {K: 7}, {Tau: threshold.MustRate("0.07")},
			{Tau: threshold.MustRate("0.07"), Beta: .3}, {Tau: threshold.MustRate("0.4"), Beta: 20}} {
			if squared {
				h.Surrogate = surrogate.SquaredHinge.Name()
			}
			name := "topmean-np"
			switch {
			case h.K > 0:
				name = "toppushk"
			case h.Beta > 0:
				name = "patmat-np"
			}
			m, err := method.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.With(h)
			if err != nil {
				t.Fatal(err)
			}
			bound, err := p.Rule().Bind(threshold.NewPopulation(rows, weights))
			if err != nil {
				t.Fatal(err)
			}
			f, err := Bind(p, bound)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, f)
		}
	}
	return list
}

// TestThresholdIsThatOfPackageThreshold compares both versions on whole populations and on the part above the
// edge. A part without the band gives a lower bound.
func TestThresholdIsThatOfPackageThreshold(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	const n = 500
	for _, weighted := range []bool{false, true} {
		z, m := make([]float64, n), make([]float64, n)
		for i := range z {
			z[i], m[i] = 6*r.NormFloat64(), 1
			if weighted {
				m[i] = 1 + float64(r.IntN(4))
			}
		}
		for _, f := range problems(t, n, m) {
			var s threshold.Support
			f.Rule.At(z, m, &s)
			got, edge, order := f.Threshold(z, m, nil)
			if math.Abs(got-s.T) > 1e-12*(1+math.Abs(s.T)) || math.Abs(edge-s.Edge) > 1e-12*(1+math.Abs(s.Edge)) {
				t.Errorf("%+v: t %.17g, edge %.17g; package threshold %.17g, %.17g", f, got, edge, s.T, s.Edge)
			}
			var zs, ms, zl, ml []float64
			for i, v := range z {
				if v >= edge-1e-9 {
					zs, ms = append(zs, v), append(ms, m[i])
				}
				if i%3 > 0 {
					zl, ml = append(zl, v), append(ml, m[i])
				}
			}
			if part, _, _ := f.Threshold(zs, ms, order); math.Abs(part-got) > 1e-12*(1+math.Abs(got)) {
				t.Errorf("%+v: t %.17g on the band, %.17g on all rows", f, part, got)
			}
			if part, _, _ := f.Threshold(zl, ml, order); part > got+1e-12*math.Abs(got) {
				t.Errorf("%+v: t %.17g on some rows is above %.17g", f, part, got)
			}
		}
	}
}

// TestLossIsTheSurrogate compares with package surrogate.
func TestLossIsTheSurrogate(t *testing.T) {
	for s := -3.0; s < 3; s += .01 {
		for squared, l := range map[bool]surrogate.Surrogate{false: surrogate.Hinge, true: surrogate.SquaredHinge} {
			if got, want := Loss(squared, 1+s), l.Value(s); got != want {
				t.Errorf("%s(%g) = %g, want %g", l.Name(), s, got, want)
			}
		}
	}
}

// TestRepair makes random vectors feasible, and compares r(a) with package threshold.
func TestRepair(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	const n = 60
	m := make([]float64, n)
	for i := range m {
		m[i] = 1 + float64(r.IntN(3))
	}
	for _, f := range problems(t, n, m) {
		a := make([]float64, n)
		for j := range a {
			a[j] = r.NormFloat64() + .2
		}
		if !f.Repair(a, m) {
			t.Fatalf("%+v: not repaired", f)
		}
		var total float64
		for j, v := range a {
			total += v
			if v < 0 || v > f.Rule.Cap(m[j])*(1+1e-12) {
				t.Errorf("%+v: a[%d] = %g, at most %g", f, j, v, f.Rule.Cap(m[j]))
			}
		}
		if math.Abs(total-1) > 1e-9 {
			t.Errorf("%+v: the sum is %g", f, total)
		}
		if got, want := f.Regulariser(a, m), f.Rule.Regulariser(a, m); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("%+v: r(a) = %g, want %g", f, got, want)
		}
		if f.Repair(make([]float64, n), m) {
			t.Error("0 was repaired")
		}
	}
}
