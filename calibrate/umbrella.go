package calibrate

import (
	"fmt"
	"sort"

	"toptau/diag"
	"toptau/internal/binomial"
	"toptau/threshold"
)

// NeymanPearson returns the threshold of the Neyman-Pearson umbrella (Tong, Feng and Li, Science Advances 4, 2018): the
// smallest order k with
//
//	P(Bin(n, 1 - alpha) >= k) <= delta
//
// on the scores of n negatives that were used for nothing else. With confidence 1 - delta over the draw of these
// negatives, the false positive rate of the decision score > threshold is at most alpha. Bound is the exact binomial
// tail at k, the probability of exceeding alpha. It holds for any distribution of scores; tied scores only make it
// safer, because a score equal to the threshold is not an alert.
//
// With fewer than Needed negatives it returns the Plain threshold, Certified false, with a *diag.Error of kind
// Guarantee that names the number needed. Any other error comes without a threshold: no scores, a NaN, a rate unset.
func NeymanPearson(negatives []float64, alpha, delta threshold.Rate) (Threshold, error) {
	return umbrella(negatives, alpha, delta, Negatives)
}

// TopShare is NeymanPearson on the scores of all calibration rows, positives and negatives as they come: with
// confidence 1 - delta the share of rows that become alerts is at most alpha.
func TopShare(scores []float64, alpha, delta threshold.Rate) (Threshold, error) {
	return umbrella(scores, alpha, delta, All)
}

func umbrella(scores []float64, alpha, delta threshold.Rate, p Population) (Threshold, error) {
	needed, err := Needed(alpha, delta)
	if err != nil {
		return Threshold{}, err
	}
	z, err := ascending(scores, p)
	if err != nil {
		return Threshold{}, err
	}
	if len(z) < needed {
		t := plain(z, alpha, p)
		t.Delta, t.Needed = delta, needed
		t.Bound = binomial.AtMost(t.N, t.N-t.Order, alpha.Float64())
		return t, tooFew(t)
	}
	exceeding := allowed(len(z), alpha, delta)
	t := at(z, len(z)-exceeding, p)
	t.Alpha, t.Delta, t.Needed, t.Certified = alpha, delta, needed, true
	t.Bound = binomial.AtMost(t.N, exceeding, alpha.Float64())
	return t, nil
}

// tooFew is the refusal to certify.
func tooFew(t Threshold) error {
	return &diag.Error{Kind: diag.Guarantee,
		Found: fmt.Sprintf("%d calibration %s", t.N, rowsOf(t.Population)),
		Expected: fmt.Sprintf("at least %d to keep a rate of %s with confidence 1 - %s", t.Needed, t.Alpha,
			t.Delta),
		Hint: "the plain threshold is returned without a guarantee"}
}

// allowed is the largest m with P(Bin(n, alpha) <= m) <= delta: so many of n calibration scores may lie above the
// threshold of order n - m. There is one (m >= 0) when n >= Needed.
func allowed(n int, alpha, delta threshold.Rate) int {
	return sort.Search(n, func(m int) bool { return !tailAtMost(n, m, alpha, delta) }) - 1
}

// AbsoluteTop returns the largest negative score as the threshold. With confidence 1 - delta the false positive rate of
// score > threshold is at most Bound = 1 - delta^(1/n). Certified is true: the bound is what is certified.
func AbsoluteTop(negatives []float64, delta threshold.Rate) (Threshold, error) {
	if delta.IsZero() {
		return Threshold{}, unset("delta")
	}
	z, err := ascending(negatives, Negatives)
	if err != nil {
		return Threshold{}, err
	}
	t := at(z, len(z), Negatives)
	t.Delta, t.Certified = delta, true
	t.Bound = absoluteBound(len(z), delta.Float64())
	return t, nil
}

func unset(name string) error {
	return &diag.Error{Kind: diag.Usage, Found: name + " is not set", Expected: "a rate between 0 and 1"}
}
