package text_test

import (
	"math"
	"testing"

	"toptau/internal/core/text"
)

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1: "1", 1234567: "1,234,567", 0.012345: "0.0123", 4.5678: "4.57", 4567.8: "4,570",
		0.99999: "1", 9.999: "10", -0.5: "-0.5", 1.2345e-9: "1.23e-09", 0.1: "0.1", 12.05: "12.1", 1390.4: "1,390", 2.5e20: "2.5e+20",
		math.Inf(1): "+Inf"} {
		if got := text.Number(x); got != want {
			t.Errorf("%v is written %s, not %s", x, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for x, want := range map[float64]string{0: "0 %", 1: "100 %", 0.12345: "12.3 %", 0.99999: "more than 99.9 %", 0.000004: "0.0004 %", 0.5: "50 %"} {
		if got := text.Percent(x); got != want {
			t.Errorf("%v is written %s, not %s", x, got, want)
		}
	}
	if got := text.PlusMinus(0.638, 0.016); got != "63.8 % ± 1.6" {
		t.Error(got)
	}
	if got := text.Points(0.0914) + text.Points(-0.006) + text.Points(-0.0001); got != "+9.1-0.60.0" {
		t.Error(got)
	}
}

func TestCountsAndPlurals(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{text.Count(-1234), "-1,234"}, {text.Count(999), "999"}, {text.Count(int64(1000000)), "1,000,000"},
		{text.Plural(0, "row"), "no rows"}, {text.Plural(1, "class"), "1 class"}, {text.Plural(2, "class"), "2 classes"},
		{text.Plural(3000, "query"), "3,000 queries"}, {text.Plural(2, "day"), "2 days"}, {text.Plural(2, "pass"), "2 passes"},
		{text.List(nil, "and"), ""}, {text.List([]string{"a"}, "and"), "a"}, {text.List([]string{"a", "b", "c"}, "or"), "a, b or c"},
	} {
		if c.got != c.want {
			t.Errorf("%q, not %q", c.got, c.want)
		}
	}
}
