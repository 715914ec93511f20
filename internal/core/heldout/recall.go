package heldout

import (
	"math"
	"slices"

	"toptau/calibrate"
	"toptau/internal/core/binomial"
	"toptau/metric"
	"toptau/threshold"
)

// recall returns the threshold for a lowest recall from the scores of positives: the umbrella of For, mirrored. Of n
// calibration positives, the m lowest may be missed, for the largest m with
//
//	P(Bin(n, alpha) <= m) <= delta, alpha = 1 - rate.
//
// With confidence 1 - delta over their draw, at least the rate of new positives then scores at least the (m+1)-th
// smallest. Rows that score equal to it must be alerts, so the threshold is the largest number below it: with the score
// itself, ties would break the promise. Without delta it is Plain's threshold of the negated scores.
func (s *Sorted) recall(rate, delta threshold.Rate) (*Threshold, error) {
	alpha := rate.Complement()
	if delta.IsZero() {
		return s.plainRecall(alpha)
	}
	needed, plain, err := s.needed(alpha, delta, s.plainRecall)
	if err != nil {
		return plain, err
	}
	m := maxAbove(s.n, alpha, delta)
	t, _, err := s.mirrored().statistic(s.n-m, nil)
	if err != nil {
		return nil, err
	}
	t.unmirror()
	t.Needed = needed
	t.Guarantee = &calibrate.Guarantee{Certified: true, Kind: metric.GoalMinRecall, Rate: rate, Delta: delta, Order: m + 1,
		Bound: binomial.AtMost(s.n, m, alpha.Float64()), Rows: s.n, Tested: []calibrate.Alerts{{Threshold: t.Value, Rows: s.n - m,
			Real: s.n - m}}}
	return t, nil
}

// justBelow returns the largest number below a score, so that rows with the score are alerts.
func justBelow(z float64) float64 { return math.Nextafter(z, math.Inf(-1)) }

// plainRecall returns the threshold at which a new positive is missed with probability alpha.
func (s *Sorted) plainRecall(alpha threshold.Rate) (*Threshold, error) {
	t, err := s.mirrored().Plain(alpha)
	if err != nil {
		return nil, err
	}
	t.unmirror()
	return t, nil
}

// unmirror turns a threshold of the negated scores into that of the scores.
func (t *Threshold) unmirror() {
	t.Value = justBelow(-t.Value)
	t.Order = t.Rows + 1 - t.Order
	t.Expected = complementOf(t.Expected, t.Rows)
}

// mirrored returns the scores with the opposite sign.
func (s *Sorted) mirrored() *Sorted {
	m := *s
	m.weights = slices.Clone(s.weights)
	slices.Reverse(m.weights)
	m.orders = func(orders []int) ([]float64, error) {
		list := make([]int, len(orders))
		for i, k := range orders {
			list[i] = s.n + 1 - k
		}
		scores, err := s.orders(list)
		for i := range scores {
			scores[i] = -scores[i]
		}
		return scores, err
	}
	m.count = func(t float64) (above, equal int, err error) {
		above, equal, err = s.count(-t)
		return s.n - above - equal, equal, err
	}
	return &m
}

// complementOf returns the distribution of 1 minus the rate, of that number of rows.
func complementOf(e calibrate.Expectation, rows int) calibrate.Expectation {
	m := calibrate.Expectation{Rate: 1 - e.Rate, Low: 1 - e.High, High: 1 - e.Low, Confidence: e.Confidence}
	if e.Tied != nil {
		m.Tied = &calibrate.Tied{Equal: e.Tied.Equal, Counted: rows - e.Tied.Counted}
	}
	return m
}
