package metric

import (
	"encoding/json"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/threshold"
)

func TestGoals(t *testing.T) {
	for _, c := range []struct {
		goal             Goal
		json, words, tau string // words: a part of String
	}{
		{RateGoal(GoalMaxFPR, "0.1%"), `{"kind":"max-fpr","rate":"0.001"}`, "at most 0.1 % of the negatives", "0.001"},
		{RateGoal(GoalTop, "1/3"), `{"kind":"top","rate":"1/3"}`, "top 1/3 of", "1/3"},
		{Goal{Kind: GoalTop, Count: 800, Of: 4000}, `{"kind":"top","count":800,"of":4000}`,
			"top 800 of 4,000 rows (20 %)", "0.2"},
		{Goal{Kind: GoalAlerts, Count: 50, Of: 2000000}, `{"kind":"alerts","count":50,"of":2000000}`,
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
	}
}
