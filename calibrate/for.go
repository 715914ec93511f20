package calibrate

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"toptau/diag"
	"toptau/internal/binomial"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// Threshold is a threshold for a goal with its evidence.
type Threshold struct {
	Value      float64 // the decision is score > Value
	Goal       metric.Goal
	Population method.Population // the rows whose scores gave it
	Rows       int               // their number
	Order      int               // Value is the Order-th smallest of their scores
	Expected   Expectation       // the rate that the goal bounds, on new rows, with metric.DefaultConfidence
	Unresolved bool              // the rows cannot resolve the budget: Expected.Rate is above it
	Guarantee  *Guarantee        // nil: none
	Needed     int               // with delta: the fewest calibration scores with which the goal can be certified
}

// For returns the threshold for a goal from scores of the goal's population (Goal.Population).
//
// Without delta it is the score whose expected rate on new rows is at most the goal's: see Sorted.Plain. For
// GoalAbsoluteTop it is the largest negative score.
//
// With delta it is certified, if the scores were used for nothing else: the Neyman-Pearson umbrella (Tong, Feng and
// Li, Science Advances 4, 2018) takes the smallest order k with
//
//	P(Bin(n, 1 - alpha) >= k) <= delta.
//
// With confidence 1 - delta over the draw of the n calibration rows, the rate of score > threshold is then at most
// alpha. Guarantee.Bound is the exact binomial tail at k. It holds for any distribution of scores; tied scores only make
// it safer, because a score equal to the threshold is not an alert. For GoalAbsoluteTop the threshold is the largest
// negative score, and with confidence 1 - delta the false positive rate is at most Bound = 1 - delta^(1/n).
//
// With fewer than Needed scores it returns the plain threshold together with a *diag.Error of kind Guarantee that
// names the number needed. Other errors come without a threshold.
func For(g metric.Goal, delta threshold.Rate, s *Sorted) (*Threshold, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if unweighted := *s; !delta.IsZero() || g.Kind == metric.GoalAbsoluteTop {
		unweighted.weights = nil // they are equal, or there is no guarantee
		s = &unweighted
	}
	var t *Threshold
	var err error
	switch {
	case g.Kind == metric.GoalAbsoluteTop:
		t, err = s.absoluteTop(delta)
	case delta.IsZero():
		t, err = s.Plain(g.Tau())
	default:
		t, err = s.certified(g.Tau(), delta)
	}
	if t != nil {
		t.Goal = g
	}
	return t, err
}

// Plain returns the threshold whose expected rate on a new row is at most alpha: the j-th largest of n scores,
//
//	j = floor(alpha (n+1)), at least 1.
//
// A new score that is exchangeable with these is above the j-th largest with probability j/(n+1), less if scores are
// tied. For j = 1 that may exceed alpha: n scores cannot resolve a rate below 1/(n+1). The rate itself is random:
// Expected has its interval.
//
// For rows with weights it is the smallest score such that the mass of the scores at or above it is at most
// alpha (M + u), where M is the mass of all scores and u = sum of squared weights / M the expected weight of a new row
// that is drawn by mass. Equal weights change nothing.
func (s *Sorted) Plain(alpha threshold.Rate) (*Threshold, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if alpha.IsZero() {
		return nil, unset("alpha")
	}
	j := alpha.Floor(s.n + 1)
	if s.weights != nil {
		j = s.within(alpha)
	}
	t, _, err := s.statistic(s.n+1-max(1, j), nil)
	if err == nil {
		t.Unresolved = t.Expected.Rate > alpha.Float64()
	}
	return t, err
}

// within returns the number of largest scores with weights whose mass is within Plain's budget.
func (s *Sorted) within(alpha threshold.Rate) (j int) {
	allowed := float64(alpha.Float64() * (s.mass + s.squares/s.mass))
	above := 0.0
	for j < s.n && above+s.weights[s.n-1-j] <= allowed {
		above += s.weights[s.n-1-j]
		j++
	}
	return j
}

