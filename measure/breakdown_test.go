package measure_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/reports"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

func evaluateColumn(t *testing.T, o measure.Options, f schema.Format) (*measure.Evaluation, error) {
	t.Helper()
	f.Label = "y"
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", trial.DayRows()), f)
	o.Replicates = 50
	return measure.Evaluate(t.Context(), d, []dataset.Entry{{Column: "score"}}, o)
}

// Five false alarms of 50 negatives give the threshold 52: positives 59 and 53, and 5 negatives are above it.
func TestBreakdownByHand(t *testing.T) {
	_, err := evaluateColumn(t, measure.Options{Goal: toptau.MaxFPR("10%"), By: []string{"kind", "when", "amount", "label"}},
		schema.Format{Kept: []string{"kind", "when", "y"}})
	if diag.Of(err) == nil {
		t.Fatal("a column that is not there was accepted")
	}
	e, err := evaluateColumn(t, measure.Options{Goal: toptau.MaxFPR("10%"), By: []string{"kind", "when", "amount", "y"}},
		schema.Format{Kept: []string{"kind", "when", "y"}})
	if err != nil {
		t.Fatal(err)
	}
	if e.Goal.Value.Threshold != 52 || e.Goal.Value.Numerator != 2 {
		t.Fatalf("%+v", e.Goal.Value)
	}
	var got []string
	for _, b := range e.By {
		line := b.Column + ":"
		for _, v := range b.Values {
			line += fmt.Sprintf(" %s/%d %d-%d %g %g;", v.Value, v.Others, v.Rows, v.Positives, v.Found.Numerator, v.FalseAlarms.Numerator)
		}
		got = append(got, line)
	}
	want := []string{
		"kind: benign/0 48-0 0 5; /4 12-10 2 0;", // scan and flood have five rows each
		// 60 different times are days
		"when: 2026-03-01/0 20-3 0 0; 2026-03-02/0 20-3 0 0; 2026-03-03/0 20-4 2 5;",
		"amount: 0 to 50/0 6-1 0 0; 60 to 110/0 6-1 0 0; 120 to 170/0 6-1 0 0; 180 to 230/0 6-1 0 0; 240 to 290/0 6-1 0 0;" +
			" 300 to 350/0 6-1 0 0; 360 to 410/0 6-1 0 0; 420 to 470/0 6-1 0 0; 480 to 530/0 6-1 1 0; 540 to 590/0 6-1 1 5;",
		"y: 1/0 10-10 2 0; 0/0 50-0 0 5;",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
	if err := reports.Write(io.Discard, e); err != nil {
		t.Error(err)
	}
	if _, err := evaluateColumn(t, measure.Options{By: []string{"kind"}}, schema.Format{}); !strings.Contains(fmt.Sprint(err), "goal") {
		t.Errorf("scores without a goal: %v", err)
	}
}

// Entities: a host on a day is one unit with its largest score, positive if one of its rows is.
func TestEntitiesByHand(t *testing.T) {
	e, err := evaluateColumn(t, measure.Options{Goal: metric.Goal{Kind: metric.GoalTop, Count: 2, Of: 15}, Entity: "host", Value: "amount"},
		schema.Format{Time: "when"})
	if err != nil {
		t.Fatal(err)
	}
	if u := e.Unit; u == nil || *u != (result.Unit{Entity: "host", Per: "day", Rows: 60}) || e.Rows != 15 || e.Entities != 0 && e.Entities != 5 {
		t.Fatalf("%+v, %+v", e.Unit, e.Counts)
	}
	// The positives are rows 5, 11, 17 | 23, 29, 35 | 41, 47, 53, 59: hosts 0 1 2 | 3 4 0 | 1 2 3 4. The two best
	// units are hosts 4 and 3 on the last day, both positive, with amounts 590 and 530 of 3200.
	if e.Positives != 10 {
		t.Errorf("%d positive units", e.Positives)
	}
	v := e.Goal.Value
	if v.Numerator != 590+530 || v.Denominator != 3200 || v.Budget != 2 || v.Criterion != "value@quantile(2/15)" {
		t.Errorf("%+v", v)
	}
	e, err = evaluateColumn(t, measure.Options{Goal: metric.Goal{Kind: metric.GoalTop, Count: 1, Of: 5}, Entity: "host"}, schema.Format{})
	if err != nil || e.Rows != 5 || e.Positives != 5 || e.Unit.Per != "" {
		t.Errorf("%+v, %v", e, err)
	}
	_, err = evaluateColumn(t, measure.Options{Goal: toptau.Top("10%"), Entity: "host"}, schema.Format{Time: "amount"})
	if d := diag.Of(err); d == nil || d.Line != 2 || !strings.Contains(err.Error(), "a date") {
		t.Errorf("numbers as days: %v", err)
	}
	if _, err = evaluateColumn(t, measure.Options{Goal: toptau.Top("10%"), Value: "kind"}, schema.Format{}); diag.Of(err) == nil || diag.Of(err).Line != 7 {
		t.Errorf("text as an amount: %v", err)
	}
}

// Examples are the highest false alarms and positives found, and the lowest positives missed, with reasons that add up to the score.
func TestExamples(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", trial.ShiftedRows(1000, 1, 0)), schema.Format{Label: "y"})
	m := trial.FitData(t, d, trial.FitCase{Problem: trial.TopPush(0.1)}).Model
	e := trial.Evaluate(t, d, m, measure.Options{Replicates: 20, Examples: 2})
	kinds := map[result.ExampleKind]int{}
	at, _ := m.Point("")
	for i, x := range e.Examples {
		kinds[x.Kind]++
		if alarm := x.Score > at.Threshold; alarm == (x.Kind == result.MissedRow) || len(x.Reasons) != 2 || x.Line != x.Row+1 {
			t.Errorf("%+v", x)
		}
		sum := m.Averages().Score
		for _, r := range x.Reasons {
			sum += r.AboveAverage
		}
		if diff := sum - x.Score; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("the average %v and the reasons add up to %v, the score is %v", m.Averages().Score, sum, x.Score)
		}
		if i > 0 && e.Examples[i-1].Kind == x.Kind && (x.Score > e.Examples[i-1].Score) == (x.Kind != result.MissedRow) {
			t.Errorf("%s in the wrong order: %v after %v", x.Kind, x.Score, e.Examples[i-1].Score)
		}
	}
	if kinds[result.FoundRow] != 2 || kinds[result.MissedRow] != 2 {
		t.Errorf("%v", kinds)
	}
	if errors.Is(reports.Write(io.Discard, e), io.ErrShortWrite) {
		t.Error("no report")
	}
}

