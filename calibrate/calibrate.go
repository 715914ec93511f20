// Package calibrate has the evidence for thresholds and probabilities, as results and model files contain it: how a threshold was
// calibrated, what later scores are compared with, and how scores become probabilities. Packages toptau and decide compute it.
//
// alpha is the rate that must not be exceeded, and delta is the probability with which it may be exceeded all the same, so that the
// confidence is 1 - delta. The decision is score > threshold. A guarantee assumes that the calibration scores are drawn independently
// from the distribution of the scores that the model will meet, by a model that was not trained on these rows. Nothing holds if the
// distributions differ, if the same rows selected the model, or if several rows belong to one entity.
package calibrate

import (
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

// Alerts are the rows above a threshold.
type Alerts struct {
	Threshold float64 `json:"threshold"`
	Rows      int     `json:"alerts"`
	Real      int     `json:"real"` // positives among them
}

// Expectation is the distribution of the rate of score > threshold on new rows.
type Expectation struct {
	Rate       float64 `json:"rate"`       // its mean; with Tied the fraction of the rows that gave the threshold
	Low        float64 `json:"low"`        // ends of an interval that holds it with probability Confidence
	High       float64 `json:"high"`       // the upper end
	Confidence float64 `json:"confidence"` // of the interval
	Tied       *Tied   `json:"tied,omitempty"`
}

// Tied describes a threshold at which scores are tied. More or fewer alerts would take all of them, so the rate is below that of the
// order, and a recall or precision is above the goal.
type Tied struct {
	// number of rows with the score of the threshold; recall: with the smallest score above it; precision: with the largest one below it, 0:
	// there is none
	Equal   int `json:"equal"`
	Counted int `json:"counted"` // number of rows above the threshold; recall and precision: of positives
}

// Trend is a test whether scores change over time. A guarantee assumes that they do not.
type Trend struct {
	P      float64 `json:"p"`      // an upper bound on the probability of such a trend if the order in time means nothing
	Blocks []Block `json:"blocks"` // consecutive parts of equal size, the earliest first
}

// Block is consecutive rows in the order of their times.
type Block struct {
	Rows  int     `json:"n"`          // rows
	Rank  float64 `json:"mean_rank"`  // the mean rank of its scores among all, as a fraction: 0.5 if nothing changes
	Above float64 `json:"top_decile"` // the fraction of its scores in the highest tenth of all
}
