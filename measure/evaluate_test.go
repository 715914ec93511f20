package measure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/internal/app/report"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// trainAll trains on overlapping rows and keeps all learners.
func trainAll(t *testing.T, test *dataset.Data, fraction string, methods ...method.Name) *toptau.Trained {
	t.Helper()
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.Overlapping(400, 1)), schema.Format{Label: "y"})
	o := toptau.TrainOptions{Method: methods, Encoding: []schema.Encoding{schema.Raw}, KeepAll: true, Seed: 1, Test: test}
	if fraction != "" {
		o.TestFraction = threshold.MustRate(fraction)
	}
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), o)
	if err != nil {
		t.Fatal(err)
	}
	return trained
}

// KeepAll returns the chosen model, the methods and the baselines, each of which scores the test part that Train set aside.
func TestTrainKeepsAll(t *testing.T) {
	trained := trainAll(t, nil, "25%", "svm", "topmean-np")
	var names []string
	for _, e := range trained.All {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, []string{"chosen", "logistic", "svm", "topmean-np"}) || trained.Test.Len() != 100 {
		t.Fatalf("%q, %d test rows", names, trained.Test.Len())
	}
	e := trial.EvaluateEntries(t, trained.Test, measure.Options{Against: "logistic", Replicates: 200}, trained.All...)
	var kinds []result.EntryKind
	for i := range e.Entries {
		entry := &e.Entries[i]
		kinds = append(kinds, entry.Kind)
		if (entry.Difference == nil) != (entry.Name == "logistic") || entry.Features != 2 || entry.Setting == "" ||
			entry.Goal.Value.Interval.Replicates != 200 {
			t.Errorf("%+v", entry)
		}
	}
	if !slices.Equal(kinds, []result.EntryKind{result.ChosenEntry, result.BaselineEntry, result.BaselineEntry, result.MethodEntry}) {
		t.Error(kinds)
	}
	// The chosen model does to the test part what Train reported.
	if e.Rows != 100 || e.Positives != trained.Result.Test.Positives ||
		e.Points[0].Decisions.TruePositives != trained.Result.TestDecisions.TruePositives ||
		e.Goal.Value.Rate != trained.Result.TestGoal.Rate {
		t.Errorf("%+v\nTrain reported %+v", e.Points[0].Decisions, trained.Result.TestDecisions)
	}
	if v := e.Verdicts[0]; v.About != result.AboutLoss || v.Entry != "topmean-np" || v.Against != "logistic" {
		t.Errorf("%+v", v)
	}
}

// The scores of a model measure the same as the model: in memory, from a file, and joined to a part of the rows.
func TestScoresMeasureAsTheirModel(t *testing.T) {
	trained := trainAll(t, nil, "25%", "topmean-np")
	path := trial.WriteFile(t, "all.csv", trial.Overlapping(400, 1))
	all, err := dataset.Read(t.Context(), path, trained.Model.Format())
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	file.WriteString("row,score\n")
	scores := make([]float64, all.Len())
	rows, _ := trial.ScoreAll(t, trained.Model, path, score.Options{})
	for i, row := range rows {
		scores[i] = row.Score
		fmt.Fprintf(&file, "%d,%v\n", row.Number, row.Score)
	}
	fromFile := dataset.Entry{Name: "file", File: trial.WriteFile(t, "scores.csv", file.String())}
	for _, d := range []*dataset.Data{all, trained.Test} {
		e := trial.EvaluateEntries(t, d, measure.Options{Replicates: 100}, dataset.Entry{Name: "model", Model: trained.Model},
			dataset.Entry{Name: "memory", Scores: scores}, fromFile)
		for i := range e.Entries[1:] {
			entry := &e.Entries[i+1]
			if entry.AUC != e.AUC || entry.Goal.Value.Rate != e.Goal.Value.Rate || entry.Difference.Rate != 0 ||
				*entry.Difference.Interval != *e.Entries[1].Difference.Interval || entry.Difference.Interval.High != 0 {
				t.Errorf("%d rows: %+v\nmodel: %+v", d.Len(), entry, e.Entries[0])
			}
		}
		if j := e.Entries[2].Joined; j == nil || j.By != "row" || e.Entries[1].Joined != nil {
			t.Errorf("%+v", j)
		}
	}
}

