package metric

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
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
			if got := BinomialAtMost(c.n, k, c.p); want > 0 {
				worst = max(worst, math.Abs(got-want)/want)
			}
			complement := 1 - want
			if got := BinomialAtLeast(c.n, k+1, c.p); complement > 0.01 {
				worst = max(worst, math.Abs(got-complement)/complement)
			}
		}
	}
	t.Logf("largest relative error %.2g", worst)
	if worst > 1e-12 {
		t.Errorf("largest relative error %.3g", worst)
	}
}

// P(X <= k) of failures is P(X >= n-k) of successes, which holds the upper tails to the wide sums of the lower ones.
func TestBinomialTailsMirror(t *testing.T) {
	for _, n := range []int{1, 5, 300, 100_000} {
		for _, p := range []float64{0.25, 0.5, 0.75, 0.9375} { // 1-p is exact
			for _, k := range []int{0, 1, n / 4, n / 2, n - 1, n} {
				if a, b := BinomialAtMost(n, k, p), BinomialAtLeast(n, n-k, 1-p); a != b {
					t.Errorf("n=%d p=%v k=%d: %v, %v", n, p, k, a, b)
				}
			}
		}
	}
	for _, c := range []struct{ got, want float64 }{
		{BinomialAtLeast(5, 0, 0.5), 1}, {BinomialAtLeast(5, 6, 0.5), 0}, {BinomialAtMost(5, -1, 0.5), 0},
		{BinomialAtMost(5, 5, 0.5), 1}, {BinomialAtLeast(5, 1, 0), 0}, {BinomialAtLeast(5, 5, 1), 1},
		{BinomialAtMost(5, 4, 1), 0}, {BinomialAtMost(5, 0, 0), 1},
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

// The ends are beta quantiles, by another author's beta, and have the tails that define them.
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
					a, b := float64(x), float64(n-x)
					if x > 0 {
						near(t, "low", low, distuv.Beta{Alpha: a, Beta: b + 1}.Quantile(tail), 1e-7)
						near(t, "tail at low", BinomialAtLeast(n, x, low), tail, 1e-10)
					}
					if x < n {
						near(t, "high", high, distuv.Beta{Alpha: a + 1, Beta: b}.Quantile(1-tail), 1e-7)
						rounding := 1e-15 / (1 - high) // high itself is rounded, which matters near 1
						near(t, "tail at high", BinomialAtMost(n, x, high), tail, 1e-10+rounding)
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
				covered += mass(n, x, p, 1-p)
			}
		}
		if covered < 0.95 {
			t.Errorf("p=%v is covered with %v", p, covered)
		}
	}
}
