package verbs

import (
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/cli"
)

func TestGoalFlagsWrong(t *testing.T) {
	tests := []struct {
		flags GoalFlags
		want  string // a part of the message
	}{
		{GoalFlags{}, "no goal, expected a goal (--max-fpr"},
		{GoalFlags{Of: "10"}, "--of 10, expected a count to take from that many rows (use --top-count N or --alerts N)"},
		{GoalFlags{Top: "1%", Of: "10"}, "--of 10, expected a count"},
		{GoalFlags{Alerts: "5"}, "missing --of, expected the number of rows that --alerts counts from"},
		{GoalFlags{Alerts: "0", Of: "10"}, "--alerts 0, expected a whole number above 0"},
		{GoalFlags{Alerts: "-1", Of: "10"}, "--alerts -1"},
		{GoalFlags{Alerts: "1.5", Of: "10"}, "--alerts 1.5"},
		{GoalFlags{Alerts: "1", Of: "many"}, "--of many"},
		{GoalFlags{Alerts: "1", Of: "2,000,000"}, "did you mean 2000000?"},
		{GoalFlags{TopCount: "10", Of: "10"}, "--top-count 10 of 10, expected a count below"},
		{GoalFlags{TopCount: "11", Of: "10"}, "--top-count 11 of 10, expected a count below"},
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
