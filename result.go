package toptau

import (
	"io"
	"strings"
	"time"

	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/internal/training/leakage"
	"toptau/internal/training/rowset"
	"toptau/internal/training/summary"
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
	m.Evidence = &model.Evidence{Bounds: summary.NewBounds(t.At.F, t.AtZero.F, t.Bound, false), Threshold: t.At.T}
	if t.Certified != nil {
		m.Evidence.ZeroIsOptimal = t.Certified.Zero.Answer()
	}
	return m
}

// trainSummary returns the summary of a trained model. It is about the test part or, without one, the
// out-of-fold scores.
func trainSummary(f *tune.Found, o TrainOptions, d *rowset.Set, m *model.Model, leaks []leakage.Leak, warnings int) (lines []string,
	claim string) {
	goal, _ := m.Point("")
	expected := summary.Expected(&f.Threshold)
	facts := summary.Facts{Goal: f.Goal, Unit: rowset.UnitOf(f.Units, d.Len()), Value: f.OutOfFold.Value, ValueName: o.Value,
		Profit: f.OutOfFold.Profit, Delta: o.Delta, Guarantee: goal.Guarantee, Price: f.Price, Warnings: warnings, Expected: &expected,
		Leaks:     leaks,
		Decisions: f.OutOfFold.AtThreshold, Basis: "out-of-fold scores of the rows that chose the model"}
	if f.MeasuredOnCalibration() {
		facts.Basis = "the calibration rows"
	} else if o.Validation != nil {
		facts.Basis = "the validation part, which chose the model"
	}
	if f.Test != nil {
		facts.Decisions, facts.Value, facts.Profit, facts.Basis, facts.Measured = f.Test.AtThreshold, f.Test.Value, f.Test.Profit,
			"the test part", true
	}
	if t := &f.Threshold; !t.Certified && t.Guarantee != nil {
		facts.NoGuarantee = "the threshold comes from out-of-fold scores of rows that also chose the model"
	}
	facts.Prevalence = f.Prevalence
	if facts.PrevalenceHere = f.Test != nil || f.MeasuredOnCalibration(); facts.PrevalenceHere {
		c := &facts.Decisions
		positives := c.TruePositives + c.FalseNegatives
		facts.Prevalence = positives / (positives + c.FalsePositives + c.TrueNegatives)
	}
	if !o.Prevalence.IsZero() {
		facts.Prevalence, facts.PrevalenceGiven = o.Prevalence.Float64(), true
		facts.Decisions = f.Among(facts.Prevalence)
		if f.Test != nil {
			facts.Decisions = ranking.Mix(f.Test.AtThreshold, facts.Prevalence, nil)
		}
	}
	names := make([]string, len(f.Members))
	for i := range f.Members {
		c := &f.Candidates[f.Members[i].Candidate]
		names[i] = learnerTitle(c.Learner) + strings.TrimPrefix(c.Task.String(), string(c.Learner))
	}
	facts.Chosen = strings.Join(names, "")
	if len(names) > 1 {
		facts.Chosen = "the average of " + text.List(names, "and")
	}
	if !f.Choice.Guarded {
		facts.Gain = f.Choice.Gain
	}
	return summary.Lines(facts), summary.Claim(facts)
}

// learnerTitle returns the name of a learner for people.
func learnerTitle(name method.Name) string {
	switch name {
	case method.Logistic:
		return "logistic regression"
	case method.SVM:
		return "a support vector machine"
	case method.Ramp:
		return "the anchored top loss"
	case method.Boosting:
		return "gradient boosting"
	}
	if m, err := method.ByName(name); err == nil {
		return m.Title
	}
	return string(name)
}

// sizeRows is the number of rows that are scored to measure the time of a row: a few milliseconds.
const sizeRows = 1000

// modelSize measures a model on rows of the data that it was trained on.
func modelSize(d *rowset.Set, m *model.Model) (result.ModelSize, error) {
	var s result.ModelSize
	var err error
	scorer := feature.ScorerOf(m)
	s.Trees, s.Leaves = scorer.Map.Trees()
	if s.Bytes, err = m.WriteTo(io.Discard); err != nil {
		return s, err
	}
	rows := min(sizeRows, d.Table.Rows())
	start := time.Now()
	for row := range rows {
		if _, err := scorer.Score(d.Table, row); err != nil {
			return s, d.WithFile(err)
		}
	}
	s.SecondsPerRow = time.Since(start).Seconds() / float64(max(1, rows))
	return s, nil
}
