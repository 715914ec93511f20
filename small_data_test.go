package toptau_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/diag"
	"toptau/method"
	"toptau/schema"
)

// fewRows writes 50 rows with 5 positives, whose first column is higher by a number of standard deviations.
func fewRows(seed uint64, columns int, by float64) string {
	r := rand.New(rand.NewPCG(seed, 15))
	var b strings.Builder
	for j := range columns {
		fmt.Fprintf(&b, "x%d,", j)
	}
	b.WriteString("y\n")
	for i := range 50 {
		y := 0
		if i%10 == 0 {
			y = 1
		}
		for j := range columns {
			x := r.NormFloat64()
			if j == 0 {
				x += by * float64(y)
			}
			fmt.Fprintf(&b, "%.5g,", x)
		}
		fmt.Fprintf(&b, "%d\n", y)
	}
	return b.String()
}

// TestFewPositives trains on 5 positives. Noise has a warning, a strong signal has none, and either way the simplest model is kept.
func TestFewPositives(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten processor seconds")
	}
	for _, c := range []struct {
		name    string
		columns int
		by      float64
		warned  bool
	}{{"noise", 5, 0, true}, {"noise, more columns than rows", 300, 0, true}, {"a signal", 5, 6, false}} {
		warned, simple := 0, 0
		const trainings = 3
		for seed := range uint64(trainings) {
			d, err := dataset.ReadFrom(t.Context(), strings.NewReader(fewRows(seed, c.columns, c.by)), schema.Format{Label: "y", Positive: []string{"1"}})
			if err != nil {
				t.Fatal(err)
			}
			trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("5%"), toptau.TrainOptions{Seed: seed + 1})
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(trained.Result.Warnings, func(w diag.Warning) bool { return w.Code == "no-signal" }) {
				warned++
			}
			if m := trained.Result.Members; len(m) == 1 && trained.Result.Candidates[m[0].Candidate].Method == method.Logistic {
				simple++
			}
		}
		if c.warned && warned < trainings-1 || !c.warned && warned > 0 {
			t.Errorf("%s: warned in %d of %d trainings", c.name, warned, trainings)
		}
		if simple < trainings-1 {
			t.Errorf("%s: logistic regression on raw columns in %d of %d trainings", c.name, simple, trainings)
		}
	}
}
