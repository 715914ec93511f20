package toptau_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/diag"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
)

// overlapping returns a table with overlapping classes. Every fifth row is positive.
func overlapping(rows int, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 0))
	number := func() float64 { return float64(random.Uint64()>>11) / (1 << 53) }
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range rows {
		y := 0
		if i%5 == 0 {
			y = 1
		}
		fmt.Fprintf(&b, "%v,%v,%d\n", number()+0.6*float64(y), number()*3, y)
	}
	return b.String()
}

// entryNames lists the names of an evaluation's entries.
func entryNames(e *toptau.Evaluation) []string {
	var names []string
	for _, entry := range e.Entries {
		names = append(names, entry.Name)
	}
	return names
}

// Everything that training tried is evaluated next to the scores of another program, on the rows of a test file.
func TestCompare(t *testing.T) {
	d := readFile(t, writeFile(t, "train.csv", overlapping(400, 1)), toptau.Format{Label: "y"})
	test := readFile(t, writeFile(t, "test.csv", overlapping(300, 2)), d.Format())
	var b strings.Builder
	b.WriteString("row,score,decision\n")
	for i := range 300 {
		fmt.Fprintf(&b, "%d,%d,0\n", i+1, (i*7)%300)
	}
	scores, err := toptau.ReadScores(t.Context(), "guess", writeFile(t, "guess.csv", b.String()), toptau.Format{})
	if err != nil {
		t.Fatal(err)
	}
	goal := toptau.MaxFPR("10%")
	trained, err := toptau.Train(t.Context(), d, goal, toptau.TrainOptions{Test: test, KeepAll: true, Seed: 1,
		Method: []method.Name{method.Logistic, method.TopMeanNP}, Encoding: []schema.Encoding{schema.Raw, schema.Scorecard}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := toptau.Evaluate(t.Context(), trained.Test, append(trained.All, scores),
		toptau.EvaluateOptions{Goal: goal, Against: "logistic", Replicates: 200, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"chosen", "guess", "logistic", "logistic/scorecard", "svm", "svm/scorecard", "topmean-np", "topmean-np/scorecard"}
	got := entryNames(e)
	slices.Sort(got)
	if !slices.Equal(got, want) || e.Rows != 300 || e.Positives != 60 || trained.Result.Training.Rows != 400 || e.Against != "logistic" {
		t.Errorf("%v, %+v, %+v, against %s", got, e.Counts, trained.Result.Training, e.Against)
	}
	guess := e.Entries[len(e.Entries)-1]
	if guess.Kind != result.ScoresEntry || guess.Encoding != "" || guess.Features != 0 || guess.Setting != "" || guess.Estimate != nil ||
		len(guess.Points) != 0 || guess.Verdict != metric.Worse || guess.Difference.Interval.Replicates != 200 || guess.Joined.By != "row" {
		t.Errorf("%+v", guess)
	}
	if e.Entries[0].Kind != result.ChosenEntry || e.Entries[0].Estimate == nil || len(e.Verdicts) == 0 {
		t.Errorf("%+v, %+v", e.Entries[0], e.Verdicts)
	}
	if text, err := json.Marshal(e); err != nil || strings.Contains(string(text), `"entities"`) || strings.Contains(string(text), "NaN") {
		t.Errorf("%s, %v", text, err)
	}
}

// Every method that the goal has a rate for can be trained and compared, unless its optimum is w = 0 on these rows.
func TestCompareAllMethods(t *testing.T) {
	d := readFile(t, writeFile(t, "train.csv", overlapping(200, 1)), toptau.Format{Label: "y"})
	for _, g := range []toptau.Goal{toptau.MaxFPR("10%"), toptau.AbsoluteTop()} {
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
		e, err := toptau.Evaluate(t.Context(), d, trained.All, toptau.EvaluateOptions{Goal: g, Replicates: 50})
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
		e, err = toptau.Evaluate(t.Context(), d, trained.All, toptau.EvaluateOptions{Goal: g, Replicates: 50})
		if err != nil || len(e.Entries) < 3 || e.Entries[1].Encoding != schema.Scorecard {
			t.Errorf("%s: %v, %v", g, entryNames(e), err)
		}
		o.Encoding = []schema.Encoding{schema.Scorecard, schema.Scorecard}
		_, err = toptau.Train(t.Context(), d, g, o)
		wantError(t, err, diag.Usage, "encoding scorecard twice")
	}
}

// Scores in the wrong order are refused even without ids and labels if there are enough rows to see it. Scores in the right
// order never are.
func TestReadScoresInAnotherOrder(t *testing.T) {
	d := readFile(t, writeFile(t, "data.csv", overlapping(4000, 1)), toptau.Format{Label: "y"})
	lines := strings.Split(strings.TrimSpace(overlapping(4000, 1)), "\n")[1:]
	scores := make([]string, len(lines))
	for i, line := range lines {
		scores[i] = line[:strings.Index(line, ",")]
	}
	measure := func(name string) error {
		e, err := toptau.ReadScores(t.Context(), "m", writeFile(t, name, "score\n"+strings.Join(scores, "\n")+"\n"), toptau.Format{})
		if err == nil {
			_, err = toptau.Evaluate(t.Context(), d, []toptau.Entry{e}, toptau.EvaluateOptions{Replicates: 10})
		}
		return err
	}
	if err := measure("right.csv"); err != nil {
		t.Error(err)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(scores), func(i, j int) { scores[i], scores[j] = scores[j], scores[i] })
	wantError(t, measure("shuffled.csv"), diag.Data, "scores without any relation to the labels", "AUC 0.", "join by an id")
}

// Scores must be as many as the rows, and a column of scores must be complete.
func TestEntriesThatDoNotFit(t *testing.T) {
	d := readFile(t, writeFile(t, "train.csv", overlapping(200, 1)), toptau.Format{Label: "y"})
	incomplete := slices.Repeat([]float64{1}, 200)
	incomplete[7] = math.NaN()
	gaps := readFile(t, writeFile(t, "gaps.csv", "score,kind,y\n1,a,1\n,b,0\n3,c,0\n"), toptau.Format{Label: "y"})
	for name, c := range map[string]struct {
		data  *toptau.Data
		entry toptau.Entry
		kind  diag.Kind
		parts []string
	}{
		"fewer scores":         {d, toptau.Entry{Name: "theirs", Scores: make([]float64, 9)}, diag.Data, []string{`9 scores of "theirs"`, "200, one for each row"}},
		"a row without score":  {d, toptau.Entry{Name: "theirs", Scores: incomplete}, diag.Data, []string{`no score of "theirs" for row 8`}},
		"no such column":       {d, toptau.Entry{Column: "c"}, diag.Usage, []string{`column "c"`, `one of ["a" "b"]`}},
		"a categorical column": {gaps, toptau.Entry{Column: "kind"}, diag.Usage, []string{`column "kind"`, `one of ["score"]`}},
		"a missing value":      {gaps, toptau.Entry{Column: "score"}, diag.Data, []string{`gaps.csv:3: column "score": a missing score`}},
	} {
		_, err := toptau.Evaluate(t.Context(), c.data, []toptau.Entry{c.entry}, toptau.EvaluateOptions{Replicates: 10})
		wantError(t, err, c.kind, c.parts...)
		_, err = toptau.Threshold(t.Context(), c.data, c.entry, toptau.MaxFPR("10%"), toptau.ThresholdOptions{})
		wantError(t, err, c.kind, c.parts...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// A column of scores gives the threshold and the rates of the same scores in a slice.
func TestColumnOfScores(t *testing.T) {
	text := overlapping(300, 3)
	d := readFile(t, writeFile(t, "d.csv", text), toptau.Format{Label: "y"})
	var scores []float64
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		var a, b float64
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%g %g", &a, &b); err != nil {
			t.Fatal(err)
		}
		scores = append(scores, a)
	}
	column, err1 := toptau.Threshold(t.Context(), d, toptau.Entry{Column: "a"}, toptau.MaxFPR("10%"), toptau.ThresholdOptions{})
	slice, err2 := toptau.Threshold(t.Context(), d, toptau.Entry{Scores: scores}, toptau.MaxFPR("10%"), toptau.ThresholdOptions{})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if column.Result.Threshold != slice.Result.Threshold {
		t.Errorf("%v, %v", column.Result.Threshold, slice.Result.Threshold)
	}
	e, err := toptau.Evaluate(t.Context(), d, []toptau.Entry{{Name: "column", Column: "a"}, {Name: "slice", Scores: scores}},
		toptau.EvaluateOptions{Goal: toptau.MaxFPR("10%"), Replicates: 20})
	if err != nil {
		t.Fatal(err)
	}
	if e.Entries[0].AUC != e.Entries[1].AUC || e.Entries[1].Difference.Rate != 0 {
		t.Errorf("%+v", e.Entries)
	}
}
