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
	Precision         Proportion // TP / (TP + FP); out of fold in a training: among rows with its prevalence
	AlertRate         Proportion // (TP + FP) / all rows
	// The precision and the rate of alerts are not those of the counts, but of rows of which another fraction is positive: out of fold in a
	// training, of those with its prevalence.
	Mixed bool
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
