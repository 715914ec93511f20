package tune

import (
	"context"
	"math"
	"slices"
	"testing"

	"toptau/internal/core/learn"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// By hand: the model is the mean of the fits of ten folds, intercepts included, and the threshold is the j-th
// largest of the scores that the negatives have from the fit that did not see them, j = floor(b (n+1)).
func TestCrossFitByHand(t *testing.T) {
	data := simulated(90, 210, 1)
	f := find(t, data, linear(t, "--max-fpr 5%", method.Logistic))
	if f.Scheme != SchemeCrossFitted || f.Members[0].Folds != 10 || f.Calibration.Rows() != 0 {
		t.Fatalf("%s, %d folds, %s set aside", f.Scheme, f.Members[0].Folds, f.Calibration)
	}
	folds, err := Cut{Seed: 4}.Folds(data.Label, 10)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := feature.Fit(data, schema.Schema{}, nil, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean := make([]float64, m.Cols())
	offset := 0.0
	var negatives []float64
	for _, fold := range folds {
		x, err := m.Matrix(data, fold.Train, matrix.Float32)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := learn.Fit(context.Background(), x, learn.Options{Lambda: f.Members[0].Lambda, Tolerance: foldTolerance})
		if err != nil {
			t.Fatal(err)
		}
		z := scoresOf(t, m, fit.W, fit.Intercept, data)
		for _, row := range fold.Validation {
			if data.Label[row] == table.Negative {
				negatives = append(negatives, z[row])
			}
		}
		for j := range mean {
			mean[j] += fit.W[j] / 10
		}
		offset += fit.Intercept / 10
	}
	slices.Sort(negatives)
	want := negatives[210-10] + float64(0.55*(negatives[210-11]-negatives[210-10])) // 0.05 x 211 = 10.55
	if math.Abs(f.Threshold.Value-want) > 1e-6 {
		t.Errorf("threshold %v, want %v", f.Threshold.Value, want)
	}
	if got := f.Threshold.Expected.Rate; math.Abs(got-0.05) > 1e-12 {
		t.Errorf("expected rate %v", got)
	}
	model, fitted := scoresOf(t, m, mean, offset, data), scoresOf(t, f.Map, f.W, f.Offset, data)
	for row := range model {
		if math.Abs(model[row]-fitted[row]) > 1e-5 {
			t.Fatalf("row %d: %v, want %v", row, fitted[row], model[row])
		}
	}
}

// Which rows give the threshold, by the number of rows that the budget counts.
func TestSchemes(t *testing.T) {
	for _, c := range []struct {
		goal      string
		negatives int
		share     string
		scheme    Scheme
		rows      int // that give the threshold
	}{
		{"--max-fpr 5%", 306, "", SchemeCrossFitted, 306},
		{"--max-fpr 5%", 320, "", SchemeAllRows, 320},
		{"--max-fpr 5%", 3000, "", SchemeAllRows, 3000},
		{"--max-fpr 5%", 3000, "10%", SchemeHeldOut, 300},
		{"--top 5%", 200, "", SchemeCrossFitted, 300},
		{"--top 5%", 2900, "", SchemeAllRows, 3000},
		{"--max-fpr 50%", 3000, "", SchemeHeldOut, 400}, // 200 within the budget are enough
		{"--absolute-top", 3000, "", SchemeCrossFitted, 3000},
	} {
		o := linear(t, c.goal, method.Logistic)
		if c.share != "" {
			o.CalibrationFraction = threshold.MustRate(c.share)
		}
		f := find(t, simulated(100, c.negatives, 1), o)
		if f.Scheme != c.scheme || f.Threshold.Rows != c.rows {
			t.Errorf("%s on %d negatives: %s on %d rows, want %s on %d", c.goal, c.negatives, f.Scheme, f.Threshold.Rows, c.scheme,
				c.rows)
		}
		if tau := o.Goal.Tau(); !tau.IsZero() && !(f.Threshold.Expected.Rate <= tau.Float64()) {
			t.Errorf("%s on %d negatives: expected %v", c.goal, c.negatives, f.Threshold.Expected)
		}
	}
}

// The folds of the search score each row for the threshold of boosters, which are then fitted once. A limit of their rows, which makes
// them samples, takes other folds.
func TestSearchScoresGiveTheThreshold(t *testing.T) {
	data := simulated(90, 250, 1)
	o := SearchOptions{Goal: goalOf(t, "--max-fpr 5%"), Seed: 3, Method: []method.Name{method.Boosting}, Feature: feature.Options{Rounds: 20},
		Encoding: []feature.Encode{feature.EncodeBoosted}}
	f := find(t, data, o)
	trees := f.Candidates[f.Members[0].Candidate].Trees
	folds, err := Cut{Seed: 3}.Folds(data.Label, 5)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(rows []int) (*feature.Map, []float64, float64) {
		m, _, err := feature.Fit(data, schema.Schema{}, rows, feature.Options{Encode: feature.EncodeBoosted, Rounds: trees, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		return m, m.Boosting().Weights(trees, m.Cols()), m.Boosting().Intercept
	}
	var negatives []float64
	for _, fold := range folds {
		m, w, intercept := fit(fold.Train)
		z := scoresOf(t, m, w, intercept, data)
		for _, row := range fold.Validation {
			if data.Label[row] == table.Negative {
				negatives = append(negatives, z[row])
			}
		}
	}
	slices.Sort(negatives)
	want := negatives[250-12] + float64(0.55*(negatives[250-13]-negatives[250-12])) // 0.05 x 251 = 12.55
	if math.Abs(f.Threshold.Value-want) > 1e-9 || f.CrossFolds != 5 || f.Members[0].Folds != 0 || !f.Threshold.Refitted {
		t.Errorf("threshold %v of %d folds, want %v", f.Threshold.Value, f.CrossFolds, want)
	}
	m, w, intercept := fit(nil)
	if got := scoresOf(t, f.Map, f.W, f.Offset, data); !slices.Equal(got, scoresOf(t, m, w, intercept, data)) {
		t.Error("the model is not one fit to all rows")
	}
	o.FoldRows = 200
	if f = find(t, data, o); f.CrossFolds != labelFolds || f.FoldRows != 200 {
		t.Errorf("%d folds after samples of %d rows", f.CrossFolds, f.FoldRows)
	}
}
