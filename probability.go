package toptau

import (
	"errors"
	"math"
	"strconv"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/detmath"
	"toptau/internal/rowset"
	"toptau/internal/table"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/result"
)

// weightOfPositives returns the weight of the positives of some rows, 0 if both classes weigh alike.
func weightOfPositives(w method.ClassWeight, d *rowset.Set) (float64, error) {
	switch {
	case w.Balanced && d.Table.Weight != nil:
		total, positive := d.Masses()
		return (total - positive) / positive, nil
	case w.Balanced:
		return float64(d.Info.Negatives) / float64(d.Info.Positives), nil
	case !(w.Positive >= 0) || math.IsInf(w.Positive, 0):
		return 0, &diag.Error{Kind: diag.Usage, Param: "class-weight", Found: strconv.FormatFloat(w.Positive, 'g', -1, 64), Expected: "a number above 0"}
	}
	return w.Positive, nil
}

// prevalenceOf returns the fraction of positives in d, by weight.
func prevalenceOf(d *rowset.Set) float64 {
	if d.Table.Weight != nil {
		total, positive := d.Masses()
		return positive / total
	}
	return float64(d.Info.Positives) / float64(d.Info.Positives+d.Info.Negatives)
}

// probabilityOf fits probabilities to the held-out scores of a search. It returns nil if there are too few.
func probabilityOf(f *tune.Found, d *rowset.Set) (*calibrate.Probability, error) {
	p, err := calibrate.FitProbability(f.HeldOut.LabelledScores, prevalenceOf(d), f.HeldOut.Source)
	if errors.Is(err, calibrate.ErrFewRows) {
		return nil, nil
	}
	return p, err
}

// addProbabilities compares a model's probabilities with the labels of rows.
func addProbabilities(m *result.Measured, p *calibrate.Probability, t *table.Table, z []float64) {
	bins := calibrate.NewReliability()
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
