package metric

import (
	"encoding/json"

	"toptau/internal/core/binomial"
)

// Confusion counts the decisions score > threshold on a labelled sample at a given threshold. With weighted
// rows the counts are masses.
type Confusion struct {
	Threshold         float64    // that decides; null in JSON if it is not finite
	TruePositives     float64    // positives above it
	FalsePositives    float64    // negatives above it
	TrueNegatives     float64    // negatives not above it
	FalseNegatives    float64    // positives not above it
	TruePositiveRate  Proportion // recall: TP / (TP + FN)
	FalsePositiveRate Proportion // FP / (FP + TN)
	Precision         Proportion // TP / (TP + FP); out of fold in a training: among rows with its prevalence, see Mixed

	alerts, rows float64 // of Mixed: masses; 0 rows: those of the counts
}

// At counts the decisions score > t. Each rate has its Clopper-Pearson interval at the given confidence (0:
// 0.95), which is valid if t was chosen without these rows. Weighted rows have none, and NoInterval is then
// the reason.
func (r *Ranking) At(t, confidence float64) (Confusion, error) {
	confidence, err := checkConfidence(confidence)
	if err != nil {
		return Confusion{}, err
	}
	if r.measured != nil {
		c, err := r.measured.At(t, confidence)
		return c.Mixed(r.prevalence, nil), err
	}
	g := r.above(t)
	tp, fp := r.positives[g], r.negatives[g]
	c := Confusion{Threshold: t, TruePositives: tp, FalsePositives: fp,
		TrueNegatives: r.NegativeMass() - fp, FalseNegatives: r.PositiveMass() - tp,
		TruePositiveRate:  proportion(tp, r.PositiveMass(), "there are no positives"),
		FalsePositiveRate: proportion(fp, r.NegativeMass(), "there are no negatives"),
		Precision:         proportion(tp, tp+fp, noAlert),
	}
	like, reason := &Interval{Confidence: confidence}, ""
	if r.weighted {
		like, reason = nil, "rows are weighted: a Clopper-Pearson interval needs counts"
	}
	for _, p := range []*Proportion{&c.TruePositiveRate, &c.FalsePositiveRate, &c.Precision} {
		p.setFixed(like, reason)
	}
	return c, nil
}

// setFixed sets the Clopper-Pearson interval with the confidence of another one (nil: there is none), or the reason why there is none.
func (p *Proportion) setFixed(like *Interval, reason string) {
	switch {
	case !p.Defined():
		p.NoInterval = p.Undefined
	case like == nil:
		p.NoInterval = reason
	default:
		low, high := binomial.ClopperPearson(int(p.Numerator), int(p.Denominator), like.Confidence)
		p.Interval = &Interval{Kind: FixedInterval, Low: low, High: high, Confidence: like.Confidence}
	}
}

// Mixed returns the decisions among rows of which the fraction prevalence is positive: with the true and the false positive rate,
//
//	alert rate = prevalence TPR + (1 - prevalence) FPR, precision = prevalence TPR / alert rate.
//
// Counts and the rates of each class stay those of the measured rows. expected replaces the false positive rate; nil: it is the measured
// one. The interval of the precision combines the ends of intervals for both rates, each with half the error, so it covers with at
// least the confidence of c's intervals. That of expected is taken unchanged.
func (c Confusion) Mixed(prevalence float64, expected *Proportion) Confusion {
	tpr, fpr := c.TruePositiveRate, c.FalsePositiveRate
	if !tpr.Defined() || !fpr.Defined() {
		return c
	}
	factors := mixed(prevalence, tpr.Denominator, fpr.Denominator)
	if factors == [2]float64{1, 1} && expected == nil {
		return c.unmixed()
	}
	within := fpr.halfError()
	if expected != nil {
		fpr.Rate, fpr.Interval, fpr.NoInterval = expected.Rate, expected.Interval, expected.NoInterval
		within = fpr.Interval
	}
	m := mixture{float64(factors[0] * tpr.Denominator), float64(factors[1] * fpr.Denominator)}
	c.rows = m.positives + m.negatives
	if c.TruePositives == 0 && c.FalsePositives == 0 { // also if a rate above 0 is expected
		c.Precision, c.alerts = Proportion{Undefined: noAlert, NoInterval: noAlert}, 0
		return c
	}
	c.Precision = m.precision(tpr.Rate, fpr.Rate)
	c.alerts = c.Precision.Denominator
	switch t := tpr.halfError(); {
	case t == nil:
		c.Precision.NoInterval = tpr.NoInterval
	case fpr.Interval == nil:
		c.Precision.NoInterval = fpr.NoInterval
	default:
		c.Precision.Interval = &Interval{Kind: MixedInterval, Low: m.precision(t.Low, within.High).Rate,
			High:       m.precision(t.High, within.Low).Rate,
			Confidence: tpr.Interval.Confidence}
	}
	return c
}

