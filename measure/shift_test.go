package measure_test

import (
	"io"
	"testing"

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
	"toptau/score"
	"toptau/threshold"
)

// A saved point with a guarantee is compared with later rows. Evaluate, and Score without labels, warn about rows that differ from
// those that calibrated it, and only about those.
func TestLaterRowsAreComparedWithTheCalibration(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.ShiftedRows(1000, 1, 0)), schema.Format{Label: "y"})
	fitted := trial.FitData(t, d, trial.FitCase{Problem: method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("10%"), Lambda: 0.01}})
	held, err := dataset.Read(t.Context(), trial.WriteFile(t, "held.csv", trial.ShiftedRows(1000, 2, 0)), fitted.Model.Format())
	if err != nil {
		t.Fatal(err)
	}
	for goal, kind := range map[metric.GoalKind]string{metric.GoalMaxFPR: "max-fpr", metric.GoalTop: "top"} {
		c, err := decide.Threshold(t.Context(), held, dataset.Entry{Model: fitted.Model}, metric.Goal{Kind: goal, Rate: threshold.MustRate("5%")},
			decide.Options{Name: kind, Delta: threshold.MustRate("5%")})
		if err != nil {
			t.Fatal(err)
		}
		m, err := fitted.Model.WithPoint(c.Point)
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/m.json"
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		if m, err = model.Load(path); err != nil {
			t.Fatal(err)
		}
		for by, warned := range map[float64]bool{0: false, 0.3: true, -0.3: true} {
			later := trial.WriteFile(t, "later.csv", trial.ShiftedRows(2000, 5, by))
			rows, err := dataset.Read(t.Context(), later, m.Format())
			if err != nil {
				t.Fatal(err)
			}
			e := trial.Evaluate(t, rows, m, measure.Options{Replicates: 20})
			point := e.Points[len(e.Points)-1]
			if got := warnsOfShift(e.Warnings); got != warned || len(point.Shift) != 1 || (point.Shift[0].P < 0.01) != warned {
				t.Errorf("%s shifted by %v: %v, %+v", kind, by, e.Warnings, point.Shift)
			}
			_, stream := trial.ScoreAll(t, m, later, score.Options{At: kind})
			if got := warnsOfShift(stream.Totals().Warnings); got != warned {
				t.Errorf("%s shifted by %v, scored: %v", kind, by, stream.Totals().Warnings)
			}
		}
	}
	e := trial.Evaluate(t, held, fitted.Model, measure.Options{Replicates: 20})
	if len(e.Points[0].Shift) != 0 { // a point without a guarantee has nothing to compare
		t.Errorf("%+v", e.Points[0].Shift)
	}
	if err := reports.Write(io.Discard, e); err != nil {
		t.Error(err)
	}
}

func warnsOfShift(warnings []diag.Warning) bool {
	for _, w := range warnings {
		if w.Code == "calibration-shift" {
			return true
		}
	}
	return false
}
