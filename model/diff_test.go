package model_test

import (
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/decide"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/score"
)

// A model does not differ from itself. Another category, another column, another threshold and other weights are named.
func TestDiff(t *testing.T) {
	fit := func(rows string, encoding schema.Encoding) *model.Model {
		problem := trial.ShortAdam(trial.TopPush(0.1), 50)
		problem.Encoding, problem.Impute = encoding, schema.ImputeIndicator
		return trial.FitData(t, trial.ReadFile(t, trial.WriteFile(t, "rows.csv", rows), schema.Format{Label: "y"}), problem).Model
	}
	rows := trial.TwoColumns(500, 1)
	before := fit(rows, schema.Raw)
	if d := model.Diff(before, before); !d.Same || len(d.Facts)+len(d.Columns)+len(d.Points) > 0 {
		t.Errorf("a model differs from itself: %+v", d)
	}
	changes := func(after *model.Model) string {
		var b strings.Builder
		d := model.Diff(before, after)
		if d.Same {
			b.WriteString("same ")
		}
		for _, c := range d.Columns {
			b.WriteString(c.Column + " " + c.Change + "; ")
		}
		for _, p := range d.Points {
			b.WriteString(p.Name + " " + p.Change + "; ")
		}
		for _, f := range d.Facts {
			b.WriteString(f.Name + "; ")
		}
		return b.String()
	}
	for name, test := range map[string]struct {
		after *model.Model
		want  []string
	}{
		"category": {fit(strings.ReplaceAll(rows, "blue", "violet"), schema.Raw), []string{"kind categories; ", "training data; "}},
		"column":   {fit(strings.Replace(rows, "noise", "other", 1), schema.Raw), []string{"other added; ", "noise removed; "}},
		"encoding": {fit(rows, schema.Scorecard), []string{"x encoding; ", "encoding; ", "training changed; "}},
		"rows":     {fit(trial.TwoColumns(500, 2), schema.Raw), []string{"noise weights; ", "training data; "}},
	} {
		got := changes(test.after)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		if strings.Contains(got, "same") {
			t.Errorf("%s: %s", name, got)
		}
	}
	c, err := decide.Threshold(t.Context(), trial.ReadFile(t, trial.WriteFile(t, "held.csv", trial.TwoColumns(800, 3)), before.Format()), dataset.Entry{Model: before},
		toptau.MaxFPR("5%"), decide.Options{Name: "held"})
	if err != nil {
		t.Fatal(err)
	}
	further, err := c.WithPoint(before)
	if err != nil {
		t.Fatal(err)
	}
	if got := changes(further); got != "held added; " {
		t.Errorf("a point: %s", got)
	}
}

// The gate is closed for a worse model, for too few rows, and for a threshold that exceeds its goal.
func TestGate(t *testing.T) {
	train := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.ShiftedRows(2000, 1, 0)), schema.Format{Label: "y"})
	trained, err := toptau.Train(t.Context(), train, toptau.MaxFPR("5%"), toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}})
	if err != nil {
		t.Fatal(err)
	}
	good := trained.Model
	gate := func(rows int, by float64, noise func(score float64, row int) float64) (bool, string) {
		d := trial.ReadFile(t, trial.WriteFile(t, "later.csv", trial.ShiftedRows(rows, 7, by)), good.Format())
		points, _ := trial.ScoreAll(t, good, trial.WriteFile(t, "again.csv", trial.ShiftedRows(rows, 7, by)), score.Options{})
		scores := make([]float64, len(points))
		for i := range points {
			scores[i] = noise(points[i].Score, i)
		}
		e, err := measure.Evaluate(t.Context(), d, []dataset.Entry{{Name: "new", Model: good}, {Name: "old", Scores: scores}},
			measure.Options{Goal: toptau.MaxFPR("5%"), Against: "old", Gate: true, Replicates: 400})
		if err != nil {
			t.Fatal(err)
		}
		return e.Gate.Passed, strings.Join(e.Gate.Reasons, "; ")
	}
	same := func(score float64, _ int) float64 { return score }
	spoiled := func(score float64, row int) float64 { return score + float64(row*7919%101)/20 }
	if passed, reasons := gate(4000, 0, same); !passed {
		t.Errorf("the same scores are refused: %s", reasons)
	}
	if passed, reasons := gate(4000, 0, spoiled); !passed {
		t.Errorf("a better model is refused: %s", reasons)
	}
	if passed, reasons := gate(60, 0, spoiled); passed || !strings.Contains(reasons, "may find up to") {
		t.Errorf("six positives open the gate: %s", reasons)
	}
	if passed, reasons := gate(4000, 0.4, same); passed || !strings.Contains(reasons, "its threshold exceeds the goal") {
		t.Errorf("a threshold that does not keep its goal: %s", reasons)
	}
	if _, err := measure.Evaluate(t.Context(), train, []dataset.Entry{{Model: good}}, measure.Options{Gate: true}); err == nil {
		t.Error("a gate without a reference")
	}
}