// unmixed returns the decisions with the precision that was counted.
func (c Confusion) unmixed() Confusion {
	if c.rows > 0 {
		c.alerts, c.rows, c.Precision = 0, 0, proportion(c.TruePositives, c.TruePositives+c.FalsePositives, noAlert)
		c.Precision.setFixed(c.TruePositiveRate.Interval, c.TruePositiveRate.NoInterval)
	}
	return c
}

// mixture has the masses of both classes.
type mixture struct{ positives, negatives float64 }

// precision returns that of decisions with these rates.
func (m mixture) precision(tpr, fpr float64) Proportion {
	hits := float64(m.positives * tpr)
	return proportion(hits, hits+float64(m.negatives*fpr), noAlert)
}

const noAlert = "no row scores above the threshold"

// halfError returns the Clopper-Pearson interval of a rate that fails with half the probability of its own; nil: it has none.
func (p Proportion) halfError() *Interval {
	if p.Interval == nil {
		return nil
	}
	low, high := binomial.ClopperPearson(int(p.Numerator), int(p.Denominator), 1-float64((1-p.Interval.Confidence)/2))
	return &Interval{Low: low, High: high}
}

// IsMixed reports whether Mixed returned the decisions.
func (c *Confusion) IsMixed() bool { return c.rows > 0 }

// Positive returns the fraction of the measured rows that is positive.
func (c *Confusion) Positive() float64 {
	positives := c.TruePositives + c.FalseNegatives
	return positives / (positives + c.FalsePositives + c.TrueNegatives)
}

// AlertRate returns the fraction of all rows that are alerts, with an exact interval if rows are counted.
func (c *Confusion) AlertRate() Proportion {
	if c.rows > 0 {
		return proportion(c.alerts, c.rows, "")
	}
	alerts := c.TruePositives + c.FalsePositives
	p := proportion(alerts, alerts+c.TrueNegatives+c.FalseNegatives, "there are no rows")
	if i := c.FalsePositiveRate.Interval; i != nil && p.Defined() {
		low, high := binomial.ClopperPearson(int(p.Numerator), int(p.Denominator), i.Confidence)
		p.Interval = &Interval{Kind: FixedInterval, Low: low, High: high, Confidence: i.Confidence}
	}
	return p
}

// MarshalJSON writes null for undefined values.
func (c Confusion) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Threshold         *float64   `json:"threshold"`
		TruePositives     float64    `json:"true_positives"`
		FalsePositives    float64    `json:"false_positives"`
		TrueNegatives     float64    `json:"true_negatives"`
		FalseNegatives    float64    `json:"false_negatives"`
		TruePositiveRate  Proportion `json:"true_positive_rate"`
		FalsePositiveRate Proportion `json:"false_positive_rate"`
		Precision         Proportion `json:"precision"`
	}{finite(c.Threshold), c.TruePositives, c.FalsePositives, c.TrueNegatives, c.FalseNegatives,
		c.TruePositiveRate, c.FalsePositiveRate, c.Precision})
}
