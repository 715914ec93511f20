package toptau_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/reports"
	"toptau/schema"
	"toptau/threshold"
)

// Goals about precision and recall: a threshold with its evidence that a model keeps, or a refusal with the numbers.
func TestThresholdsForPrecisionAndRecall(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", trial.RiskRows(1, 6000, 0.1)), schema.Format{Label: "y"})
	later := trial.ReadFile(t, trial.WriteFile(t, "later.csv", trial.RiskRows(2, 20000, 0.1)), schema.Format{Label: "y"})
	trained, err := toptau.Train(t.Context(), trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.RiskRows(3, 1000, 0.1)), schema.Format{Label: "y"}),
		toptau.MaxFPR("1%"), toptau.TrainOptions{Folds: 2, Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}})
	if err != nil {
		t.Fatal(err)
	}
	both := toptau.MinPrecision("70%")
	both.Recall = threshold.MustRate("40%")
	for _, c := range []struct {
		goal              metric.Goal
		precision, recall float64 // on later rows, at least
	}{
		{toptau.MinRecall("90%"), 0, 0.9}, {toptau.MinPrecision("80%"), 0.8, 0}, {both, 0.7, 0.4},
	} {
		for _, delta := range []threshold.Rate{{}, threshold.MustRate("5%")} {
			out, err := decide.Threshold(t.Context(), d, dataset.Entry{Model: trained.Model}, c.goal, decide.Options{Delta: delta})
			if err != nil {
				t.Fatal(c.goal, err)
			}
			if out.Result.Certified == delta.IsZero() {
				t.Errorf("%s, delta %s: certified %v", c.goal, delta, out.Result.Certified)
			}
			m, err := out.WithPoint(trained.Model)
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if _, err := m.WriteTo(&file); err != nil {
				t.Fatal(err)
			}
			if m, err = model.Load(trial.WriteFile(t, "m.json", file.String())); err != nil {
				t.Fatal(err)
			}
			e, err := measure.Evaluate(t.Context(), later, []dataset.Entry{{Model: m}}, measure.Options{Replicates: 20})
			if err != nil {
				t.Fatal(err)
			}
			at := e.Points[len(e.Points)-1].Decisions
			slack := 0.0
			if delta.IsZero() {
				slack = 0.05
			}
			if at.Precision.Rate < c.precision-slack || at.TruePositiveRate.Rate < c.recall-slack {
				t.Errorf("%s, delta %s: precision %v, recall %v", c.goal, delta, at.Precision.Rate, at.TruePositiveRate.Rate)
			}
			edited := out.Point
			edited.Threshold -= 0.01
			if out.Point = edited; !delta.IsZero() {
				if _, err := out.WithPoint(trained.Model); err == nil {
					t.Errorf("%s: a lower threshold keeps the guarantee", c.goal)
				}
			}
		}
	}
}

// Train for a precision, a recall and both: later rows keep the goal, and every verb knows the model.
func TestTrainForGoals(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: eight trainings")
	}
	later := trial.ReadFile(t, trial.WriteFile(t, "later.csv", trial.RiskRows(2, 20000, 0.1)), schema.Format{Label: "y"})
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.RiskRows(3, 4000, 0.1)), schema.Format{Label: "y"})
	options := toptau.TrainOptions{Folds: 2, Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}}
	reference, err := toptau.Train(t.Context(), d, toptau.MaxFPR("1%"), options)
	if err != nil {
		t.Fatal(err)
	}
	both := toptau.MinPrecision("70%")
	both.Recall = threshold.MustRate("40%")
	for _, c := range []struct {
		goal                          metric.Goal
		prevalence                    string
		precision, recall, prevailing float64 // on later rows, at least
		criterion                     string
	}{
		{toptau.MinRecall("90%"), "", 0, 0.9, 0, "negatives@recall(0.9)"},
		{toptau.MinPrecision("80%"), "", 0.8, 0, 0, "positives@precision(0.8)"},
		{both, "", 0.7, 0.4, 0, "positives@precision(0.7)"},
		{toptau.MinPrecision("60%"), "5%", 0, 0, 0.6, "positives@precision(0.6)"},
	} {
		for _, delta := range []threshold.Rate{{}, threshold.MustRate("5%")} {
			o := options
			o.Delta = delta
			if c.prevalence != "" {
				o.Prevalence = threshold.MustRate(c.prevalence)
			}
			trained, err := toptau.Train(t.Context(), d, c.goal, o)
			if err != nil {
				t.Fatal(c.goal, delta, err)
			}
			r := &trained.Result
			if r.Certified == delta.IsZero() || r.OutOfFoldGoal.Criterion != c.criterion {
				t.Errorf("%s, delta %s: certified %v, measured by %s", c.goal, delta, r.Certified, r.OutOfFoldGoal.Criterion)
			}
			var file, page bytes.Buffer
			if _, err := trained.Model.WriteTo(&file); err != nil {
				t.Fatal(err)
			}
			m, err := model.Load(trial.WriteFile(t, "m.json", file.String()))
			if err != nil {
				t.Fatal(err)
			}
			if err := reports.WriteTraining(t.Context(), &page, trained, ""); err != nil || !strings.Contains(page.String(), "at least") {
				t.Error(err)
			}
			e, err := measure.Evaluate(t.Context(), later, []dataset.Entry{{Name: "new", Model: m}, {Name: "old", Model: reference.Model}},
				measure.Options{Replicates: 200, Against: "old", Gate: true})
			if err != nil {
				t.Fatal(err)
			}
			if e.Entries[0].Goal.Value.Criterion != c.criterion || e.Entries[0].Difference.Rate != 0 { // both models order by the only column
				t.Errorf("%s: compared by %s, %+v", c.goal, e.Entries[0].Goal.Value.Criterion, e.Entries[0].Difference)
			}
			at := e.Entries[0].Points[0].Decisions
			slack := 0.0
			if delta.IsZero() {
				slack = 0.05
			} else if !e.Gate.Passed {
				t.Errorf("%s: %v", c.goal, e.Gate.Reasons)
			}
			tpr, fpr := at.TruePositiveRate.Rate, at.FalsePositiveRate.Rate
			if at.Precision.Rate < c.precision-slack || tpr < c.recall-slack || .05*tpr/(.05*tpr+.95*fpr) < c.prevailing-slack {
				t.Errorf("%s, delta %s: precision %v, recall %v, false alarms %v", c.goal, delta, at.Precision.Rate, tpr, fpr)
			}
		}
	}
}

