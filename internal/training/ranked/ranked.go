// Package ranked is what evaluations and trainings measured: the rows with their scores. Package measure fills it, and reports and
// explorers read it.
package ranked

import (
	"toptau/internal/core/heldout"
	"toptau/internal/core/ranking"
	"toptau/internal/training/rowset"
	"toptau/metric"
)

// Measured is what an evaluation measured.
type Measured struct {
	Data     *rowset.Set
	Rankings []*Ranking
	Units    *rowset.Units
	Date     string       // shown in the report
	Claim    string       // what is guaranteed, in a sentence; "": there is no operating point
	Amounts  []float64    // with Value: of each positive unit
	Where    rowset.Place // rows that are not in memory were counted
}

// Of returns what a *measure.Evaluation measured. Package measure sets it: a function there would show internal types in the
// documentation of the library.
var Of func(evaluation any) *Measured

// Ranking is a measured entry.
type Ranking struct {
	*rowset.Entry
	Data   *rowset.Set    // the rows, with columns in the model's order
	Z      []float64      // the scores in the order of the rows
	Scores ranking.Scores // of the units by class
	Rank   *ranking.Ranking
	Alarms []bool // by unit: decisions that breakdowns count; nil: there is no threshold
}

// OfTraining returns what a *toptau.Trained measured. Package toptau sets it, as measure sets Of.
var OfTraining func(trained any) *Training

// Training is what a training measured, for its report.
type Training struct {
	Data    *rowset.Set    // the rows given to Train
	HeldOut ranking.Scores // labelled scores of units that did not fit them, on the model's scale
	Mass    float64        // of all units
	Claim   string         // what is guaranteed, in a sentence
}

// ListBounds bounds the false ones among the best rows, or units, of the first ranking, as one delivery. It returns nil if its default
// operating point has no calibration negatives that are like them.
func (s *Measured) ListBounds() *heldout.MaxFalse {
	first := s.Rankings[0]
	if first.Model == nil || first.Rank.Weighted() {
		return nil
	}
	p, found := first.Model.Point("")
	if !found || p.Negatives == nil || p.Entity != s.Units.Column || (p.Day != "") != s.Units.Daily {
		return nil
	}
	b := heldout.NewBatch(p.Negatives)
	for _, class := range [][]float64{first.Scores.Positives, first.Scores.Negatives} {
		for _, z := range class {
			b.Add(z)
		}
	}
	return b.MaxFalse(1 - metric.DefaultConfidence)
}
