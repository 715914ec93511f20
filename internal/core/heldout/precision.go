package heldout

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// precisionOf returns the fraction of the alerts that is real, 0 without alerts.
func precisionOf(a calibrate.Alerts) float64 { return float64(a.Real) / float64(max(1, a.Rows)) }

// labelledScore is the score of a row with its label.
type labelledScore struct {
	score float64
	real  bool
}

// ranked returns the alerts above the midpoints between the distinct scores, from the top; the last ones are all rows.
func ranked(positives, negatives []float64) ([]calibrate.Alerts, error) {
	rows := make([]labelledScore, 0, len(positives)+len(negatives))
	for _, class := range [][]float64{positives, negatives} {
		real := len(rows) < len(positives)
		for i, z := range class {
			if math.IsNaN(z) || math.IsInf(z, 0) {
				return nil, notANumber(i)
			}
			rows = append(rows, labelledScore{z, real})
		}
	}
	slices.SortFunc(rows, func(a, b labelledScore) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var list []calibrate.Alerts
	real := 0
	for i, r := range rows {
		if r.real {
			real++
		}
		switch {
		case i+1 == len(rows):
			list = append(list, calibrate.Alerts{Threshold: justBelow(r.score), Rows: i + 1, Real: real})
		case rows[i+1].score < r.score:
			list = append(list, calibrate.Alerts{Threshold: between(r.score, rows[i+1].score, 0.5), Rows: i + 1, Real: real})
		}
	}
	return list, nil
}

// PlainPrecision returns the threshold at which the precision on new rows is about rate on average, with its alerts on these labelled
// scores. It has no guarantee.
//
// The excess of k alerts is the number of real ones less rate k. From its peak down, the threshold is at the first alerts whose excess is
// used up. Later ones may have an excess again, but the lowest threshold that looks precise enough is the luckiest one. The
// first one is a stopping time: given the scores, real alerts less their probabilities are a martingale, so the excess on new rows is 0
// in the mean as it is here. At weak signals the peak itself is luck, and the precision is lower (TestPlainPrecisionIsKept). If no alerts
// reach rate, the error is of kind Guarantee, with the best ones.
func plainPrecision(rate threshold.Rate, positives, negatives []float64) (calibrate.Alerts, error) {
	list, err := ranked(positives, negatives)
	if err != nil {
		return calibrate.Alerts{}, err
	}
	if len(list) == 0 {
		return calibrate.Alerts{}, &diag.Error{Kind: diag.Data, Found: "no calibration scores", Expected: "labelled rows"}
	}
	p := rate.Float64()
	best, peak, most := 0, 0, math.Inf(-1)
	for i := range list {
		a := &list[i]
		if precisionOf(*a) >= precisionOf(list[best]) {
			best = i
		}
		if excess := float64(a.Real) - float64(p*float64(a.Rows)); excess >= most {
			peak, most = i, excess
		}
	}
	if precisionOf(list[best]) < p {
		return calibrate.Alerts{}, unreachable(rate, list[best])
	}
	for ; precisionOf(list[peak]) > p && peak+1 < len(list) && precisionOf(list[peak+1]) >= p; peak++ {
	}
	return list[peak], nil
}

func unreachable(rate threshold.Rate, best calibrate.Alerts) error {
	return &diag.Error{Kind: diag.Guarantee,
		Found: fmt.Sprintf("no threshold has a precision of %s: at best %d of %d alerts are real", rate, best.Real, best.Rows),
		Hint:  "set a lower precision"}
}

// fewReal is the number of real alerts below which a precision may be luck. Chosen by hand (TestLuckyPrecisions).
const fewReal = 10

// luckOf returns whether alerts have a precision by luck, nil if not.
func (t *precisionTest) luckOf(a calibrate.Alerts, rate threshold.Rate, positives, negatives []float64) (*Lucky, error) {
	if a.Real >= fewReal {
		return nil, nil
	}
	list, err := ranked(positives, negatives)
	if err != nil {
		return nil, err
	}
	var best calibrate.Alerts
	for _, x := range list {
		if x.Real >= fewReal && precisionOf(x) >= precisionOf(best) {
			best = x
		}
	}
	if precisionOf(best) >= rate.Float64() {
		return nil, nil
	}
	return &Lucky{a.Real, a.Rows, best.Real, best.Rows, t.atPrevalence(precisionOf(best))}, nil
}

// maxBounds limits how many bounds of a precision a sequence computes.
const maxBounds = 1000

// precisionSteps is the number of thresholds of a sequence. Chosen by hand (a change moves results).
const precisionSteps = 40

// PrecisionSequence returns thresholds for ForLabelled, in descending order, from labelled scores that are not used to test
// them: out of fold, or of a part of the calibration rows. It starts where the precision exceeds the goal's by most standard
// errors, because the very top never has enough alerts, and ends at twice the alerts of the plain threshold. With a prevalence it
// starts where the bound of the precision is highest.
func PrecisionSequence(g metric.Goal, delta threshold.Rate, positives, negatives []float64) ([]float64, error) {
	rate := g.RateOn(len(positives), len(negatives))
	list, err := ranked(positives, negatives)
	if err != nil {
		return nil, err
	}
	plain, err := plainPrecision(rate, positives, negatives)
	if err != nil {
		return nil, err
	}
	p := rate.Float64()
	margin := func(a *calibrate.Alerts) float64 {
		return (float64(a.Real) - float64(p*float64(a.Rows))) / math.Sqrt(float64(a.Rows))
	}
	stride := 1
	if test := newPrecisionTest(g, delta, len(positives), len(negatives)); !g.Prevalence.IsZero() {
		margin, stride = test.bound, 1+len(list)/maxBounds
	}
	start, best := 0, math.Inf(-1)
	for i := 0; i < len(list) && list[i].Rows <= plain.Rows; i += stride {
		if m := margin(&list[i]); m > best {
			start, best = i, m
		}
	}
	first := list[start].Rows
	step := max(1, (2*plain.Rows-first)/precisionSteps)
	sequence := []float64{list[start].Threshold}
	next := first + step
	for _, a := range list[start+1:] {
		if a.Rows >= next && a.Rows <= 2*plain.Rows {
			sequence = append(sequence, a.Threshold)
			next = a.Rows + step
		}
	}
	return sequence, nil
}

// precisionTest tests whether the precision at a threshold is at least rate. Of M calibration rows of both classes in their
// natural mix that lie above the threshold, K are positive, and
//
//	P(Bin(M, rate) >= K) <= delta
//
// rejects that the precision is lower: given M, K is binomial.
//
// With a prevalence, the precision is that of rows of which this fraction is positive, and of every larger one. The exact lower bound of
// the true positive rate and the upper bound of the false positive rate, each at delta/2, give it. The mix of the calibration rows does
// not matter.
type precisionTest struct {
	rate, delta, prevalence threshold.Rate
	positives, negatives    int // calibration rows; only used with a prevalence
}

// newPrecisionTest returns the test of a goal. With a lowest recall, half of delta is left for that.
func newPrecisionTest(g metric.Goal, delta threshold.Rate, positives, negatives int) precisionTest {
	if !g.Recall.IsZero() {
		delta = delta.Over(2)
	}
	return precisionTest{g.Rate, delta, g.Prevalence, positives, negatives}
}

// allowed returns the largest false positive rate with the precision, at a true positive rate.
func (t *precisionTest) allowed(recall float64) float64 {
	p, at := t.rate.Float64(), t.prevalence.Float64()
	return float64(recall*float64(at/(1-at))) * ((1 - p) / p)
}

// atPrevalence returns the precision at the test's prevalence of the rates that have a precision among the calibration rows.
func (t *precisionTest) atPrevalence(precision float64) float64 {
	if t.prevalence.IsZero() || t.positives == 0 || precision == 0 {
		return precision
	}
	at := t.prevalence.Float64()
	odds := float64((1 - precision) / precision * ((1 - at) / at) * (float64(t.positives) / float64(t.negatives)))
	return 1 / (1 + odds)
}

// bounds returns the bounds of the rates at a threshold, each at delta/2.
func (t *precisionTest) bounds(a *calibrate.Alerts) (recall, falseAlarms float64) {
	falseAlarms = 1
	tail := t.delta.Float64() / 2
	if a.Real > 0 {
		recall = binomial.SolveAtLeast(t.positives, a.Real, tail)
	}
	if a.Rows-a.Real < t.negatives {
		falseAlarms = binomial.SolveAtMost(t.negatives, a.Rows-a.Real, tail)
	}
	return recall, falseAlarms
}

// passes reports whether the precision is certified.
func (t *precisionTest) passes(a *calibrate.Alerts) bool {
	if t.prevalence.IsZero() {
		return tailAtMost(a.Rows, a.Rows-a.Real, t.rate.Complement(), t.delta)
	}
	recall, falseAlarms := t.bounds(a)
	return falseAlarms <= t.allowed(recall)
}

// bound returns the binomial tail, or with a prevalence the lower bound of the precision.
func (t *precisionTest) bound(a *calibrate.Alerts) float64 {
	if t.prevalence.IsZero() {
		return binomial.AtLeast(a.Rows, a.Real, t.rate.Float64())
	}
	recall, falseAlarms := t.bounds(a)
	at := t.prevalence.Float64()
	found := float64(recall * at)
	return found / (found + float64(falseAlarms*(1-at)))
}

// accepted returns the thresholds of a descending sequence, down to the lowest whose precision on new rows is at least
// rate with confidence 1 - delta, by learn-then-test with a fixed sequence (Angelopoulos, Bates, Candes, Jordan and Lei,
// arXiv 2110.01052). It goes down the sequence and stops at the first threshold that does not pass, so the probability that any accepted
// one is wrong is at most delta. The precision need not be monotone.
func (t *precisionTest) accepted(sequence []float64, positives, negatives *Sorted) (list []calibrate.Alerts, first calibrate.Alerts) {
	for i, at := range sequence {
		a := calibrate.Alerts{Threshold: at, Real: positives.Above(at)}
		a.Rows = a.Real + negatives.Above(at)
		if i == 0 {
			first = a
		}
		if !t.passes(&a) {
			break
		}
		list = append(list, a)
	}
	return list, first
}

// ForLabelled returns the threshold for a goal of kind GoalMinPrecision from labelled scores of both classes, in their
// natural mix if the goal has no prevalence.
//
// Without delta it is PlainPrecision's. With delta it is the lowest accepted one of a sequence that was fixed without a
// look at these rows (PrecisionSequence): the precision on new rows is at least the goal's with confidence 1 - delta.
// With a lowest recall, precision and recall hold together with that confidence: each is tested at delta/2.
//
// If no threshold can be certified, or none reaches both, the error is of kind Guarantee, without a threshold.
func ForLabelled(g metric.Goal, delta threshold.Rate, sequence, positives, negatives []float64) (*Threshold, error) {
	if err := cmp.Or(g.Check(), CheckDelta(delta)); err != nil {
		return nil, err
	}
	p, err := Sort(positives, nil, method.Positives)
	if err != nil {
		return nil, err
	}
	n, err := Sort(negatives, nil, method.Negatives)
	if err != nil {
		return nil, err
	}
	test := newPrecisionTest(g, delta, p.n, n.n)
	var last calibrate.Alerts
	var guarantee *calibrate.Guarantee
	var lucky *Lucky
	expected := calibrate.Expectation{Confidence: metric.DefaultConfidence}
	if delta.IsZero() {
		rate := g.RateOn(p.n, n.n)
		if last, err = plainPrecision(rate, positives, negatives); err != nil {
			return nil, err
		}
		expected.Rate, expected.Tied = rate.Float64(), tiedBelow(&last, p, n)
		if lucky, err = test.luckOf(last, rate, positives, negatives); err != nil {
			return nil, err
		}
	} else {
		list, first := test.accepted(sequence, p, n)
		if len(list) == 0 {
			return nil, cannotCertifyPrecision(g, test.delta, first)
		}
		last = list[len(list)-1]
		guarantee = &calibrate.Guarantee{Certified: true, Kind: g.Kind, Rate: g.Rate, Delta: delta, Negatives: n.n, Rows: n.n + p.n, Tested: list,
			Prevalence: g.Prevalence, Bound: test.bound(&last)}
	}
	if guarantee != nil || expected.Tied != nil {
		expected.Rate = precisionOf(last)
	}
	expected.Low, expected.High = binomial.ClopperPearson(last.Real, last.Rows, metric.DefaultConfidence)
	for _, x := range []*float64{&expected.Rate, &expected.Low, &expected.High} {
		*x = test.atPrevalence(*x)
	}
	t := &Threshold{Value: last.Threshold, Goal: g, Population: method.AllRows, Rows: n.n + p.n, Order: n.n + p.n - last.Rows,
		Guarantee: guarantee,
		Expected:  expected, Lucky: lucky}
	if g.Recall.IsZero() {
		return t, nil
	}
	recall, err := For(metric.Goal{Kind: metric.GoalMinRecall, Rate: g.Recall}, test.delta, p)
	if err != nil {
		return nil, err
	}
	if recall.Value < t.Value {
		return nil, notBoth(g, last, recall.Value, p, n)
	}
	if guarantee != nil {
		guarantee.Recall = recall.Guarantee
	}
	return t, nil
}

// tiedBelow returns how many of the next lower scores are equal, nil if it is one: alerts without them may be more precise than the goal.
func tiedBelow(a *calibrate.Alerts, classes ...*Sorted) *calibrate.Tied {
	next, equal := math.Inf(-1), 0
	for _, s := range classes {
		if below := s.n - s.Above(a.Threshold); below > 0 {
			next = max(next, s.z[below-1])
		}
	}
	for _, s := range classes {
		equal += s.Above(justBelow(next)) - s.Above(next)
	}
	if equal == 1 {
		return nil
	}
	return &calibrate.Tied{Equal: equal, Counted: a.Real}
}

// cannotCertifyPrecision returns the error if even first, the clearest of the thresholds, fails its test.
func cannotCertifyPrecision(g metric.Goal, delta threshold.Rate, first calibrate.Alerts) error {
	g.Recall = threshold.Rate{} // the rows that a recall needs are another question
	positives, negatives, err := NeededLabelled(g, delta)
	if err != nil {
		return err
	}
	expected, at := fmt.Sprintf("at least %s alerts if all are real, and more otherwise", text.Count(positives)), ""
	if !g.Prevalence.IsZero() {
		expected = fmt.Sprintf("at least %s negatives if none is an alert, and more otherwise", text.Count(negatives))
		at = " at a prevalence of " + g.Prevalence.String()
	}
	return &diag.Error{Kind: diag.Guarantee, Found: fmt.Sprintf("no threshold has a precision of %s%s with confidence 1 - %s: where it is clearest, %s of %s alerts "+
		"among the calibration rows are real", g.Rate, at, delta, text.Count(first.Real), text.Count(first.Rows)),
		Expected: expected, Hint: "get more rows, or set a lower precision"}
}

// notBoth returns the error for a precision and a recall that no threshold reaches, with the best pairs.
func notBoth(g metric.Goal, precise calibrate.Alerts, at float64, p, n *Sorted) error {
	found := float64(p.Above(precise.Threshold)) / float64(p.n)
	recalled := calibrate.Alerts{Real: p.Above(at), Rows: p.Above(at) + n.Above(at)}
	return &diag.Error{Kind: diag.Guarantee, Found: fmt.Sprintf("no threshold reaches a precision of %s and a recall of %s", g.Rate, g.Recall),
		Hint: fmt.Sprintf("on these rows a precision of %.3g comes with a recall of %.3g, and a recall of %.3g with a precision of %.3g",
			precisionOf(precise), found, float64(recalled.Real)/float64(p.n), precisionOf(recalled))}
}
