package calibrate

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/binomial"
	"toptau/threshold"
)

// Claim is what a file says about a certified threshold. Check recomputes it, so that nothing has to be believed.
type Claim struct {
	Alpha  threshold.Rate // unset: the claim of AbsoluteTop
	Delta  threshold.Rate
	N      int // calibration scores; 0: not kept, and Check finds the only number that goes with the rest
	Order  int
	Bound  float64
	Sample *Sample // nil: not kept
}

const (
	// claimRounding is the relative difference between a bound and its recomputation that counts as rounding.
	claimRounding = 1e-9

	// mostClaimed bounds the number of calibration scores and mostWide the terms of a sum with 400 bits, so that a small file
	// cannot ask for hours of work. Rows in such numbers would not fit into a file that anything reads.
	mostClaimed = 1 << 40
	mostWide    = 1 << 18
)

// Check reports a contradiction: an order that is not the one the rule gives for these numbers, a bound that is not the
// binomial tail, a sample of another number of rows. It returns the score that the sample keeps at the order, and whether it
// keeps one: the threshold.
func (c Claim) Check() (threshold float64, kept bool, err error) {
	if err := c.Sample.Check(); err != nil {
		return 0, false, err
	}
	n := c.N
	if n < 0 || n > mostClaimed || c.Order < 1 || c.Order > mostClaimed || n > 0 && c.Order > n {
		return 0, false, fmt.Errorf("order %d of %d calibration scores", c.Order, n)
	}
	if !(c.Bound >= 0 && c.Bound <= 1) {
		return 0, false, fmt.Errorf("bound %v", c.Bound)
	}
	if c.Delta.IsZero() {
		return 0, false, fmt.Errorf("no delta")
	}
	if c.Alpha.IsZero() {
		err = c.checkAbsolute()
	} else {
		err = c.checkOrder()
	}
	if err != nil || c.Sample == nil {
		return 0, false, err
	}
	if c.Sample.Rows != n {
		return 0, false, fmt.Errorf("%d calibration scores, and a sample of %d", n, c.Sample.Rows)
	}
	if !slices.Equal(c.Sample.Above, sampledRanks(n, c.Order)) {
		return 0, false, fmt.Errorf("the sample of the calibration scores has other ranks than order %d of %d leaves", c.Order, n)
	}
	return c.Sample.Scores[slices.Index(c.Sample.Above, n-c.Order)], true, nil
}

func (c Claim) checkAbsolute() error {
	if c.N < 1 || c.Order != c.N {
		return fmt.Errorf("order %d of %d calibration scores; the rule gives the largest", c.Order, c.N)
	}
	if bound := absoluteBound(c.N, c.Delta.Float64()); !near(c.Bound, bound) {
		return fmt.Errorf("the bound is %.6g for %d calibration scores and delta %s, the file has %.6g", bound, c.N, c.Delta, c.Bound)
	}
	return nil
}

// checkOrder checks the umbrella's order: the tail is at most delta, and that of the order below is not.
func (c Claim) checkOrder() error {
	n := c.N
	if n == 0 {
		n = c.findN()
	}
	m := n - c.Order // calibration scores that may lie above
	if m < 0 {
		return fmt.Errorf("order %d of %d calibration scores", c.Order, n)
	}
	if tail := binomial.AtMost(n, m, c.Alpha.Float64()); !near(c.Bound, tail) {
		return fmt.Errorf("the binomial tail of order %d of %d at rate %s is %.6g, the file has %.6g", c.Order, n, c.Alpha, tail, c.Bound)
	}
	if !c.atMost(n, m, 1) {
		return fmt.Errorf("the binomial tail of order %d of %d at rate %s is %.6g, above delta %s", c.Order, n, c.Alpha, c.Bound, c.Delta)
	}
	if c.Order > 1 && m+1 < n && c.atMost(n, m+1, -1) {
		return fmt.Errorf("order %d of %d at rate %s and delta %s; the rule gives a lower one", c.Order, n, c.Alpha, c.Delta)
	}
	return nil
}

// atMost reports whether P(Bin(n, Alpha) <= m) <= Delta. Where the exact answer would be long to compute, the last digits of a
// float64 decide, in favour of the claim: sign is 1 where a tail below Delta supports it and -1 where it speaks against it.
func (c Claim) atMost(n, m, sign int) bool {
	if m <= mostWide {
		return tailAtMost(n, m, c.Alpha, c.Delta)
	}
	return binomial.AtMost(n, m, c.Alpha.Float64()) <= c.Delta.Float64()*(1+float64(float64(sign)*doubtful))
}

// findN returns the number of scores at which the tail of the order is nearest to the bound: P(Bin(n, Alpha) <= n - Order)
// grows with n.
func (c Claim) findN() int {
	low, high := c.Order, c.Order
	tail := func(n int) float64 { return binomial.AtMost(n, n-c.Order, c.Alpha.Float64()) }
	for tail(high) < c.Bound*(1-claimRounding) && high < mostClaimed {
		high *= 2
	}
	for low < high {
		if middle := low + (high-low)/2; tail(middle) < c.Bound*(1-claimRounding) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// near reports whether two numbers differ by rounding only.
func near(a, b float64) bool { return math.Abs(a-b) <= claimRounding*math.Abs(b) }
