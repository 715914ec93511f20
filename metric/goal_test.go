package metric

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toptau/diag"
	"toptau/method"
	"toptau/threshold"
)

func TestGoalFlags(t *testing.T) {
	tests := []struct {
		flags GoalFlags
		text  string // String
		words string // a part of Words
		tau   string
	}{
		{GoalFlags{MaxFPR: "0.1%"}, "--max-fpr 0.001", "at most 0.1 % of the negatives", "0.001"},
		{GoalFlags{Top: "0.01"}, "--top 0.01", "top 1 % of the rows", "0.01"},
		{GoalFlags{Top: "1/3"}, "--top 1/3", "top 1/3 of", "1/3"},
		{GoalFlags{TopCount: "800", Of: "4000"}, "--top-count 800 --of 4000", "top 800 of 4000 rows (20 %)", "0.2"},
		{GoalFlags{Alerts: "50", Of: "2000000"}, "--alerts 50 --of 2000000",
			"50 alerts for every 2000000 rows (0.0025 %)", "0.000025"},
		{GoalFlags{Alerts: "1", Of: "3"}, "--alerts 1 --of 3", "(1/3)", "1/3"},
		{GoalFlags{AbsoluteTop: true}, "--absolute-top", "above every negative", ""},
	}
	for _, test := range tests {
		g, err := test.flags.Goal()
		if err != nil {
			t.Errorf("%+v: %v", test.flags, err)
			continue
		}
		if g.String() != test.text || !strings.Contains(g.Words(), test.words) {
			t.Errorf("%+v: %q, %q", test.flags, g, g.Words())
		}
		if test.tau == "" && !g.Tau().IsZero() || test.tau != "" && g.Tau() != threshold.MustRate(test.tau) {
			t.Errorf("%+v: tau %v, want %q", test.flags, g.Tau(), test.tau)
		}
		var back Goal
		if text, err := g.MarshalText(); err != nil || back.UnmarshalText(text) != nil || back != g {
			t.Errorf("%v does not survive its text %q: %v", g, text, back)
		}
	}
}

func TestGoalFlagsWrong(t *testing.T) {
	tests := []struct {
		flags GoalFlags
		want  string // a part of the message
	}{
		{GoalFlags{}, "no goal, expected a goal (--max-fpr"},
		{GoalFlags{Of: "10"}, "--of without --top-count or --alerts"},
		{GoalFlags{MaxFPR: "1%", Top: "1%"}, "--max-fpr and --top, expected exactly one goal"},
		{GoalFlags{Alerts: "5", TopCount: "5", Of: "10"}, "--top-count and --alerts"},
		{GoalFlags{Top: "1%", AbsoluteTop: true}, "--top and --absolute-top"},
		{GoalFlags{Top: "1%", Of: "10"}, "--of beside --top"},
		{GoalFlags{Alerts: "5"}, "--alerts without --of"},
		{GoalFlags{Alerts: "0", Of: "10"}, "--alerts 0, expected a whole number above 0"},
		{GoalFlags{Alerts: "-1", Of: "10"}, "--alerts -1"},
		{GoalFlags{Alerts: "1.5", Of: "10"}, "--alerts 1.5"},
		{GoalFlags{Alerts: "1", Of: "many"}, "--of many"},
		{GoalFlags{Alerts: "1", Of: "2,000,000"}, "did you mean 2000000?"},
		{GoalFlags{TopCount: "10", Of: "10"}, "--top-count 10 --of 10, expected a count below"},
		{GoalFlags{TopCount: "11", Of: "10"}, "--top-count 11 --of 10, expected a count below"},
		{GoalFlags{MaxFPR: "1"}, "did you mean 1%?"},
		{GoalFlags{MaxFPR: "0%"}, "--max-fpr"},
		{GoalFlags{Top: "100%"}, "--top"},
		{GoalFlags{Top: "often"}, "--top"},
	}
	for _, test := range tests {
		g, err := test.flags.Goal()
		if e := diag.Of(err); e == nil || e.Kind != diag.Usage || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want a usage error with %q", test.flags, err, test.want)
		}
		if g != (Goal{}) {
			t.Errorf("%+v: an error and the goal %v", test.flags, g)
		}
	}
}

func TestGoalLiteralsAreValidated(t *testing.T) {
	rate := threshold.MustRate("1%")
	for _, g := range []Goal{
		{}, {Kind: GoalMaxFPR}, {Kind: GoalTop}, {Kind: GoalAlerts}, {Kind: GoalAlerts, Count: 3}, {Kind: 99, Rate: rate},
		{Kind: GoalTop, Rate: rate, Count: 1, Of: 2}, {Kind: GoalTopCount, Rate: rate, Count: 1, Of: 2},
		{Kind: GoalAbsoluteTop, Rate: rate}, {Kind: GoalTopCount, Count: -1, Of: 5}, {Kind: GoalTopCount, Count: 5, Of: 5},
	} {
		if e := diag.Of(g.Validate()); e == nil || e.Kind != diag.Usage {
			t.Errorf("%#v: %v", g, g.Validate())
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

func TestParseGoalWrong(t *testing.T) {
	for _, text := range []string{"", "--max-fpr", "--top 1% --top 2%", "--absolute-top --absolute-top", "1%", "--best 5"} {
		if g, err := ParseGoal(text); diag.Of(err) == nil {
			t.Errorf("%q: %v, %v", text, g, err)
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
		{"--max-fpr 0.1", 1, 8, false},        // floor(5 x 0.1) = 0 negatives
		{"--max-fpr 0.2", 3, 5, false},        // one negative
		{"--max-fpr 0.6", 3, 4, false},        // three negatives: the tie at 4 admits two
		{"--top 0.25", 1, 7, false},           // two rows
		{"--top-count 4 --of 8", 3, 5, false}, // four rows
		{"--alerts 1 --of 100", 0, 9, true},   // no row at all
	}
	for _, test := range tests {
		g, err := ParseGoal(test.goal)
		if err != nil {
			t.Fatal(err)
		}
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
		g := Goal{Kind: GoalTopCount, Count: count, Of: of}
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
		g, err := ParseGoal(text)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range method.All() {
			if g.Fits(m) {
				names = append(names, string(m.Name))
			}
		}
		return strings.Join(names, " ")
	}
	for text, want := range map[string]string{
		"--absolute-top":         "toppush toppushk",
		"--max-fpr 1%":           "grill-np patmat-np topmean-np",
		"--top 1%":               "grill patmat topmean",
		"--alerts 5 --of 1000":   "grill patmat topmean",
		"--top-count 5 --of 100": "grill patmat topmean",
	} {
		if got := fits(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
