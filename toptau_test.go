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
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau"
	"toptau/diag"
	"toptau/internal/feature"
	"toptau/metric"
	"toptau/model"
)

// write makes a file in a temporary directory.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string, f toptau.Format) *toptau.Data {
	t.Helper()
	d, err := toptau.Read(path, f)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func fit(t *testing.T, d *toptau.Data, o toptau.FitOptions) *toptau.Fitted {
	t.Helper()
	fitted, err := toptau.Fit(context.Background(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// shortAdam is a method with few steps of ADAM.
func shortAdam(o toptau.FitOptions, steps int) toptau.FitOptions {
	o.Solver, o.Iterations = "adam", steps
	return o
}

// wantFault fails unless err is of the kind and its text holds every part.
func wantFault(t *testing.T, err error, kind diag.Kind, parts ...string) {
	t.Helper()
	if e := diag.Of(err); e == nil || e.Kind != kind {
		t.Errorf("the error is %v, want one of kind %s", err, kind)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
}

// smallTable has two numeric columns that separate the classes, a symbolic one, a name and a site.
const smallTable = `name,size,speed,kind,site,attack
a,4,2.5,red,north,yes
b,3,0.5,red,south,yes
c,2,1.5,blue,north,yes
d,2.5,-1,blue,south,no
e,1,1,red,north,no
f,0,2,blue,south,no
g,-1,-2,green,north,no
h,-2,0,green,south,no
`

var smallFormat = toptau.Format{Label: "attack", Positive: []string{"yes"}, ID: []string{"name"}, Drop: []string{"site"}}

func smallModel(t *testing.T) *model.Model {
	t.Helper()
	d := read(t, write(t, "small.csv", smallTable), smallFormat)
	return fit(t, d, shortAdam(toptau.FitOptions{Method: "toppush", Lambda: 0.01}, 100)).Model
}

func TestFromRowsRefusesWhatDoesNotFit(t *testing.T) {
	two := []string{"a", "b"}
	for name, c := range map[string]struct {
		columns  []string
		rows     [][]float64
		positive []bool
		parts    []string
	}{
		"fewer labels":   {two, [][]float64{{1, 2}, {3, 4}}, []bool{true}, []string{"2 rows and 1 labels"}},
		"a short row":    {two, [][]float64{{1, 2}, {3}}, []bool{true, false}, []string{"row 1 has 1 values", "expected 2"}},
		"a long row":     {two, [][]float64{{1, 2, 3}}, []bool{true}, []string{"row 0 has 3 values"}},
		"NaN":            {two, [][]float64{{1, math.NaN()}}, []bool{true}, []string{`row 0, column "b": NaN`, "finite"}},
		"infinity":       {two, [][]float64{{math.Inf(-1), 0}}, []bool{true}, []string{`column "a": -Inf`}},
		"a name twice":   {[]string{"a", "b", "a"}, [][]float64{{1, 2, 3}}, []bool{true}, []string{`"a" for column 3`}},
		"an empty name":  {[]string{"a", ""}, [][]float64{{1, 2}}, []bool{true}, []string{`"" for column 2`}},
		"labels, no row": {two, nil, []bool{true}, []string{"0 rows and 1 labels"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := toptau.FromRows(c.columns, c.rows, c.positive)
			wantFault(t, err, diag.Data, c.parts...)
		})
	}
}

func TestDataWithoutBothClassesOrWithoutRowsCannotBeFitted(t *testing.T) {
	for name, c := range map[string]struct {
		rows     [][]float64
		positive []bool
	}{
		"no negatives": {[][]float64{{1}, {2}}, []bool{true, true}},
		"no positives": {[][]float64{{1}, {2}}, []bool{false, false}},
		"no rows":      {nil, nil},
		"constant":     {[][]float64{{1}, {1}}, []bool{true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := toptau.FromRows([]string{"x"}, c.rows, c.positive)
			if err != nil {
				t.Fatal(err)
			}
			_, err = toptau.Fit(context.Background(), d, toptau.FitOptions{Method: "toppush"})
			wantFault(t, err, diag.Data)
			_, err = toptau.Train(context.Background(), d, toptau.AbsoluteTop(), toptau.TrainOptions{})
			wantFault(t, err, diag.Data)
		})
	}
}

func TestFromRowsAgreesWithTheSameFile(t *testing.T) {
	rows := [][]float64{{4, 2.5}, {3, 0.5}, {2, 1.5}, {2.5, -1}, {1, 1}, {0, 2}}
	positive := []bool{true, true, true, false, false, false}
	file := "size,speed,y\n"
	for i, row := range rows {
		file += fmt.Sprintf("%v,%v,%t\n", row[0], row[1], positive[i])
	}
	inMemory, err := toptau.FromRows([]string{"size", "speed"}, rows, positive)
	if err != nil {
		t.Fatal(err)
	}
	if inMemory.Rows() != 6 || inMemory.Positives() != 3 {
		t.Errorf("%d rows, %d positive", inMemory.Rows(), inMemory.Positives())
	}
	path := write(t, "d.csv", file)
	o := shortAdam(toptau.FitOptions{Method: "patmat-np", Tau: "1/3", Beta: 1, Lambda: 0.1}, 50)
	a, b := fit(t, inMemory, o), fit(t, read(t, path, toptau.Format{Label: "y"}), o)
	if !slices.Equal(weights(a.Model), weights(b.Model)) || a.Report.Threshold != b.Report.Threshold {
		t.Errorf("in memory %v above %v, from a file %v above %v", weights(a.Model), a.Report.Threshold, weights(b.Model),
			b.Report.Threshold)
	}
	// A model of rows in memory knows no label; it reads a file with the label told.
	_, err = toptau.ReadFor(a.Model, path, toptau.Format{})
	wantFault(t, err, diag.Usage, "label")
	d, err := toptau.ReadFor(a.Model, path, toptau.Format{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Positives() != 3 {
		t.Errorf("%d positives", d.Positives())
	}
}

func TestReadForMatchesColumnsAsInTraining(t *testing.T) {
	m := smallModel(t)
	reordered := "attack,extra,kind,speed,size\nyes,7,red,2.5,4\nno,8,violet,-1,2.5\n"
	d, err := toptau.ReadFor(m, write(t, "reordered.csv", reordered), toptau.Format{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Rows() != 2 || d.Positives() != 1 {
		t.Errorf("%d rows, %d positive, want 2 and 1", d.Rows(), d.Positives())
	}
	e, err := toptau.Evaluate(context.Background(), d, []toptau.Entry{{Model: m}}, toptau.EvaluateOptions{Replicates: 10})
	if err != nil {
		t.Fatal(err)
	}
	if e.Unknown != 1 {
		t.Errorf("%d unknown values, want 1: violet", e.Unknown)
	}
	for _, code := range []string{"extra_columns", "reordered_columns"} {
		if !slices.ContainsFunc(e.Warnings, func(w toptau.Warning) bool { return w.Code == code }) {
			t.Errorf("no warning %s among %v", code, e.Warnings)
		}
	}

	_, err = toptau.ReadFor(m, write(t, "missing.csv", "attack,size,kind\nyes,1,red\n"), toptau.Format{})
	wantFault(t, err, diag.Model, `missing columns: "speed"`)
	_, err = toptau.ReadFor(m, write(t, "unlabelled.csv", "size,kind,speed\n1,red,2\n"), toptau.Format{})
	wantFault(t, err, diag.Data, `"attack"`)

	// What is told replaces what the model recorded.
	other := "size,speed,kind,verdict\n1,2,red,bad\n2,1,red,good\n"
	d, err = toptau.ReadFor(m, write(t, "other.csv", other), toptau.Format{Label: "verdict", Positive: []string{"bad"}})
	if err != nil {
		t.Fatal(err)
	}
	if d.Positives() != 1 {
		t.Errorf("%d positives", d.Positives())
	}
}

func TestReadForMatchesByNumberWithoutAHeader(t *testing.T) {
	_, rows, _ := strings.Cut(smallTable, "\n")
	format := toptau.Format{Header: "no", Label: "6", Positive: []string{"yes"}, Drop: []string{"1,5"}}
	d := read(t, write(t, "train.csv", rows), format)
	m := fit(t, d, shortAdam(toptau.FitOptions{Method: "toppush", Lambda: 0.01}, 20)).Model
	again, err := toptau.ReadFor(m, write(t, "again.csv", rows), toptau.Format{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Rows() != 8 || again.Positives() != 3 {
		t.Errorf("%d rows, %d positive", again.Rows(), again.Positives())
	}
}

// scoreAll collects what Score emits.
func scoreAll(t *testing.T, m *model.Model, path string, o toptau.ScoreOptions) ([]toptau.Scored, *toptau.Scoring) {
	t.Helper()
	var rows []toptau.Scored
	begun := 0
	s, err := toptau.Score(context.Background(), m, path, o,
		func(*toptau.Scoring) error { begun++; return nil },
		func(r *toptau.Scored) error {
			kept := *r
			kept.ID, kept.Fields, kept.Decisions = slices.Clone(r.ID), slices.Clone(r.Fields), slices.Clone(r.Decisions)
			rows = append(rows, kept)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if begun != 1 {
		t.Errorf("begin was called %d times", begun)
	}
	return rows, s
}

func TestScoreKeepsTheOrderOfTheInput(t *testing.T) {
	m := smallModel(t)
	path := write(t, "in.csv", "size,speed,kind\n0,0,red\n5,5,blue\n1,1,unheard\n")
	rows, s := scoreAll(t, m, path, toptau.ScoreOptions{})
	if s.Rows != 3 || len(rows) != 3 || s.Unknown != 1 || s.Missing != 0 {
		t.Fatalf("%d rows, %+v", len(rows), s)
	}
	above := 0
	for i, r := range rows {
		if r.Row != i+1 || len(r.ID) != 0 || len(r.Fields) != 0 || len(r.Decisions) != 1 {
			t.Errorf("row %d: %+v", i+1, r)
		}
		if r.Decisions[0] != (r.Score > m.Points()[0].Threshold) {
			t.Errorf("row %d: decision %v for score %v at %v", i+1, r.Decisions[0], r.Score, m.Points()[0].Threshold)
		}
		if r.Decisions[0] {
			above++
		}
	}
	if s.Positive[0] != above {
		t.Errorf("counted %d alarms, there are %d", s.Positive[0], above)
	}
	// The same bits as one record by itself.
	score, err := m.Score(map[string]string{"size": "5", "speed": "5", "kind": "blue"})
	if err != nil || score != rows[1].Score {
		t.Errorf("one record scores %v (%v), in the file %v", score, err, rows[1].Score)
	}
}

func TestScoreKeepPassesTheInputThrough(t *testing.T) {
	m := smallModel(t)
	path := write(t, "in.csv", "note,size,speed,name,kind\nfirst,0,+1.50,x,red\n\"second, quoted\",2,3,y,blue\n")
	o := toptau.ScoreOptions{Keep: true}
	o.ID = []string{"name"}
	rows, s := scoreAll(t, m, path, o)
	if want := []string{"note", "size", "speed", "kind"}; !slices.Equal(s.Kept, want) {
		t.Errorf("kept %q, want %q", s.Kept, want)
	}
	if !slices.Equal(s.ID, []string{"name"}) {
		t.Errorf("identified by %q, want name", s.ID)
	}
	if want := []string{"first", "0", "+1.50", "red"}; !slices.Equal(rows[0].Fields, want) {
		t.Errorf("row 1 has %q, want %q: as written", rows[0].Fields, want)
	}
	if want := []string{"second, quoted", "2", "3", "blue"}; !slices.Equal(rows[1].Fields, want) || rows[1].ID[0] != "y" {
		t.Errorf("row 2 has %q and %q, want %q and y", rows[1].Fields, rows[1].ID, want)
	}
}

// Best is the head of the stable order by falling score: the earlier row wins a tie.
func TestBestIsTheHeadOfTheStableOrder(t *testing.T) {
	m := smallModel(t)
	var file strings.Builder
	file.WriteString("size,speed,kind\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 { // several chunks, 12 different records
		fmt.Fprintf(&file, "%d,%d,%s\n", r.IntN(3), r.IntN(2), []string{"red", "blue"}[r.IntN(2)])
	}
	path := write(t, "ties.csv", file.String())
	all, _ := scoreAll(t, m, path, toptau.ScoreOptions{})
	if len(all) != 10_000 {
		t.Fatalf("%d rows", len(all))
	}
	slices.SortStableFunc(all, func(a, b toptau.Scored) int { return cmp.Compare(b.Score, a.Score) })
	for _, limit := range []int{1, 2, 700, 9_999, 10_000, 20_000} {
		best, s := scoreAll(t, m, path, toptau.ScoreOptions{Best: limit})
		if want := all[:min(limit, len(all))]; !reflect.DeepEqual(best, want) {
			t.Errorf("the best %d differ from the head of the sorted rows", limit)
		}
		if s.Rows != 10_000 {
			t.Errorf("best %d: %d rows scored", limit, s.Rows)
		}
	}
}

// withPoints gives a model operating points: one for all rows and one with a threshold for each site.
func withPoints(t *testing.T, m *model.Model) *model.Model {
	t.Helper()
	p := m.Parts(feature.Key{})
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

func TestEverySegmentHasItsThreshold(t *testing.T) {
	m := withPoints(t, smallModel(t))
	path := write(t, "sites.csv", sites)
	for _, at := range []string{"", "by site"} {
		rows, s := scoreAll(t, m, path, toptau.ScoreOptions{At: at})
		bySite := slices.Index(s.Points, "by site")
		if want := map[string]int{"": 1, "by site": 0}[at]; bySite != want || len(s.Points) != 2 {
			t.Fatalf("--at %q: points %q", at, s.Points)
		}
		var got []bool
		for _, r := range rows {
			got = append(got, r.Decisions[bySite])
		}
		// north is always above, south above the general threshold, and a site that is not listed above 1e6: never.
		if want := []bool{true, true, false, false}; !slices.Equal(got, want) {
			t.Errorf("--at %q: decisions %v, want %v", at, got, want)
		}
	}
	_, err := toptau.Score(context.Background(), m, path, toptau.ScoreOptions{At: "by-site"}, nil, nil)
	wantFault(t, err, diag.Usage, "general, by site")
	other := toptau.ScoreOptions{Format: toptau.Format{Segment: "kind"}}
	_, err = toptau.Score(context.Background(), m, path, other, nil, nil)
	wantFault(t, err, diag.Usage, `--segment "kind"`, `"site"`)
}

func TestEvaluateDecidesAsScoreDoes(t *testing.T) {
	m := withPoints(t, smallModel(t))
	path := write(t, "sites.csv", sites)
	d, err := toptau.ReadFor(m, path, toptau.Format{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := toptau.Evaluate(context.Background(), d, []toptau.Entry{{Model: m}}, toptau.EvaluateOptions{Replicates: 20})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := scoreAll(t, m, path, toptau.ScoreOptions{})
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
	// Without the column there is no threshold to decide by.
	_, err = toptau.ReadFor(m, write(t, "nosite.csv", "size,speed,kind,attack\n0,0,red,no\n5,5,red,yes\n"), toptau.Format{})
	wantFault(t, err, diag.Data, `"site"`)
}

func TestEvaluateMeasuresTheGoal(t *testing.T) {
	m := smallModel(t)
	d, err := toptau.ReadFor(m, write(t, "small.csv", smallTable), toptau.Format{})
	if err != nil {
		t.Fatal(err)
	}
	goal := toptau.MaxFPR("20%")
	e, err := toptau.Evaluate(context.Background(), d, []toptau.Entry{{Model: m}}, toptau.EvaluateOptions{Goal: goal, Replicates: 50, Curves: 4, Confidence: 0.9})
	if err != nil {
		t.Fatal(err)
	}
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
			t.Errorf("%s has %d points, at most 4 were asked for", c.Name, len(c.Points))
		}
	}
}

func TestErrorsOfCallbacksEndScore(t *testing.T) {
	m := smallModel(t)
	path := write(t, "in.csv", "size,speed,kind\n0,0,red\n5,5,blue\n")
	wanted := errors.New("the disk is full")
	begin := func(*toptau.Scoring) error { return nil }
	emitted := 0
	_, err := toptau.Score(context.Background(), m, path, toptau.ScoreOptions{}, begin,
		func(*toptau.Scored) error { emitted++; return wanted })
	if !errors.Is(err, wanted) || emitted != 1 {
		t.Errorf("%v after %d rows", err, emitted)
	}
	_, err = toptau.Score(context.Background(), m, path, toptau.ScoreOptions{},
		func(*toptau.Scoring) error { return wanted },
		func(*toptau.Scored) error { t.Error("a row after begin had failed"); return nil })
	if !errors.Is(err, wanted) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = toptau.Score(ended, m, path, toptau.ScoreOptions{}, begin,
		func(*toptau.Scored) error { t.Error("a row after the context had ended"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, err = toptau.Score(context.Background(), m, write(t, "bad.csv", "size,speed,kind\n0,0,red\n5,fast,blue\n"),
		toptau.ScoreOptions{}, begin, func(*toptau.Scored) error { return nil })
	wantFault(t, err, diag.Data, "bad.csv:3", `"speed"`, `"fast"`)
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
	weighted := read(t, write(t, "weighted.csv", a), toptau.Format{Label: "y", Weight: "m"})
	twice := read(t, write(t, "twice.csv", b), toptau.Format{Label: "y", Drop: []string{"m"}})
	unweighted := read(t, write(t, "unweighted.csv", a), toptau.Format{Label: "y", Drop: []string{"m"}})
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*(1+math.Abs(y)) }
	for _, o := range eightMethods {
		if o.Tau != "" {
			o.Tau = "0.1"
		}
		o = shortAdam(o, 60)
		o.Lambda, o.Storage = 0.01, "float64"
		one, two, none := fit(t, weighted, o), fit(t, twice, o), fit(t, unweighted, o)
		if !near(one.Report.Objective, two.Report.Objective) || !near(one.Report.Threshold, two.Report.Threshold) ||
			*one.Report.KUsed != *two.Report.KUsed {
			t.Errorf("%s: weighted F %v, t %v, K %v; repeated %v, %v, %v", o.Method, one.Report.Objective, one.Report.Threshold,
				*one.Report.KUsed, two.Report.Objective, two.Report.Threshold, *two.Report.KUsed)
		}
		for j := range weights(one.Model) {
			if !near(weights(one.Model)[j], weights(two.Model)[j]) {
				t.Errorf("%s: weights %v, repeated %v", o.Method, weights(one.Model), weights(two.Model))
				break
			}
		}
		if near(one.Report.Objective, none.Report.Objective) {
			t.Errorf("%s: F is %v with and without weights", o.Method, one.Report.Objective)
		}
		if tr := one.Model.Training(); tr.Mass != float64(twice.Rows()) || tr.PositiveMass != float64(twice.Positives()) ||
			tr.Rows != weighted.Rows() {
			t.Errorf("%s: the model counts %+v, the repeated file has %d rows, %d positive", o.Method, tr, twice.Rows(),
				twice.Positives())
		}
	}
	// Evaluation counts masses too.
	m := fit(t, twice, shortAdam(toptau.FitOptions{Method: "toppush", Lambda: 0.01}, 60)).Model
	one, err := toptau.Evaluate(context.Background(), weighted, []toptau.Entry{{Model: m}}, toptau.EvaluateOptions{Replicates: 10})
	if err != nil {
		t.Fatal(err)
	}
	two, err := toptau.Evaluate(context.Background(), twice, []toptau.Entry{{Model: m}}, toptau.EvaluateOptions{Replicates: 10})
	if err != nil {
		t.Fatal(err)
	}
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

func TestCancellationKeepsWhatThereIs(t *testing.T) {
	d := read(t, write(t, "small.csv", smallTable), smallFormat)
	for _, stop := range []int{0, 7} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if stop == 0 {
			cancel()
		}
		o := shortAdam(toptau.FitOptions{Method: "toppush", Lambda: 0.01}, 1000)
		steps := 0
		o.Progress = func(p toptau.Progress) {
			if steps++; steps == stop {
				cancel()
			}
			if p.Share <= 0 || p.Share > 1 || p.Text == "" {
				t.Errorf("progress %+v", p)
			}
		}
		fitted, err := toptau.Fit(ctx, d, o)
		if stop == 0 { // nothing is there
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled before the first step: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r := fitted.Report
		if !r.Cancelled || r.Iterations != stop {
			t.Errorf("cancelled %v after %d steps, want %d", r.Cancelled, r.Iterations, stop)
		}
		if !slices.ContainsFunc(r.Warnings, func(w toptau.Warning) bool { return w.Code == "cancelled" }) {
			t.Errorf("no warning says so: %v", r.Warnings)
		}
		whole := fit(t, d, shortAdam(toptau.FitOptions{Method: "toppush", Lambda: 0.01}, stop))
		if !slices.Equal(weights(fitted.Model), weights(whole.Model)) {
			t.Errorf("cancelled after %d steps: weights %v, that many steps give %v", stop, weights(fitted.Model),
				weights(whole.Model))
		}
		path := filepath.Join(t.TempDir(), "m.json")
		if err := fitted.Model.Save(path); err != nil {
			t.Fatal(err)
		}
		if _, err := toptau.Load(path); err != nil {
			t.Error(err)
		}
	}
}

func TestCancelledTrainChoosesAmongWhatIsThere(t *testing.T) {
	d := separable(t, 400)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := toptau.TrainOptions{Methods: []string{"logistic", "toppush"}, Features: []string{"raw"}}
	o.Progress = func(p toptau.Progress) {
		if strings.HasPrefix(p.Text, "fit") && p.Share > 0.1 { // the refit counts as two thirds of the work
			cancel()
		}
	}
	trained, err := toptau.Train(ctx, d, toptau.AbsoluteTop(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r := trained.Report; !r.Cancelled || !slices.Equal(r.NotTried, []string{"toppush on raw"}) {
		t.Errorf("cancelled %v, not tried %v", r.Cancelled, r.NotTried)
	}
	for _, m := range trained.Report.Members {
		if c := trained.Report.Candidates[m.Candidate]; c.Status != "fitted" {
			t.Errorf("the chosen candidate is %s", c.Status)
		}
	}
	cancel()
	_, err = toptau.Train(ctx, d, toptau.AbsoluteTop(), toptau.TrainOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Train with an ended context gives %v", err)
	}
}

// separable has one row in ten positive, and these stand out in the first of three columns.
func separable(t *testing.T, n int) *toptau.Data {
	t.Helper()
	r := rand.New(rand.NewPCG(5, uint64(n)))
	rows, positive := make([][]float64, n), make([]bool, n)
	for i := range rows {
		rows[i] = []float64{r.Float64(), r.Float64(), r.Float64()}
		if positive[i] = i%10 == 0; positive[i] {
			rows[i][0] += 0.8
		}
	}
	d, err := toptau.FromRows([]string{"a", "b", "c"}, rows, positive)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A trained model decides on its test part as its report says.
func TestTrainReportsItsParts(t *testing.T) {
	d := separable(t, 1000)
	o := toptau.TrainOptions{Methods: []string{"patmat-np"}, Features: []string{"raw"}, TestShare: mustRate(t, "25%"), Seed: 11}
	goal := toptau.MaxFPR("2%")
	trained, err := toptau.Train(context.Background(), d, goal, o)
	if err != nil {
		t.Fatal(err)
	}
	r := trained.Report
	rest, quarter := toptau.PartReport{Rows: 750, Positives: 75}, toptau.PartReport{Rows: 250, Positives: 25}
	if r.Training != rest || r.Validation != nil || *r.Test != quarter || r.Folds != 5 {
		t.Errorf("parts %+v, %+v, %+v, %d folds", r.Training, r.Validation, *r.Test, r.Folds)
	}
	if len(r.Candidates) != 6 || r.Certified || r.Features != 3 {
		t.Errorf("%d candidates, certified %v, %d features", len(r.Candidates), r.Certified, r.Features)
	}
	c := r.AtThreshold
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

// Further parts are read as the training file was.
func TestTrainWithFilesForValidationAndTest(t *testing.T) {
	d := read(t, write(t, "train.csv", smallTable), smallFormat)
	part := func(name string) *toptau.Data {
		p, err := toptau.ReadLike(d, write(t, name, smallTable), toptau.Format{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	o := toptau.TrainOptions{Methods: []string{"toppush"}, Features: []string{"raw"}, Validation: part("validation.csv"),
		Test: part("test.csv")}
	trained, err := toptau.Train(context.Background(), d, toptau.AbsoluteTop(), o)
	if err != nil {
		t.Fatal(err)
	}
	whole := toptau.PartReport{Rows: 8, Positives: 3}
	if r := trained.Report; r.Training != whole || *r.Validation != whole || *r.Test != whole {
		t.Errorf("parts %+v, %+v, %+v", r.Training, r.Validation, *r.Test)
	}
	_, err = toptau.ReadLike(d, write(t, "bad.csv", "size,attack\n1,yes\n2,no\n"), toptau.Format{})
	wantFault(t, err, diag.Model, `missing columns: "speed", "kind"`)
}

func TestSettingsAreCheckedAtTheBorder(t *testing.T) {
	d := separable(t, 40)
	for found, o := range map[string]toptau.FitOptions{
		"method \"best\"": {Method: "best"},
		"tau":             {Method: "patmat", Tau: "1", Beta: 1},
		"beta":            {Method: "patmat", Tau: "1%"},
		"k":               {Method: "toppushk"},
		"lambda":          {Method: "toppush", Lambda: -1},
		"surrogate":       {Method: "toppush", Surrogate: "square"},
		"scale":           {Method: "toppush", Scale: "max"},
		"impute":          {Method: "toppush", Impute: "mean"},
		"solver":          {Method: "toppush", SolverOptions: toptau.SolverOptions{Solver: "newton"}},
		"start":           {Method: "toppush", SolverOptions: toptau.SolverOptions{Solver: "adam", Start: "one"}},
		"storage":         {Method: "toppush", SolverOptions: toptau.SolverOptions{Storage: "float16"}},
		"step":            {Method: "toppush", SolverOptions: toptau.SolverOptions{Solver: "adam", Step: -1}},
		"iterations":      {Method: "toppush", SolverOptions: toptau.SolverOptions{Solver: "adam", Iterations: -1}},
		"minibatches -1":  {Method: "toppush", SolverOptions: toptau.SolverOptions{Solver: "adam", Minibatches: -1}},
		"minibatches 100": {Method: "toppush", SolverOptions: toptau.SolverOptions{Solver: "adam", Minibatches: 100}},
	} {
		t.Run(found, func(t *testing.T) {
			_, err := toptau.Fit(context.Background(), d, o)
			wantFault(t, err, diag.Usage, found)
		})
	}
}

// fitFields are the fields that the design lists for fit --json, in its order.
const fitFields = `method, surrogate, lambda, tau, beta, k, k_used, population, solver, start, minibatches, scale, seed,
n, n_pos, d, objective, lower_bound, relative_gap, gap_of_decrease, ball_radius, threshold, norm_w, objective_at_zero,
zero_is_optimal, passes, row_reads, iterations, working_set, converged, seconds_read, seconds_fit, warnings`

func TestTheReportHasTheFieldsOfTheDesign(t *testing.T) {
	d := separable(t, 200)
	o := shortAdam(toptau.FitOptions{Method: "patmat-np", Tau: "5%", Beta: 1, Lambda: 0.1}, 10)
	text := marshal(t, fit(t, d, o).Report)
	var got []string
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for depth := 0; ; {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			if depth == 1 && values[v] != nil && !slices.Contains(got, v) {
				got = append(got, v)
			}
		}
	}
	var common []string
	more := []string{"schema_version", "features", "best_iteration", "best_objective", "no_better_than_zero", "cancelled"}
	wanted := strings.Fields(strings.ReplaceAll(fitFields, ",", " "))
	for _, name := range got {
		switch {
		case slices.Contains(wanted, name):
			common = append(common, name)
		case !slices.Contains(more, name):
			t.Errorf("the field %q is not in the design", name)
		}
	}
	if !slices.Equal(common, wanted) {
		t.Errorf("fields %q\nwant   %q", common, wanted)
	}
	// Unknown is null: ADAM has no bound, and Pat&Mat-NP no k.
	for _, name := range []string{"k", "lower_bound", "relative_gap", "gap_of_decrease", "ball_radius", "zero_is_optimal",
		"working_set", "converged"} {
		if string(values[name]) != "null" {
			t.Errorf("%s is %s, want null", name, values[name])
		}
	}
	for name, want := range map[string]string{"method": `"patmat-np"`, "surrogate": `"hinge"`, "lambda": "0.1", "tau": "0.05",
		"beta": "1", "k_used": "9", "population": `"negatives"`, "solver": `"adam"`, "start": `"zero"`, "minibatches": "1",
		"scale": `"standard"`, "n": "200", "n_pos": "20", "d": "3", "iterations": "10"} {
		if string(values[name]) != want {
			t.Errorf("%s is %s, want %s", name, values[name], want)
		}
	}
}

// Numbers that are undefined on the data are null too, and lists are never null.
func TestReportsHoldNoNaNAndNoNullLists(t *testing.T) {
	d := separable(t, 40)
	m := fit(t, d, shortAdam(toptau.FitOptions{Method: "toppush"}, 10)).Model
	e, err := toptau.Evaluate(context.Background(), d, []toptau.Entry{{Model: m}}, toptau.EvaluateOptions{Replicates: 5}) // a top of 1 % is less than a row
	if err != nil {
		t.Fatal(err)
	}
	o := toptau.TrainOptions{Methods: []string{"logistic"}, Features: []string{"raw"}}
	trained, err := toptau.Train(context.Background(), d, toptau.Top("1%"), o)
	if err != nil {
		t.Fatal(err)
	}
	for name, report := range map[string]any{"evaluate": e, "train": trained.Report} {
		var values map[string]json.RawMessage
		if err := json.Unmarshal(marshal(t, report), &values); err != nil {
			t.Fatal(err)
		}
		if string(values["schema_version"]) != strconv.Itoa(toptau.SchemaVersion) {
			t.Errorf("%s: schema_version %s", name, values["schema_version"])
		}
		for _, list := range []string{"warnings", "points", "criteria", "curves", "candidates", "members", "not_tried", "summary", "budgets"} {
			if string(values[list]) == "null" {
				t.Errorf("%s: %s is null", name, list)
			}
		}
	}
	if !slices.ContainsFunc(e.Criteria, func(r metric.Result) bool { return !r.Defined() }) {
		t.Error("no criterion is undefined: the test tests nothing")
	}
}

// weights returns a model's weights.
func weights(m *model.Model) []float64 {
	var list []float64
	for _, w := range m.Weights() {
		list = append(list, w)
	}
	return list
}
