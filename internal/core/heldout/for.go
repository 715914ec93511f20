package heldout

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/internal/core/evidence"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// Threshold is a threshold for a goal with its evidence.
type Threshold struct {
	Value      float64 // the decision is score > Value
	Goal       metric.Goal
	Population method.Population     // the rows whose scores gave it
	Rows       int                   // their number
	Order      int                   // Value is the Order-th smallest of their scores, or between that and the next smaller one
	Between    bool                  // which of the two
	Expected   calibrate.Expectation // the rate that the goal bounds, on new rows, with metric.DefaultConfidence
	Unresolved bool                  // the rows cannot resolve the budget: Expected.Rate is above it
	Guarantee  *calibrate.Guarantee  // nil: none
	Needed     int                   // with delta: the fewest calibration scores with which the goal can be certified
	Lucky      *Lucky                // a lowest precision that may be luck; nil: otherwise
}

// For returns the threshold for a goal from scores of the goal's population (Goal.Population).
//
// Without delta it is the threshold whose expected rate on new rows is the goal's: see Sorted.Plain. For
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
// For GoalMinRecall the umbrella is mirrored (see Sorted.recall): with confidence 1 - delta at least the rate of new
// positives is found. GoalMinPrecision needs labelled rows: see Precision.
//
// With fewer than Needed scores it returns the plain threshold together with a *diag.Error of kind Guarantee that
// names the number needed. Other errors come without a threshold.
func For(g metric.Goal, delta threshold.Rate, s *Sorted) (*Threshold, error) {
	if err := cmp.Or(g.Check(), CheckDelta(delta)); err != nil {
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
	case g.Kind == metric.GoalCostAlert:
		return nil, &diag.Error{Kind: diag.Usage, Param: string(g.Kind), Found: "from the scores of one population",
			Expected: "labelled rows with amounts, for MaxProfit"}
	case g.Kind == metric.GoalMinPrecision:
		return nil, &diag.Error{Kind: diag.Usage, Param: string(g.Kind), Found: "from the scores of one population",
			Expected: "labelled rows, for Precision"}
	case g.Kind == metric.GoalMinRecall:
		t, err = s.recall(g.Rate, delta)
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

// Plain returns the threshold whose expected rate on a new row is alpha, between two order statistics. With n scores
// in descending order, h = alpha (n+1), j = floor(h) and f = h - j it is
//
//	z_(j) + f (z_(j+1) - z_(j))
//
// (Hyndman and Fan, The American Statistician 50, 1996, type 6). A new score that is exchangeable with these is above
// z_(j) with probability j/(n+1), less if scores are tied. In between the rate depends on the distribution: for h < 2.3
// the weight f (j+1) / (j+f), which is exact for exponential tails, replaces f. The ratio of the rate to alpha is then
// 0.95 to 1.02 for tails from uniform to Student's t with 3 degrees of freedom (TestPlainUsesItsBudget), and
// up to 1.14 for h < 2.3 and uniform tails. For h < 1 no threshold that gives an alert keeps the budget: Plain returns
// z_(1), and Unresolved. The rate itself is random: Expected has its interval.
//
// For rows with weights, j is the number of largest scores whose mass is at most alpha (M + u), where M is the mass of
// all scores and u = sum of squared weights / M the expected weight of a new row that is drawn by mass, and f is the
// rest of that mass as a fraction of the next weight. Equal weights change nothing.
func (s *Sorted) Plain(alpha threshold.Rate) (*Threshold, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if alpha.IsZero() {
		return nil, unset("alpha")
	}
	j, f := s.within(alpha)
	order := s.n + 1 - max(1, j)
	if j == 0 || j == s.n || f == 0 {
		t, _, err := s.statistic(order, nil)
		if err == nil {
			t.Unresolved = j == 0
		}
		return t, err
	}
	z, err := s.orders([]int{order, order - 1})
	if err != nil {
		return nil, err
	}
	t := &Threshold{Value: between(z[0], z[1], f) + 0, Population: s.population, Rows: s.n, Order: order, Between: true,
		Expected: s.around(alpha.Float64(), j, metric.DefaultConfidence)}
	if t.Value >= z[0] {
		t.Expected, err = s.expectedTied(t.Value)
	}
	return t, err
}

// exactTails is the h from which Plain's type 6 is within 5 % of the budget.
const exactTails = 2.3

// within returns the number of largest scores within Plain's budget, and the weight of the next one.
func (s *Sorted) within(alpha threshold.Rate) (j int, weight float64) {
	if s.weights == nil {
		j = alpha.Floor(s.n + 1)
		if j == 0 || j == alpha.Ceil(s.n+1) {
			return j, 0
		}
		h := float64(alpha.Float64() * float64(s.n+1))
		return j, tailWeight(float64(j), h-float64(j))
	}
	expected := s.squares / s.mass
	allowed := float64(alpha.Float64() * (s.mass + expected))
	above := 0.0
	for j < s.n && above+s.weights[s.n-1-j] <= allowed {
		above += s.weights[s.n-1-j]
		j++
	}
	if j == s.n {
		return j, 0
	}
	return j, tailWeight(above/expected, (allowed-above)/s.weights[s.n-1-j])
}

// tailWeight returns the weight of the next smaller score for h = j + f.
func tailWeight(j, f float64) float64 {
	if f = min(max(f, 0), 1); f > 0 && j+f < exactTails {
		f = float64(f*(j+1)) / (j + f)
	}
	return min(f, 1)
}

// between returns the number between two scores of which the lower one has a weight.
func between(high, low, weight float64) float64 {
	if high == low || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return high
	}
	return max(low, min(high, float64(high*(1-weight))+float64(low*weight)))
}

// certified returns the threshold of the umbrella.
func (s *Sorted) certified(alpha, delta threshold.Rate) (*Threshold, error) {
	needed, plain, err := s.needed(alpha, delta, s.Plain)
	if err != nil {
		return plain, err
	}
	order := s.n - maxAbove(s.n, alpha, delta) // at most the others may lie above the threshold
	t, sample, err := s.statistic(order, evidence.SampledRanks(s.n, order))
	if err != nil {
		return nil, err
	}
	t.Needed = needed
	t.Guarantee = &calibrate.Guarantee{Certified: true, Kind: kindOf(s.population), Rate: alpha, Delta: delta, Order: order,
		Bound: binomial.AtMost(s.n, s.n-order, alpha.Float64()), Calibration: sample}
	if s.population == method.Negatives {
		t.Guarantee.Negatives = s.n
	}
	return t, nil
}

// needed returns how many rows the guarantee of a rate needs. With fewer it also returns the plain threshold, and the error that says so.
func (s *Sorted) needed(alpha, delta threshold.Rate, plain func(threshold.Rate) (*Threshold, error)) (int, *Threshold, error) {
	needed, err := Needed(alpha, delta)
	if err != nil || s.n >= needed {
		return needed, nil, err
	}
	t, err := plain(alpha)
	if err != nil {
		return needed, nil, err
	}
	t.Needed = needed
	return needed, t, tooFew(s.n, needed, alpha, delta, s.population)
}

// absoluteTop returns the largest negative score.
func (s *Sorted) absoluteTop(delta threshold.Rate) (*Threshold, error) {
	t, sample, err := s.statistic(s.n, evidence.SampledRanks(s.n, s.n))
	if err == nil && !delta.IsZero() {
		t.Guarantee = &calibrate.Guarantee{Certified: true, Kind: metric.GoalAbsoluteTop, Delta: delta, Negatives: s.n, Order: s.n,
			Bound: absoluteBound(s.n, delta.Float64()), Calibration: sample}
	}
	return t, err
}

// statistic returns the k-th smallest of the scores as a threshold, with the scores of some ranks, which include its
// own; nil: of none.
func (s *Sorted) statistic(k int, ranks []int) (*Threshold, *calibrate.Sample, error) {
	sample := &calibrate.Sample{Rows: s.n, Above: ranks}
	if ranks == nil {
		sample.Above = []int{s.n - k}
	}
	orders := make([]int, 0, len(sample.Above)+2)
	for _, above := range sample.Above {
		orders = append(orders, s.n-above)
	}
	for _, neighbour := range []int{k - 1, k + 1} {
		if neighbour >= 1 && neighbour <= s.n {
			orders = append(orders, neighbour)
		}
	}
	z, err := s.orders(orders)
	if err != nil {
		return nil, nil, err
	}
	for i := range z {
		z[i] += 0 // -0 becomes 0
	}
	sample.Scores = z[:len(sample.Above):len(sample.Above)]
	t := &Threshold{Value: z[slices.Index(orders, k)], Population: s.population, Rows: s.n, Order: k,
		Expected: s.expected(k)}
	if slices.Contains(z[len(sample.Above):], t.Value) {
		t.Expected, err = s.expectedTied(t.Value)
	}
	return t, sample, err
}

// Lucky describes a threshold for a lowest precision that fewer than fewReal real alerts have. With as many, no threshold has it.
type Lucky struct {
	Real, Rows         int     // alerts that are real, and all
	BestReal, BestRows int     // the same of the alerts with the highest precision of at least fewReal real ones; 0: there are fewer positives
	Rate               float64 // their precision
}

// expected returns the mean j/(n+1) of the rate of score > threshold on new rows if the threshold is the j-th largest of n scores, and
// its interval. Without ties the rate has the distribution Beta(j, n+1-j) over the draw of the scores. For weighted
// scores n and j are effective numbers, rounded, and the interval is approximate.
func (s *Sorted) expected(order int) calibrate.Expectation {
	rate := float64(s.n+1-order) / float64(s.n+1)
	if s.weights != nil {
		j, n := s.effective(order)
		rate = j / (n + 1)
	}
	return s.around(rate, s.n-order, metric.DefaultConfidence)
}

// around returns a rate with the interval of a proportion of the scores above the threshold. With a scores above, the rate is at least
// that of score >= the a-th largest one and at most that of score > the next one. The ends of the interval are those of the two.
func (s *Sorted) around(rate float64, above int, confidence float64) calibrate.Expectation {
	a, n := s.effective(s.n + 1 - above)
	e := calibrate.Expectation{Rate: rate, Confidence: metric.DefaultConfidence}
	e.Low, e.High = binomial.ClopperPearson(min(int(math.Round(a)), wholeRows(n)), wholeRows(n), confidence)
	return e
}

// tiedConfidence is that of the interval of tied scores, so that it holds with 95 %. Which group of equal scores has the
// threshold depends on the same scores. The lower end fails with one tail at most, because a group with too many scores above is passed
// over. The upper end fails with one for each group that may have the threshold: about two (TestIntervalsOfTiedScores). So each tail is a
// third of 5 %, or half of it where the lower end is 0.
const tiedConfidence = 1 - 2*(1-metric.DefaultConfidence)/3

// expectedTied is expected for a threshold that is one of several equal scores. The order among them means nothing: a new
// row that scores the same is not above.
func (s *Sorted) expectedTied(t float64) (calibrate.Expectation, error) {
	above, equal, err := s.count(t)
	if err != nil {
		return calibrate.Expectation{}, err
	}
	confidence := tiedConfidence
	if above == 0 {
		confidence = metric.DefaultConfidence
	}
	a, n := s.effective(s.n + 1 - above)
	e := s.around(a/n, above, confidence)
	e.Tied = &calibrate.Tied{Equal: equal, Counted: above}
	return e, nil
}

// effective returns the effective numbers of scores at or above an order, and of all.
func (s *Sorted) effective(order int) (above, all float64) {
	if s.weights == nil {
		return float64(s.n + 1 - order), float64(s.n)
	}
	for i := s.n - 1; i >= order-1; i-- {
		above += s.weights[i]
	}
	rows := s.mass / s.squares
	return float64(above * rows), float64(s.mass * rows)
}

func wholeRows(effective float64) int { return max(1, int(math.Round(effective))) }

// tooFew returns the error for fewer calibration scores than needed.
func tooFew(n, needed int, alpha, delta threshold.Rate, p method.Population) error {
	what := "keep a rate of"
	if p == method.Positives {
		what = "miss at most a fraction of"
	}
	return &diag.Error{Kind: diag.Guarantee, Found: text.Count(n) + " calibration " + rowsOf(p),
		Expected: fmt.Sprintf("at least %s to %s %s with confidence 1 - %s", text.Count(needed), what, alpha, delta),
		Hint:     "the plain threshold is returned without a guarantee"}
}

// maxAbove returns the largest m with P(Bin(n, alpha) <= m) <= delta: m of n calibration scores may lie
// above the threshold, whose order is n - m. It is at least 0 if n >= Needed.
func maxAbove(n int, alpha, delta threshold.Rate) int {
	return sort.Search(n, func(m int) bool { return !tailAtMost(n, m, alpha, delta) }) - 1
}

func unset(name string) error {
	return &diag.Error{Kind: diag.Usage, Param: name, Expected: "a rate between 0 and 1"}
}

// UpTo returns the upper end of the rate that a plain threshold of a budget is expected to have, 0 for any other threshold.
func (t *Threshold) UpTo() float64 {
	if t.Guarantee != nil || !t.Goal.IsBudget() {
		return 0
	}
	return t.Expected.High
}

// CertifiedGuarantee returns a certified guarantee for a model, with the number of negatives among the calibration rows, nil if there is
// none.
func (t *Threshold) CertifiedGuarantee(negatives int) *calibrate.Guarantee {
	if t.Guarantee == nil || !t.Guarantee.Certified {
		return nil
	}
	kept := *t.Guarantee
	if t.Goal.IsBudget() { // the others have the counts of the rows that they use
		kept.Negatives = negatives
	}
	return &kept
}
