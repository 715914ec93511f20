package ranking

import (
	"toptau/diag"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// CriterionOf returns the criterion that measures a goal: Positives@NP for metric.GoalMaxFPR, Positives@Quantile for fractions of all
// rows, Positives@Top for metric.GoalAbsoluteTop, Positives@Precision and Negatives@Recall for the others, each with the goal's rate.
func CriterionOf(g metric.Goal) Criterion {
	switch g.Kind {
	case metric.GoalMaxFPR:
		return NP(g.Tau())
	case metric.GoalTop, metric.GoalAlerts:
		return Quantile(g.Tau())
	case metric.GoalMinPrecision:
		return Precision(g.Rate)
	case metric.GoalMinRecall:
		return Recall(g.Rate)
	}
	return Top()
}

// CriterionOfMethod returns the criterion that a method optimises (the paper's Table "methods") at rate tau.
func CriterionOfMethod(m method.Method, tau threshold.Rate) Criterion {
	switch m.Criterion {
	case method.AtNP:
		return NP(tau)
	case method.AtQuantile:
		return Quantile(tau)
	}
	return Top()
}

// Fits reports whether a method optimises the criterion that the goal measures.
func Fits(g metric.Goal, m method.Method) bool {
	return CriterionOfMethod(m, g.Tau()) == CriterionOf(g)
}

// Evaluate measures the goal's criterion on a sample: the fraction of positives that the budget admits,
// with the threshold from the sample itself.
func Evaluate(g metric.Goal, r *Ranking) (metric.Result, error) {
	if err := g.Check(); err != nil {
		return metric.Result{}, err
	}
	return r.Positives(CriterionOf(g))
}

// Threshold returns the goal's plain threshold on a sample: the lowest score t for which the rows with score
// > t keep the budget on this sample. It guarantees nothing about other samples. Unlike the criterion it
// needs no positives, and a budget of less than one row gives the largest score, above which there is
// nothing. It returns an error if the goal is not valid, or if the sample has no rows that the budget counts.
func Threshold(g metric.Goal, r *Ranking) (float64, error) {
	if err := g.Check(); err != nil {
		return 0, err
	}
	c := CriterionOf(g)
	if !g.IsBudget() {
		res, err := r.Positives(c)
		return res.Threshold, err
	}
	if r.mass(c) == 0 {
		return 0, &diag.Error{Kind: diag.Data, Found: "no rows that the budget counts", Expected: "a negative at least"}
	}
	return r.scores[r.firstOut(c, r.budget(c))], nil
}
