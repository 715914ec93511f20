package measure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
)

// entryNames lists the names of an evaluation's entries.
func entryNames(e *measure.Evaluation) []string {
	var names []string
	for _, entry := range e.Entries {
		names = append(names, entry.Name)
	}
	return names
}

// Every method that the goal has a rate for can be trained and compared, unless its optimum is w = 0 on these rows.
func TestCompareAllMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("trains several models")
	}
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.Overlapping(200, 1)), schema.Format{Label: "y"})
	for _, g := range []metric.Goal{toptau.MaxFPR("10%"), (metric.Goal{Kind: metric.GoalAbsoluteTop})} {
		o := toptau.TrainOptions{KeepAll: true, Folds: 2, Method: []method.Name{method.Logistic, method.SVM, method.Ramp}, Encoding: []schema.Encoding{schema.Raw}}
		for _, m := range method.All() {
			if !m.UsesTau || !g.Tau().IsZero() {
				o.Method = append(o.Method, m.Name)
			}
		}
		trained, err := toptau.Train(t.Context(), d, g, o)
		if err != nil {
			t.Fatal(err)
		}
		e, err := measure.Evaluate(t.Context(), d, trained.All, measure.Options{Goal: g, Replicates: 50})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range o.Method {
			entry := slices.Contains(entryNames(e), string(name))
			useful := slices.ContainsFunc(trained.Result.Candidates, func(c result.Candidate) bool { return c.Method == name && c.Status == "fitted" && !c.Constant })
			if entry != useful {
				t.Errorf("%s: %s has an entry: %v, a useful candidate: %v", g, name, entry, useful)
			}
		}
		if len(e.Entries) < 5 {
			t.Errorf("%s: only %v", g, entryNames(e))
		}
		o.Method, o.Encoding = []method.Name{method.Logistic, method.TopPush}, []schema.Encoding{schema.Scorecard}
		if trained, err = toptau.Train(t.Context(), d, g, o); err != nil {
			t.Fatal(err)
		}
		e, err = measure.Evaluate(t.Context(), d, trained.All, measure.Options{Goal: g, Replicates: 50})
		if err != nil || len(e.Entries) < 3 || e.Entries[1].Encoding != schema.Scorecard {
			t.Errorf("%s: %v, %v", g, entryNames(e), err)
		}
		o.Encoding = []schema.Encoding{schema.Scorecard, schema.Scorecard}
		_, err = toptau.Train(t.Context(), d, g, o)
		trial.WantError(t, err, diag.Usage, "encoding scorecard twice")
	}
}

// A column of scores must exist, be numeric and be complete.
func TestColumnsWithoutScores(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.Overlapping(200, 1)), schema.Format{Label: "y"})
	gaps := trial.ReadFile(t, trial.WriteFile(t, "gaps.csv", "score,kind,y\n1,a,1\n,b,0\n3,c,0\n"), schema.Format{Label: "y"})
	for name, c := range map[string]struct {
		data  *dataset.Data
		entry dataset.Entry
		kind  diag.Kind
		parts []string
	}{
		"no such column":       {d, dataset.Entry{Column: "c"}, diag.Usage, []string{`score "c"`, `numeric columns ["a" "b"]`}},
		"a categorical column": {gaps, dataset.Entry{Column: "kind"}, diag.Usage, []string{`score "kind"`, `numeric columns ["score"]`}},
		"a missing value":      {gaps, dataset.Entry{Column: "score"}, diag.Data, []string{`gaps.csv:3: column "score": a missing score`}},
	} {
		_, err := measure.Evaluate(t.Context(), c.data, []dataset.Entry{c.entry}, measure.Options{Replicates: 10})
		trial.WantError(t, err, c.kind, c.parts...)
		_, err = decide.Threshold(t.Context(), c.data, c.entry, toptau.MaxFPR("10%"), decide.Options{})
		trial.WantError(t, err, c.kind, c.parts...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// A column of scores gives the threshold and the rates of the same scores in a slice.
func TestColumnOfScores(t *testing.T) {
	text := trial.Overlapping(300, 3)
	d := trial.ReadFile(t, trial.WriteFile(t, "d.csv", text), schema.Format{Label: "y"})
	var scores []float64
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		var a, b float64
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%g %g", &a, &b); err != nil {
			t.Fatal(err)
		}
		scores = append(scores, a)
	}
	column, err1 := decide.Threshold(t.Context(), d, dataset.Entry{Column: "a"}, toptau.MaxFPR("10%"), decide.Options{})
	slice, err2 := decide.Threshold(t.Context(), d, dataset.Entry{Scores: scores}, toptau.MaxFPR("10%"), decide.Options{})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if column.Result.Threshold != slice.Result.Threshold {
		t.Errorf("%v, %v", column.Result.Threshold, slice.Result.Threshold)
	}
	e, err := measure.Evaluate(t.Context(), d, []dataset.Entry{{Name: "column", Column: "a"}, {Name: "slice", Scores: scores}},
		measure.Options{Goal: toptau.MaxFPR("10%"), Replicates: 20})
	if err != nil {
		t.Fatal(err)
	}
	if e.Entries[0].AUC != e.Entries[1].AUC || e.Entries[1].Difference.Rate != 0 {
		t.Errorf("%+v", e.Entries)
	}
}
