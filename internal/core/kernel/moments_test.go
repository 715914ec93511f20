package kernel

import (
	"math/rand/v2"
	"testing"
)

func TestMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for n := range 50 {
		var x [MomentColumns][]float64
		var start Moments
		for j := range x {
			x[j] = make([]float64, n)
			for i := range x[j] {
				x[j][i] = anyFloat64(r)
			}
			start.Unit[j], start.Mean[j] = []float64{1, 0.25, 64}[r.IntN(3)], anyFloat64(r)
			start.Total[j], start.Lost[j] = anyFloat64(r), 1e-20*r.Float64()
		}
		for _, add := range []func(*Moments, *[MomentColumns][]float64){(*Moments).AddFirst, (*Moments).AddSecond} {
			var want Moments
			for k, l := range levels() {
				atLevel(l, func() {
					got := start
					add(&got, &x)
					if k == 0 {
						want = got
					}
					sameBits(t, l.String(), got.Total[:], want.Total[:])
					sameBits(t, l.String(), got.Lost[:], want.Lost[:])
				})
			}
		}
	}
}
