package ranking

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/metric"
)

// proportion returns numerator / denominator. undefined is the reason if the denominator is 0.
func proportion(numerator, denominator float64, undefined string) metric.Proportion {
	if !(denominator > 0) {
		return metric.Proportion{Numerator: numerator, Denominator: denominator, Undefined: undefined}
	}
	return metric.Proportion{Numerator: numerator, Denominator: denominator, Rate: numerator / denominator}
}

// At counts the decisions score > t. Each rate has its Clopper-Pearson interval at the given confidence (0:
// 0.95), which is valid if t was chosen without these rows. Weighted rows have none, and NoInterval is then
// the reason.
func (r *Ranking) At(t, confidence float64) (metric.Confusion, error) {
	confidence, err := checkConfidence(confidence)
	if err != nil {
		return metric.Confusion{}, err
	}
	if r.measured != nil {
		c, err := r.measured.At(t, confidence)
		return Mix(c, r.prevalence, nil), err
	}
	g := r.above(t)
	tp, fp := r.positives[g], r.negatives[g]
	c := metric.Confusion{Threshold: t, TruePositives: tp, FalsePositives: fp,
		TrueNegatives: r.NegativeMass() - fp, FalseNegatives: r.PositiveMass() - tp,
		TruePositiveRate:  proportion(tp, r.PositiveMass(), "there are no positives"),
		FalsePositiveRate: proportion(fp, r.NegativeMass(), "there are no negatives"),
		Precision:         proportion(tp, tp+fp, noAlert),
	}
	like, reason := &metric.Interval{Confidence: confidence}, ""
	if r.weighted {
		like, reason = nil, "rows are weighted: a Clopper-Pearson interval needs counts"
	}
	for _, p := range []*metric.Proportion{&c.TruePositiveRate, &c.FalsePositiveRate, &c.Precision} {
		setFixed(p, like, reason)
	}
	c.AlertRate = countedAlerts(&c)
	return c, nil
}

// setFixed sets the Clopper-Pearson interval with the confidence of another one (nil: there is none), or the reason why there is none.
func setFixed(p *metric.Proportion, like *metric.Interval, reason string) {
	switch {
	case !p.Defined():
		p.NoInterval = p.Undefined
	case like == nil:
		p.NoInterval = reason
	default:
		low, high := binomial.ClopperPearson(int(p.Numerator), int(p.Denominator), like.Confidence)
		p.Interval = &metric.Interval{Kind: metric.FixedInterval, Low: low, High: high, Confidence: like.Confidence}
	}
}

// countedAlerts returns the rate of alerts among the measured rows, with an exact interval if rows are counted.
func countedAlerts(c *metric.Confusion) metric.Proportion {
	alerts := c.TruePositives + c.FalsePositives
	p := proportion(alerts, alerts+c.TrueNegatives+c.FalseNegatives, "there are no rows")
	if like := c.FalsePositiveRate.Interval; like != nil && p.Defined() {
		setFixed(&p, like, "")
	}
	return p
}

