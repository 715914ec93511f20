package toptau

import (
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

func countsOf(c tune.Counts) result.Counts {
	return result.Counts{Rows: c.Rows(), Positives: c.Positives}
}

// someCounts returns the counts of a part, nil if it has no rows.
func someCounts(c tune.Counts) *result.Counts {
	if c.Rows() == 0 {
		return nil
	}
	counts := countsOf(c)
	return &counts
}

func candidateOf(c *tune.Candidate) result.Candidate {
	r := result.Candidate{Encoding: c.Features, Problem: method.Problem{Method: c.Learner, Lambda: c.Lambda}, Status: string(c.Status),
		Derived: c.Derived, Reason: c.Reason, Constant: c.Constant, ZeroIsOptimal: c.ZeroOptimal, SecondsFit: c.Seconds}
	if c.Problem != nil {
		r.Problem = *c.Problem
	}
	if c.Anchor > 0 {
		r.Anchor = &c.Anchor
	}
	if c.Trees > 0 {
		r.Trees = &c.Trees
	}
	if c.Bytes > 0 {
		r.Bytes = &c.Bytes
	}
	if c.Status == tune.Fitted {
		r.CrossValidation = &c.Estimate
	}
	return r
}

// expectedOf returns the expected rate of a threshold on new rows.
func expectedOf(t *tune.Threshold) result.Expected {
	e := result.NewExpected(t.Expected, t.Refitted)
	e.Scheme, e.Population, e.Rows, e.Approximate = result.Scheme(t.Scheme), t.Population.String(), t.Rows, t.Approximate
	return e
}

// entryName returns "logistic", or "logistic/scorecard" for another encoding than raw if there are several.
func entryName(t tune.Task, several bool) string {
	if !several || t.Features == schema.Raw {
		return string(t.Learner)
	}
	name := string(t.Learner) + "/" + string(t.Features)
	if t.Derived {
		name += "/derived"
	}
	return name
}

// trainedMember returns the description of a member of the average that a model keeps.
func trainedMember(c *tune.Candidate, t *tune.Member, seed uint64) model.Member {
	m := model.Member{Problem: method.Problem{Method: c.Learner, Lambda: t.Lambda}, Anchor: t.Anchor, Blocks: t.Blocks, Share: t.Share,
		Folds: t.Folds, Settings: method.Settings{Solver: method.Solver(t.Solver), Iterations: t.Iterations, Seed: seed}}
	if c.Problem != nil {
		m.Problem = *c.Problem
		m.Lambda = t.Lambda
	}
	if m.Settings.Solver == method.Adam {
		m.Settings.Start, m.Settings.Minibatches = method.ZeroStart, 1
	}
	if m.Folds > 0 || c.Learner == method.Ramp || c.Learner == method.Boosting {
		return m // a mean of fits and boosting have no objective, and the ramp's has no lower bound
	}
	m.Evidence = &model.Evidence{Bounds: result.NewBounds(t.At.F, t.AtZero.F, t.Bound, false), Threshold: t.At.T}
	if t.Certified != nil {
		m.Evidence.ZeroIsOptimal = t.Certified.Zero.Answer()
	}
	return m
}
