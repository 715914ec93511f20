package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau/threshold"
)

// By hand: two seeds with 1,000 test negatives each at 1 %, 8 and 14 false alarms: R = 22/20 = 1.1, of the
// seeds 0.8 and 1.4, so that the standard error is 0.3.
func TestFiguresByHand(t *testing.T) {
	f := pooledFigures("pima", "default", threshold.MustRate("0.01"), []AtBudget{
		{Budget: "0.01", Scheme: "held-out", Calibration: 2000, Expected: 0.01, Covers: true, Negatives: 1000, FalseAlarms: 8,
			Tied: 1, TPR: 0.5, ExactTPR: 0.6},
		{Budget: "0.01", Scheme: "held-out", Calibration: 2200, Expected: 0.01, Covers: false, Negatives: 1000, FalseAlarms: 14,
			TPR: 0.7, ExactTPR: 0.6},
	})
	for name, c := range map[string][2]float64{
		"R": {f.Ratio, 1.1}, "its error": {f.Error, 0.3}, "calibration": {f.Calibration, 2100}, "ties": {f.Tied, 0.0005},
		"TPR": {f.TPR, 0.6}, "TPR at the budget": {f.ExactTPR, 0.6}, "expected": {f.Expected, 1}, "covering": {float64(f.Covering), 1},
	} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if one := pooledFigures("pima", "default", threshold.MustRate("0.01"), []AtBudget{
		{Budget: "0.01", Negatives: 1000, FalseAlarms: 4}}); math.Abs(one.Error-0.2) > 1e-12 {
		t.Errorf("error of one seed %v, want sqrt(4)/10", one.Error)
	}
}

func TestRulesOfPassing(t *testing.T) {
	rows := Figures{Budget: "0.01", Calibration: 2000, Negatives: 10_000} // just enough for the lower rule
	for _, c := range []struct {
		name      string
		change    func(f *Figures)
		high, low bool
	}{
		{"the budget", func(f *Figures) { f.Ratio = 1 }, false, false},
		{"1.05 and two errors", func(f *Figures) { f.Ratio, f.Error = 1.2499, 0.1 }, false, false},
		{"more", func(f *Figures) { f.Ratio, f.Error = 1.2501, 0.1 }, true, false},
		{"0.85 less two errors", func(f *Figures) { f.Ratio, f.Error = 0.6501, 0.1 }, false, false},
		{"less", func(f *Figures) { f.Ratio, f.Error = 0.6499, 0.1 }, false, true},
		{"less, few calibrate", func(f *Figures) { f.Calibration = 1999 }, false, false},
		{"less, few tested", func(f *Figures) { f.Negatives = 9999 }, false, false},
		{"less, ties", func(f *Figures) { f.Tied = 0.001 }, false, false},
	} {
		f := rows
		c.change(&f)
		if f.high() != c.high || f.low() != c.low {
			t.Errorf("%s: high %v, low %v", c.name, f.high(), f.low())
		}
	}
}

// Every cell has a seed before any has two, slow cells apart, and filters leave the order.
func TestJobsGiveACoarsePictureFirst(t *testing.T) {
	list := thresholdJobs(nil, nil, [2]int{1, math.MaxInt})
	first := slices.IndexFunc(list, func(j thresholdJob) bool { return j.seed > 1 })
	seen := map[string]bool{}
	for i, j := range list {
		if place := j.set.name + j.cell.name; !seen[place] && !j.slow() {
			if seen[place] = true; i >= first {
				t.Errorf("%s comes after a second seed", j)
			}
		}
	}
	for _, j := range thresholdJobs([]string{"pima"}, []string{"default"}, [2]int{2, 3}) {
		if j.set.name != "pima" || j.cell.name != "default" || j.seed < 2 || j.seed > 3 {
			t.Errorf("%s is not asked for", j)
		}
	}
}

func TestNames(t *testing.T) {
	r := &textRows{header: []string{"a,label"}}
	for i := range 20_000 {
		r.positive = append(r.positive, i%2 == 0)
		r.lines = append(r.lines, "1,"+map[bool]string{true: "1", false: "0"}[i%2 == 0])
	}
	for _, law := range []names{blank, telling} {
		named := law.add(r, 1)
		if named.header[0] != "a,name,label" || !slices.Equal(named.lines, law.add(r, 1).lines) {
			t.Fatalf("%s: header %q, or other names the second time", law, named.header)
		}
		seen := map[string]bool{}
		var few [2]float64 // rows with one of the names that tell, negatives and positives
		for i, line := range named.lines {
			fields := strings.Split(line, ",")
			seen[fields[1]] = true
			class := 0
			if fields[2] == "1" != r.positive[i] || fields[0] != "1" {
				t.Fatalf("line %q", line)
			} else if r.positive[i] {
				class = 1
			}
			if len(fields[1]) <= 4 { // n0 to n999
				few[class] += 1.0 / 10_000
			}
		}
		want := 1.0 / 6
		if law == telling {
			want = 0.6*1000/1200 + 0.4/6
		}
		if len(seen) < 5500 || math.Abs(few[0]-1.0/6) > 0.02 || math.Abs(few[1]-want) > 0.02 {
			t.Errorf("%s: %d names, %v of the negatives and positives have the first 1,000, want 1/6 and %v", law, len(seen), few, want)
		}
	}
}

