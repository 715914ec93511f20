package monitoring_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toptau"
	"toptau/dataset"
	"toptau/internal/app/monitor"
	"toptau/method"
	"toptau/model"
	"toptau/monitoring"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// monitoredCSV returns rows with an id, two columns and a label; shift is added to the first column of rows from
// change on.
func monitoredCSV(rows int, seed uint64, change int, shift float64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("id,when,x,kind,y\n")
	for i := range rows {
		y := 0
		if random.IntN(10) == 0 {
			y = 1
		}
		x := random.NormFloat64() + 2*float64(y)
		if i >= change {
			x += shift
		}
		fmt.Fprintf(&b, "r%d-%d,2026-01-%02d,%.4f,k%d,%d\n", seed, i, 1+i*28/rows, x, random.IntN(4), y)
	}
	return b.String()
}

func monitoredModel(t *testing.T, o toptau.TrainOptions) *model.Model {
	d, err := dataset.ReadFrom(t.Context(), strings.NewReader(monitoredCSV(4000, 1, 4000, 0)), schema.Format{Label: "y", ID: []string{"id"}, Time: "when"})
	if err != nil {
		t.Fatal(err)
	}
	o.Method, o.Encoding = []method.Name{method.Logistic}, []schema.Encoding{schema.Raw}
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("1%"), o)
	if err != nil {
		t.Fatal(err)
	}
	return trained.Model
}

