package heldout

import (
	"math"
	"sort"

	"toptau/metric"
	"toptau/threshold"
)

// budgetRows is the number of calibration rows within the budget beyond which more bring little: at delta = 5 % the
// guarantee then costs 1.64/sqrt(1000) = 5 % of the budget.
const budgetRows = 1000

// CertifiedRate returns the expected rate of a certified threshold from n scores, at least Needed.
func CertifiedRate(n int, alpha, delta threshold.Rate) float64 {
	return float64(maxAbove(n, alpha, delta)+1) / float64(n+1)
}

// Size returns how many of n rows that a budget counts should calibrate a certified threshold: at most half, and at most
// a thousand within the budget. The expected rate of the threshold, as a fraction of alpha, is highest at the
// smallest number of rows that allows one row more above the threshold, so Size returns such a number. It depends on
// counts only. If half of the rows cannot be certified, it returns Needed, which may be more than n.
func Size(n int, alpha, delta threshold.Rate) (int, error) {
	needed, err := Needed(alpha, delta)
	if err != nil {
		return 0, err
	}
	limit := n / 2
	if wanted := math.Ceil(budgetRows / alpha.Float64()); float64(limit) > wanted {
		limit = int(wanted)
	}
	if limit <= needed {
		return needed, nil
	}
	m := maxAbove(limit, alpha, delta)
	return needed + sort.Search(limit-needed, func(i int) bool { return tailAtMost(needed+i, m, alpha, delta) }), nil
}

// NeededLabelled returns the fewest calibration positives and negatives with which a lowest precision can be certified, if no negative
// is an alert: rate^n <= delta for n real alerts. With a lowest recall each has delta/2. With a prevalence the false positive
// rate must be certified, see precisionTest.
func NeededLabelled(g metric.Goal, delta threshold.Rate) (positives, negatives int, err error) {
	t := newPrecisionTest(g, delta, 0, 0)
	if g.Prevalence.IsZero() {
		positives, err = Needed(g.Rate.Complement(), t.delta)
	} else if allowed := t.allowed(1); allowed < 1 {
		alpha, wrong := threshold.RateOf(allowed)
		if wrong != nil {
			return 0, 0, wrong
		}
		positives = 1
		negatives, err = Needed(alpha, t.delta.Over(2))
	}
	if err != nil || g.Recall.IsZero() {
		return positives, negatives, err
	}
	recall, err := Needed(g.Recall.Complement(), t.delta)
	return max(positives, recall), negatives, err
}

// SizeLabelled returns how many of n rows, with some positives, should calibrate a lowest precision: at most half, and as many as have
// a thousand positives for each false alert that is allowed.
func SizeLabelled(n, positives int, g metric.Goal) int {
	wanted := budgetRows / (1 - g.Rate.Float64())
	return int(min(float64(n/2), math.Ceil(float64(float64(n)*wanted)/float64(max(1, positives)))))
}
