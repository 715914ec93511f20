package tune

import (
	"context"
	"testing"

	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/schema"
)

// boosters returns a search over numbers of boosted trees, whose folds keep what a threshold from all rows needs.
func boosters(t *testing.T, seed uint64) (*candidates, *task) {
	t.Helper()
	s, f := partsOf(t, simulated(150, 850, seed), SearchOptions{Goal: goalOf(t, "--max-fpr 5%"), Seed: 1})
	return &candidates{plan: s.plan, folds: f}, findTask(s.tasks, method.Boosting, feature.EncodeBoosted)
}

// statuses counts the settings with a status at the start of a list and returns the rest.
func statuses(list []Candidate, status Status) (n int, rest []Candidate) {
	for n < len(list) && list[n].Status == status {
		n++
	}
	return n, list[n:]
}

// Folds stop when three numbers of trees are no better than a smaller one. The choice is that among all of the numbers before.
func TestBoostersStopTogether(t *testing.T) {
	c, boosted := boosters(t, 1)
	if err := c.fitTask(t.Context(), boosted, func(float64) {}); err != nil {
		t.Fatal(err)
	}
	fitted, rest := statuses(boosted.tried, Fitted)
	skipped, rest := statuses(rest, Skipped)
	if len(boosted.tried) != len(treeCounts) || skipped == 0 || len(rest) > 0 || fitted < 5 || fitted-1-boosted.best < moreTrials {
		t.Fatalf("%d of %d fitted, %d skipped, the best is the one at %d", fitted, len(boosted.tried), skipped, boosted.best)
	}
	for _, r := range c.folds.list {
		if n := len(r.encoded[boosted.key()].features.Boosting().Rounds); n != boosted.tried[fitted-1].Trees {
			t.Errorf("a fold has %d trees, want %d", n, boosted.tried[fitted-1].Trees)
		}
	}
}

// A search that ends while the folds grow keeps the numbers of trees that all folds have.
func TestInterruptedBoostersCanBeChosen(t *testing.T) {
	c, boosted := boosters(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.fitTask(ctx, boosted, func(float64) { cancel() }); err != nil {
		t.Fatal(err)
	}
	fitted, rest := statuses(boosted.tried, Fitted)
	unfinished, rest := statuses(rest, Unfinished)
	if boosted.tried[fitted-1].Trees != firstTrees || unfinished == 0 || len(rest) > 0 || boosted.best < 0 || len(boosted.scores[0].fitted) == 0 {
		t.Errorf("%d fitted, %d unfinished, the best is the one at %d with %d scores", fitted, unfinished, boosted.best, len(boosted.scores[0].fitted))
	}
}

// Leaves separate the rows that they were grown on, so lambda = 0 is left out there.
func TestMethodsOnLeavesHaveAPenalty(t *testing.T) {
	m, err := method.ByName(method.TopMeanNP)
	if err != nil {
		t.Fatal(err)
	}
	l, err := methodLearner(m, goalOf(t, "--max-fpr 5%"), "")
	if err != nil {
		t.Fatal(err)
	}
	for e, want := range map[feature.Encode]int{schema.Raw: 6, schema.Scorecard: 6, schema.Leaves: 5, schema.Boosted: 5} {
		if n := len(l.grid(e)); n != want {
			t.Errorf("%d settings on %s, want %d", n, e, want)
		}
	}
}
