package heldout

import (
	"fmt"
	"math"
	"slices"

	"toptau/calibrate"
	"toptau/internal/core/binomial"
	"toptau/internal/core/evidence"
	"toptau/metric"
	"toptau/threshold"
)

const (
	// claimRounding is the largest relative difference between a bound and its recomputation that counts as
	// rounding. The tail has a relative error of about 1e-12.
	claimRounding = 1e-9

	// maxClaimed limits the number of calibration scores and maxWide the terms of a sum with 400 bits, so
	// that a small file cannot cause hours of work. No file that can be read has that many rows.
	maxClaimed = 1 << 40
	maxWide    = 1 << 18
)

// claim is a guarantee that is checked.
type claim struct{ *calibrate.Guarantee }

// Check recomputes the evidence of a guarantee and returns an error for a contradiction: an order that the rule does not
// give for these numbers, a bound that is not the binomial tail, a sample of another number of rows. It
// returns the threshold if the calibration scores have it, and whether they do. Certified is not checked.
func Check(g *calibrate.Guarantee) (at float64, known bool, err error) { return claim{g}.check() }

func (g claim) check() (at float64, known bool, err error) {
	if err := g.Calibration.Check(); err != nil {
		return 0, false, err
	}
	if g.Kind == metric.GoalMinPrecision {
		if g.Rate.IsZero() || g.Delta.IsZero() {
			return 0, false, fmt.Errorf("no rate or no delta")
		}
		at, err = g.checkPrecision()
		return at, err == nil, err
	}
	if !g.Prevalence.IsZero() {
		return 0, false, fmt.Errorf("a prevalence, and the kind %q", g.Kind)
	}
	if g.Kind == metric.GoalMinRecall {
		if g.Calibration != nil || g.Recall != nil || g.Negatives != 0 || len(g.Tested) != 1 || g.Tested[0].Real != g.Rows-g.Order+1 ||
			g.Tested[0].Rows != g.Tested[0].Real {
			return 0, false, fmt.Errorf("order %d of %d calibration positives, and other evidence", g.Order, g.Rows)
		}
	} else if g.Rows != 0 || len(g.Tested) > 0 || g.Recall != nil {
		return 0, false, fmt.Errorf("evidence for a precision, and the kind %q", g.Kind)
	}
	n := g.claimed()
	if n < 0 || n > maxClaimed || g.Order < 1 || g.Order > maxClaimed || n > 0 && g.Order > n {
		return 0, false, fmt.Errorf("order %d of %d calibration scores", g.Order, n)
	}
	if n == 0 && g.Kind != metric.GoalTop { // of GoalTop, order and bound give it
		return 0, false, fmt.Errorf("no calibration scores")
	}
	if !(g.Bound >= 0 && g.Bound <= 1) {
		return 0, false, fmt.Errorf("bound %v", g.Bound)
	}
	if g.Delta.IsZero() {
		return 0, false, fmt.Errorf("no delta")
	}
	switch {
	case g.Kind == metric.GoalAbsoluteTop && g.Rate.IsZero():
		err = g.checkAbsolute(n)
	case (g.Kind == metric.GoalTop || g.Kind == metric.GoalMaxFPR || g.Kind == metric.GoalMinRecall && n > 0) && !g.Rate.IsZero():
		err = g.checkOrder(n)
	default:
		err = fmt.Errorf("kind %q with rate %q", g.Kind, g.Rate)
	}
	switch {
	case err != nil:
		return 0, false, err
	case g.Kind == metric.GoalMinRecall:
		return g.Tested[0].Threshold, true, nil
	case g.Calibration == nil:
		return 0, false, nil
	}
	if g.Calibration.Rows != n {
		return 0, false, fmt.Errorf("%d calibration scores, and a sample of %d", n, g.Calibration.Rows)
	}
	if !slices.Equal(g.Calibration.Above, evidence.SampledRanks(n, g.Order)) {
		return 0, false, fmt.Errorf("the sample of the calibration scores has other ranks than order %d of %d leaves", g.Order, n)
	}
	return g.Calibration.Scores[slices.Index(g.Calibration.Above, n-g.Order)], true, nil
}

// claimed returns the number of calibration scores without the sample where possible, so that the sample can
// be checked.
func (g claim) claimed() int {
	if g.Kind == metric.GoalTop || g.Kind == metric.GoalMinRecall {
		return g.N()
	}
	return g.Negatives
}

func (g claim) checkAbsolute(n int) error {
	if n < 1 || g.Order != n {
		return fmt.Errorf("order %d of %d calibration scores; the rule gives the largest", g.Order, n)
	}
	if bound := absoluteBound(n, g.Delta.Float64()); !near(g.Bound, bound) {
		return fmt.Errorf("the bound is %.6g for %d calibration scores and delta %s, the file has %.6g", bound, n, g.Delta, g.Bound)
	}
	return nil
}

