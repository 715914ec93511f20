package tune

import (
	"slices"

	"toptau/internal/core/heldout"
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/method"
)

// setHeldOut sets Found.HeldOut. The scores of a cross-fit and of a validation table are on the model's scale.
// If other rows gave the threshold, these are the scores of the cross-validation. They are moved and stretched
// so that the median and the 95 % quantile of their negatives are those of the negatives that were held out, or of the positives.
func (c *calibration) setHeldOut() {
	p := &c.pooled.scores
	h := &c.found.HeldOut
	h.LabelledScores = heldout.LabelledScores{Positives: p.Positives, Negatives: p.Negatives,
		PositiveWeights: p.PositiveWeights, NegativeWeights: p.NegativeWeights}
	h.Units = c.pooled.units
	switch c.parts.scheme {
	case SchemeAllRows:
		h.Source = "training rows, each scored by a fit that did not see it, on the scale of the model"
		return
	case SchemeCrossFitted:
		h.Source = "training rows, each scored by a fit that did not see it"
		return
	case SchemeValidation:
		h.Source = "the validation part, which also chose the model"
		return
	}
	var held foldScores
	class, all := table.Negative, p.Negatives
	if c.found.Goal.Population() == method.Positives {
		class, all = table.Positive, p.Positives
	}
	t := c.parts.calibrationTable()
	for i, row := range c.parts.calibration {
		if t.Label[row] == class {
			held.negatives = append(held.negatives, c.found.sample.ofRows[i])
		}
	}
	if len(held.negatives) == 0 || len(p.Negatives) == 0 || len(p.Positives) == 0 {
		h.LabelledScores, h.Units = heldout.LabelledScores{}, ranking.Scores{}
		return
	}
	pooled := foldScores{negatives: all, positives: p.Positives}
	pooled.setUnits()
	held.positives = held.negatives
	held.setUnits()
	moved := func(z []float64) []float64 {
		out := slices.Clone(z)
		for i := range out {
			out[i] = held.middle + float64((out[i]-pooled.middle)*(held.spread/pooled.spread))
		}
		return out
	}
	h.Positives, h.Negatives = moved(p.Positives), moved(p.Negatives)
	h.Units.Positives, h.Units.Negatives = moved(h.Units.Positives), moved(h.Units.Negatives)
	h.Source = "scores of the cross-validation, on the scale of the rows that were held out"
}
