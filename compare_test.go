package toptau_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/internal/fault"
	"toptau/metric"
)

// overlapping is a table whose classes overlap, positives every fifth row.
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

func maxFPR(t *testing.T, rate string) metric.Goal {
	t.Helper()
	goal, err := metric.ParseGoal("--max-fpr " + rate)
	if err != nil {
		t.Fatal(err)
	}
	return goal
}

// Scores of the test file join, and the object of --json holds null where a field does not apply.
func TestCompare(t *testing.T) {
	d := read(t, write(t, "train.csv", overlapping(400, 1)), toptau.Format{Label: "y"})
	test, err := toptau.ReadLike(d, write(t, "test.csv", overlapping(300, 2)), toptau.Format{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("row,score,decision\n")
	for i := range 300 {
		fmt.Fprintf(&b, "%d,%d,0\n", i+1, (i*7)%300)
	}
	scores, err := toptau.ReadScores("guess", write(t, "guess.csv", b.String()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := toptau.Compare(context.Background(), d, maxFPR(t, "10%"), toptau.CompareOptions{
		Test: test, Scores: []toptau.Scores{scores}, Methods: []string{"topmean-np"}, Replicates: 200, SolverOptions: toptau.SolverOptions{Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range r.Entries {
		names = append(names, e.Name)
	}
	if len(names) != 6 || names[5] != "guess" || r.Test.Rows != 300 || r.Test.Positives != 60 ||
		r.Training.Rows+r.Validation.Rows != 400 {
		t.Errorf("%v, %+v, %+v, %+v", names, r.Training, r.Validation, r.Test)
	}
	guess := r.Entries[5]
	if guess.Encoding != nil || guess.Features != nil || guess.Setting != nil || guess.AtThreshold != nil || guess.Validation != nil || *guess.Verdict != metric.Worse ||
		guess.Difference.Interval.Replicates != 200 {
		t.Errorf("%+v", guess)
	}
	if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), `"entities":null`) {
		t.Errorf("%s, %v", text, err)
	}
}

// "all" is every method that the goal has a rate for.
func TestCompareAll(t *testing.T) {
	d := read(t, write(t, "train.csv", overlapping(200, 1)), toptau.Format{Label: "y"})
	for goal, entries := range map[string]int{"--max-fpr 10%": 15, "--absolute-top": 9} {
		g, err := metric.ParseGoal(goal)
		if err != nil {
			t.Fatal(err)
		}
		o := toptau.CompareOptions{Methods: []string{"all"}, Replicates: 50}
		o.Iterations, o.Solver = 5, "adam"
		r, err := toptau.Compare(context.Background(), d, g, o)
		if err != nil || len(r.Entries) != entries {
			t.Errorf("%s: %+v, %v", goal, r, err)
		}
		o.Methods = []string{"all", "grill"}
		_, err = toptau.Compare(context.Background(), d, g, o)
		wantFault(t, err, fault.Usage, "--method all beside others")
		o.Methods, o.Features = []string{"toppush"}, []string{"scorecard"}
		if r, err = toptau.Compare(context.Background(), d, g, o); err != nil || len(r.Entries) != 3 ||
			*r.Entries[0].Encoding != "scorecard" || strings.Contains(r.Entries[0].Name, "/") {
			t.Errorf("%s: %+v, %v", goal, r, err)
		}
	}
}

func TestReadScores(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"score\n1\n-2.5\n1e3\n", ""},
		{"anything\n1\n-2.5\n1e3\n", ""},
		{"id,score\na,1\nb,-2.5\nc,1e3\n", ""},
		{"row,score\n1,1\n2,-2.5\n3,1e3\n", ""},
		{"row,score\n2,1\n1,-2.5\n3,1e3\n", ":2: column \"row\": row 2, expected row 1"},
		{"p,q\n1,2\n3,4\n", `no column of numbers named "score"`},
		{"score,x\n1,1\n,2\n3,3\n", "a missing score"},
		{"score\nhigh\nlow\n", "no column of numbers"},
	} {
		s, err := toptau.ReadScores("m", write(t, "scores.csv", c.content))
		if c.want != "" {
			wantFault(t, err, fault.Data, c.want)
			continue
		}
		if err != nil || len(s.Values) != 3 || s.Values[1] != -2.5 || s.Values[2] != 1000 || s.Name != "m" {
			t.Errorf("%q: %+v, %v", c.content, s, err)
		}
	}
}

func TestCompareRefusesOtherRows(t *testing.T) {
	d := read(t, write(t, "train.csv", overlapping(200, 1)), toptau.Format{Label: "y"})
	o := toptau.CompareOptions{Scores: []toptau.Scores{{Name: "theirs", File: "theirs.csv", Values: make([]float64, 9)}}}
	_, err := toptau.Compare(context.Background(), d, maxFPR(t, "10%"), o)
	wantFault(t, err, fault.Usage, "--scores without --test")
	o.Test = d
	_, err = toptau.Compare(context.Background(), d, maxFPR(t, "10%"), o)
	wantFault(t, err, fault.Data, "theirs.csv", "9 scores", "200, one for each row")
}
