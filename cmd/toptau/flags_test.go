package main

import (
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/cli"
)

func TestGoalFlagsWrong(t *testing.T) {
	tests := []struct {
		flags goalFlags
		want  string // a part of the message
	}{
		{goalFlags{}, "no goal, expected a goal (--max-fpr"},
		{goalFlags{Of: "10"}, "--of 10, expected a count to take from that many rows (use --top-count N or --alerts N)"},
		{goalFlags{MaxFPR: "1%", Top: "1%"}, "--max-fpr together with --top, expected exactly one goal"},
		{goalFlags{Alerts: "5", TopCount: "5", Of: "10"}, "--top-count together with --alerts"},
		{goalFlags{Top: "1%", AbsoluteTop: true}, "--top together with --absolute-top"},
		{goalFlags{Top: "1%", Of: "10"}, "--of 10, expected a count"},
		{goalFlags{Alerts: "5"}, "missing --of, expected the number of rows that --alerts counts from"},
		{goalFlags{Alerts: "0", Of: "10"}, "--alerts 0, expected a whole number above 0"},
		{goalFlags{Alerts: "-1", Of: "10"}, "--alerts -1"},
		{goalFlags{Alerts: "1.5", Of: "10"}, "--alerts 1.5"},
		{goalFlags{Alerts: "1", Of: "many"}, "--of many"},
		{goalFlags{Alerts: "1", Of: "2,000,000"}, "did you mean 2000000?"},
		{goalFlags{TopCount: "10", Of: "10"}, "--top-count 10 of 10, expected a count below"},
		{goalFlags{TopCount: "11", Of: "10"}, "--top-count 11 of 10, expected a count below"},
		{goalFlags{MaxFPR: "1"}, "did you mean 1%?"},
		{goalFlags{MaxFPR: "0%"}, "--max-fpr"},
		{goalFlags{Top: "100%"}, "--top"},
		{goalFlags{Top: "often"}, "--top"},
	}
	for _, test := range tests {
		_, err := test.flags.required()
		if e := diag.Of(err); e == nil || e.Kind != diag.Usage || !strings.Contains(diag.Of(err).Text(cli.Spell), test.want) {
			t.Errorf("%+v: %v, want a usage error with %q", test.flags, err, test.want)
		}
	}
}