// The verdicts against useless scores and against perfect scores are certain.
func TestEvaluateAgainstScores(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "data.csv", trial.Overlapping(600, 2)), schema.Format{Label: "y"})
	model := trainAll(t, d, "", "svm", "topmean-np").All[2]
	nothing, everything := make([]float64, d.Len()), make([]float64, d.Len())
	for row := range nothing {
		nothing[row] = float64((row * 7919) % 600)
		if row%5 == 0 {
			everything[row] = 1
		}
	}
	e := trial.EvaluateEntries(t, d, measure.Options{Against: "svm", Replicates: 500}, model, dataset.Entry{Name: "nothing", Scores: nothing},
		dataset.Entry{Name: "everything", Scores: everything})
	if e.Against != "svm" || e.Entries[1].Verdict != metric.Worse || e.Entries[2].Verdict != metric.Better {
		t.Errorf("%+v", e.Verdicts)
	}
	best := e.Verdicts[len(e.Verdicts)-1]
	if best.About != result.AboutBest || best.Entry != "everything" || best.Verdict != metric.Better {
		t.Errorf("%+v", best)
	}
	if text, err := json.Marshal(e); err != nil || strings.Contains(string(text), `"entities"`) ||
		!strings.Contains(string(text), `"kind":"scores"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// With a group column the paired intervals draw groups.
func TestEvaluateDrawsEntities(t *testing.T) {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(trial.Overlapping(300, 3)), "\n") {
		if i == 0 {
			fmt.Fprintf(&b, "%s,host\n", line)
		} else {
			fmt.Fprintf(&b, "%s,h%d\n", line, i/3)
		}
	}
	d := trial.ReadFile(t, trial.WriteFile(t, "groups.csv", b.String()), schema.Format{Label: "y", Group: "host"})
	scores := make([]float64, d.Len())
	for row := range scores {
		scores[row] = float64(row % 7)
	}
	e := trial.EvaluateEntries(t, d, measure.Options{Replicates: 50}, dataset.Entry{Name: "a", Scores: scores},
		dataset.Entry{Name: "b", Scores: make([]float64, d.Len())})
	if e.Entities != 101 || e.Entries[1].Difference.Interval.Kind != metric.GroupInterval {
		t.Errorf("%d entities, %+v", e.Entities, e.Entries[1].Difference.Interval)
	}
}

// joinScores joins a file to the rows and describes how. For a data set of three rows it checks that the scores rank them as 1,
// -2.5 and 1000 do.
func joinScores(t *testing.T, path string, d *dataset.Data) (string, error) {
	entries := []dataset.Entry{{Name: "m", File: path}}
	if d.Len() == 3 {
		entries = append(entries, dataset.Entry{Name: "right", Scores: []float64{1, -2.5, 1000}})
	}
	e, err := measure.Evaluate(t.Context(), d, entries, measure.Options{Goal: (metric.Goal{Kind: metric.GoalAbsoluteTop}), Replicates: 2})
	if err != nil {
		return "", err
	}
	if len(e.Entries) > 1 && (e.Entries[0].AUC != e.Entries[1].AUC || e.Entries[0].Distinct != 3) {
		return "", fmt.Errorf("AUC %v of %d distinct scores", e.Entries[0].AUC, e.Entries[0].Distinct)
	}
	return report.JoinedText(e.Entries[0].Joined), nil
}

// TestScoresOfFiles covers every way to join scores to rows, and every way in which that fails.
func TestScoresOfFiles(t *testing.T) {
	plain := "x,y\n1,1\n2,0\n3,0\n"
	named := "key,x,y\na,1,1\nb,2,0\nc,3,0\n"
	id := schema.Format{Label: "y", ID: []string{"key"}}
	for _, c := range []struct {
		name, data string
		format     schema.Format
		scores     string
		want       string // a part of the error; "": the scores are 1, -2.5, 1000
		words      string
	}{
		{"score alone", plain, schema.Format{Label: "y"}, "score\n1\n-2.5\n1e3\n", "",
			"joined by position: the files have no id that could confirm the order"},
		{"one column", plain, schema.Format{Label: "y"}, "anything\n1\n-2.5\n1e3\n", "", "joined by position: "},
		{"no header", plain, schema.Format{Label: "y"}, "1\n-2.5\n1e3\n", "", "joined by position: "},
		{"labels", plain, schema.Format{Label: "y"}, "score,y\n1,1\n-2.5,0\n1e3,0\n", "", "joined by position, labels agree on 3 rows"},
		{"label by that name", plain, schema.Format{Label: "y"}, "label,score\n1,1\n0,-2.5\n0,1e3\n", "", "labels agree on 3 rows"},
		{"row numbers", plain, schema.Format{Label: "y"}, "row,score,decision\n1,1,0\n2,-2.5,0\n3,1e3,1\n", "", "joined by row"},
		{"row numbers in another order", plain, schema.Format{Label: "y"}, "row,score\n3,1e3\n1,1\n2,-2.5\n", "", "joined by row"},
		{"ids", named, id, "key,score\na,1\nb,-2.5\nc,1e3\n", "", "joined by id"},
		{"ids in another order with others", named, id, "score,key\n7,z\n1e3,c\n1, a\n-2.5,b\n", "",
			"joined by id, ignored scores of 1 other row"},
		{"the only other column", named, id, "key,gbdt,y\nc,1e3,0\nb,-2.5,0\na,1,1\n", "", "joined by id, labels agree on 3 rows"},
		{"ids of a file without header", "a,1,1\nb,2,0\nc,3,0\n", schema.Format{Label: "last", ID: []string{"1"}, Header: "no"},
			"c,1e3\nb,-2.5\na,1\n", "", "joined by id"},
		{"ids and labels without features", "key,y\na,1\nb,0\nc,0\n", id, "key,score\na,1\nb,-2.5\nc,1e3\n", "", "joined by id"},
		{"labels alone", "y\n1\n0\n0\n", schema.Format{Label: "y"}, "score,y\n1,1\n-2.5,0\n1e3,0\n", "", "joined by position, labels agree on 3 rows"},

		{"shuffled labels", plain, schema.Format{Label: "y"}, "score,y\n-2.5,0\n1,1\n1e3,0\n",
			`s.csv:2: column "y": a negative row; 2 of 3 labels differ from those of d.csv, expected positive, as on line 2 there`, ""},
		{"row twice", plain, schema.Format{Label: "y"}, "row,score\n1,1\n1,2\n3,3\n", `s.csv:3: column "row": row 1, which is also on line 2`, ""},
		{"row beyond", plain, schema.Format{Label: "y"}, "row,score\n1,1\n4,2\n3,3\n", `:3: column "row": "4", expected the number of a row`, ""},
		{"id twice", named, id, "key,score\na,1\nb,2\na,3\n", `s.csv:4: column "key": id "a", which is also on line 2, expected one score for each id`, ""},
		{"data's id twice", "key,x,y\na,1,1\na,2,0\nc,3,0\n", id, "key,score\na,1\nc,2\n", `d.csv:3: column "key": id "a", which is also on line 2`, ""},
		{"no ids in the scores", named, id, "score\n1\n2\n3\n", `no column "key" among ["score"], expected the id columns of d.csv`, ""},
		{"no ids in the data", plain, schema.Format{Label: "y"}, "id,score\n7,1\n8,2\n9,3\n", `column "id": a column of ids, expected the same column in d.csv`, ""},
		{"fewer", plain, schema.Format{Label: "y"}, "score\n1\n2\n", "2 scores and no id, expected 3, one for each row of d.csv", ""},
		{"no score", plain, schema.Format{Label: "y"}, "p,q\n1,2\n3,4\n", `no column named "score" among ["p" "q"]`, ""},
		{"empty", plain, schema.Format{Label: "y"}, "score,w\n1,1\n,2\n3,3\n", `s.csv:3: column "score": a missing score`, ""},
		{"words", plain, schema.Format{Label: "y"}, "score\nhigh\nlow\nlow\n", `column "score": "high"`, ""},
	} {
		t.Chdir(t.TempDir())
		for file, content := range map[string]string{"d.csv": c.data, "s.csv": c.scores} {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d := trial.ReadFile(t, "d.csv", c.format)
		s, err := joinScores(t, "s.csv", d)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
			continue
		}
		if err != nil || !strings.Contains(s, c.words) {
			t.Errorf("%s: %s, %v", c.name, s, err)
		}
	}
}

// Scores in the wrong order are refused even without ids and labels if there are enough rows to see it. Scores in the right
// order never are.
func TestScoresOfFilesInAnotherOrder(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "data.csv", trial.Overlapping(4000, 1)), schema.Format{Label: "y"})
	lines := strings.Split(strings.TrimSpace(trial.Overlapping(4000, 1)), "\n")[1:]
	scores := make([]string, len(lines))
	for i, line := range lines {
		scores[i] = line[:strings.Index(line, ",")]
	}
	if _, err := joinScores(t, trial.WriteFile(t, "right.csv", "score\n"+strings.Join(scores, "\n")+"\n"), d); err != nil {
		t.Error(err)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(scores), func(i, j int) { scores[i], scores[j] = scores[j], scores[i] })
	_, err := joinScores(t, trial.WriteFile(t, "shuffled.csv", "score\n"+strings.Join(scores, "\n")+"\n"), d)
	trial.WantError(t, err, diag.Data, "scores without any relation to the labels", "AUC 0.", "join by an id")
}

func TestEvaluateRefuses(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "data.csv", trial.Overlapping(200, 1)), schema.Format{Label: "y"})
	good, short := make([]float64, 200), make([]float64, 9)
	missing := slices.Clone(good)
	missing[3] = math.NaN()
	ok := measure.Options{Goal: toptau.MaxFPR("10%")}
	for name, c := range map[string]struct {
		entries []dataset.Entry
		options measure.Options
		kind    diag.Kind
		want    string
	}{
		"nothing":         {nil, ok, diag.Usage, "nothing to evaluate"},
		"other rows":      {[]dataset.Entry{{Name: "theirs", Scores: short}}, ok, diag.Data, `9 scores of "theirs", expected 200, one for each row`},
		"a missing score": {[]dataset.Entry{{Name: "theirs", Scores: missing}}, ok, diag.Data, `no score of "theirs" for row 4 (line 5 of`},
		"a name twice":    {[]dataset.Entry{{Name: "a", Scores: good}, {Name: "a", Scores: good}}, ok, diag.Usage, `an entry named "a"`},
		"no name":         {[]dataset.Entry{{Name: "a", Scores: good}, {Scores: good}}, ok, diag.Usage, `an entry named ""`},
		"reference": {[]dataset.Entry{{Name: "a", Scores: good}, {Name: "b", Scores: good}},
			measure.Options{Goal: ok.Goal, Against: "c"}, diag.Usage, `against "c", expected one of a, b`},
		"no goal": {[]dataset.Entry{{Name: "a", Scores: good}, {Name: "b", Scores: good}}, measure.Options{}, diag.Usage, "no goal"},
		"bootstrap": {[]dataset.Entry{{Name: "a", Scores: good}}, measure.Options{Goal: ok.Goal, Replicates: -1}, diag.Usage,
			"-1 bootstrap replicates"},
	} {
		_, err := measure.Evaluate(t.Context(), d, c.entries, c.options)
		if e := diag.Of(err); e == nil || e.Kind != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := measure.Evaluate(ctx, d, []dataset.Entry{{Name: "a", Scores: good}}, ok); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Scores of a file give a threshold on rows of ids and labels alone, on which nothing can be trained.
func TestThresholdWithoutFeatures(t *testing.T) {
	var labels, scores strings.Builder
	labels.WriteString("id,y\n")
	scores.WriteString("id,score\n")
	for i := range 200 {
		fmt.Fprintf(&labels, "%d,%d\n", i, min(i%10, 1)^1)
		fmt.Fprintf(&scores, "%d,%d\n", 199-i, (i*37)%200)
	}
	d, err := dataset.Read(t.Context(), trial.WriteFile(t, "labels.csv", labels.String()), schema.Format{Label: "y", ID: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := decide.Threshold(t.Context(), d, dataset.Entry{Name: "scores", File: trial.WriteFile(t, "scores.csv", scores.String())}, toptau.MaxFPR("10%"), decide.Options{})
	if err != nil || c.Result.Joined == nil {
		t.Errorf("%v %v", c, err)
	}
	_, err = toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{})
	if err == nil || !strings.Contains(err.Error(), "no column left for features, expected at least one besides the label") {
		t.Error(err)
	}
}

// Too few groups for folds and a part for the threshold are named. Without that part, three are enough.
func TestTooFewGroups(t *testing.T) {
	for _, c := range []struct {
		groups         int
		fraction, want string
	}{{3, "15%", "3 groups are too few for folds and a part for the threshold, because a group stays in one of them"}, {40, "15%", ""}, {3, "", ""}} {
		random := rand.New(rand.NewPCG(1, 2))
		var b strings.Builder
		b.WriteString("a,g,y\n")
		for i := range 400 {
			fmt.Fprintf(&b, "%v,%d,%d\n", random.Float64(), i%c.groups, 1-min(1, i%10))
		}
		d, err := dataset.ReadFrom(t.Context(), strings.NewReader(b.String()), schema.Format{Label: "y", Group: "g"})
		if err != nil {
			t.Fatal(err)
		}
		o := toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}}
		if c.fraction != "" {
			o.CalibrationFraction = threshold.MustRate(c.fraction)
		}
		_, err = toptau.Train(t.Context(), d, toptau.MaxFPR("5%"), o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d groups: %v", c.groups, err)
		}
	}
}
