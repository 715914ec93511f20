package metric

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toptau/diag"
	"toptau/method"
	"toptau/threshold"
)

// parseGoal reads a goal in the words of the command line: "--max-fpr 1%".
func parseGoal(t *testing.T, text string) (g Goal) {
	t.Helper()
	switch words := strings.Fields(text); len(words) {
	case 1:
		g.Kind = GoalKind(words[0][2:])
	default:
		g = RateGoal(GoalKind(words[0][2:]), words[1])
		if words[0] == "--alerts" { // --alerts 50/2000
			g = Goal{Kind: GoalAlerts}
			if _, err := fmt.Sscanf(words[1], "%d/%d", &g.Count, &g.Of); err != nil {
				t.Fatal(err)
			}
		}
	}
	return g
}

func TestGoals(t *testing.T) {
	for _, c := range []struct {
		goal             Goal
		json, words, tau string // words: a part of String
	}{
		{RateGoal(GoalMaxFPR, "0.1%"), `{"kind":"max-fpr","rate":"0.001"}`, "at most 0.1 % of the negatives", "0.001"},
		{RateGoal(GoalTop, "1/3"), `{"kind":"top","rate":"1/3"}`, "top 1/3 of", "1/3"},
		{CountGoal(GoalTop, 800, 4000), `{"kind":"top","count":800,"of":4000}`,
			"top 800 of 4,000 rows (20 %)", "0.2"},
		{CountGoal(GoalAlerts, 50, 2000000), `{"kind":"alerts","count":50,"of":2000000}`,
			"50 alerts per 2,000,000 rows (0.0025 %)", "0.000025"},
		{Goal{Kind: GoalAbsoluteTop}, `{"kind":"absolute-top"}`, "above every negative", ""},
		{Goal{}, "null", "no goal", ""},
	} {
		text, err := json.Marshal(c.goal)
		if err != nil || string(text) != c.json || !strings.Contains(c.goal.String(), c.words) {
			t.Errorf("%s, %q, %v", text, c.goal, err)
		}
		var back Goal
		if err := json.Unmarshal(text, &back); err != nil || back != c.goal {
			t.Errorf("%s is read as %#v, %v", text, back, err)
		}
		if c.tau == "" && !c.goal.Tau().IsZero() || c.tau != "" && c.goal.Tau() != threshold.MustRate(c.tau) {
			t.Errorf("%s: tau %v, want %q", c.goal, c.goal.Tau(), c.tau)
		}
	}
}

