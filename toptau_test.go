package toptau_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/solve"
	"toptau/threshold"
)

func TestRowsThatDoNotFit(t *testing.T) {
	two := []string{"a", "b"}
	for name, c := range map[string]struct {
		rows  dataset.Rows
		parts []string
	}{
		"fewer labels":       {dataset.Rows{Columns: two, Numbers: [][]float64{{1, 2}, {3, 4}}, Positive: []bool{true}}, []string{"2 rows of numbers and 1 labels"}},
		"a short row":        {dataset.Rows{Columns: two, Numbers: [][]float64{{1, 2}, {3}}, Positive: []bool{true, false}}, []string{"row 2 has 1 numbers", "expected 2"}},
		"a long row":         {dataset.Rows{Columns: two, Numbers: [][]float64{{1, 2, 3}}, Positive: []bool{true}}, []string{"row 1 has 3 numbers"}},
		"infinity":           {dataset.Rows{Columns: two, Numbers: [][]float64{{math.Inf(-1), 0}}, Positive: []bool{true}}, []string{`row 1: column "a": -Inf`, "finite"}},
		"a name twice":       {dataset.Rows{Columns: []string{"a", "b", "a"}, Numbers: [][]float64{{1, 2, 3}}, Positive: []bool{true}}, []string{`"a" for column 3`}},
		"an empty name":      {dataset.Rows{Columns: []string{"a", ""}, Numbers: [][]float64{{1, 2}}, Positive: []bool{true}}, []string{`"" for column 2`}},
		"labels but no rows": {dataset.Rows{Columns: two, Positive: []bool{true}}, []string{"0 rows of numbers and 1 labels"}},
		"a name of both kinds": {dataset.Rows{Columns: two, Numbers: [][]float64{{1, 2}}, TextColumns: []string{"b"}, Texts: [][]string{{"x"}},
			Positive: []bool{true}}, []string{`"b" for column 3`}},
		"fewer texts":   {dataset.Rows{TextColumns: two, Texts: [][]string{{"x"}}, Positive: []bool{true}}, []string{"row 1 has 1 texts", "expected 2"}},
		"no rows":       {dataset.Rows{Columns: two}, []string{"0 rows, 0 of them positive", "rows of both classes"}},
		"one class":     {dataset.Rows{Columns: []string{"a"}, Numbers: [][]float64{{1}}, Positive: []bool{true}}, []string{"1 rows, 1 of them positive"}},
		"fewer weights": {dataset.Rows{Columns: []string{"a"}, Numbers: [][]float64{{1}, {2}}, Positive: []bool{true, false}, Weight: []float64{1}}, []string{"1 weights and 2 labels"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.rows.Data()
			trial.WantError(t, err, diag.Data, c.parts...)
		})
	}
}

// NaN and the empty text are missing values, as an empty field of a file is.
func TestRowsWithMissingValues(t *testing.T) {
	rows := dataset.Rows{Columns: []string{"a"}, Numbers: [][]float64{{1}, {math.NaN()}, {3}, {0}}, TextColumns: []string{"kind"},
		Texts: [][]string{{"x"}, {"y"}, {""}, {"y"}}, Positive: []bool{true, false, true, false}}
	d := trial.RowsData(t, rows)
	_, err := certify.Fit(t.Context(), d, trial.TopPush(0.1), certify.FitOptions{})
	trial.WantError(t, err, diag.Data, `column "a"`, "missing")
	inMemory := trial.FitData(t, d, trial.FitCase{Problem: trial.TopPush(0.1), FitOptions: certify.FitOptions{Impute: schema.ImputeIndicator}})
	file := trial.WriteFile(t, "d.csv", "a,kind,y\n1,x,true\n,y,false\n3,,true\n0,y,false\n")
	fromFile := trial.FitData(t, trial.ReadFile(t, file, schema.Format{Label: "y"}), trial.FitCase{Problem: trial.TopPush(0.1), FitOptions: certify.FitOptions{Impute: schema.ImputeIndicator}})
	if !slices.Equal(trial.Weights(inMemory.Model), trial.Weights(fromFile.Model)) {
		t.Errorf("weights %v, from the same rows in a file %v", trial.Weights(inMemory.Model), trial.Weights(fromFile.Model))
	}
}

func TestRowsWithoutBothClassesAreNoData(t *testing.T) {
	for name, c := range map[string]dataset.Rows{
		"no negatives": {Columns: []string{"x"}, Numbers: [][]float64{{1}, {2}}, Positive: []bool{true, true}},
		"no positives": {Columns: []string{"x"}, Numbers: [][]float64{{1}, {2}}, Positive: []bool{false, false}},
		"no rows":      {Columns: []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Data()
			trial.WantError(t, err, diag.Data, "rows of both classes")
		})
	}
}

func TestConstantColumnCannotBeFitted(t *testing.T) {
	d := trial.RowsData(t, dataset.Rows{Columns: []string{"x"}, Numbers: [][]float64{{1}, {1}}, Positive: []bool{true, false}})
	_, err := certify.Fit(t.Context(), d, trial.TopPush(0), certify.FitOptions{})
	trial.WantError(t, err, diag.Data)
	_, err = toptau.Train(t.Context(), d, (metric.Goal{Kind: metric.GoalAbsoluteTop}), toptau.TrainOptions{})
	trial.WantError(t, err, diag.Data)
}

