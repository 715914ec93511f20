package kernel

import (
	"math/rand/v2"
	"testing"
)

// Every level gives the bits of the formula, and writes to no element outside the panels.
func TestJoinScores(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for _, panels := range []int{1, 2, 9} {
		for _, stride := range []int{PanelRows, 3 * PanelRows, PanelRows + 7} {
			sums, scores := make([]float64, panels*PanelRows), make([]float32, (panels-1)*stride+PanelRows)
			for i := range sums {
				sums[i] = anyFloat64(r)
			}
			want := make([]float32, len(scores))
			for i := range scores {
				scores[i] = anyFloat32(r)
				want[i] = scores[i]
				if p, row := i/stride, i%stride; row < PanelRows {
					want[i] = scores[i] + float32(sums[p*PanelRows+row])
				}
			}
			everyLevel(t, func(t *testing.T) {
				z := fence(scores, 0)
				JoinScores(sums, z.x, stride)
				sameBits(t, "z", z.x, want)
				z.check(t, "z")
			})
		}
	}
}