func TestBadTextMakesABadGoal(t *testing.T) {
	for text, want := range map[string]string{
		"1": `max-fpr "1", expected a rate between 0 and 1 such as 0.1% or 0.001 (did you mean 1%?)`, "0%": `max-fpr "0%"`,
		"often": `max-fpr "often"`, "": `max-fpr ""`,
	} {
		if err := RateGoal(GoalMaxFPR, text).Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{`{"kind":"top"}`, `{"kind":"best","rate":"1%"}`, `{"kind":"top","rate":"1%","share":1}`, `{"rate":"1%"}`, `5`, `"--max-fpr 1%"`} {
		var g Goal
		if err := json.Unmarshal([]byte(text), &g); err == nil {
			t.Errorf("%s is read as %#v", text, g)
		}
	}
}

func TestGoalLiteralsAreChecked(t *testing.T) {
	rate := threshold.MustRate("1%")
	for _, g := range []Goal{
		{}, {Kind: GoalMaxFPR}, {Kind: GoalTop}, {Kind: GoalAlerts}, {Kind: GoalAlerts, Count: 3}, {Kind: "99", Rate: rate},
		{Kind: GoalTop, Rate: rate, Count: 1, Of: 2}, {Kind: GoalTop, Rate: rate, Count: 1, Of: 2},
		{Kind: GoalAbsoluteTop, Rate: rate}, {Kind: GoalTop, Count: -1, Of: 5}, {Kind: GoalTop, Count: 5, Of: 5},
	} {
		if e := diag.Of(g.Check()); e == nil || e.Kind != diag.Usage {
			t.Errorf("%#v: %v", g, g.Check())
		}
		if r, err := Rank(Scores{Positives: []float64{1}, Negatives: []float64{0}}); err == nil {
			if _, err := g.Evaluate(r); err == nil {
				t.Errorf("%#v is evaluated", g)
			}
			if _, err := g.Threshold(r); err == nil {
				t.Errorf("%#v gives a threshold", g)
			}
		}
	}
}

// Five negatives and three positives; the top of the list is + - + + - ...
func TestGoalOnScores(t *testing.T) {
	r, err := Rank(Scores{Positives: []float64{9, 7, 6}, Negatives: []float64{8, 5, 4, 4, 1}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		goal      string
		caught    float64
		threshold float64
		undefined bool
	}{
		{"--absolute-top", 1, 8, false},
		{"--max-fpr 0.1", 1, 8, false}, // floor(5 x 0.1) = 0 negatives
		{"--max-fpr 0.2", 3, 5, false}, // one negative
		{"--max-fpr 0.6", 3, 4, false}, // three negatives: the tie at 4 admits two
		{"--top 0.25", 1, 7, false},    // two rows
		{"--top 4/8", 3, 5, false},     // four rows
		{"--alerts 1/100", 0, 9, true}, // no row at all
	}
	for _, test := range tests {
		g := parseGoal(t, test.goal)
		res, err := g.Evaluate(r)
		if err != nil || res.Defined() == test.undefined || res.Defined() && res.Numerator != test.caught {
			t.Errorf("%v: %+v, %v", g, res, err)
		}
		if at, err := g.Threshold(r); err != nil || at != test.threshold {
			t.Errorf("%v: threshold %v, %v, want %v", g, at, err, test.threshold)
		}
	}
	none, _ := Rank(Scores{Positives: []float64{1}})
	if _, err := (Goal{Kind: GoalAbsoluteTop}).Threshold(none); err == nil {
		t.Error("a threshold above no negatives")
	}
}

// The plain threshold keeps the budget on its own sample, and no lower score of the sample does.
func TestGoalThresholdIsTheLowest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []float64 {
			return rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 6), func(i int) float64 { return float64(i) }), 1, 12).Draw(t, name)
		}
		s := Scores{Positives: draw("positives"), Negatives: draw("negatives")}
		of := rapid.Int64Range(2, 12).Draw(t, "of")
		count := rapid.Int64Range(1, of-1).Draw(t, "count")
		g := Goal{Kind: GoalTop, Count: count, Of: of}
		population := append(append([]float64{}, s.Positives...), s.Negatives...)
		if rapid.Bool().Draw(t, "np") {
			g = Goal{Kind: GoalMaxFPR, Rate: g.Tau()}
			population = s.Negatives
		}
		r, err := Rank(s)
		if err != nil {
			t.Fatal(err)
		}
		at, err := g.Threshold(r)
		if err != nil {
			t.Fatal(err)
		}
		admitted := func(at float64) (n int64) {
			for _, z := range population {
				if z > at {
					n++
				}
			}
			return n
		}
		budget := int64(len(population)) * count / of
		if admitted(at) > budget {
			t.Fatalf("%v admits %d of %d", at, admitted(at), budget)
		}
		for _, z := range population {
			if z < at && admitted(z) <= budget {
				t.Fatalf("%v is lower than %v and keeps the budget %d", z, at, budget)
			}
		}
	})
}

func TestGoalFitsMethods(t *testing.T) {
	fits := func(text string) string {
		g := parseGoal(t, text)
		var names []string
		for _, m := range method.All() {
			if g.Fits(m) {
				names = append(names, string(m.Name))
			}
		}
		return strings.Join(names, " ")
	}
	for text, want := range map[string]string{
		"--absolute-top":  "toppush toppushk",
		"--max-fpr 1%":    "grill-np patmat-np topmean-np",
		"--top 1%":        "grill patmat topmean",
		"--alerts 5/1000": "grill patmat topmean",
		"--top 5/100":     "grill patmat topmean",
	} {
		if got := fits(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
