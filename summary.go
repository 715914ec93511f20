package toptau

import (
	"strings"

	"toptau/internal/core/text"
	"toptau/internal/training/leakage"
	"toptau/internal/training/rowset"
	"toptau/internal/training/summary"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/model"
)

// trainSummary returns the summary of a trained model. It is about the test part or, without one, the
// out-of-fold scores.
func trainSummary(f *tune.Found, o TrainOptions, d *rowset.Set, m *model.Model, leaks []leakage.Leak, warnings int) []string {
	goal, _ := m.Point("")
	expected := expectedOf(&f.Threshold)
	facts := summary.Facts{Goal: f.Goal, Unit: rowset.UnitOf(f.Units, d.Len()), Value: f.OutOfFold.Value, ValueName: o.Value, Profit: f.OutOfFold.Profit, Delta: o.Delta, Guarantee: goal.Guarantee, Price: f.Price, Warnings: warnings, Expected: &expected, Leaks: leaks,
		Decisions: f.OutOfFold.AtThreshold, Basis: "out-of-fold scores of the rows that chose the model"}
	if f.MeasuredOnCalibration() {
		facts.Basis = "the calibration rows"
	} else if o.Validation != nil {
		facts.Basis = "the validation part, which chose the model"
	}
	if f.Test != nil {
		facts.Decisions, facts.Value, facts.Profit, facts.Basis, facts.Measured = f.Test.AtThreshold, f.Test.Value, f.Test.Profit, "the test part", true
	}
	if t := &f.Threshold; !t.Certified && t.Guarantee != nil {
		facts.NoGuarantee = "the threshold comes from out-of-fold scores of rows that also chose the model"
	}
	facts.Prevalence = f.Prevalence
	if facts.PrevalenceHere = f.Test != nil || f.MeasuredOnCalibration(); facts.PrevalenceHere {
		facts.Prevalence = facts.Decisions.Positive()
	}
	if !o.Prevalence.IsZero() {
		facts.Prevalence, facts.PrevalenceGiven = o.Prevalence.Float64(), true
		facts.Decisions = f.Among(facts.Prevalence)
		if f.Test != nil {
			facts.Decisions = f.Test.AtThreshold.Mixed(facts.Prevalence, nil)
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
	return summary.Lines(facts)
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
