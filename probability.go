package toptau

import (
	"errors"
	"math"
	"strconv"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/training/rowset"
	"toptau/internal/training/tune"
	"toptau/method"
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
