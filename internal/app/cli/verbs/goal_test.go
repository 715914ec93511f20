package verbs

import (
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/app/cli"
)

func TestGoalFlagsWrong(t *testing.T) {
	tests := []struct {
		flags GoalFlags
		want  string // a part of the message
	}{
		{GoalFlags{}, "no goal, expected a goal (--max-fpr"},
		{GoalFlags{Alerts: "5"}, "--alerts 5, expected N/M: N alerts in a period with M rows (use --alerts 50/2000000)"},
		{GoalFlags{Alerts: "0/10"}, "--alerts 0, expected a whole number above 0"},
		{GoalFlags{Alerts: "-1/10"}, "--alerts -1"},
		{GoalFlags{Alerts: "1.5/10"}, "--alerts 1.5"},
		{GoalFlags{Alerts: "1/many"}, "--alerts many, expected a whole number"},
		{GoalFlags{Alerts: "1/2,000,000"}, "did you mean 2000000?"},
		{GoalFlags{Alerts: "10/10"}, "--alerts 10 of 10, expected a count below"},
		{GoalFlags{Alerts: "11/10"}, "--alerts 11 of 10, expected a count below"},
		{GoalFlags{Top: "11/10"}, "--top"},
		{GoalFlags{Top: "0/10"}, "--top"},
		{GoalFlags{MaxFPR: "1"}, "did you mean 1%?"},
		{GoalFlags{MaxFPR: "0%"}, "--max-fpr"},
		{GoalFlags{Top: "100%"}, "--top"},
		{GoalFlags{Top: "often"}, "--top"},
	}
	for _, test := range tests {
		_, err := test.flags.Required()
		if e := diag.Of(err); e == nil || e.Kind != diag.Usage || !strings.Contains(diag.Of(err).Text(cli.Spell), test.want) {
			t.Errorf("%+v: %v, want a usage error with %q", test.flags, err, test.want)
		}
	}
}

// A fraction of counts keeps them.
func TestGoalOfCounts(t *testing.T) {
	for flag, want := range map[string]string{"800/4000": "in the top 800 of 4,000 rows (20 %)", "20%": "in the top 20 % of the rows", "0.2": "in the top 20 % of the rows"} {
		goal, err := GoalFlags{Top: flag}.Required()
		if err != nil || !strings.HasSuffix(goal.String(), want) || goal.Tau().IsZero() {
			t.Errorf("--top %s: %s, %v", flag, goal, err)
		}
	}
}
