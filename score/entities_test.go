package score_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/score"
)

// hostRows returns rows of 30 hosts on 10 days.
func hostRows(seed uint64) string {
	var b strings.Builder
	b.WriteString("x,u,host,when,y\n")
	random := rand.New(rand.NewPCG(seed, 7))
	for i := range 1500 {
		x, y := random.NormFloat64(), 0
		if random.Float64() < 0.05 {
			x, y = x+2, 1
		}
		fmt.Fprintf(&b, "%.4f,%.4f,h%d,2026-03-%02dT%02d:00:00,%d\n", x, random.NormFloat64(), random.IntN(30), 1+i/150, i%24, y)
	}
	return b.String()
}

// hostModel returns a model whose point counts hosts and days.
func hostModel(t *testing.T) *model.Model {
	t.Helper()
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", hostRows(1)), schema.Format{Label: "y", Time: "when", Drop: []string{"host"}, Kept: []string{"host"}})
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{Method: []method.Name{"logistic"},
		Encoding: []schema.Encoding{"raw"}, Entity: "host"})
	if err != nil {
		t.Fatal(err)
	}
	return trained.Model
}

// The merged rows are the units of Evaluate: as many, with as many alerts. Each has the highest score of its rows.
// The first alerts of a stream are the merged rows with an alert.
func TestScoreMergesEntities(t *testing.T) {
	m, path := hostModel(t), trial.WriteFile(t, "later.csv", hostRows(2))
	rows, _ := trial.ScoreAll(t, m, path, score.Options{Format: schema.Format{ID: []string{"host", "when"}}})
	highest, count := map[string]float64{}, map[string]int{}
	for _, r := range rows {
		unit := r.ID[0] + " " + r.ID[1][:10]
		if z, known := highest[unit]; !known || r.Score > z {
			highest[unit] = r.Score
		}
		count[unit]++
	}
	merged, stream := trial.ScoreAll(t, m, path, score.Options{Entity: "host"})
	totals := stream.Totals()
	alerts := map[string]bool{}
	for _, r := range merged {
		unit := r.Merged.Entity + " " + r.Merged.Day
		if r.Score != highest[unit] || r.Merged.Rows != count[unit] || r.Decisions[0] != (r.Merged.Alerts > 0) {
			t.Fatalf("%s: %+v, want %v and %d rows", unit, r, highest[unit], count[unit])
		}
		if r.Decisions[0] {
			alerts[unit] = true
		}
	}
	if len(merged) != len(highest) || totals.Units != len(merged) || totals.Positives[0] != len(alerts) || totals.Rows != 1500 {
		t.Errorf("%d rows of %d units, %d alerts, %+v", len(merged), len(highest), len(alerts), totals)
	}
	first, _ := trial.ScoreAll(t, m, path, score.Options{OnlyAlerts: true, Format: schema.Format{ID: []string{"host", "when"}}})
	for _, r := range first {
		unit := r.ID[0] + " " + r.ID[1][:10]
		if !alerts[unit] || !r.Decisions[0] {
			t.Errorf("an alert of %s, which has none or had one: %+v", unit, r)
		}
		delete(alerts, unit)
	}
	if len(alerts) > 0 || len(first) == 0 {
		t.Errorf("%d first alerts, %d units without one", len(first), len(alerts))
	}
	best, _ := trial.ScoreAll(t, m, path, score.Options{Entity: "host", Best: 3})
	if len(best) != 3 || best[0].Merged == nil || best[0].Score < best[2].Score {
		t.Errorf("%+v", best)
	}
	alarms, _ := trial.ScoreAll(t, plainModel(t), path, score.Options{OnlyAlerts: true})
	for _, r := range alarms {
		if !r.Decisions[0] {
			t.Errorf("not an alert: %+v", r)
		}
	}
}

// plainModel returns a model whose point counts rows.
func plainModel(t *testing.T) *model.Model {
	t.Helper()
	d := trial.ReadFile(t, trial.WriteFile(t, "plain.csv", hostRows(3)), schema.Format{Label: "y", Drop: []string{"host", "when"}})
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{Method: []method.Name{"logistic"},
		Encoding: []schema.Encoding{"raw"}})
	if err != nil {
		t.Fatal(err)
	}
	return trained.Model
}

func TestEntitiesThatCannotBeMerged(t *testing.T) {
	m := hostModel(t)
	for name, test := range map[string]struct {
		file  string
		o     score.Options
		param string
		words string
	}{
		"no such column":      {hostRows(2), score.Options{Entity: "machine"}, "entity", "expected one of the columns"},
		"no days":             {"x,u,host\n1,2,a\n", score.Options{Entity: "host"}, "time", "host and day"},
		"not a date":          {"x,u,host,when\n1,2,a,2026-03-01\n1,2,a,soon\n", score.Options{Entity: "host"}, "", "soon"},
		"rows without scores": {hostRows(2), score.Options{Entity: "host", OnError: schema.EmptyBadRows}, "on-error", ""},
	} {
		stream, err := score.Open(t.Context(), m, strings.NewReader(test.file), test.o)
		if err == nil {
			for _, e := range stream.Rows() {
				err = e
			}
		}
		if d := diag.Of(err); d == nil || d.Param != test.param || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A row without a day is left out like other bad rows.
	file := "x,u,host,when\n1,2,a,2026-03-01\n1,2,a,soon\n"
	stream, err := score.Open(t.Context(), m, strings.NewReader(file), score.Options{Entity: "host", OnError: schema.SkipBadRows})
	if err != nil {
		t.Fatal(err)
	}
	units := 0
	for _, err := range stream.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		units++
	}
	if units != 1 || stream.Totals().Failed != 1 {
		t.Errorf("%d units, %+v", units, stream.Totals())
	}
}