// What cannot be reached, and verbs that need a budget, say so.
func TestGoalsThatAreRefused(t *testing.T) {
	few := trial.ReadFile(t, trial.WriteFile(t, "few.csv", trial.RiskRows(1, 300, 0.1)), schema.Format{Label: "y"})
	column := dataset.Entry{Column: "score"}
	delta := decide.Options{Delta: threshold.MustRate("5%")}
	both := toptau.MinPrecision("95%")
	both.Recall = threshold.MustRate("90%")
	for name, c := range map[string]struct {
		call func() error
		kind diag.Kind
		says string
	}{
		"too few positives": {func() error {
			_, err := decide.Threshold(t.Context(), few, column, toptau.MinRecall("95%"), delta)
			return err
		}, diag.Guarantee, "at least 59"},
		"too few alerts": {func() error {
			out, err := decide.Threshold(t.Context(), few, column, toptau.MinPrecision("90%"), delta)
			if out == nil || out.Result.Certified {
				return errors.New("no plain threshold")
			}
			return err
		}, diag.Guarantee, "at least 29 alerts"},
		"not both": {func() error {
			_, err := decide.Threshold(t.Context(), few, column, both, decide.Options{})
			return err
		}, diag.Guarantee, "no threshold reaches a precision of 0.95 and a recall of 0.9"},
		"train": {func() error {
			_, err := toptau.Train(t.Context(), few, toptau.MinRecall("95%"), toptau.TrainOptions{Delta: threshold.MustRate("5%")})
			return err
		}, diag.Guarantee, "it needs 59 positives"},
		"train for a precision": {func() error {
			_, err := toptau.Train(t.Context(), few, toptau.MinPrecision("95%"), toptau.TrainOptions{Delta: threshold.MustRate("5%")})
			return err
		}, diag.Guarantee, "at least 59 positives that do not train"},
		"prevalence of a budget": {func() error {
			_, err := decide.Threshold(t.Context(), few, column, toptau.MaxFPR("5%"), decide.Options{Prevalence: threshold.MustRate("1%")})
			return err
		}, diag.Usage, "expected a lowest precision"},
		"diagnose": {func() error {
			_, err := certify.Diagnose(t.Context(), few, certify.DiagnoseOptions{Goal: toptau.MinPrecision("95%")})
			return err
		}, diag.Usage, "train, threshold, evaluate and compare know these goals"},
	} {
		e := diag.Of(c.call())
		if e == nil || e.Kind != c.kind || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// A precision that few real alerts have may be luck: training and thresholds say so, in JSON as well, with the best precision of more alerts. One that
// many real alerts have passes.
func TestFewRealAlertsAreNamed(t *testing.T) {
	rows, top := trial.DrawnRows(2000, 11), 0.0 // a weak signal, and five positives at the top
	for i, x := range rows.Numbers {
		if rows.Positive[i] {
			if x[0]--; top < 5 {
				top++
				x[0] = 10 + top
			}
		}
	}
	d := trial.Copied(t, rows, false, trial.Once)
	o := toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}}
	for _, c := range []struct {
		rate string
		want bool
	}{{"90%", true}, {"12%", false}} {
		out, err := decide.Threshold(t.Context(), d, dataset.Entry{Column: "a"}, toptau.MinPrecision(c.rate), decide.Options{})
		if err != nil {
			t.Fatal(err)
		}
		trained, err := toptau.Train(t.Context(), d, toptau.MinPrecision(c.rate), o)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"threshold": string(trial.Marshal(t, out.Result)), "train": string(trial.Marshal(t, trained.Result))} {
			if strings.Contains(text, `"few-real-alerts"`) != c.want || strings.Contains(text, "with more real alerts the best precision on these rows is ") != c.want {
				t.Errorf("%s, %s: %.3000s", name, c.rate, text)
			}
		}
	}
}
