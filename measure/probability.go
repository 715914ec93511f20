package measure

import (
	"math"

	"toptau/calibrate"
	"toptau/internal/core/detmath"
	"toptau/internal/core/heldout"
	"toptau/internal/data/table"
	"toptau/result"
)

// addProbabilities compares a model's probabilities with the labels of rows.
func addProbabilities(m *result.Measured, p *calibrate.Probability, t *table.Table, z []float64) {
	bins := heldout.NewReliability()
	var mass, squares, logs detmath.Sum
	for row, class := range t.Label {
		weight := 1.0
		if t.Weight != nil {
			weight = t.Weight[row]
		}
		predicted, right := p.At(z[row]), p.At(z[row])
		if class != table.Positive {
			right = 1 - predicted
		}
		bins.Add(predicted, weight, class == table.Positive)
		mass.Add(weight)
		squares.Add(weight * float64((1-right)*(1-right)))
		logs.Add(-weight * detmath.Log(max(right, math.SmallestNonzeroFloat64))) // a probability may round to 0
	}
	brier, logLoss := squares.Value()/mass.Value(), logs.Value()/mass.Value()
	m.Reliability, m.Brier, m.LogLoss = bins.List(), &brier, &logLoss
}
