// Package calibrate computes decision thresholds with a guarantee from scores that were used for nothing
// else.
//
// Notation: z_(1) <= ... <= z_(n) are the calibration scores in ascending order. alpha is the rate that must
// not be exceeded, and delta is the probability with which it may be exceeded all the same, so that the
// confidence is 1 - delta. k is the order of the score that becomes the threshold, 1-based from the smallest.
// The decision is score > threshold.
//
// A guarantee assumes that the calibration scores are drawn independently from the distribution of the scores
// that the model will meet, by a model that was not trained on these rows. Nothing holds if the distributions
// differ, if the same rows selected the model, or if several rows belong to one entity.
package calibrate

import (
	"fmt"

	"toptau/diag"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// Guarantee is the evidence for a threshold: it is an order statistic of calibration scores. If Certified,
// the rate that Kind names is at most Rate with probability at least 1 - Delta over the draw of the
// calibration rows. Its JSON is that of model files.
type Guarantee struct {
	Certified bool            `json:"certified"`     // the calibration rows were used for nothing else and are enough
	Kind      metric.GoalKind `json:"kind"`          // metric.GoalMaxFPR, GoalTop, GoalAbsoluteTop, GoalMinPrecision or GoalMinRecall
	Rate      threshold.Rate  `json:"rate,omitzero"` // alpha, or the lowest precision or recall; unset for GoalAbsoluteTop
	Delta     threshold.Rate  `json:"delta"`         // one minus the confidence
	Negatives int             `json:"n_negatives"`   // among the calibration rows; GoalTop: the caller sets it
	Order     int             `json:"order"`         // k: the threshold is the k-th smallest calibration score
	Bound     float64         `json:"bound"`         // the exact tail probability; GoalAbsoluteTop: the bounded rate

	// Calibration holds some of the calibration scores, so that later scores can be compared with them. nil:
	// not kept.
	Calibration *Sample `json:"calibration,omitempty"`

	// GoalMinPrecision: the number of calibration rows, and the thresholds of the sequence down to the accepted one.
	// GoalMinRecall: the number of calibration positives, and the threshold with those at or above the order statistic.
	// Later scores are not compared with these rows: Calibration is nil.
	Rows   int      `json:"rows,omitempty"`
	Tested []Alerts `json:"tested,omitempty"`
	// With GoalMinPrecision: the evidence for a lowest recall. Both hold together with confidence 1 - Delta.
	Recall *Guarantee `json:"recall,omitempty"`
	// GoalMinPrecision: the fraction of positives from which on the precision holds. Unset: that of the calibration rows.
	Prevalence threshold.Rate `json:"prevalence,omitzero"`
}

// Population returns the rows whose scores calibrated the threshold: those of Goal.Population.
func (g *Guarantee) Population() method.Population {
	return metric.Goal{Kind: g.Kind}.Population()
}

// N returns the number of calibration scores. It is 0 if it is unknown: for GoalTop without Calibration.
func (g *Guarantee) N() int {
	switch {
	case g.Calibration != nil:
		return g.Calibration.Rows
	case g.Kind == metric.GoalMinPrecision || g.Kind == metric.GoalMinRecall:
		return g.Rows
	case g.Population() == method.Negatives:
		return g.Negatives
	}
	return 0
}

// kindOf returns the kind of a guarantee for a rate among a population.
func kindOf(p method.Population) metric.GoalKind {
	if p == method.AllRows {
		return metric.GoalTop
	}
	return metric.GoalMaxFPR
}

func notANumber(i int) error {
	return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("calibration score %d is NaN", i+1), Expected: "a number"}
}

func rowsOf(p method.Population) string {
	if p == method.AllRows {
		return "rows"
	}
	return p.String()
}
