package calibrate

import (
	"fmt"
	"sort"

	"toptau/diag"
	"toptau/method"
	"toptau/threshold"
)

// NeymanPearson returns the threshold of the Neyman-Pearson umbrella (Tong, Feng and Li, Science Advances 4,
// 2018): the smallest order k with
//
//	P(Bin(n, 1 - alpha) >= k) <= delta
//
// on the scores of n negatives that were used for nothing else. With confidence 1 - delta over the draw of
// these negatives, the false positive rate of the decision score > threshold is at most alpha. Bound is the
// exact binomial tail at k, the probability of exceeding alpha. It holds for any distribution of scores; tied
// scores only make it safer, because a score equal to the threshold is not an alert.
//
// With fewer than Needed negatives it returns the Plain threshold, Certified false, and a *diag.Error of kind
// Guarantee (diag.ErrNoGuarantee) that names the number needed. Other errors (no scores, a NaN, a rate that
// is not set) come without a threshold.
func NeymanPearson(negatives []float64, alpha, delta threshold.Rate) (t float64, g Guarantee, err error) {
	return umbrella(negatives, alpha, delta, method.Negatives)
}

// TopFraction is NeymanPearson on the scores of all calibration rows, positives and negatives as drawn. With
// confidence 1 - delta the fraction of rows above the threshold is at most alpha.
func TopFraction(scores []float64, alpha, delta threshold.Rate) (t float64, g Guarantee, err error) {
	return umbrella(scores, alpha, delta, method.AllRows)
}

func umbrella(scores []float64, alpha, delta threshold.Rate, p method.Population) (t float64, g Guarantee, err error) {
	if _, err := Needed(alpha, delta); err != nil {
		return 0, Guarantee{}, err
	}
	s, err := Sort(scores, p)
	if err != nil {
		return 0, Guarantee{}, err
	}
	return s.Certified(alpha, delta)
}

// tooFew returns the error for fewer calibration scores than needed.
func tooFew(n, needed int, alpha, delta threshold.Rate, p method.Population) error {
	return &diag.Error{Kind: diag.Guarantee, Found: fmt.Sprintf("%d calibration %s", n, rowsOf(p)),
		Expected: fmt.Sprintf("at least %d to keep a rate of %s with confidence 1 - %s", needed, alpha, delta),
		Hint:     "the plain threshold is returned without a guarantee"}
}

// mostAbove returns the largest m with P(Bin(n, alpha) <= m) <= delta: m of n calibration scores may lie
// above the threshold, whose order is n - m. It is at least 0 if n >= Needed.
func mostAbove(n int, alpha, delta threshold.Rate) int {
	return sort.Search(n, func(m int) bool { return !tailAtMost(n, m, alpha, delta) }) - 1
}

// AbsoluteTop returns the largest negative score as the threshold. With confidence 1 - delta the false
// positive rate of score > threshold is at most Bound = 1 - delta^(1/n). Certified is true: the guarantee is
// that bound.
func AbsoluteTop(negatives []float64, delta threshold.Rate) (t float64, g Guarantee, err error) {
	if delta.IsZero() {
		return 0, Guarantee{}, unset("delta")
	}
	s, err := Sort(negatives, method.Negatives)
	if err != nil {
		return 0, Guarantee{}, err
	}
	return s.AbsoluteTop(delta)
}

func unset(name string) error {
	return &diag.Error{Kind: diag.Usage, Param: name, Expected: "a rate between 0 and 1"}
}
