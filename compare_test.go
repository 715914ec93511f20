package toptau_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/diag"
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
	return toptau.MaxFPR(rate)
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
	scores, err := toptau.ReadScores("guess", write(t, "guess.csv", b.String()), test)
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
	for g, entries := range map[toptau.Goal]int{toptau.MaxFPR("10%"): 15, toptau.AbsoluteTop(): 9} {
		o := toptau.CompareOptions{Methods: []string{"all"}, Replicates: 50}
		o.Iterations, o.Solver = 5, "adam"
		r, err := toptau.Compare(context.Background(), d, g, o)
		if err != nil || len(r.Entries) != entries {
			t.Errorf("%s: %+v, %v", g, r, err)
		}
		o.Methods = []string{"all", "grill"}
		_, err = toptau.Compare(context.Background(), d, g, o)
		wantFault(t, err, diag.Usage, "--method all beside others")
		o.Methods, o.Features = []string{"toppush"}, []string{"scorecard"}
		if r, err = toptau.Compare(context.Background(), d, g, o); err != nil || len(r.Entries) != 3 ||
			*r.Entries[0].Encoding != "scorecard" || strings.Contains(r.Entries[0].Name, "/") {
			t.Errorf("%s: %+v, %v", g, r, err)
		}
	}
}

// Every way to join scores to rows, and every way in which that fails.
func TestReadScores(t *testing.T) {
	plain := "x,y\n1,1\n2,0\n3,0\n"
	named := "key,x,y\na,1,1\nb,2,0\nc,3,0\n"
	id := toptau.Format{Label: "y", ID: []string{"key"}}
	for _, c := range []struct {
		name, data string
		format     toptau.Format
		scores     string
		want       string // a part of the error; "": 1, -2.5, 1000
		words      string
	}{
		{"score alone", plain, toptau.Format{Label: "y"}, "score\n1\n-2.5\n1e3\n", "",
			"joined by position: the files have no id that could confirm the order"},
		{"one column", plain, toptau.Format{Label: "y"}, "anything\n1\n-2.5\n1e3\n", "", "joined by position: "},
		{"no header", plain, toptau.Format{Label: "y"}, "1\n-2.5\n1e3\n", "", "joined by position: "},
		{"labels", plain, toptau.Format{Label: "y"}, "score,y\n1,1\n-2.5,0\n1e3,0\n", "", "joined by position, labels agree on 3 rows"},
		{"label by that name", plain, toptau.Format{Label: "y"}, "label,score\n1,1\n0,-2.5\n0,1e3\n", "", "labels agree on 3 rows"},
		{"row numbers", plain, toptau.Format{Label: "y"}, "row,score,decision\n1,1,0\n2,-2.5,0\n3,1e3,1\n", "", "joined by row"},
		{"row numbers in another order", plain, toptau.Format{Label: "y"}, "row,score\n3,1e3\n1,1\n2,-2.5\n", "", "joined by row"},
		{"ids", named, id, "key,score\na,1\nb,-2.5\nc,1e3\n", "", "joined by id"},
		{"ids in another order with others", named, id, "score,key\n7,z\n1e3,c\n1, a\n-2.5,b\n", "",
			"joined by id, scores of other rows left out: 1"},
		{"the only other column", named, id, "key,gbdt,y\nc,1e3,0\nb,-2.5,0\na,1,1\n", "", "joined by id, labels agree on 3 rows"},
		{"ids of a file without header", "a,1,1\nb,2,0\nc,3,0\n", toptau.Format{Label: "last", ID: []string{"1"}, Header: "no"},
			"c,1e3\nb,-2.5\na,1\n", "", "joined by id"},

		{"shuffled labels", plain, toptau.Format{Label: "y"}, "score,y\n-2.5,0\n1,1\n1e3,0\n",
			`s.csv:2: column "y": a negative row; 2 of 3 labels differ from those of d.csv, expected positive, as on line 2 there`, ""},
		{"row twice", plain, toptau.Format{Label: "y"}, "row,score\n1,1\n1,2\n3,3\n", `s.csv:3: column "row": row 1, which is also on line 2`, ""},
		{"row beyond", plain, toptau.Format{Label: "y"}, "row,score\n1,1\n4,2\n3,3\n", `:3: column "row": "4", expected the number of a row`, ""},
		{"id twice", named, id, "key,score\na,1\nb,2\na,3\n", `s.csv:4: column "key": id "a", which is also on line 2, expected one score for each id`, ""},
		{"data's id twice", "key,x,y\na,1,1\na,2,0\nc,3,0\n", id, "key,score\na,1\nc,2\n", `d.csv:3: column "key": id "a", which is also on line 2`, ""},
		{"no ids in the scores", named, id, "score\n1\n2\n3\n", `no column "key" among ["score"], expected the id columns of d.csv`, ""},
		{"no ids in the data", plain, toptau.Format{Label: "y"}, "id,score\n7,1\n8,2\n9,3\n", `column "id": a column of ids, expected the same column in d.csv`, ""},
		{"fewer", plain, toptau.Format{Label: "y"}, "score\n1\n2\n", "2 scores and no id, expected 3, one for each row of d.csv", ""},
		{"no score", plain, toptau.Format{Label: "y"}, "p,q\n1,2\n3,4\n", `no column named "score" among ["p" "q"]`, ""},
		{"empty", plain, toptau.Format{Label: "y"}, "score,w\n1,1\n,2\n3,3\n", `s.csv:3: column "score": a missing score`, ""},
		{"words", plain, toptau.Format{Label: "y"}, "score\nhigh\nlow\nlow\n", `column "score": "high"`, ""},
	} {
		t.Chdir(t.TempDir())
		for file, content := range map[string]string{"d.csv": c.data, "s.csv": c.scores} {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d := read(t, "d.csv", c.format)
		s, err := toptau.ReadScores("m", "s.csv", d)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
			continue
		}
		if err != nil || !slices.Equal(s.Values, []float64{1, -2.5, 1000}) || s.Name != "m" || !strings.Contains(s.Joined.Words(), c.words) {
			t.Errorf("%s: %+v %s, %v", c.name, s, s.Joined.Words(), err)
		}
	}
}

