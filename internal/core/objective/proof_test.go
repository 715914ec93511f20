package objective

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/proof"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// oneBlock is all rows as one block, numbered with the positives first.
type oneBlock struct{ *matrix.Matrix }

func (b oneBlock) Count() int                                        { return 1 }
func (b oneBlock) Read(context.Context, int) (*matrix.Matrix, error) { return b.Matrix, nil }
func (b oneBlock) Done(*matrix.Matrix)                               {}

// prove computes both bounds with package proof.
func prove(o *Objective, w, p, a []float64, radius float64) (proof.Bounds, error) {
	of := func(values []float64, classes ...*matrix.ClassRows) *proof.Multipliers {
		m := &proof.Multipliers{Single: map[int]float64{}}
		for _, class := range classes {
			for i := range class.Rows() {
				m.Single[class.Source(i)] = values[0]
				values = values[1:]
			}
		}
		return m
	}
	population := []*matrix.ClassRows{o.x.Positives, o.x.Negatives}
	if o.problem.Definition().Population == method.Negatives {
		population = population[1:]
	}
	e, err := proof.New(proof.Rows(oneBlock{o.x}, o.problem.Definition().Population), o.problem,
		threshold.NewPopulation(o.x.Positives.Rows(), o.x.Positives.Weights()), o.population, w)
	if err != nil {
		return proof.Bounds{}, err
	}
	return e.Bounds(context.Background(), of(p, o.x.Positives), of(a, population...), radius)
}

// TestProofHoldsWhatAtAndDualCompute compares two ways to the same numbers, on more rows than one block of a sum has.
func TestProofHoldsWhatAtAndDualCompute(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many problems")
	}
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
						got, err := prove(o, w, p, a, 10)
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

// TestProofRefuses wants an error where nothing can be enclosed.
func TestProofRefuses(t *testing.T) {
	x, y, _ := randomRows(11, 30, 3, false)
	m, _ := method.ByName("patmat-np")
	o, err := New(problemOf(t, m, surrogate.SquaredHinge, 0), pack(t, x, y, nil, matrix.Dense))
	if err != nil {
		t.Fatal(err)
	}
	w := []float64{1, 2, 3}
	p, a := mix(rand.New(rand.NewPCG(2, 2)), o, w)
	if _, err := prove(o, w, p, a, 1); err != nil {
		t.Fatal(err)
	}
	huge := append([]float64(nil), p...)
	huge[0] = 1e308
	for name, refused := range map[string]func() error{
		"w of another length": func() error { _, err := prove(o, w[1:], p, a, 1); return err },
		"w not a number":      func() error { _, err := prove(o, []float64{1, math.NaN(), 1}, p, a, 1); return err },
		"w overflows":         func() error { _, err := prove(o, []float64{1e308, 1e308, 1e308}, p, a, 1); return err },
		"p overflows":         func() error { _, err := prove(o, w, huge, a, 1); return err },
		"radius overflows":    func() error { _, err := prove(o, w, p, a, math.Inf(1)); return err },
		"radius no number":    func() error { _, err := prove(o, w, p, a, math.NaN()); return err },
	} {
		if refused() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
