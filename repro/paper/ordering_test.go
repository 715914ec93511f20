package paper

import (
	"context"
	"strings"
	"testing"
)

func TestOrdering(t *testing.T) {
	o, err := CheckOrdering(context.Background(), realSamples(t), 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	usual := 0
	for _, a := range o.Arrows {
		t.Logf("%-10s > %-10s %5d of %d, trained %d of %d, met %d of %d, worst %.1e", a.From, a.To, a.Violations, a.Cases,
			a.TrainedViolations, a.Trained, a.MetViolations, a.Met, a.Worst)
		if a.MetViolations > 0 || a.Met == 0 {
			t.Errorf("%s above %s: %d violations in %d cases", a.From, a.To, a.MetViolations, a.Met)
		}
		if !a.Always || a.Condition != "" {
			usual += a.Violations
		}
	}
	if usual == 0 {
		t.Error("no dashed arrow was violated, so the cases are not diverse enough")
	}
}

// The summary names the arrow that needs its condition, and never calls its violations none.
func TestOrderingSummary(t *testing.T) {
	o := &Ordering{Arrows: []Arrow{
		{From: "TopPush", To: "TopPushK", Always: true, Cases: 30, Met: 30},
		{From: "TopPushK", To: "TopMean-NP", Always: true, Condition: "k ≤ K", Cases: 30, Violations: 7, Met: 23},
		{From: "Grill", To: "Grill-NP", Condition: "x", Cases: 30, Violations: 4, Met: 26},
	}}
	want := "1 solid arrows have no violation. Violated: the solid arrow from TopPushK to TopMean-NP in 7 of 30 cases, of which 0 " +
		"have k ≤ K (see Errata). Dashed arrows, which hold usually according to the paper, are violated in 0 cases under the " +
		"conditions of the table."
	if got := o.Summary(); got != want {
		t.Errorf("%s", got)
	}
	o.Arrows[2].MetViolations = 2
	if got := o.Summary(); !strings.Contains(got, "in 2 cases under") {
		t.Errorf("%s", got)
	}
}

// The summary of the theorems tells the paper's own errors from statements that it denies.
func TestTheoremSummary(t *testing.T) {
	checks := []Check{{Name: "convex", Cases: 5}, {Name: "fn-fp-ties", Paper: "Lemma A.1", Refuted: true, Cases: 5, Violations: 2},
		{Name: "grill-not-convex", Refuted: true, Cases: 5, Violations: 1}}
	got := theoremSummary(checks)
	for _, want := range []string{"3 statements: 1 hold", "1 of the paper are false as printed", "(Lemma A.1;", "1 more have", "(grill-not-convex)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "expected result") {
		t.Errorf("%s", got)
	}
	checks[0].Violations = 1
	if got := theoremSummary(checks); !strings.Contains(got, "1 did not have the expected result") {
		t.Errorf("%s", got)
	}
}