// The model remembers which columns are ids and groups: other files are read in the same way, also without these columns.
func TestRolesAreRemembered(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", trial.DayRows()), schema.Format{Label: "y", ID: []string{"amount"}, Group: "host", Time: "when", Drop: []string{"kind"}})
	m := trial.FitData(t, d, trial.FitCase{Problem: trial.TopPush(0.1)}).Model
	if s := m.Schema(); len(s.ID) != 1 || s.ID[0] != "amount" || s.Group != "host" || s.Time != "when" {
		t.Fatalf("%+v", s)
	}
	path := trial.WriteFile(t, "later.csv", trial.DayRows())
	later := trial.ReadFile(t, path, m.Format())
	e, err := measure.Evaluate(t.Context(), later, []dataset.Entry{{Name: "a", Model: m}, {Name: "b", Column: "score"}},
		measure.Options{Goal: toptau.MaxFPR("10%"), Replicates: 20, Examples: 1})
	if err != nil {
		t.Fatal(err)
	}
	if e.Entities != 5 || len(e.Examples) == 0 || len(e.Examples[0].ID) != 1 {
		t.Errorf("%d entities, %+v", e.Entities, e.Examples)
	}
	rows, stream := trial.ScoreAll(t, m, path, score.Options{})
	if len(stream.ID) != 1 || len(rows[0].ID) != 1 || rows[0].ID[0] != "0" {
		t.Errorf("%q, %+v", stream.ID, rows[0])
	}
	other := trial.WriteFile(t, "other.csv", "score,y\n1,0\n2,1\n")
	if rows, stream = trial.ScoreAll(t, m, other, score.Options{}); len(stream.ID) != 0 || len(rows) != 2 {
		t.Errorf("%q, %+v", stream.ID, rows)
	}
	if e = trial.Evaluate(t, trial.ReadFile(t, other, m.Format()), m, measure.Options{Replicates: 20}); e.Rows != 2 {
		t.Errorf("%+v", e.Counts)
	}
}

// Train counts what Evaluate counts: on its test part both have the same hosts and days, amounts and decisions.
// The point keeps the unit, so that Evaluate needs no option for it.
func TestTrainCountsWhatEvaluateCounts(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,u,host,when,amount,y\n")
	random := rand.New(rand.NewPCG(7, 7))
	for i := range 1200 {
		x, y := random.NormFloat64(), 0
		if random.Float64() < 0.15 {
			x, y = x+1.5, 1
		}
		fmt.Fprintf(&b, "%.4f,%.4f,h%d,2026-03-%02dT%02d:00:00,%.0f,%d\n", x, random.NormFloat64(), random.IntN(40), 1+i/60, i%24, 100*random.ExpFloat64(), y)
	}
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", b.String()), schema.Format{Label: "y", Time: "when", Drop: []string{"host", "amount"}, Kept: []string{"host", "amount"}})
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{Method: []method.Name{"logistic"},
		Encoding: []schema.Encoding{"raw"}, Entity: "host", Value: "amount", TestFraction: threshold.MustRate("40%")})
	if err != nil {
		t.Fatal(err)
	}
	r := &trained.Result
	if p, _ := trained.Model.Point(""); p.Entity != "host" || p.Day != "when" || r.Unit.Per != "day" || r.Value != "amount" {
		t.Fatalf("%+v, %+v", p, r.Unit)
	}
	e := trial.EvaluateEntries(t, trained.Test, measure.Options{Value: "amount", Replicates: 50}, dataset.Entry{Model: trained.Model})
	decisions := e.Points[0].Decisions
	if decisions.TruePositives != r.TestDecisions.TruePositives || decisions.FalsePositives != r.TestDecisions.FalsePositives ||
		e.Points[0].Value.Numerator != r.TestValue.Numerator || e.Goal.Value.Numerator != r.TestGoal.Numerator ||
		e.Positives >= r.Test.Positives {
		t.Errorf("Evaluate: %+v, %+v, %+v\nTrain: %+v, %+v, %+v", decisions, e.Points[0].Value, e.Goal.Value, r.TestDecisions, r.TestValue, r.TestGoal)
	}
	if err := reports.WriteTraining(t.Context(), io.Discard, trained, ""); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"one alert per host and day", "of the positives' amount is found", "host-days: about"} {
		if !strings.Contains(strings.Join(r.Summary, "\n"), want) {
			t.Errorf("the summary lacks %q:\n%s", want, strings.Join(r.Summary, "\n"))
		}
	}
}
