package binomial

import (
	"math"
	"math/big"
	"testing"
)

// wideAtMost is P(Bin(n, p) <= k) by a sum of 300-bit numbers.
func wideAtMost(n, k int, p float64) float64 {
	const bits = 300
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	q := new(big.Float).SetPrec(bits).Sub(number(1), number(p))
	odds := new(big.Float).SetPrec(bits).Quo(number(p), q)
	term, square := number(1), new(big.Float).SetPrec(bits).Set(q)
	for m := n; m > 0; m >>= 1 {
		if m&1 == 1 {
			term.Mul(term, square)
		}
		square.Mul(square, square)
	}
	sum := number(0)
	for j := 0; j <= k; j++ {
		sum.Add(sum, term)
		term.Mul(term, odds)
		term.Mul(term, number(float64(n-j)))
		term.Quo(term, number(float64(j+1)))
	}
	f, _ := sum.Float64()
	return f
}

func TestBinomialTailsAgainstWideSums(t *testing.T) {
	worst := 0.0
	for _, c := range []struct {
		n int
		p float64
	}{{1, 0.3}, {2, 0.5}, {7, 0.01}, {30, 0.9}, {299, 0.01}, {3000, 0.01}, {10_000, 0.5}, {1_000_000, 0.01},
		{29_956, 0.0001}, {100_000_000, 0.00001}, {100_000_000, 1e-9}} {
		mean, deviation := float64(c.n)*c.p, math.Sqrt(float64(c.n)*c.p*(1-c.p))
		for _, z := range []float64{-12, -6, -3, -1.7, -0.5, 0, 0.5, 2, 5} {
			k := int(mean + z*deviation)
			if k < 0 || k >= c.n {
				continue
			}
			want := wideAtMost(c.n, k, c.p)
			if got := AtMost(c.n, k, c.p); want > 0 {
				worst = max(worst, math.Abs(got-want)/want)
			}
			complement := 1 - want
			if got := AtLeast(c.n, k+1, c.p); complement > 0.01 {
				worst = max(worst, math.Abs(got-complement)/complement)
			}
		}
	}
	t.Logf("largest relative error %.2g", worst)
	if worst > 1e-12 {
		t.Errorf("largest relative error %.3g", worst)
	}
}

// P(X <= k) of failures is P(X >= n-k) of successes, which holds the upper tails to the wide sums of the
// lower ones.
func TestBinomialTailsMirror(t *testing.T) {
	for _, n := range []int{1, 5, 300, 100_000} {
		for _, p := range []float64{0.25, 0.5, 0.75, 0.9375} { // 1-p is exact
			for _, k := range []int{0, 1, n / 4, n / 2, n - 1, n} {
				if a, b := AtMost(n, k, p), AtLeast(n, n-k, 1-p); a != b {
					t.Errorf("n=%d p=%v k=%d: %v, %v", n, p, k, a, b)
				}
			}
		}
	}
	for _, c := range []struct{ got, want float64 }{
		{AtLeast(5, 0, 0.5), 1}, {AtLeast(5, 6, 0.5), 0}, {AtMost(5, -1, 0.5), 0},
		{AtMost(5, 5, 0.5), 1}, {AtLeast(5, 1, 0), 0}, {AtLeast(5, 5, 1), 1},
		{AtMost(5, 4, 1), 0}, {AtMost(5, 0, 0), 1},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestStirlingErrors(t *testing.T) {
	for n := 1; n < 40; n++ {
		logFactorial, _ := math.Lgamma(float64(n + 1))
		m := float64(n)
		want := logFactorial - 0.5*math.Log(2*math.Pi*m) - m*math.Log(m) + m
		if got := stirlingError(n); math.Abs(got-want) > 1e-13 {
			t.Errorf("n=%d: %v, want %v", n, got, want)
		}
	}
}
