package reports_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"toptau"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/reports"
	"toptau/schema"
	"toptau/score"
)

// The report of an additive model draws exact steps, and that of a model of pairs their cells.
func TestReportOfBoostedModels(t *testing.T) {
	if testing.Short() {
		t.Skip("trains several models")
	}
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", trial.TwoColumns(1500, 1)), schema.Format{Label: "y"})
	for encoding, want := range map[schema.Encoding][]string{
		schema.Additive: {"an exact step function of its value"},
		schema.Pairs:    {"What pairs of columns add together", "kind (by fraction of positives)"},
	} {
		trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{Impute: schema.ImputeIndicator,
			Encoding: []schema.Encoding{encoding}, Method: []method.Name{method.Boosting}})
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := reports.Write(&page, trial.Evaluate(t, d, trained.Model, measure.Options{})); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(page.String(), text) {
				t.Errorf("%s: the report lacks %q", encoding, text)
			}
		}
	}
}

// With a direction for a column the score moves only to that side, also in the average of several sums.
func TestMonotoneTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("trains several models")
	}
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", trial.TwoColumns(1500, 1)), schema.Format{Label: "y"})
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{Impute: schema.ImputeIndicator,
		Monotone: []schema.Sign{{Column: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("x,noise,kind\n")
	for i := range 200 {
		b.WriteString(strings.Join([]string{fmt.Sprint(float64(i)/50 - 2), "0.5", "green"}, ",") + "\n")
	}
	rows, _ := trial.ScoreAll(t, trained.Model, trial.WriteFile(t, "new.csv", b.String()), score.Options{})
	for i := 1; i < len(rows); i++ {
		if rows[i].Score < rows[i-1].Score {
			t.Fatalf("row %d: the score falls from %v to %v", i+1, rows[i-1].Score, rows[i].Score)
		}
	}
	if rows[0].Score == rows[199].Score {
		t.Error("the score does not depend on the column")
	}
	_, err = toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{Impute: schema.ImputeIndicator,
		Monotone: []schema.Sign{{Column: "x"}}, Method: []method.Name{method.Logistic}})
	if err == nil || !strings.Contains(err.Error(), "only boosting") {
		t.Errorf("logistic regression with a direction: %v", err)
	}
	var sign schema.Sign
	for text, want := range map[string]schema.Sign{"age=+": {Column: "age"}, "a=b=-": {Column: "a=b", Falling: true}} {
		if err := sign.UnmarshalText([]byte(text)); err != nil || sign != want {
			t.Errorf("%s: %+v, %v", text, sign, err)
		}
	}
	for _, text := range []string{"", "age", "=+", "age=", "age=up"} {
		if err := sign.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
