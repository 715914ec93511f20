package paper

import (
	"context"
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
