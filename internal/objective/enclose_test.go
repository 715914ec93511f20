package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/matrix"
	"toptau/method"
	"toptau/surrogate"
)

// TestEncloseHoldsWhatAtAndDualCompute compares two ways to the same numbers, on more rows than one block of a sum has.
func TestEncloseHoldsWhatAtAndDualCompute(t *testing.T) {
	forEveryMethod(t, func(t *testing.T, m method.Method, l surrogate.Surrogate) {
		if !m.Convex || l == surrogate.Logistic {
			return
		}
		r := rand.New(rand.NewPCG(21, 8))
		for _, whole := range []bool{true, false} {
			for _, storage := range []matrix.BlockKind{matrix.Dense, matrix.Sparse} {
				x, y, weights := randomRows(19, 400, 5, whole)
				if r.IntN(2) == 0 {
					weights = nil
				}
				for _, lambda := range []float64{0.05, 0} {
					o, err := New(problemOf(t, m, l, lambda), pack(t, x, y, weights, storage))
					if err != nil {
						t.Fatal(err)
					}
					for range 20 {
						w := randomPoint(r, o.Dim())
						p, a := mix(r, o, w)
						got, err := o.Enclose(w, p, a, 10)
						if err != nil {
							t.Fatal(err)
						}
						v := o.At(w, nil)
						d, err := o.DualInBall(p, a, 10)
						if lambda > 0 {
							d, err = o.Dual(p, a)
						}
						if err != nil {
							t.Fatal(err)
						}
						if !(math.Abs(got.F-v.F) <= 2*got.FError) || !(math.Abs(got.T-v.T) <= 1e-13*max(1, math.Abs(v.T))) {
							t.Errorf("F = %v ± %v, At has %v; t = %v and %v", got.F, got.FError, v.F, got.T, v.T)
						}
						if !(math.Abs(got.D-max(0, d.D)) <= 2*got.DError) {
							t.Errorf("D = %v ± %v, Dual has %v", got.D, got.DError, d.D)
						}
						if !(got.FError <= 1e-12*max(1, v.F)) || !(got.DError <= 1e-11*max(1, math.Abs(d.D))) {
							t.Errorf("the errors %v and %v say little about F = %v", got.FError, got.DError, v.F)
						}
					}
				}
			}
		}
	})
}

// TestEncloseRefuses wants an error where nothing can be enclosed.
func TestEncloseRefuses(t *testing.T) {
	x, y, _ := randomRows(11, 30, 3, false)
	m, _ := method.ByName("patmat-np")
	o, err := New(problemOf(t, m, surrogate.SquaredHinge, 0), pack(t, x, y, nil, matrix.Dense))
	if err != nil {
		t.Fatal(err)
	}
	w := []float64{1, 2, 3}
	p, a := mix(rand.New(rand.NewPCG(2, 2)), o, w)
	if _, err := o.Enclose(w, p, a, 1); err != nil {
		t.Fatal(err)
	}
	huge := append([]float64(nil), p...)
	huge[0] = 1e308
	for name, refused := range map[string]func() error{
		"w of another length": func() error { _, err := o.Enclose(w[1:], p, a, 1); return err },
		"w not a number":      func() error { _, err := o.Enclose([]float64{1, math.NaN(), 1}, p, a, 1); return err },
		"w overflows":         func() error { _, err := o.Enclose([]float64{1e308, 1e308, 1e308}, p, a, 1); return err },
		"p overflows":         func() error { _, err := o.Enclose(w, huge, a, 1); return err },
		"radius overflows":    func() error { _, err := o.Enclose(w, p, a, math.Inf(1)); return err },
		"radius no number":    func() error { _, err := o.Enclose(w, p, a, math.NaN()); return err },
		"p of another length": func() error { _, err := o.Enclose(w, p[1:], a, 1); return err },
		"a of another length": func() error { _, err := o.Enclose(w, p, a[1:], 1); return err },
	} {
		if refused() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
