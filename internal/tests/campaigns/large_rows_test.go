package campaigns_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/internal/core/simulate"
	"toptau/internal/data/table"
	"toptau/internal/tests/modeltest"
	"toptau/internal/tests/trial"
	rows "toptau/internal/training/large"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// Counts, criteria and thresholds of a packed file that does not fit into memory are those of the rows in memory.
func TestLargeRowsAreMeasuredExactly(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	ctx := context.Background()
	_, packed := trial.SimulatedFiles(t, simulate.Options{Kind: "detectors", Rows: 70_000, Seed: 8})
	_, fresh := trial.SimulatedFiles(t, simulate.Options{Kind: "detectors", Rows: 60_000, Seed: 9})
	format := schema.Format{Label: "label"}
	goal := toptau.MaxFPR("1%")
	fitted, err := certify.Fit(ctx, trial.ReadPacked(t, packed, format), method.Problem{Method: method.TopMeanNP, Tau: goal.Tau(), Lambda: 1e-3},
		certify.FitOptions{Encoding: schema.Scorecard})
	if err != nil {
		t.Fatal(err)
	}
	d := trial.ReadPacked(t, fresh, format)
	goals := []metric.Goal{goal, toptau.Top("1%"), {Kind: metric.GoalAbsoluteTop}}
	for _, goal := range goals[:modeltest.IfLong(1, len(goals))] {
		for _, delta := range []string{"", "5%"} {
			var o decide.Options
			if delta != "" {
				o.Delta = threshold.MustRate(delta)
			}
			d.LimitMemory(0)
			want, err := decide.Threshold(ctx, d, dataset.Entry{Model: fitted.Model}, goal, o)
			if err != nil {
				t.Fatal(err)
			}
			d.LimitMemory(1)
			got, err := decide.Threshold(ctx, d, dataset.Entry{Model: fitted.Model}, goal, o)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := trial.AsJSON(t, got.Result), trial.AsJSON(t, want.Result); a != b {
				t.Errorf("%s, delta %q:\n%s\nin memory\n%s", goal, delta, a, b)
			}
			want.Point.Negatives = nil // scores in order, which passes over the rows do not keep
			if a, b := trial.AsJSON(t, got.Point), trial.AsJSON(t, want.Point); a != b {
				t.Errorf("%s, delta %q: point\n%s\nin memory\n%s", goal, delta, a, b)
			}
		}
		evaluate := func(memory int64) *measure.Evaluation {
			d.LimitMemory(memory)
			e, err := measure.Evaluate(ctx, d, []dataset.Entry{{Model: fitted.Model}}, measure.Options{Goal: goal, Curves: 50})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		got, want := evaluate(1), evaluate(0)
		if !(*got.AUCWithin < 1e-3) || math.Abs(got.AUC-want.AUC) > *got.AUCWithin+1e-12 {
			t.Errorf("area %v within %v, in memory %v", got.AUC, *got.AUCWithin, want.AUC)
		}
		t.Logf("area %v within %.2g, in memory %v", got.AUC, *got.AUCWithin, want.AUC)
		// The intervals of criteria draw the masses between scores; the counts are exact.
		plain := func(list []result.Decisions) string { return trial.AsJSON(t, list) }
		if a, b := plain(got.Points), plain(want.Points); a != b {
			t.Errorf("points\n%s\nin memory\n%s", a, b)
		}
		for i := range want.Criteria {
			a, b := got.Criteria[i], want.Criteria[i]
			near := math.Abs(a.Interval.Low-b.Interval.Low) < 0.01 && math.Abs(a.Interval.High-b.Interval.High) < 0.01
			a.Interval, b.Interval = nil, nil
			if a != b || !near {
				t.Errorf("criterion %+v, in memory %+v", got.Criteria[i], want.Criteria[i])
			}
		}
	}
	// What needs every row is refused by its name.
	for param, o := range map[string]measure.Options{
		"by": {By: []string{"x1"}}, "examples": {Examples: 3}, "value": {Value: "x1"}, "entity": {Entity: "x1"},
	} {
		d.LimitMemory(1)
		_, err := measure.Evaluate(ctx, d, []dataset.Entry{{Model: fitted.Model}}, o)
		if e := diag.Of(err); e == nil || e.Param != param || !strings.Contains(err.Error(), "memory") {
			t.Errorf("%s: %v", param, err)
		}
	}
}

// Scores that change over time are found in text, in packed rows and in packed rows that do not fit into memory, and unchanged ones in none.
func TestDriftIsFoundInEveryKindOfRows(t *testing.T) {
	for _, drift := range []float64{0, 0.6} {
		text, packed := filepath.Join(t.TempDir(), "rows.csv"), filepath.Join(t.TempDir(), "rows.ttp")
		random := rand.New(rand.NewPCG(3, 14))
		lines := []string{"day,x,y"}
		for i := range 3000 {
			y := i % 10 / 9
			lines = append(lines, fmt.Sprintf("%d,%.1f,%d", i/100, random.NormFloat64()+4*float64(y)+drift*float64(i)/3000, y))
		}
		if err := os.WriteFile(text, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		f := schema.Format{Label: "y", Time: "day"}
		trial.PackFile(t, text, packed, f)
		fitted, err := certify.Fit(t.Context(), trial.ReadPacked(t, text, f), method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("5%"), Lambda: 1e-3}, certify.FitOptions{Encoding: schema.Raw, NoFingerprints: true})
		if err != nil {
			t.Fatal(err)
		}
		for name, memory := range map[string]int64{text: 0, packed: 1} {
			for _, goal := range []metric.Goal{toptau.MaxFPR("5%"), toptau.Top("5%")} {
				d := trial.ReadPacked(t, name, f)
				d.LimitMemory(memory)
				got, err := decide.Threshold(t.Context(), d, dataset.Entry{Model: fitted.Model}, goal, decide.Options{})
				if err != nil {
					t.Fatal(err)
				}
				found := slices.ContainsFunc(got.Result.Warnings, func(w diag.Warning) bool { return w.Code == "calibration-drift" })
				if trend := got.Result.OverTime; found != (drift > 0) || trend == nil || (trend.P <= result.ShiftLevel) != (drift > 0) {
					t.Errorf("%s, memory %d, %s, drift %v: %+v, warned %v", filepath.Ext(name), memory, goal, drift, trend, found)
				}
			}
		}
	}
}

// Train on rows that do not fit into memory searches on a sample, fits the chosen methods to all rows, and keeps the
// guarantee of its threshold.
func TestTrainOnLargeRows(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	ctx := context.Background()
	_, packed := trial.SimulatedFiles(t, simulate.Options{Kind: "detectors", Rows: 40_000, Seed: 10})
	d := trial.ReadPacked(t, packed, schema.Format{Label: "label"})
	d.LimitMemory(1)
	goal := toptau.MaxFPR("1%")
	o := toptau.TrainOptions{SampleRows: 6_000, TestFraction: threshold.MustRate("20%"), Delta: threshold.MustRate("5%"),
		Method: []method.Name{method.Logistic, method.TopMeanNP}, Encoding: []schema.Encoding{schema.Raw}}
	train := func() *toptau.Trained {
		trained, err := toptau.Train(ctx, d, goal, o)
		if err != nil {
			t.Fatal(err)
		}
		return trained
	}
	trained := train()
	r := &trained.Result
	if !r.Certified || r.Sample == nil || r.Sample.Rows > 6_000 || r.Test == nil || r.TestDecisions == nil {
		t.Errorf("certified %v, sample %+v, test %+v", r.Certified, r.Sample, r.Test)
	}
	if n := r.Training.Rows + r.Calibration.Rows + r.Test.Rows; n > 40_000 || n < 39_000 {
		t.Errorf("%d rows in all parts", n)
	}
	t.Logf("%v\n%s", r.Warnings, strings.Join(r.Summary, "\n"))
	again := train()
	if trial.AsJSON(t, again.Model.Points()) != trial.AsJSON(t, trained.Model.Points()) {
		t.Error("another model from the same rows")
	}
}

// Missing and unknown values are counted while the rows of a packed file are scored. What is not measured is absent and named.
func TestLargeRowsCountTheirValues(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many models")
	}
	ctx := context.Background()
	file := func(colours []string) string {
		var b strings.Builder
		b.WriteString("x,colour,label\n")
		for row := range 140_000 { // more than one run of rows
			x := strconv.Itoa(row % 1009)
			if row%37 == 0 {
				x = ""
			}
			label := 0
			if row%1009 > 700+row%5*60 {
				label = 1
			}
			fmt.Fprintf(&b, "%s,%s,%d\n", x, colours[row%len(colours)], label)
		}
		text, packed := filepath.Join(t.TempDir(), "rows.csv"), filepath.Join(t.TempDir(), "rows.ttp")
		if err := os.WriteFile(text, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		trial.PackFile(t, text, packed, schema.Format{})
		return packed
	}
	format := schema.Format{Label: "label"}
	goal := toptau.MaxFPR("5%")
	known := trial.ReadPacked(t, file([]string{"red", "green", "blue"}), format)
	fitted, err := certify.Fit(ctx, known, method.Problem{Method: method.TopMeanNP, Tau: goal.Tau(), Lambda: 1e-2},
		certify.FitOptions{Impute: schema.ImputeMedian})
	if err != nil {
		t.Fatal(err)
	}
	fresh := trial.ReadPacked(t, file([]string{"red", "green", "mauve", "blue", "red"}), format)
	evaluate := func(d *dataset.Data, memory int64) *measure.Evaluation {
		d.LimitMemory(memory)
		e, err := measure.Evaluate(ctx, d, []dataset.Entry{{Model: fitted.Model}}, measure.Options{Goal: goal, Replicates: 10})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	warning := func(e *measure.Evaluation, code string) string {
		i := slices.IndexFunc(e.Warnings, func(w diag.Warning) bool { return w.Code == code })
		if i < 0 {
			return ""
		}
		return e.Warnings[i].Text
	}
	got, want := evaluate(fresh, 1), evaluate(fresh, 0)
	if want.Missing == nil || got.Missing == nil || *got.Missing != *want.Missing || *want.Missing != 3784 {
		t.Errorf("missing values %s, in memory %s", trial.AsJSON(t, got.Missing), trial.AsJSON(t, want.Missing))
	}
	if want.Unknown == nil || got.Unknown == nil || *got.Unknown != *want.Unknown || *want.Unknown != 28_000 {
		t.Errorf("unknown values %s, in memory %s", trial.AsJSON(t, got.Unknown), trial.AsJSON(t, want.Unknown))
	}
	if a, b := warning(got, "unknown-values"), warning(want, "unknown-values"); a != b || a == "" {
		t.Errorf("warning %q, in memory %q", a, b)
	}
	// Rows that do not count their values.
	sample, info, err := table.Read(file([]string{"red"}), table.Options{Format: schema.Format{Label: "label"}, Packed: true})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := trial.DataOf(t, uncounted{rows.OfTable(sample.Frame(), info.Schema, "test: rows")})
	e := evaluate(elsewhere, 0)
	if s := trial.AsJSON(t, e.Evaluation); strings.Contains(s, "missing_values") || strings.Contains(s, "unknown_values") {
		t.Error("values that were not counted are in the output")
	}
	if w := warning(e, "not-measured"); !strings.Contains(w, "missing values") || !strings.Contains(w, "trained the model") {
		t.Errorf("warning %q", w)
	}
}

// uncounted is rows whose scores answer the questions of large.Scores alone, as those of a database.
type uncounted struct{ rows.Rows }

func (u uncounted) Scores(ctx context.Context, p rows.Part, m *model.Model) (rows.Scores, error) {
	s, err := u.Rows.Scores(ctx, p, m)
	return struct{ rows.Scores }{s}, err
}

// If the search can have all rows, a file that does not fit into memory gives the model and the threshold of the rows in memory.
func TestTrainOnFewRowsInAFile(t *testing.T) {
	_, packed := trial.SimulatedFiles(t, simulate.Options{Kind: "detectors", Rows: 4_000, Seed: 10})
	train := func(memory int64, sample int) *toptau.Trained {
		d := trial.ReadPacked(t, packed, schema.Format{Label: "label"})
		d.LimitMemory(memory)
		trained, err := toptau.Train(context.Background(), d, toptau.MaxFPR("5%"), toptau.TrainOptions{SampleRows: sample,
			Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}})
		if err != nil {
			t.Fatal(err)
		}
		return trained
	}
	whole, few, many := train(0, 0), train(1, 4_000), train(1, 2_000)
	if trial.AsJSON(t, few.Model.Points()) != trial.AsJSON(t, whole.Model.Points()) || few.Result.ThresholdNote != whole.Result.ThresholdNote {
		t.Errorf("threshold %s, in memory %s", few.Result.ThresholdNote, whole.Result.ThresholdNote)
	}
	if note := many.Result.ThresholdNote; !strings.Contains(note, "that were held out, because the search has a sample of the rows") {
		t.Error(note)
	}
}