func TestRowsAgreeWithTheSameFile(t *testing.T) {
	rows := [][]float64{{4, 2.5}, {3, 0.5}, {2, 1.5}, {2.5, -1}, {1, 1}, {0, 2}}
	positive := []bool{true, true, true, false, false, false}
	file := "size,speed,y\n"
	for i, row := range rows {
		file += fmt.Sprintf("%v,%v,%t\n", row[0], row[1], positive[i])
	}
	inMemory := trial.RowsData(t, dataset.Rows{Columns: []string{"size", "speed"}, Numbers: rows, Positive: positive})
	if inMemory.Len() != 6 || inMemory.Positives() != 3 {
		t.Errorf("%d rows, %d positive", inMemory.Len(), inMemory.Positives())
	}
	path := trial.WriteFile(t, "d.csv", file)
	c := trial.ShortAdam(method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("1/3"), Beta: 1, Lambda: 0.1}, 50)
	a, b := trial.FitData(t, inMemory, c), trial.FitData(t, trial.ReadFile(t, path, schema.Format{Label: "y"}), c)
	if !slices.Equal(trial.Weights(a.Model), trial.Weights(b.Model)) || a.Result.Threshold != b.Result.Threshold {
		t.Errorf("in memory %v above %v, from a file %v above %v", trial.Weights(a.Model), a.Result.Threshold, trial.Weights(b.Model),
			b.Result.Threshold)
	}
	// A model of rows in memory has no label column, so reading a file needs one.
	_, err := trial.ReadLike(t, a.Model, path, schema.Format{})
	trial.WantError(t, err, diag.Usage, "label")
	d, err := trial.ReadLike(t, a.Model, path, schema.Format{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Positives() != 3 {
		t.Errorf("%d positives", d.Positives())
	}
}

func TestFilesAreReadAsInTraining(t *testing.T) {
	m := trial.SmallModel(t)
	reordered := "attack,extra,kind,speed,size\nyes,7,red,2.5,4\nno,8,violet,-1,2.5\n"
	d, err := trial.ReadLike(t, m, trial.WriteFile(t, "reordered.csv", reordered), schema.Format{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Len() != 2 || d.Positives() != 1 {
		t.Errorf("%d rows, %d positive, want 2 and 1", d.Len(), d.Positives())
	}
	e := trial.Evaluate(t, d, m, measure.Options{Replicates: 10})
	if e.Unknown == nil || *e.Unknown != 1 {
		t.Errorf("%s unknown values, want 1: violet", trial.AsJSON(t, e.Unknown))
	}
	for _, code := range []string{"extra-columns", "reordered-columns"} {
		if !slices.ContainsFunc(e.Warnings, func(w diag.Warning) bool { return w.Code == code }) {
			t.Errorf("no warning %s among %v", code, e.Warnings)
		}
	}

	_, err = trial.ReadLike(t, m, trial.WriteFile(t, "missing.csv", "attack,size,kind\nyes,1,red\n"), schema.Format{})
	trial.WantError(t, err, diag.Model, `missing columns: "speed"`)
	_, err = trial.ReadLike(t, m, trial.WriteFile(t, "unlabelled.csv", "size,kind,speed\n1,red,2\n"), schema.Format{})
	trial.WantError(t, err, diag.Data, `"attack"`)

	// A format replaces what the model recorded.
	other := "size,speed,kind,verdict\n1,2,red,bad\n2,1,red,good\n"
	d, err = trial.ReadLike(t, m, trial.WriteFile(t, "other.csv", other), schema.Format{Label: "verdict", Positive: []string{"bad"}})
	if err != nil {
		t.Fatal(err)
	}
	if d.Positives() != 1 {
		t.Errorf("%d positives", d.Positives())
	}
}

func TestColumnsAreMatchedByNumberWithoutAHeader(t *testing.T) {
	_, rows, _ := strings.Cut(trial.SmallTable, "\n")
	format := schema.Format{Header: "no", Label: "6", Positive: []string{"yes"}, Drop: []string{"1,5"}}
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", rows), format)
	m := trial.FitData(t, d, trial.ShortAdam(trial.TopPush(0.01), 20)).Model
	again, err := trial.ReadLike(t, m, trial.WriteFile(t, "again.csv", rows), schema.Format{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Len() != 8 || again.Positives() != 3 {
		t.Errorf("%d rows, %d positive", again.Len(), again.Positives())
	}
}

func TestScoreKeepsTheOrderOfTheInput(t *testing.T) {
	m := trial.SmallModel(t)
	path := trial.WriteFile(t, "in.csv", "size,speed,kind\n0,0,red\n5,5,blue\n1,1,unheard\n")
	rows, s := trial.ScoreAll(t, m, path, score.Options{})
	totals := s.Totals()
	if totals.Rows != 3 || len(rows) != 3 || totals.Unknown != 1 || totals.Missing != 0 {
		t.Fatalf("%d rows, %+v", len(rows), totals)
	}
	above := 0
	for i, r := range rows {
		if r.Number != i+1 || len(r.ID) != 0 || len(r.Input) != 0 || len(r.Decisions) != 1 {
			t.Errorf("row %d: %+v", i+1, r)
		}
		if r.Decisions[0] != (r.Score > m.Points()[0].Threshold) {
			t.Errorf("row %d: decision %v for score %v at %v", i+1, r.Decisions[0], r.Score, m.Points()[0].Threshold)
		}
		if r.Decisions[0] {
			above++
		}
	}
	if totals.Positives[0] != above {
		t.Errorf("counted %d alarms, there are %d", totals.Positives[0], above)
	}
	// The same bits as one record by itself.
	score, err := m.Score(map[string]string{"size": "5", "speed": "5", "kind": "blue"})
	if err != nil || score != rows[1].Score {
		t.Errorf("one record scores %v (%v), in the file %v", score, err, rows[1].Score)
	}
}

func TestScoreKeepPassesTheInputThrough(t *testing.T) {
	m := trial.SmallModel(t)
	path := trial.WriteFile(t, "in.csv", "note,size,speed,name,kind\nfirst,0,+1.50,x,red\n\"second, quoted\",2,3,y,blue\n")
	o := score.Options{Keep: true}
	o.Format.ID = []string{"name"}
	rows, s := trial.ScoreAll(t, m, path, o)
	if want := []string{"note", "size", "speed", "kind"}; !slices.Equal(s.Kept, want) {
		t.Errorf("kept %q, want %q", s.Kept, want)
	}
	if !slices.Equal(s.ID, []string{"name"}) {
		t.Errorf("identified by %q, want name", s.ID)
	}
	if want := []string{"first", "0", "+1.50", "red"}; !slices.Equal(rows[0].Input, want) {
		t.Errorf("row 1 has %q, want %q as in the file", rows[0].Input, want)
	}
	if want := []string{"second, quoted", "2", "3", "blue"}; !slices.Equal(rows[1].Input, want) || rows[1].ID[0] != "y" {
		t.Errorf("row 2 has %q and %q, want %q and y", rows[1].Input, rows[1].ID, want)
	}
}

// Best keeps the first rows of the stable order by descending score: the earlier row wins a tie.
func TestBestKeepsTheFirstOfTheStableOrder(t *testing.T) {
	m := trial.SmallModel(t)
	var file strings.Builder
	file.WriteString("size,speed,kind\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 { // several chunks, 12 different records
		fmt.Fprintf(&file, "%d,%d,%s\n", r.IntN(3), r.IntN(2), []string{"red", "blue"}[r.IntN(2)])
	}
	path := trial.WriteFile(t, "ties.csv", file.String())
	all, _ := trial.ScoreAll(t, m, path, score.Options{})
	if len(all) != 10_000 {
		t.Fatalf("%d rows", len(all))
	}
	slices.SortStableFunc(all, func(a, b result.Row) int { return cmp.Compare(b.Score, a.Score) })
	for _, limit := range []int{1, 2, 700, 833, 9_999, 10_000, 20_000} {
		best, s := trial.ScoreAll(t, m, path, score.Options{Best: limit})
		if want := all[:min(limit, len(all))]; !reflect.DeepEqual(best, want) {
			t.Errorf("the best %d differ from the first of the sorted rows", limit)
		}
		if n := s.Totals().Rows; n != 10_000 {
			t.Errorf("best %d: %d rows scored", limit, n)
		}
		tied, note := 0, ""
		for _, r := range all[min(limit, len(all)):] {
			if r.Score == all[limit-1].Score {
				tied++
			}
		}
		for _, w := range s.Totals().Warnings {
			if w.Code == "ties" {
				note = w.Text
			}
		}
		want := fmt.Sprintf("%s with the score of the last one on the list: of equal scores the first in the input are listed", text.Plural(tied, "more row"))
		if tied == 0 {
			want = ""
		}
		if note != want {
			t.Errorf("best %d: %q, want %q", limit, note, want)
		}
	}
}

// withPoints returns the model with two operating points: one for all rows and one with a threshold for each site.
func withPoints(t *testing.T, m *model.Model) *model.Model {
	t.Helper()
	p := m.Parts()
	p.Points[0].Name = "general"
	p.Points = append(p.Points, model.Point{Name: "by site", Threshold: 1e6, Goal: toptau.MaxFPR("5%"), Source: "test", Segment: "site",
		Segments: []model.Segment{{Value: "north", Threshold: -1e6}, {Value: "south", Threshold: p.Points[0].Threshold}}})
	m, err := model.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const sites = "site,size,speed,kind,attack\nnorth,0,0,red,no\nsouth,5,5,blue,yes\nsouth,-5,-5,red,no\nwest,9,9,red,yes\n"

func TestSegmentsHaveTheirOwnThresholds(t *testing.T) {
	m := withPoints(t, trial.SmallModel(t))
	path := trial.WriteFile(t, "sites.csv", sites)
	for _, at := range []string{"", "by site"} {
		rows, s := trial.ScoreAll(t, m, path, score.Options{At: at})
		bySite := slices.Index(s.Points, "by site")
		if want := map[string]int{"": 1, "by site": 0}[at]; bySite != want || len(s.Points) != 2 {
			t.Fatalf("at %q: points %q", at, s.Points)
		}
		var got []bool
		for _, r := range rows {
			got = append(got, r.Decisions[bySite])
		}
		// north has -1e6, south the general threshold, and a site that is not listed 1e6.
		if want := []bool{true, true, false, false}; !slices.Equal(got, want) {
			t.Errorf("at %q: decisions %v, want %v", at, got, want)
		}
	}
	_, err := trial.OpenStream(t, t.Context(), m, path, score.Options{At: "by-site"})
	trial.WantError(t, err, diag.Usage, "general, by site")
	other := score.Options{Format: schema.Format{Segment: "kind"}}
	_, err = trial.OpenStream(t, t.Context(), m, path, other)
	trial.WantError(t, err, diag.Usage, `segment "kind"`, `"site"`)
}

func TestEvaluateDecidesAsScoreDoes(t *testing.T) {
	m := withPoints(t, trial.SmallModel(t))
	path := trial.WriteFile(t, "sites.csv", sites)
	d, err := trial.ReadLike(t, m, path, schema.Format{})
	if err != nil {
		t.Fatal(err)
	}
	e := trial.Evaluate(t, d, m, measure.Options{Replicates: 20})
	rows, _ := trial.ScoreAll(t, m, path, score.Options{})
	positive := []bool{false, true, false, true}
	for k, p := range e.Points {
		var tp, fp float64
		for i, r := range rows {
			switch {
			case r.Decisions[k] && positive[i]:
				tp++
			case r.Decisions[k]:
				fp++
			}
		}
		if p.Name != m.Points()[k].Name || p.Decisions.Threshold != m.Points()[k].Threshold {
			t.Errorf("point %d is %s at %v, the model has %s at %v", k, p.Name, p.Decisions.Threshold, m.Points()[k].Name,
				m.Points()[k].Threshold)
		}
		c := p.Decisions
		if c.TruePositives != tp || c.FalsePositives != fp || c.TrueNegatives != 2-fp || c.FalseNegatives != 2-tp {
			t.Errorf("%s: %+v, Score finds %v true and %v false alarms", p.Name, c, tp, fp)
		}
	}
	if bySite := e.Points[1].Decisions; bySite.TruePositives != 1 || bySite.FalsePositives != 1 {
		t.Errorf("by site: %+v, want one true and one false alarm", bySite)
	}
	// Without the segment column no threshold applies.
	_, err = trial.ReadLike(t, m, trial.WriteFile(t, "nosite.csv", "size,speed,kind,attack\n0,0,red,no\n5,5,red,yes\n"), schema.Format{})
	trial.WantError(t, err, diag.Data, `"site"`)
}

func TestEvaluateMeasuresTheGoal(t *testing.T) {
	m := trial.SmallModel(t)
	d, err := trial.ReadLike(t, m, trial.WriteFile(t, "small.csv", trial.SmallTable), schema.Format{})
	if err != nil {
		t.Fatal(err)
	}
	goal := toptau.MaxFPR("20%")
	e := trial.Evaluate(t, d, m, measure.Options{Goal: goal, Replicates: 50, Curves: 4, Confidence: 0.9})
	if e.Rows != 8 || e.Positives != 3 || e.Prevalence != 0.375 {
		t.Errorf("%d rows, %d positive, prevalence %v", e.Rows, e.Positives, e.Prevalence)
	}
	v := e.Goal.Value
	if v.Criterion != "positives@np(0.2)" || v.Budget != 1 || v.Denominator != 3 || v.Interval.Confidence != 0.9 {
		t.Errorf("the goal is measured by %+v", v)
	}
	var names []string
	for _, c := range e.Criteria {
		names = append(names, c.Criterion)
	}
	if want := []string{"positives@top", "positives@np(0.2)", "positives@quantile(0.2)"}; !slices.Equal(names, want) {
		t.Errorf("criteria %q, want %q", names, want)
	}
	if len(e.Curves) != 3 {
		t.Errorf("%d curves", len(e.Curves))
	}
	for _, c := range e.Curves {
		if len(c.Points) > 4 || len(c.Points) < 2 {
			t.Errorf("%s has %d points, want at most 4", c.Name, len(c.Points))
		}
	}
}

func TestScoreStops(t *testing.T) {
	m := trial.SmallModel(t)
	path := trial.WriteFile(t, "in.csv", "size,speed,kind\n0,0,red\n5,5,blue\n")
	s, err := trial.OpenStream(t, t.Context(), m, path, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	yielded := 0
	for range s.Rows() { // leaving the loop ends the stream
		yielded++
		break
	}
	if yielded != 1 {
		t.Errorf("%d rows before the break", yielded)
	}
	for row, err := range s.Rows() {
		if row != nil || diag.Of(err) == nil {
			t.Errorf("a second use of Rows yields %v, %v", row, err)
		}
	}

	ended, cancel := context.WithCancel(context.Background())
	if s, err = trial.OpenStream(t, ended, m, path, score.Options{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	for row, rowError := range s.Rows() {
		if row != nil {
			t.Error("a row after the context had ended")
		}
		err = rowError
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	bad := trial.WriteFile(t, "bad.csv", "size,speed,kind\n0,0,red\n5,fast,blue\n")
	s, err = trial.OpenStream(t, t.Context(), m, bad, score.Options{})
	if err == nil {
		for _, rowError := range s.Rows() {
			err = rowError
		}
	}
	trial.WantError(t, err, diag.Data, "bad.csv:3", `"speed"`, `"fast"`)

	missing := trial.WriteFile(t, "missing.csv", "size,kind\n0,red\n")
	_, err = trial.OpenStream(t, t.Context(), m, missing, score.Options{})
	trial.WantError(t, err, diag.Model, "missing.csv", `missing columns: "speed"`)
}

// repeated writes a table twice: with a column of weights, and with rows of weight 2 written twice.
func repeated() (weighted, twice string) {
	r := rand.New(rand.NewPCG(3, 4))
	var a, b strings.Builder
	for _, w := range []*strings.Builder{&a, &b} {
		w.WriteString("x1,x2,x3,color,m,y\n")
	}
	for i := range 120 {
		positive := i%4 == 0
		var shift float64
		if positive {
			shift = 1
		}
		row := fmt.Sprintf("%.3f,%.3f,%.3f,%s", r.Float64()+shift, 2*r.Float64()-shift, r.Float64(),
			[]string{"red", "blue"}[r.IntN(2)])
		weight := 1 + r.IntN(2)
		fmt.Fprintf(&a, "%s,%d,%t\n", row, weight, positive)
		for range weight {
			fmt.Fprintf(&b, "%s,1,%t\n", row, positive)
		}
	}
	return a.String(), b.String()
}

func TestARowOfWeightTwoIsTwoRows(t *testing.T) {
	a, b := repeated()
	weighted := trial.ReadFile(t, trial.WriteFile(t, "weighted.csv", a), schema.Format{Label: "y", Weight: "m"})
	twice := trial.ReadFile(t, trial.WriteFile(t, "twice.csv", b), schema.Format{Label: "y", Drop: []string{"m"}})
	unweighted := trial.ReadFile(t, trial.WriteFile(t, "unweighted.csv", a), schema.Format{Label: "y", Drop: []string{"m"}})
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*(1+math.Abs(y)) }
	for _, p := range eightProblems {
		if !p.Tau.IsZero() {
			p.Tau = threshold.MustRate("0.1")
		}
		p.Lambda = 0.01
		c := trial.ShortAdam(p, 60)
		c.Storage = method.Float64
		one, two, none := trial.FitData(t, weighted, c), trial.FitData(t, twice, c), trial.FitData(t, unweighted, c)
		if !near(*one.Result.LastObjective, *two.Result.LastObjective) || !near(one.Result.Threshold, two.Result.Threshold) ||
			!near(one.Result.Objective, two.Result.Objective) || one.Result.MassOnTop != two.Result.MassOnTop {
			t.Errorf("%s: weighted F %v, t %v, K %v; repeated %v, %v, %v", p.Method, one.Result.Objective, one.Result.Threshold,
				one.Result.MassOnTop, two.Result.Objective, two.Result.Threshold, two.Result.MassOnTop)
		}
		for j := range trial.Weights(one.Model) {
			if !near(trial.Weights(one.Model)[j], trial.Weights(two.Model)[j]) {
				t.Errorf("%s: weights %v, repeated %v", p.Method, trial.Weights(one.Model), trial.Weights(two.Model))
				break
			}
		}
		if near(*one.Result.LastObjective, *none.Result.LastObjective) {
			t.Errorf("%s: F is %v with and without weights", p.Method, *one.Result.LastObjective)
		}
		if tr := one.Model.Training(); tr.Mass != float64(twice.Len()) || tr.PositiveMass != float64(twice.Positives()) ||
			tr.Rows != weighted.Len() {
			t.Errorf("%s: the model counts %+v, the repeated file has %d rows, %d positive", p.Method, tr, twice.Len(),
				twice.Positives())
		}
	}
	// Evaluate counts weights too.
	m := trial.FitData(t, twice, trial.ShortAdam(trial.TopPush(0.01), 60)).Model
	one := trial.Evaluate(t, weighted, m, measure.Options{Replicates: 10})
	two := trial.Evaluate(t, twice, m, measure.Options{Replicates: 10})
	if !one.Weighted || two.Weighted || !near(one.AUC, two.AUC) || one.Prevalence != two.Prevalence {
		t.Errorf("weighted %v AUC %v prevalence %v; repeated %v %v %v", one.Weighted, one.AUC, one.Prevalence,
			two.Weighted, two.AUC, two.Prevalence)
	}
	for i := range one.Criteria {
		if x, y := one.Criteria[i], two.Criteria[i]; x.Rate != y.Rate || x.Numerator != y.Numerator || x.Budget != y.Budget {
			t.Errorf("%s: weighted %v, repeated %v", x.Criterion, x.Proportion, y.Proportion)
		}
	}
}

func TestCancelledFitKeepsItsSteps(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "small.csv", trial.SmallTable), trial.SmallFormat)
	for _, stop := range []int{0, 7} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if stop == 0 {
			cancel()
		}
		c := trial.ShortAdam(trial.TopPush(0.01), 1000)
		steps := 0
		c.Progress = func(p result.Progress) {
			if steps++; steps == stop {
				cancel()
			}
			if p.Fraction <= 0 || p.Fraction > 1 || p.Stage == "" {
				t.Errorf("progress %+v", p)
			}
		}
		fitted, err := certify.Fit(ctx, d, c.Problem, c.FitOptions)
		if stop == 0 { // there is no result yet
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled before the first step: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r := fitted.Result
		if r.Stopped != result.Cancelled || r.Iterations != stop {
			t.Errorf("stopped %q after %d steps, want %d", r.Stopped, r.Iterations, stop)
		}
		if !slices.ContainsFunc(r.Warnings, func(w diag.Warning) bool { return w.Code == "cancelled" }) {
			t.Errorf("no warning of it: %v", r.Warnings)
		}
		whole := trial.FitData(t, d, trial.ShortAdam(trial.TopPush(0.01), stop))
		if !slices.Equal(trial.Weights(fitted.Model), trial.Weights(whole.Model)) {
			t.Errorf("cancelled after %d steps: weights %v, that many steps give %v", stop, trial.Weights(fitted.Model),
				trial.Weights(whole.Model))
		}
		path := filepath.Join(t.TempDir(), "m.json")
		if err := fitted.Model.Save(path); err != nil {
			t.Fatal(err)
		}
		if _, err := model.Load(path); err != nil {
			t.Error(err)
		}
	}
}

func TestCancelledTrainChoosesAmongTheFitted(t *testing.T) {
	d := trial.SeparableData(t, 400)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := toptau.TrainOptions{Method: []method.Name{method.Logistic, method.TopPush}, Encoding: []schema.Encoding{schema.Raw}}
	o.Progress = func(p result.Progress) {
		if strings.HasPrefix(p.Stage, "fit") && p.Fraction > 0.1 { // the refit counts as two thirds of the work
			cancel()
		}
	}
	trained, err := toptau.Train(ctx, d, (metric.Goal{Kind: metric.GoalAbsoluteTop}), o)
	if err != nil {
		t.Fatal(err)
	}
	if r := trained.Result; r.Stopped != result.Cancelled || !slices.Equal(r.NotTried, []string{"toppush on raw"}) {
		t.Errorf("stopped %q, not tried %v", r.Stopped, r.NotTried)
	}
	for _, m := range trained.Result.Members {
		if c := trained.Result.Candidates[m.Candidate]; c.Status != "fitted" {
			t.Errorf("the chosen candidate is %s", c.Status)
		}
	}
	cancel()
	_, err = toptau.Train(ctx, d, (metric.Goal{Kind: metric.GoalAbsoluteTop}), toptau.TrainOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Train with an ended context gives %v", err)
	}
}

// The result of Train counts its parts and describes the decisions of the model on the test part.
func TestTrainReportsItsParts(t *testing.T) {
	d := trial.SeparableData(t, 1000)
	o := toptau.TrainOptions{Method: []method.Name{method.PatMatNP}, Encoding: []schema.Encoding{schema.Raw},
		TestFraction: threshold.MustRate("25%"), Seed: 11}
	goal := toptau.MaxFPR("2%")
	trained, err := toptau.Train(t.Context(), d, goal, o)
	if err != nil {
		t.Fatal(err)
	}
	r := trained.Result
	rest, quarter := result.Counts{Rows: 750, Positives: 75}, result.Counts{Rows: 250, Positives: 25}
	if r.Training != rest || r.Validation != nil || *r.Test != quarter || r.Folds != 5 {
		t.Errorf("parts %+v, %+v, %+v, %d folds", r.Training, r.Validation, *r.Test, r.Folds)
	}
	if len(r.Candidates) != 6 || r.Certified || r.Features != 3 {
		t.Errorf("%d candidates, certified %v, %d features", len(r.Candidates), r.Certified, r.Features)
	}
	c := r.TestDecisions
	if c.Threshold != r.Threshold || trained.Model.Points()[0].Threshold != r.Threshold {
		t.Errorf("thresholds %v, %v, %v", r.Threshold, c.Threshold, trained.Model.Points()[0].Threshold)
	}
	if c.TruePositives+c.FalseNegatives != 25 || c.FalsePositives+c.TrueNegatives != 225 {
		t.Errorf("the test part counts %+v", *c)
	}
	if trained.Model.Points()[0].Goal != toptau.MaxFPR("2%") || trained.Model.Points()[0].Guarantee != nil {
		t.Errorf("the model's point is %+v", trained.Model.Points()[0])
	}
}

// Validation and test files are read as the training file was.
func TestTrainWithFilesForValidationAndTest(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.SmallTable), trial.SmallFormat)
	part := func(name string) *dataset.Data {
		p, err := dataset.Read(t.Context(), trial.WriteFile(t, name, trial.SmallTable), d.Format())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	o := toptau.TrainOptions{Method: []method.Name{method.TopPush}, Encoding: []schema.Encoding{schema.Raw},
		Validation: part("validation.csv"), Test: part("test.csv")}
	trained, err := toptau.Train(t.Context(), d, (metric.Goal{Kind: metric.GoalAbsoluteTop}), o)
	if err != nil {
		t.Fatal(err)
	}
	whole := result.Counts{Rows: 8, Positives: 3}
	if r := trained.Result; r.Training != whole || *r.Validation != whole || *r.Test != whole {
		t.Errorf("parts %+v, %+v, %+v", r.Training, r.Validation, *r.Test)
	}
	_, err = dataset.Read(t.Context(), trial.WriteFile(t, "bad.csv", "size,attack\n1,yes\n2,no\n"), d.Format())
	trial.WantError(t, err, diag.Model, `missing columns: "speed", "kind"`)
}

func TestOptionsAreChecked(t *testing.T) {
	d := trial.SeparableData(t, 40)
	settings := func(s method.Settings) trial.FitCase {
		return trial.FitCase{Problem: trial.TopPush(0), FitOptions: certify.FitOptions{Settings: s}}
	}
	for found, c := range map[string]trial.FitCase{
		`method "best"`:   {Problem: method.Problem{Method: "best"}},
		"missing tau":     {Problem: method.Problem{Method: method.PatMat, Beta: 1}},
		"beta":            {Problem: method.Problem{Method: method.PatMat, Tau: threshold.MustRate("1%")}},
		"k":               {Problem: method.Problem{Method: method.TopPushK}},
		"lambda":          {Problem: trial.TopPush(-1)},
		"surrogate":       {Problem: method.Problem{Method: method.TopPush, Surrogate: "square"}},
		"scale":           {Problem: trial.TopPush(0), FitOptions: certify.FitOptions{Scale: "max"}},
		"impute":          {Problem: trial.TopPush(0), FitOptions: certify.FitOptions{Impute: "mean"}},
		"encoding":        {Problem: trial.TopPush(0), FitOptions: certify.FitOptions{Encoding: "trees"}},
		"solver":          settings(method.Settings{Solver: "newton"}),
		"start":           settings(method.Settings{Solver: method.Adam, Start: "one"}),
		"storage":         settings(method.Settings{Storage: "float16"}),
		"step":            settings(method.Settings{Solver: method.Adam, Step: -1}),
		"iterations":      settings(method.Settings{Solver: method.Adam, Iterations: -1}),
		"minibatches -1":  settings(method.Settings{Solver: method.Adam, Minibatches: -1}),
		"minibatches 100": settings(method.Settings{Solver: method.Adam, Minibatches: 100}),
	} {
		t.Run(found, func(t *testing.T) {
			_, err := certify.Fit(t.Context(), d, c.Problem, c.FitOptions)
			trial.WantError(t, err, diag.Usage, found)
		})
	}
}

// fitFields are the fields of `fit --json` with ADAM and patmat-np, in order. Fields that do not apply are absent.
const fitFields = `schema_version, warnings, method, surrogate, lambda, tau, beta, solver, k_used, population, encoding, scale,
n, n_pos, d, objective, objective_at_zero, lower_bound, relative_gap, gap_of_decrease, threshold, norm_w, zero_is_optimal,
no_better_than_zero, passes, row_reads, iterations, best_iteration, last_objective, stopped, seconds_read, seconds_fit`

func TestStepsReturnTheirBestPointOrZero(t *testing.T) {
	d := trial.SeparableData(t, 200)
	for name, c := range map[string]struct {
		step   float64
		better bool
	}{"steps of 1000": {1000, false}, "steps of 0.01": {.01, true}} {
		o := trial.ShortAdam(method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("5%"), Lambda: 0.01}, 60)
		o.Step = c.step
		fitted := trial.FitData(t, d, o)
		r := &fitted.Result
		last := fitted.Trace[len(fitted.Trace)-1].Objective
		if r.NoBetterThanZero == c.better || (r.BestIteration != nil) != c.better || (r.NormW > 0) != c.better || r.ZeroIsOptimal != nil ||
			r.Objective > r.AtZero || *r.LastObjective != last {
			t.Errorf("%s: %+v, last point %v", name, r, last)
		}
		if text := fmt.Sprint(r.Warnings); strings.Contains(text, "returns w = 0") == c.better || !strings.Contains(text, "no certificate") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestFieldsOfAFitResult(t *testing.T) {
	d := trial.SeparableData(t, 200)
	c := trial.ShortAdam(method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("5%"), Beta: 1, Lambda: 0.1}, 10)
	text := trial.Marshal(t, trial.FitData(t, d, c).Result)
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	var got []string
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, name.(string))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	if want := strings.Fields(strings.ReplaceAll(fitFields, ",", " ")); !slices.Equal(got, want) {
		t.Errorf("fields %q\nwant   %q", got, want)
	}
	// Unknown values are null: ADAM has no bound.
	for _, name := range []string{"lower_bound", "relative_gap", "gap_of_decrease", "zero_is_optimal"} {
		if string(values[name]) != "null" {
			t.Errorf("%s is %s, want null", name, values[name])
		}
	}
	for name, want := range map[string]string{"schema_version": "2", "method": `"patmat-np"`, "surrogate": `"hinge"`, "lambda": "0.1",
		"tau": `"0.05"`, "beta": "1", "k_used": "9", "population": `"negatives"`, "scale": `"standard"`, "encoding": `"raw"`, "n": "200",
		"n_pos": "20", "d": "3", "iterations": "10", "stopped": `""`,
		"solver": `{"name":"adam","iterations":10,"step":0.01,"start":"zero","minibatches":1,"seed":1}`} {
		if string(values[name]) != want {
			t.Errorf("%s is %s, want %s", name, values[name], want)
		}
	}
}

// Undefined numbers are null, and lists are never null.
func TestResultsHaveNoNaNAndNoNullLists(t *testing.T) {
	d := trial.SeparableData(t, 40)
	m := trial.FitData(t, d, trial.ShortAdam(trial.TopPush(0), 10)).Model
	e := trial.Evaluate(t, d, m, measure.Options{Replicates: 5}) // the top 1 % is less than a row
	o := toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}}
	trained, err := toptau.Train(t.Context(), d, toptau.Top("1%"), o)
	if err != nil {
		t.Fatal(err)
	}
	for name, document := range map[string]any{"evaluate": e, "train": trained.Result} {
		var values map[string]json.RawMessage
		if err := json.Unmarshal(trial.Marshal(t, document), &values); err != nil {
			t.Fatal(err)
		}
		if string(values["schema_version"]) != "2" {
			t.Errorf("%s: schema_version %s", name, values["schema_version"])
		}
		for _, list := range []string{"warnings", "points", "criteria", "curves", "candidates", "members", "not_tried", "summary", "budgets"} {
			if string(values[list]) == "null" {
				t.Errorf("%s: %s is null", name, list)
			}
		}
	}
	if !slices.ContainsFunc(e.Criteria, func(r metric.Result) bool { return !r.Defined() }) {
		t.Error("no criterion is undefined, so this test checks nothing")
	}
}

// eightProblems are the eight methods with hyperparameters that suit small data.
var eightProblems = []method.Problem{
	{Method: method.TopPush, Lambda: 0.001},
	{Method: method.TopPushK, Lambda: 0.001, K: 5},
	{Method: method.Grill, Lambda: 0.001, Tau: threshold.MustRate("0.01")},
	{Method: method.PatMat, Lambda: 0.001, Tau: threshold.MustRate("0.01"), Beta: 1},
	{Method: method.TopMean, Lambda: 0.001, Tau: threshold.MustRate("0.01")},
	{Method: method.GrillNP, Lambda: 0.001, Tau: threshold.MustRate("0.01")},
	{Method: method.PatMatNP, Lambda: 0.001, Tau: threshold.MustRate("0.01"), Beta: 1},
	{Method: method.TopMeanNP, Lambda: 0.001, Tau: threshold.MustRate("0.01")},
}

// Fit and package solve have the same defaults and the same solver: on the same numbers they have the same bits.
func TestFitIsSolve(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("a,b,y\n")
	random := rand.New(rand.NewPCG(44, 1))
	p := solve.Problem{Method: method.PatMatNP, Tau: 0.1, Beta: 0.1, Lambda: 0.01}
	var x solve.Dense
	for i := range 200 {
		p.Positive = append(p.Positive, i%4 == 0)
		x = append(x, []float64{random.NormFloat64() + float64(max(0, 1-i%4)), random.NormFloat64()})
		fmt.Fprintf(&csv, "%v,%v,%d\n", x[i][0], x[i][1], max(0, 1-i%4))
	}
	p.X = x
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", csv.String()), schema.Format{Label: "y"})
	for _, name := range []method.Solver{method.AutoSolver, method.Adam, method.SGD} {
		p.Settings = method.Settings{Solver: name}
		of := method.Problem{Method: p.Method, Tau: threshold.MustRate("10%"), Beta: p.Beta, Lambda: p.Lambda}
		fitted := trial.FitData(t, d, trial.FitCase{Problem: of, FitOptions: certify.FitOptions{Scale: schema.ScaleNone, Settings: p.Settings}})
		solved, err := solve.Solve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(fitted.Model.Parts().Weights, solved.W) || fitted.Result.Settings != solved.Settings || fitted.Result.Threshold != solved.Threshold {
			t.Errorf("solver %q: weights %v, %+v; solve has %v, %+v", name, fitted.Model.Parts().Weights, fitted.Result.Settings, solved.W, solved.Settings)
		}
		if c := solved.Certificate; c != nil && (c.Objective != fitted.Certificate.Objective || c.LowerBound != fitted.Certificate.LowerBound) {
			t.Errorf("certificates: %+v and %+v", c, fitted.Certificate)
		}
	}
}
