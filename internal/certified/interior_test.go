package certified

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomRows returns n rows of d columns around a mean, with weights.
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

func pack(x [][]float64, d int, sparse bool, weights []float64) *rows {
	set := newRows(&frame{centre: make([]float64, d), common: make([]float64, d), sparse: sparse})
	for i, row := range x {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		set.add(row, w)
	}
	return set
}

func forms() map[string]form {
	return map[string]form{
		"top1":         {kind: topMean, kappa: 1},
		"top7":         {kind: topMean, kappa: 7},
		"top2.5":       {kind: topMean, kappa: 2.5},
		"quantile":     {kind: hingeQuantile, kappa: 3.3, beta: 1},
		"quantile.01":  {kind: hingeQuantile, kappa: 3.3, beta: .01},
		"quantile10":   {kind: hingeQuantile, kappa: 20, beta: 10},
		"top1 squared": {kind: topMean, kappa: 1, squared: true},
		"top7 squared": {kind: topMean, kappa: 7, squared: true},
	}
}

func TestInteriorClosesTheGap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const d = 5
	pos, neg := randomRows(r, 40, d, .3), randomRows(r, 200, d, 0)
	for name, f := range forms() {
		for _, lambda := range []float64{.1, 1e-3, 1e-5} {
			for _, sparse := range []bool{false, true} {
				f.lambda = lambda
				v := newInterior(f, pack(pos, d, sparse, nil), pack(neg, d, sparse, nil), 40)
				w := make([]float64, d)
				v.pos.times(w, v.zp)
				v.row.times(w, v.zs)
				t0, _, _ := f.threshold(v.zs, v.row.weight, nil)
				v.coldStart(v.zp, v.zs, f.meanLoss(t0, v.zp, v.pos.weight, 40))
				v.run(1e-9, 80, func() bool { return false })
				if testing.Verbose() {
					fmt.Printf("%s lambda %g sparse %v: F %.12g D %.12g steps %d theta %g\n", name, lambda, sparse, v.best.value, v.best.bound, v.best.steps, v.best.theta)
				}
				if !v.best.closed || v.best.bound > v.best.value+1e-12*math.Abs(v.best.value) {
					t.Errorf("%s lambda %g: F %g D %g after %d steps", name, lambda, v.best.value, v.best.bound, v.best.steps)
				}
				theta, point := v.best.theta, append([]float64(nil), v.best.w...)
				u := newInterior(f, v.pos, v.row, 40)
				u.warmStart(point, theta, 1e-3*v.best.value)
				u.run(1e-9, 40, func() bool { return false })
				if !u.best.closed {
					t.Errorf("%s lambda %g: warm start: F %g D %g after %d steps", name, lambda, u.best.value, u.best.bound, u.best.steps)
				}
			}
		}
	}
}