// certified returns the threshold of the umbrella.
func (s *Sorted) certified(alpha, delta threshold.Rate) (*Threshold, error) {
	needed, err := Needed(alpha, delta)
	if err != nil {
		return nil, err
	}
	if s.n < needed {
		t, err := s.Plain(alpha)
		if err != nil {
			return nil, err
		}
		t.Needed = needed
		return t, tooFew(s.n, needed, alpha, delta, s.population)
	}
	order := s.n - mostAbove(s.n, alpha, delta) // at most the others may lie above the threshold
	t, sample, err := s.statistic(order, sampledRanks(s.n, order))
	if err != nil {
		return nil, err
	}
	t.Needed = needed
	t.Guarantee = &Guarantee{Certified: true, Kind: kindOf(s.population), Rate: alpha, Delta: delta, Order: order,
		Bound: binomial.AtMost(s.n, s.n-order, alpha.Float64()), Calibration: sample}
	if s.population == method.Negatives {
		t.Guarantee.Negatives = s.n
	}
	return t, nil
}

// absoluteTop returns the largest negative score.
func (s *Sorted) absoluteTop(delta threshold.Rate) (*Threshold, error) {
	t, sample, err := s.statistic(s.n, sampledRanks(s.n, s.n))
	if err == nil && !delta.IsZero() {
		t.Guarantee = &Guarantee{Certified: true, Kind: metric.GoalAbsoluteTop, Delta: delta, Negatives: s.n, Order: s.n,
			Bound: absoluteBound(s.n, delta.Float64()), Calibration: sample}
	}
	return t, err
}

// statistic returns the k-th smallest of the scores as a threshold, with the scores of some ranks, which include its
// own; nil: of none.
func (s *Sorted) statistic(k int, ranks []int) (*Threshold, *Sample, error) {
	sample := &Sample{Rows: s.n, Above: ranks}
	if ranks == nil {
		sample.Above = []int{s.n - k}
	}
	orders := make([]int, 0, len(sample.Above))
	for _, above := range sample.Above {
		orders = append(orders, s.n-above)
	}
	var err error
	if sample.Scores, err = s.orders(orders); err != nil {
		return nil, nil, err
	}
	for i := range sample.Scores {
		sample.Scores[i] += 0 // -0 becomes 0
	}
	return &Threshold{Value: sample.Scores[slices.Index(orders, k)], Population: s.population, Rows: s.n, Order: k,
		Expected: s.expected(k, metric.DefaultConfidence)}, sample, nil
}

// Expectation is the distribution of the rate of score > threshold on new rows.
type Expectation struct {
	Rate       float64 `json:"rate"`       // its mean
	Low        float64 `json:"low"`        // ends of an interval that holds it with probability Confidence
	High       float64 `json:"high"`       // the upper end
	Confidence float64 `json:"confidence"` // of the interval
}

// expected returns the mean j/(n+1) and the interval of the rate of score > threshold on new rows, which
// follows the distribution Beta(j, n+1-j) over the draw of the n scores if the threshold is the j-th largest
// of them. Ties make the rate smaller, so that the lower end does not hold then. For weighted scores n and j
// are effective numbers, rounded, and the interval is approximate.
func (s *Sorted) expected(order int, confidence float64) Expectation {
	n, j := s.n, s.n+1-order
	rate := float64(j) / float64(n+1)
	if s.weights != nil {
		above := 0.0
		for i := s.n - 1; i >= order-1; i-- {
			above += s.weights[i]
		}
		effective := s.mass * (s.mass / s.squares)
		effectiveAbove := above * (s.mass / s.squares)
		rate = effectiveAbove / (effective + 1)
		n = max(1, int(math.Round(effective)))
		j = min(n, max(1, int(math.Round(effectiveAbove))))
	}
	low, _ := metric.ClopperPearson(j, n, confidence)
	_, high := metric.ClopperPearson(j-1, n, confidence)
	return Expectation{Rate: rate, Low: low, High: high, Confidence: confidence}
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

func unset(name string) error {
	return &diag.Error{Kind: diag.Usage, Param: name, Expected: "a rate between 0 and 1"}
}
