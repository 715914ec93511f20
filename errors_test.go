package toptau_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// Every function that opens a file keeps the cause of a failure, and names the file.
func TestMissingFiles(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.csv")
	opened := map[string]func() error{
		"Read":            func() error { _, err := dataset.Read(t.Context(), missing, schema.Format{Label: "y"}); return err },
		"Load":            func() error { _, err := model.Load(missing); return err },
		"LoadCertificate": func() error { _, err := model.LoadCertificate(missing); return err },
		"a file of scores": func() error {
			_, err := measure.Evaluate(t.Context(), trial.SeparableData(t, 200), []dataset.Entry{{File: missing}}, measure.Options{})
			return err
		},
		"Read with a labels file": func() error {
			data := trial.WriteFile(t, "d.csv", "1\n2\n")
			_, err := dataset.Read(t.Context(), data, schema.Format{LabelsFile: missing})
			return err
		},
	}
	for name, open := range opened {
		err := open()
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v does not match fs.ErrNotExist", name, err)
		}
		var e *diag.Error
		if !errors.As(err, &e) || e.Kind != diag.IO || e.File != missing {
			t.Errorf("%s: %+v, want an Error of kind io for the file", name, e)
		}
		if strings.Count(err.Error(), missing) != 1 {
			t.Errorf("%s: the file is not named exactly once: %v", name, err)
		}
	}
}

// A context that has ended is the error of every verb.
func TestEndedContext(t *testing.T) {
	d := trial.SeparableData(t, 200)
	fitted := trial.FitData(t, d, trial.FitCase{Problem: trial.TopPush(0.1)})
	path := trial.WriteFile(t, "d.csv", trial.SmallTable)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	entry := dataset.Entry{Model: fitted.Model}
	for name, call := range map[string]func() error{
		"Read": func() error { _, err := dataset.Read(ctx, path, trial.SmallFormat); return err },
		"ReadFrom": func() error {
			_, err := dataset.ReadFrom(ctx, strings.NewReader(trial.SmallTable), trial.SmallFormat)
			return err
		},
		"Train": func() error { _, err := toptau.Train(ctx, d, toptau.Top("10%"), toptau.TrainOptions{}); return err },
		"Fit":   func() error { _, err := certify.Fit(ctx, d, trial.TopPush(0.1), certify.FitOptions{}); return err },
		"Evaluate": func() error {
			_, err := measure.Evaluate(ctx, d, []dataset.Entry{entry}, measure.Options{})
			return err
		},
		"Threshold": func() error {
			_, err := decide.Threshold(ctx, d, entry, toptau.Top("10%"), decide.Options{})
			return err
		},
		"Diagnose": func() error { _, err := certify.Diagnose(ctx, d, certify.DiagnoseOptions{}); return err },
		"Verify": func() error {
			_, err := certify.Verify(ctx, fitted.Model, d, fitted.Certificate, nil)
			return err
		},
		"Explain": func() error {
			_, err := score.Explain(ctx, fitted.Model, strings.NewReader("a,b,c\n1,2,3\n"), score.ExplainOptions{})
			return err
		},
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v does not match context.Canceled", name, err)
		}
	}
}

// Too few rows for the guarantee: Train fits nothing, and Threshold returns the threshold without a guarantee.
func TestNoGuarantee(t *testing.T) {
	d := trial.SeparableData(t, 200)
	delta := threshold.MustRate("5%")
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("0.1%"), toptau.TrainOptions{Delta: delta,
		Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}})
	if !errors.Is(err, diag.ErrNoGuarantee) || trained != nil {
		t.Errorf("Train returns %v, %v", trained, err)
	}
	trial.WantError(t, err, diag.Guarantee)

	m := trial.FitData(t, d, trial.FitCase{Problem: trial.TopPush(0.1)}).Model
	c, err := decide.Threshold(t.Context(), trial.SeparableData(t, 210), dataset.Entry{Model: m}, toptau.MaxFPR("0.1%"), decide.Options{Delta: delta})
	if !errors.Is(err, diag.ErrNoGuarantee) {
		t.Errorf("Threshold returns %v", err)
	}
	if c == nil || c.Result.Certified || c.Result.Reason == "" || c.Point.Guarantee != nil {
		t.Fatalf("%+v", c)
	}
	withPoint, err := m.WithPoint(c.Point)
	if err != nil {
		t.Fatal(err)
	}
	if p, found := withPoint.Point("calibrated"); !found || p.Threshold != c.Result.Threshold {
		t.Errorf("%+v, %v", p, found)
	}
	// The same goal without a guarantee has no error.
	if _, err := decide.Threshold(t.Context(), d, dataset.Entry{Model: m}, toptau.MaxFPR("10%"), decide.Options{}); err != nil {
		t.Error(err)
	}
}

// Goals with a bad text are refused by every verb that takes one.
func TestBadGoals(t *testing.T) {
	d := trial.SeparableData(t, 60)
	entry := dataset.Entry{Column: "a"}
	for name, g := range map[string]metric.Goal{"max-fpr": toptau.MaxFPR("often"), "top": toptau.Top("101%"), "5 of 5": metric.Goal{Kind: metric.GoalTop, Count: 5, Of: 5},
		"alerts": toptau.Alerts(-1, 10), "no goal": {}} {
		_, err := toptau.Train(t.Context(), d, g, toptau.TrainOptions{})
		trial.WantError(t, err, diag.Usage, name)
		_, err = decide.Threshold(t.Context(), d, entry, g, decide.Options{})
		trial.WantError(t, err, diag.Usage, name)
		if name == "no goal" { // Evaluate and Diagnose have defaults
			continue
		}
		_, err = measure.Evaluate(t.Context(), d, []dataset.Entry{entry}, measure.Options{Goal: g})
		trial.WantError(t, err, diag.Usage, name)
		_, err = certify.Diagnose(t.Context(), d, certify.DiagnoseOptions{Goal: g})
		trial.WantError(t, err, diag.Usage, name)
	}
}

// A file that is no model is an error of kind model, and a truncated one too.
func TestLoadRefusesOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	if err := trial.SmallModel(t).Save(path); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"other": "a,b\n1,2\n", "cut": string(content[:len(content)/2])} {
		_, err := model.Load(trial.WriteFile(t, name+".json", text))
		trial.WantError(t, err, diag.Model, name+".json")
	}
}
