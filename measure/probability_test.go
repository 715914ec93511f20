package measure_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/internal/data/table"
	"toptau/internal/training/rowset"
	"toptau/measure"
	"toptau/method"
	"toptau/schema"
)

// The errors of probabilities are those of the probabilities of the rows' scores, and they are not measured without any.
func TestErrorsOfProbabilities(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rows := dataset.Rows{Columns: []string{"a"}}
	for range 1000 {
		positive := r.IntN(5) == 0
		a := r.NormFloat64()
		if positive {
			a += 2
		}
		rows.Numbers, rows.Positive = append(rows.Numbers, []float64{a}), append(rows.Positive, positive)
	}
	d, err := rows.Data()
	if err != nil {
		t.Fatal(err)
	}
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := measure.Evaluate(t.Context(), d, []dataset.Entry{{Model: trained.Model}}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	squares, logs := 0.0, 0.0
	scores, err := (&rowset.Entry{Model: trained.Model}).ScoresOf(rowset.Of(d))
	if err != nil {
		t.Fatal(err)
	}
	for row, z := range scores.Values {
		p := trained.Model.Probability().At(z)
		if rowset.Of(d).Table.Label[row] != table.Positive {
			p = 1 - p
		}
		squares += float64((1 - p) * (1 - p))
		logs -= math.Log(p)
	}
	n := float64(d.Len())
	if math.Abs(*e.Brier-squares/n) > 1e-12 || math.Abs(*e.LogLoss-logs/n) > 1e-12 {
		t.Errorf("Brier score %v and log loss %v, want %v and %v", *e.Brier, *e.LogLoss, squares/n, logs/n)
	}
	if e, err = measure.Evaluate(t.Context(), d, []dataset.Entry{{Column: "a"}}, measure.Options{}); err != nil || e.Brier != nil || e.LogLoss != nil || e.AveragePrecision == nil {
		t.Errorf("scores alone: %v, %v, %v, %v", e.Brier, e.LogLoss, e.AveragePrecision, err)
	}
}
