package calibrate

import (
	"math"
	"sort"

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
