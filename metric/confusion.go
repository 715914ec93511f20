package metric

import "encoding/json"

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
	Precision         Proportion // TP / (TP + FP)
}

// At counts the decisions score > t. Each rate has its Clopper-Pearson interval at the given confidence (0:
// 0.95), which is valid if t was chosen without these rows. Weighted rows have none, and NoInterval is then
// the reason.
func (r *Ranking) At(t, confidence float64) (Confusion, error) {
	confidence, err := checkConfidence(confidence)
	if err != nil {
		return Confusion{}, err
	}
	g := r.above(t)
	tp, fp := r.positives[g], r.negatives[g]
	c := Confusion{Threshold: t, TruePositives: tp, FalsePositives: fp,
		TrueNegatives: r.NegativeMass() - fp, FalseNegatives: r.PositiveMass() - tp,
		TruePositiveRate:  proportion(tp, r.PositiveMass(), "there are no positives"),
		FalsePositiveRate: proportion(fp, r.NegativeMass(), "there are no negatives"),
		Precision:         proportion(tp, tp+fp, "no row scores above the threshold"),
	}
	for _, p := range []*Proportion{&c.TruePositiveRate, &c.FalsePositiveRate, &c.Precision} {
		r.fixedInterval(p, confidence)
	}
	return c, nil
}

// fixedInterval sets the Clopper-Pearson interval or the reason why there is none.
func (r *Ranking) fixedInterval(p *Proportion, confidence float64) {
	switch {
	case !p.Defined():
		p.NoInterval = p.Undefined
	case r.weighted:
		p.NoInterval = "rows are weighted: a Clopper-Pearson interval needs counts"
	default:
		low, high := ClopperPearson(int(p.Numerator), int(p.Denominator), confidence)
		p.Interval = &Interval{Kind: FixedInterval, Low: low, High: high, Confidence: confidence}
	}
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