func watch(t *testing.T, m *model.Model, rows string, o monitoring.Options) *monitoring.Result {
	t.Helper()
	w, err := monitoring.Run(t.Context(), m, strings.NewReader(rows), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// scoresOf returns what score prints for rows.
func scoresOf(t *testing.T, m *model.Model, rows string) string {
	stream, err := score.Open(t.Context(), m, strings.NewReader(rows), score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := strings.Builder{}
	b.WriteString("id,score\n")
	for row, err := range stream.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s,%v\n", row.ID[0], row.Score)
	}
	return b.String()
}

func TestMonitorOfDataAndOfItsScoresAgree(t *testing.T) {
	m := monitoredModel(t, toptau.TrainOptions{TestFraction: threshold.MustRate("50%")})
	rows := monitoredCSV(6500, 2, 3000, 0.8)
	data, scores := watch(t, m, rows, monitoring.Options{}), watch(t, m, scoresOf(t, m, rows), monitoring.Options{})
	a, b := data.Result.Scores, scores.Result.Scores
	if a.Log10 != b.Log10 || a.Since != b.Since || a.MeanRank != b.MeanRank {
		t.Errorf("data: %+v\nscores: %+v", a, b)
	}
	if scores.Result.Columns != nil || data.Result.Columns == nil {
		t.Error("scores have no columns to watch, data have")
	}
	if !a.Alarm || a.Since != 3000 || a.SinceTime != "2026-01-09" && a.SinceTime != "2026-01-13" {
		t.Errorf("%+v, from %q, want an alarm since row 3,000", a.Evidence, data.Result.FirstTime)
	}
	first := data.Result.Columns.List[0]
	if first.Column != "x" || !first.Alarm || data.Result.Columns.List[1].Alarm {
		t.Errorf("the columns %+v, want x alone named", data.Result.Columns.List)
	}
}

func TestMonitorWithoutReferenceWatchesColumns(t *testing.T) {
	m := monitoredModel(t, toptau.TrainOptions{})
	if m.Reference() != nil {
		t.Fatal("a reference without a test part")
	}
	w := watch(t, m, monitoredCSV(3000, 2, 3000, 0), monitoring.Options{})
	if w.Result.Scores != nil || w.Result.Columns == nil || w.Result.Warnings[0].Code != "no-reference" {
		t.Errorf("%+v", w.Result)
	}
	b, err := monitoring.Baseline(t.Context(), m, strings.NewReader(monitoredCSV(3000, 3, 3000, 0)), monitoring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := watch(t, b, monitoredCSV(3000, 2, 3000, 0), monitoring.Options{}).Result; r.Scores == nil || r.Scores.Reference != 3000 || r.Alarm() {
		t.Errorf("%+v", r.Scores)
	}
	if _, err := monitoring.Baseline(t.Context(), m, strings.NewReader(monitoredCSV(4000, 1, 4000, 0)), monitoring.Options{}); err == nil || !strings.Contains(err.Error(), "trained the model") {
		t.Errorf("a baseline of training rows: %v", err)
	}
	bare := monitoredModel(t, toptau.TrainOptions{NoProfile: true, NoFingerprints: true})
	if r := watch(t, bare, monitoredCSV(3000, 2, 3000, 0), monitoring.Options{}).Result; r.Columns != nil || r.Budget == nil {
		t.Errorf("%+v", r)
	}
}

// TestMonitorJoinsLateLabels labels alerts of a first run during a second one, each once.
func TestMonitorJoinsLateLabels(t *testing.T) {
	m := monitoredModel(t, toptau.TrainOptions{TestFraction: threshold.MustRate("50%")})
	full := monitoredCSV(4000, 2, 4000, 0)
	var bare, labels strings.Builder // without labels, and the labels alone
	for i, line := range strings.Split(strings.TrimSpace(full), "\n") {
		fields := strings.Split(line, ",")
		bare.WriteString(strings.Join(fields[:4], ",") + "\n")
		if i == 0 {
			fields = []string{"id", "", "", "", "label"}
		}
		labels.WriteString(fields[0] + "," + fields[4] + "\n")
	}
	o := monitoring.Options{Audit: threshold.MustRate("5%")}
	known := watch(t, m, full, o).Result
	var audited []int
	o.OnAudit = func(row *result.AuditedRow) error {
		audited = append(audited, row.Row)
		return nil
	}
	first := watch(t, m, bare.String(), o)
	if first.Result.Labels.Waiting == 0 || len(audited) != known.Audit.Marked || known.Audit.Labelled != known.Audit.Marked {
		t.Fatalf("%+v, %d audited rows, want %+v", first.Result.Labels, len(audited), known.Audit)
	}
	state := func(w *monitoring.Result) *bytes.Buffer {
		b := &bytes.Buffer{}
		if _, err := w.WriteTo(b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	o.State, o.Labels, o.OnAudit = state(first), strings.NewReader(labels.String()), nil
	second := watch(t, m, strings.SplitAfter(bare.String(), "\n")[0]+"x-1,2026-02-01,0,k1\n", o)
	got, want := second.Result.Labels, known.Labels
	if got.Positives != want.Positives || got.Negatives != want.Negatives || second.Result.Audit.Recall != known.Audit.Recall || got.Waiting > 1 {
		t.Errorf("labels that came late: %+v, at once: %+v", got, want)
	}
	o.State, o.Labels = state(second), strings.NewReader(labels.String())
	third := watch(t, m, strings.SplitAfter(bare.String(), "\n")[0]+"x-2,2026-02-01,0,k1\n", o)
	if third.Result.Labels.Positives != got.Positives || third.Result.Warnings[len(third.Result.Warnings)-1].Code != "no-label-used" {
		t.Errorf("labels that came twice: %+v, %v", third.Result.Labels, third.Result.Warnings)
	}
}

func TestMonitorErrors(t *testing.T) {
	m := monitoredModel(t, toptau.TrainOptions{TestFraction: threshold.MustRate("50%")})
	other := monitoredModel(t, toptau.TrainOptions{TestFraction: threshold.MustRate("40%")})
	rows := monitoredCSV(1500, 2, 1500, 0)
	var state bytes.Buffer
	if _, err := watch(t, m, rows, monitoring.Options{}).WriteTo(&state); err != nil {
		t.Fatal(err)
	}
	kept := func() *bytes.Reader { return bytes.NewReader(state.Bytes()) }
	damaged := bytes.Clone(state.Bytes())
	damaged[len(damaged)/2] ^= 1
	for _, test := range []struct {
		what string
		m    *model.Model
		rows string
		o    monitoring.Options
		want string
	}{
		{"state of another model", other, rows, monitoring.Options{State: kept()}, "the state of another model"},
		{"other delta", m, rows, monitoring.Options{State: kept(), FalseAlarm: threshold.MustRate("5%")}, "false-alarm"},
		{"no state", m, rows, monitoring.Options{State: strings.NewReader("{}")}, "not the state of a monitor"},
		{"damaged state", m, rows, monitoring.Options{State: bytes.NewReader(damaged)}, "a state"},
		{"cut state", m, rows, monitoring.Options{State: bytes.NewReader(state.Bytes()[:100])}, "a state"},
		{"unknown point", m, rows, monitoring.Options{At: "nowhere"}, "at"},
		{"blocks of a time that is not there", m, rows, monitoring.Options{BlockTime: schema.Delay(time.Hour), Format: schema.Format{NoTime: true}}, "time"},
		{"other blocks", m, rows, monitoring.Options{State: kept(), BlockRows: 500}, "block"},
		{"neither data nor scores", m, "a,b\n1,2\n", monitoring.Options{}, "x"},
		{"a missing score", m, "score\n1\n\"\"\n", monitoring.Options{}, "a missing score"},
		{"labels without ids", m, rows, monitoring.Options{Labels: strings.NewReader("a,label\n1,1\n")}, "id"},
		{"bad label", m, rows, monitoring.Options{Labels: strings.NewReader("id,label\n1,perhaps\n")}, "perhaps"},
	} {
		if _, err := monitoring.Run(t.Context(), test.m, strings.NewReader(test.rows), test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.what, err, test.want)
		}
	}
	if r := watch(t, m, "score\n1\n\"\"\n2\n", monitoring.Options{OnError: schema.SkipBadRows}).Result; r.Rows != 3 || r.Failed != 1 {
		t.Errorf("%d rows, %d without a score", r.Rows, r.Failed)
	}
	if len(state.Bytes()) > monitor.StateBytes {
		t.Errorf("%d bytes", state.Len())
	}
}

// A plain threshold keeps the upper end of the interval that is printed with it, and a monitor's budget is broken above that only.
func TestBudgetOfAPlainThreshold(t *testing.T) {
	d, err := dataset.ReadFrom(t.Context(), strings.NewReader(monitoredCSV(4000, 1, 4000, 0)), schema.Format{Label: "y", ID: []string{"id"}, Time: "when"})
	if err != nil {
		t.Fatal(err)
	}
	for _, delta := range []threshold.Rate{{}, threshold.MustRate("10%")} {
		trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("5%"), toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}, Delta: delta})
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		if delta.IsZero() {
			want = *trained.Result.Expected.High
		}
		point, _ := trained.Model.Point("")
		b := watch(t, trained.Model, monitoredCSV(3000, 2, 3000, 0), monitoring.Options{}).Result.Budget
		if point.UpTo != want || b.Rate != 0.05 || b.Bound != max(b.Rate, want) || b.Alarm {
			t.Errorf("delta %v: the rate may be up to %v, want %v; the monitor's budget is %+v", delta, point.UpTo, want, b)
		}
		for _, shifted := range []bool{false, true} {
			rows := monitoredCSV(6000, 3, 0, map[bool]float64{true: 1}[shifted])
			if r := watch(t, trained.Model, rows, monitoring.Options{}).Result; r.Budget.Alarm != shifted {
				t.Errorf("delta %v, rows that are shifted: %v, budget %+v", delta, shifted, r.Budget)
			}
		}
	}
}