// Scores in another order are refused even without ids and labels, where there are rows enough to see it; and never where the order
// is right.
func TestReadScoresInAnotherOrder(t *testing.T) {
	d := read(t, write(t, "data.csv", overlapping(4000, 1)), toptau.Format{Label: "y"})
	lines := strings.Split(strings.TrimSpace(overlapping(4000, 1)), "\n")[1:]
	scores := make([]string, len(lines))
	for i, line := range lines {
		scores[i] = line[:strings.Index(line, ",")]
	}
	if _, err := toptau.ReadScores("m", write(t, "right.csv", "score\n"+strings.Join(scores, "\n")+"\n"), d); err != nil {
		t.Error(err)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(scores), func(i, j int) { scores[i], scores[j] = scores[j], scores[i] })
	_, err := toptau.ReadScores("m", write(t, "shuffled.csv", "score\n"+strings.Join(scores, "\n")+"\n"), d)
	wantFault(t, err, diag.Data, "scores without any relation to the labels", "AUC 0.", "--id")
}

func TestCompareRefusesOtherRows(t *testing.T) {
	d := read(t, write(t, "train.csv", overlapping(200, 1)), toptau.Format{Label: "y"})
	o := toptau.CompareOptions{Scores: []toptau.Scores{{Name: "theirs", File: "theirs.csv", Values: make([]float64, 9)}}}
	_, err := toptau.Compare(context.Background(), d, maxFPR(t, "10%"), o)
	wantFault(t, err, diag.Data, "theirs.csv", "9 scores", "200, one for each row")
	o.Test = d
	_, err = toptau.Compare(context.Background(), d, maxFPR(t, "10%"), o)
	wantFault(t, err, diag.Data, "theirs.csv", "9 scores", "200, one for each row")
}
