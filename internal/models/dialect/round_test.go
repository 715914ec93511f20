package dialect

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The arithmetic of roundBySum and singleBySplit, computed here.
func TestRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x := math.Ldexp(r.Float64()-.5, r.IntN(60)-20)
		const shift, factor = 6755399441055744, 1<<29 + 1
		if got := float64(float64(x+shift) - shift); got != math.RoundToEven(x) {
			t.Fatalf("%v is rounded to %v", x, got)
		}
		big := float64(x * factor)
		if got := float64(big - float64(big-x)); got != float64(float32(x)) {
			t.Fatalf("%v has the float32 %v instead of %v", x, got, float32(x))
		}
	}
	for _, x := range []float64{.5, 1.5, -2.5, 3.5} {
		if got := float64(x+6755399441055744) - 6755399441055744; got != math.RoundToEven(x) {
			t.Errorf("%v is rounded to %v", x, got)
		}
	}
}
