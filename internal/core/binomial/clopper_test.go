package binomial

import (
	"fmt"
	"math"
	"testing"
)

// Values printed by R's binom.test.
func TestClopperPearsonKnownValues(t *testing.T) {
	for _, c := range []struct {
		x, n      int
		low, high float64
	}{
		{0, 10, 0, 0.3084971}, {1, 10, 0.002528579, 0.445016117}, {5, 10, 0.1870860, 0.8129140},
		{10, 10, 0.6915029, 1}, {10, 100, 0.04900469, 0.17622260}, {0, 1, 0, 0.975}, {1, 1, 0.025, 1},
	} {
		low, high := ClopperPearson(c.x, c.n, 0.95)
		if math.Abs(low-c.low) > 1e-7 || math.Abs(high-c.high) > 1e-7 {
			t.Errorf("%d of %d: [%v, %v], want [%v, %v]", c.x, c.n, low, high, c.low, c.high)
		}
	}
}

// The ends have the tails that define them.
func TestClopperPearsonDefinition(t *testing.T) {
	for _, n := range []int{1, 2, 10, 63, 1000, 123_456} {
		for _, x := range []int{0, 1, n / 100, n / 3, n / 2, n - 1, n} {
			for _, confidence := range []float64{0.5, 0.95, 0.999} {
				t.Run(fmt.Sprint(x, n, confidence), func(t *testing.T) {
					tail := (1 - confidence) / 2
					low, high := ClopperPearson(x, n, confidence)
					if !(0 <= low && low < high && high <= 1) {
						t.Fatalf("[%v, %v]", low, high)
					}
					if x > 0 {
						near(t, "tail at low", AtLeast(n, x, low), tail, 1e-10)
					}
					if x < n {
						rounding := 1e-15 / (1 - high) // high itself is rounded, which matters near 1
						near(t, "tail at high", AtMost(n, x, high), tail, 1e-10+rounding)
					}
				})
			}
		}
	}
	if low, high := ClopperPearson(3, 2, 0.95); low != 0 || high != 1 {
		t.Error("impossible counts must say nothing")
	}
	_, high := ClopperPearson(0, 100_000_000, 0.95)
	near(t, "none of 1e8", high, -math.Expm1(math.Log(0.025)/1e8), 1e-12)
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// The interval covers the true proportion with at least its confidence, summed over all outcomes exactly.
func TestClopperPearsonCovers(t *testing.T) {
	const n = 40
	for _, p := range []float64{0.001, 0.01, 0.1, 0.3, 0.5, 0.77, 0.99} {
		covered := 0.0
		for x := 0; x <= n; x++ {
			if low, high := ClopperPearson(x, n, 0.95); low <= p && p <= high {
				covered += Mass(n, x, p, 1-p)
			}
		}
		if covered < 0.95 {
			t.Errorf("p=%v is covered with %v", p, covered)
		}
	}
}