// checkOrder checks the order of the umbrella (For): its tail is at most delta, and that of the order below is
// not.
func (g claim) checkOrder(n int) error {
	if n == 0 {
		n = g.findN()
	}
	m, alpha := n-g.Order, g.Rate // calibration scores that may lie above
	if g.Kind == metric.GoalMinRecall {
		m, alpha = g.Order-1, g.Rate.Complement() // below
	}
	if m < 0 {
		return fmt.Errorf("order %d of %d calibration scores", g.Order, n)
	}
	if tail := binomial.AtMost(n, m, alpha.Float64()); !near(g.Bound, tail) {
		return fmt.Errorf("the binomial tail of order %d of %d at rate %s is %.6g, the file has %.6g", g.Order, n, g.Rate, tail, g.Bound)
	}
	if !g.atMost(n, m, alpha, 1) {
		return fmt.Errorf("the binomial tail of order %d of %d at rate %s is %.6g, above delta %s", g.Order, n, g.Rate, g.Bound, g.Delta)
	}
	if m+1 < n && g.atMost(n, m+1, alpha, -1) {
		return fmt.Errorf("order %d of %d at rate %s and delta %s; the rule gives another one", g.Order, n, g.Rate, g.Delta)
	}
	return nil
}

// atMost reports whether P(Bin(n, alpha) <= m) <= Delta. If the exact answer takes too long, float64 decides
// in favour of the claim: sign is 1 if a tail of at most Delta supports the claim and -1 if it contradicts
// it.
func (g claim) atMost(n, m int, alpha threshold.Rate, sign int) bool {
	if m <= maxWide {
		return tailAtMost(n, m, alpha, g.Delta)
	}
	return binomial.AtMost(n, m, alpha.Float64()) <= g.Delta.Float64()*(1+float64(float64(sign)*doubtful))
}

// findN returns the smallest number of scores at which the tail of the order reaches the bound: P(Bin(n,
// Rate) <= n - Order) grows with n.
func (g claim) findN() int {
	low, high := g.Order, g.Order
	tail := func(n int) float64 { return binomial.AtMost(n, n-g.Order, g.Rate.Float64()) }
	for tail(high) < g.Bound*(1-claimRounding) && high < maxClaimed {
		high *= 2
	}
	for low < high {
		if middle := low + (high-low)/2; tail(middle) < g.Bound*(1-claimRounding) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// near reports whether two numbers differ by rounding only.
func near(a, b float64) bool { return math.Abs(a-b) <= claimRounding*math.Abs(b) }

// checkPrecision checks the evidence for a lowest precision, and for a lowest recall together with it. It returns the
// threshold.
func (g claim) checkPrecision() (at float64, err error) {
	test := precisionTest{g.Rate, g.Delta, g.Prevalence, g.Rows - g.Negatives, g.Negatives}
	if g.Recall != nil {
		test.delta = g.Delta.Over(2)
	}
	before := calibrate.Alerts{Threshold: math.Inf(1)}
	for _, a := range g.Tested {
		if !(a.Threshold < before.Threshold) || math.IsInf(a.Threshold, 0) || a.Real < before.Real || a.Rows-a.Real < before.Rows-before.Real ||
			a.Rows > g.Rows {
			return 0, fmt.Errorf("tested thresholds out of order: %d of %d alerts above %v", a.Real, a.Rows, a.Threshold)
		}
		if a.Real > test.positives || a.Rows-a.Real > test.negatives || !test.passes(&a) {
			return 0, fmt.Errorf("%d real alerts of %d do not certify a precision of %s at delta %s", a.Real, a.Rows, g.Rate, test.delta)
		}
		before = a
	}
	if len(g.Tested) == 0 || len(g.Tested) > maxTested || g.Order != 0 {
		return 0, fmt.Errorf("%d tested thresholds, the last with %d alerts of %d calibration rows", len(g.Tested), before.Rows, g.Rows)
	}
	if bound := test.bound(&before); !near(g.Bound, bound) {
		return 0, fmt.Errorf("the bound of %d real alerts of %d is %.6g, the file has %.6g", before.Real, before.Rows, bound, g.Bound)
	}
	if r := g.Recall; r != nil {
		lowest, known, err := Check(r)
		if err != nil {
			return 0, err
		}
		if r.Kind != metric.GoalMinRecall || !r.Certified || r.Delta != test.delta || !known || lowest < before.Threshold ||
			r.N() != g.Rows-g.Negatives {
			return 0, fmt.Errorf("a recall of %s at delta %s that does not hold at the threshold", r.Rate, r.Delta)
		}
	}
	return before.Threshold, nil
}

// maxTested limits the thresholds of a sequence in a file.
const maxTested = 1000
