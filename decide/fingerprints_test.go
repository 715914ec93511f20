package decide_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/decide"
	"toptau/method"
	"toptau/threshold"
)

// Threshold recognises training rows and refuses a guarantee on them, unless it is forced. 400 of 2,000 training rows are enough,
// and so are 100 among 1,000 fresh rows.
func TestTrainingRowsAreRecognised(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	columns := []string{"a", "b", "c"}
	draw := func(n int) (numbers [][]float64, positive []bool) {
		for range n {
			y := r.Float64() < 0.1
			x := []float64{r.NormFloat64(), r.NormFloat64(), float64(r.IntN(4))}
			if y {
				x[0]++
			}
			numbers, positive = append(numbers, x), append(positive, y)
		}
		return numbers, positive
	}
	train, labels := draw(2000)
	d, err := dataset.Rows{Columns: columns, Numbers: train, Positive: labels}.Data()
	if err != nil {
		t.Fatal(err)
	}
	problem := method.Problem{Method: method.TopPush, Lambda: 0.01}
	fitted, err := certify.Fit(t.Context(), d, problem, certify.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fresh, freshLabels := draw(1000)
	options := decide.Options{Name: "p", Delta: threshold.MustRate("5%")}
	for _, test := range []struct {
		rows      [][]float64
		labels    []bool
		force     bool
		certified bool
	}{
		{fresh, freshLabels, false, true},
		{train[:400], labels[:400], false, false},
		{train[:400], labels[:400], true, true},
		{slices.Concat(fresh, train[:100]), slices.Concat(freshLabels, labels[:100]), false, false},
	} {
		held, err := dataset.Rows{Columns: columns, Numbers: test.rows, Positive: test.labels}.Data()
		if err != nil {
			t.Fatal(err)
		}
		o := options
		o.Force = test.force
		c, err := decide.Threshold(t.Context(), held, dataset.Entry{Model: fitted.Model}, toptau.MaxFPR("5%"), o)
		if c == nil || c.Result.Certified != test.certified || (err == nil) != test.certified {
			t.Fatalf("%d rows: %v, %+v", len(test.rows), err, c)
		}
		t.Logf("%d rows: %+v; %s", len(test.rows), *c.Result.TrainingRows, c.Point.Source)
	}
	// A model without fingerprints recognises no rows.
	bare, err := certify.Fit(t.Context(), d, problem, certify.FitOptions{NoFingerprints: true})
	if err != nil {
		t.Fatal(err)
	}
	if bare.Model.Fingerprints() != nil {
		t.Error("the model has fingerprints")
	}
	if c, err := decide.Threshold(t.Context(), d, dataset.Entry{Model: bare.Model}, toptau.MaxFPR("5%"), options); err != nil || c.Result.TrainingRows != nil {
		t.Errorf("%v, %+v", err, c)
	}
}
