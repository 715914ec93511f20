package tune

import (
	"math"

	"toptau/internal/table"
	"toptau/threshold"
)

// fewPositives is the number of positives below which a difference between two candidates is mostly noise.
const fewPositives = 30

// warn adds what the numbers of the result do not say by themselves.
func (s *search) warn() {
	f, t := s.found, s.data.Table
	if unlabelled := t.Rows() - countAll(t).Rows(); unlabelled > 0 {
		s.addWarning("unlabelled-rows", "%s of the data without a label: used in no part", plural(unlabelled, "row"))
	}
	if n := len(s.pooled.scores.Positives); n < fewPositives {
		s.addWarning("few-positives", "the choice rests on %s: differences of several points are noise", plural(n, "positive"))
	}
	if f.FoldRows > 0 {
		s.addWarning("folds-are-samples", "the folds fitted a sample of %d rows each; what was chosen was fitted to all %d",
			f.FoldRows, len(s.rest))
	}
	if f.OutOfFold.Goal.Defined() && f.OutOfFold.Goal.Numerator == 0 {
		s.addWarning("nothing-found", "no positive is within the budget out of fold: the model is of no use for this goal")
	}
	if f.Test == nil && f.TestCounts.Rows() > 0 {
		s.addWarning("test-part-lacks-a-class", "the test part has %s: nothing is measured on it", f.TestCounts)
	}
	for _, other := range []*table.Table{s.data.Validation, s.data.Test} {
		if other != nil && t.Group != nil && other.Group != nil {
			if n := commonGroups(t.Group.Values, other.Group.Values); n > 0 {
				s.addWarning("groups-straddle", "%s of %s also in the training file: the numbers on it are optimistic",
					plural(n, "group"), other.File)
			}
		}
	}
	s.warnBudget()
	switch {
	case f.Cancelled:
		s.addWarning("stopped-early", "stopped early: %s not tried, the choice is among the others", plural(len(f.NotTried), "task"))
	case f.TimeUp:
		s.addWarning("time-is-up", "the time allowed was used up: %s not tried, the choice is among the others",
			plural(len(f.NotTried), "task"))
	}
}

// warnBudget says where the rows that gave the threshold cannot resolve the goal's rate.
func (s *search) warnBudget() {
	t := &s.found.Threshold
	if !t.Unresolved {
		return
	}
	s.addWarning("budget-below-one-row", "%d %s cannot resolve a rate of %s: the threshold is their largest score, and a new row "+
		"is above it with probability 1/%d; %d would be needed", t.Rows, s.populationName(), t.Goal.Tau(), t.Rows+1,
		rowsForOne(t.Goal.Tau())-1)
}

// rowsForOne is the smallest population in which the rate is a whole row: the smallest m with floor(m tau) >= 1.
func rowsForOne(tau threshold.Rate) int {
	m := int(math.Ceil(1 / tau.Float64()))
	for m > 1 && tau.Floor(m-1) >= 1 {
		m--
	}
	for tau.Floor(m) < 1 {
		m++
	}
	return m
}