func TestAnInterruptedCampaignGoesOn(t *testing.T) {
	h := simulatedSize(t, 800)
	page := filepath.Join(t.TempDir(), "page.md")
	run := func(ctx context.Context, last int) string {
		t.Helper()
		if err := h.runThresholds(ctx, []string{"pima"}, []string{"logistic raw"}, [2]int{1, last}, "", page); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			return ""
		}
		return string(text)
	}
	cancelled, stop := context.WithCancel(context.Background())
	stop()
	if text := run(cancelled, 2); text != "" {
		t.Errorf("an interrupted run writes a page:\n%s", text)
	}
	one := run(context.Background(), 1)
	if !strings.Contains(one, "* 1 trainings with thresholds for three budgets on 1 sets; 3 cells.") {
		t.Errorf("page of one seed:\n%s", one)
	}
	if err := os.RemoveAll(h.data); err != nil { // the kept result and the rows in memory are left
		t.Fatal(err)
	}
	run(context.Background(), 2)
	h.loaded, h.idle = nil, true
	if text := run(context.Background(), 3); !strings.Contains(text, "1 of 3 trainings are missing") {
		t.Errorf("page without computing:\n%s", text)
	}
	if text := run(context.Background(), 1); !strings.Contains(text, "* 1 trainings") || strings.Contains(text, "trainings are missing") {
		t.Errorf("page of a kept training:\n%s", text)
	}
	h.probes["logistic raw"] = "another"
	if err := h.runThresholds(context.Background(), []string{"pima"}, []string{"logistic raw"}, [2]int{1, 1}, "", page); err == nil {
		t.Error("a training with another probe is on the page")
	}
}

// The figures are those that the test part gives when it is counted row by row.
func TestMeasuredOnTheTestPart(t *testing.T) {
	h := simulatedSize(t, 800)
	j := thresholdJobs([]string{"pima"}, []string{"logistic raw"}, [2]int{1, 1})[0]
	data, err := h.load(j.set, 1)
	if err != nil {
		t.Fatal(err)
	}
	list, err := j.measure(context.Background(), data)
	if err != nil || len(list) != len(budgets) {
		t.Fatalf("%d budgets: %v", len(list), err)
	}
	for i, b := range list {
		if b.Negatives != 300 || b.FalseAlarms > 300 || b.Calibration != 300 && b.Calibration != 45 || b.Scheme == "" {
			t.Errorf("%+v", b)
		}
		if i > 0 && b.FalseAlarms < list[i-1].FalseAlarms {
			t.Errorf("a larger budget gives fewer false alarms: %+v", list)
		}
	}
	if last := list[2]; last.ratio() > 2 || last.ratio() < 0.3 {
		t.Errorf("5 %% of 300 negatives: %+v", last)
	}
}

func TestFreshDrawsDiffer(t *testing.T) {
	h := &harness{}
	s := *setNamed("hepmass+names")
	first, err := h.load(&s, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.load(&s, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := h.load(&s, 2)
	if err != nil {
		t.Fatal(err)
	}
	if first.Table.Rows() != s.simulated.Rows || first.Test.Rows() != freshRows {
		t.Errorf("%d and %d rows", first.Table.Rows(), first.Test.Rows())
	}
	column := func(i int) [3]float64 {
		return [3]float64{first.Table.Columns[0].Values[i], again.Table.Columns[0].Values[i], other.Table.Columns[0].Values[i]}
	}
	if v := column(0); v[0] != v[1] || v[0] == v[2] || v[0] == first.Test.Columns[0].Values[0] {
		t.Errorf("first values %v, of the test part %v", v, first.Test.Columns[0].Values[0])
	}
}

func TestThresholdPage(t *testing.T) {
	var runs []*ThresholdRun
	for _, at := range []struct {
		set, cell string
		alarms    float64
	}{{"pima", "logistic raw", 30}, {"magic04", "logistic leaves", 100}, {"magic04", "average", 50}, {"detectors", "default", 10}} {
		for seed := 1; seed <= 2; seed++ {
			runs = append(runs, &ThresholdRun{Set: at.set, Cell: at.cell, Seed: seed, Budgets: [3]AtBudget{{Budget: "0.01", Members: 2,
				Scheme: "cross-fitted", Calibration: 5000, Expected: 0.01, Covers: false, Negatives: 10_000,
				FalseAlarms: at.alarms + float64(seed)}}})
		}
	}
	runs = append(runs,
		&ThresholdRun{Set: "magic04", Cell: "average", Seed: 3, Budgets: [3]AtBudget{{Budget: "0.01", Members: 1, FalseAlarms: 1, Negatives: 1}}},
		&ThresholdRun{Set: "pima", Cell: "patmat-np raw", Seed: 1, Failed: "every candidate is constant"})
	p := &thresholdPage{runs: runs}
	text, err := p.page("")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"R <= 1.05 + 2 standard errors in 4 of 4 (100.0 %), goal 95 %: met.",
		"R >= 0.85 - 2 standard errors in 1 of 4 (25.0 %) of the cells whose rows can resolve it, goal 95 %: **missed**.",
		"contains the true rate in 0 of 2 (0.0 %) of the fresh draws",
		"| magic04 | average | 1 % | 0.52 ± 0.01 | 2 | 103 | 50 | cross-fitted | 0.00 | 0.0 | 0.0 | low |",
		"* pima, patmat-np raw, seed 1: no model, every candidate is constant.",
		"| logistic | 0 | – | 2 | 0.66 | 0 | – |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	cells, err := p.csv()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"magic04,average,0.01,0.52,0.01,2,103,50,cross-fitted,0.00,0.000,0.000,,,,", "\ndetectors,default,0.01,0.12,",
	} {
		if !strings.Contains(string(cells), want) {
			t.Errorf("the cells lack %q:\n%s", want, cells)
		}
	}
}
