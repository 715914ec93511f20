package restricted

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// randomRows returns n rows of d columns around a mean.
func randomRows(r *rand.Rand, n, d int, mean float64) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
		for j := range x[i] {
			u := float64(r.Uint64()>>11)/(1<<53) + float64(r.Uint64()>>11)/(1<<53) - 1
			x[i][j] = mean*float64(j%3) + 2*u
		}
	}
	return x
}

// pack returns rows with weights; nil: all 1.
func pack(x [][]float64, d int, sparse bool, weights []float64) *linalg.Rows {
	shift := linalg.NewShift(d)
	shift.Sparse = sparse
	set := linalg.NewRows(shift)
	for i, row := range x {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		set.Add(row, w)
	}
	return set
}

// forms lists thresholds and losses.
func forms() map[string]form.Form {
	return map[string]form.Form{
		"top1":         {Kind: form.TopMean, Kappa: 1},
		"top7":         {Kind: form.TopMean, Kappa: 7},
		"top2.5":       {Kind: form.TopMean, Kappa: 2.5},
		"quantile":     {Kind: form.HingeQuantile, Kappa: 3.3, Beta: 1},
		"quantile.01":  {Kind: form.HingeQuantile, Kappa: 3.3, Beta: .01},
		"quantile10":   {Kind: form.HingeQuantile, Kappa: 20, Beta: 10},
		"top1 squared": {Kind: form.TopMean, Kappa: 1, Squared: true},
		"top7 squared": {Kind: form.TopMean, Kappa: 7, Squared: true},
	}
}

// TestInteriorClosesTheGap solves small problems cold, and then warm.
func TestInteriorClosesTheGap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const d = 5
	pos, neg := randomRows(r, 40, d, .3), randomRows(r, 200, d, 0)
	for name, f := range forms() {
		for _, lambda := range []float64{.1, 1e-3, 1e-5} {
			for _, sparse := range []bool{false, true} {
				f.Lambda = lambda
				p := Problem{f, pack(pos, d, sparse, nil), pack(neg, d, sparse, nil), 40, 1}
				v := newInterior(p, nil)
				w := make([]float64, d)
				v.Positives.Times(w, v.zp)
				v.Population.Times(w, v.zs)
				t0, _, _ := f.Threshold(v.zs, v.Population.Weight, nil)
				v.coldStart(v.zp, v.zs, f.MeanLoss(t0, v.zp, v.Positives.Weight, 40))
				v.run(1e-9, 80, func() bool { return false })
				if testing.Verbose() {
					fmt.Printf("%s lambda %g sparse %v: F %.12g D %.12g steps %d theta %g\n", name, lambda, sparse, v.best.Value, v.best.Bound, v.best.steps, v.best.Theta)
				}
				if !v.best.Closed || v.best.Bound > v.best.Value+1e-12*math.Abs(v.best.Value) {
					t.Errorf("%s lambda %g: F %g D %g after %d steps", name, lambda, v.best.Value, v.best.Bound, v.best.steps)
				}
				theta, point := v.best.Theta, append([]float64(nil), v.best.W...)
				u := newInterior(p, nil)
				u.warmStart(point, theta, 1e-3*v.best.Value)
				u.run(1e-9, 40, func() bool { return false })
				if !u.best.Closed {
					t.Errorf("%s lambda %g: warm start: F %g D %g after %d steps", name, lambda, u.best.Value, u.best.Bound, u.best.steps)
				}
			}
		}
	}
}

// The elements that may block a step give the same lengths as all elements, to the bit.
func TestBlockingElementsDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for trial := range 300 {
		n := 1 + r.IntN(200)
		c := change{make([]float64, n), make([]float64, n), make([]float64, n)}
		size := math.Pow(10, float64(r.IntN(6))-4) // from steps of 1 to steps that many elements block
		for i := range c.x {
			c.x[i], c.d[i], c.e[i] = math.Exp(3*r.NormFloat64()), size*r.NormFloat64(), size*r.NormFloat64()
		}
		low := r.Float64()
		var space change
		few := blocking([]change{c}, low, &space)
		for k := range correctorWeights {
			omega := correctorWeight(low, k)
			if got, want := longestOf(few, omega), longestOf([]change{c}, omega); got != want {
				t.Fatalf("trial %d, %d of %d elements, omega %v: %v instead of %v", trial, len(space.x), n, omega, got, want)
			}
		}
	}
}