// Mix returns decisions among rows of which the fraction prevalence is positive: with the true and the false positive rate,
//
//	alert rate = prevalence TPR + (1 - prevalence) FPR, precision = prevalence TPR / alert rate.
//
// Counts and the rates of each class stay those of the measured rows. expected replaces the false positive rate; nil: it is the measured
// one. The interval of the precision combines the ends of intervals for both rates, each with half the error, so it covers with at
// least the confidence of c's intervals. That of expected is taken unchanged.
func Mix(c metric.Confusion, prevalence float64, expected *metric.Proportion) metric.Confusion {
	tpr, fpr := c.TruePositiveRate, c.FalsePositiveRate
	if !tpr.Defined() || !fpr.Defined() {
		return c
	}
	factors := mixed(prevalence, tpr.Denominator, fpr.Denominator)
	if factors == [2]float64{1, 1} && expected == nil {
		return unmixed(c)
	}
	within := halfError(&fpr)
	if expected != nil {
		fpr.Rate, fpr.Interval, fpr.NoInterval = expected.Rate, expected.Interval, expected.NoInterval
		within = fpr.Interval
	}
	m := mixture{float64(factors[0] * tpr.Denominator), float64(factors[1] * fpr.Denominator)}
	rows := m.positives + m.negatives
	c.Mixed = true
	if c.TruePositives == 0 && c.FalsePositives == 0 { // also if a rate above 0 is expected
		c.Precision, c.AlertRate = metric.Proportion{Undefined: noAlert, NoInterval: noAlert}, proportion(0, rows, "")
		return c
	}
	c.Precision = m.precision(tpr.Rate, fpr.Rate)
	c.AlertRate = proportion(c.Precision.Denominator, rows, "")
	switch t := halfError(&tpr); {
	case t == nil:
		c.Precision.NoInterval = tpr.NoInterval
	case fpr.Interval == nil:
		c.Precision.NoInterval = fpr.NoInterval
	default:
		c.Precision.Interval = &metric.Interval{Kind: metric.MixedInterval, Low: m.precision(t.Low, within.High).Rate,
			High:       m.precision(t.High, within.Low).Rate,
			Confidence: tpr.Interval.Confidence}
	}
	return c
}

// unmixed returns decisions with the precision and the rate of alerts that were counted.
func unmixed(c metric.Confusion) metric.Confusion {
	if c.Mixed {
		c.Mixed, c.Precision = false, proportion(c.TruePositives, c.TruePositives+c.FalsePositives, noAlert)
		setFixed(&c.Precision, c.TruePositiveRate.Interval, c.TruePositiveRate.NoInterval)
		c.AlertRate = countedAlerts(&c)
	}
	return c
}

// mixture has the masses of both classes.
type mixture struct{ positives, negatives float64 }

// precision returns that of decisions with these rates.
func (m mixture) precision(tpr, fpr float64) metric.Proportion {
	hits := float64(m.positives * tpr)
	return proportion(hits, hits+float64(m.negatives*fpr), noAlert)
}

const noAlert = "no row scores above the threshold"

// halfError returns the Clopper-Pearson interval of a rate that fails with half the probability of its own; nil: it has none.
func halfError(p *metric.Proportion) *metric.Interval {
	if p.Interval == nil {
		return nil
	}
	low, high := binomial.ClopperPearson(int(p.Numerator), int(p.Denominator), 1-float64((1-p.Interval.Confidence)/2))
	return &metric.Interval{Low: low, High: high}
}

// Moved returns rate p with the interval of a rate whose threshold is not exact either, between thresholds at which the rates of the same
// rows are ends. The distances from the rate to the ends of both intervals are squared and added (Newcombe 1998). Without an interval it
// stays so.
func Moved(p metric.Proportion, ends ...metric.Proportion) metric.Proportion {
	if p.Interval == nil {
		return p
	}
	low, high := p.Rate, p.Rate
	for _, e := range ends {
		if e.Defined() {
			low, high = min(low, e.Rate), max(high, e.Rate)
		}
	}
	i := *p.Interval
	i.Kind = metric.MovedInterval
	i.Low = max(0, p.Rate-math.Sqrt(float64((p.Rate-i.Low)*(p.Rate-i.Low))+float64((p.Rate-low)*(p.Rate-low))))
	i.High = min(1, p.Rate+math.Sqrt(float64((i.High-p.Rate)*(i.High-p.Rate))+float64((high-p.Rate)*(high-p.Rate))))
	p.Interval = &i
	return p
}

// checkConfidence returns the confidence of an interval, metric.DefaultConfidence for 0.
func checkConfidence(confidence float64) (float64, error) {
	if confidence == 0 {
		return metric.DefaultConfidence, nil
	}
	if !(confidence > 0 && confidence < 1) {
		return 0, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a confidence of %v", confidence),
			Expected: "a number between 0 and 1, such as 0.95"}
	}
	return confidence, nil
}
