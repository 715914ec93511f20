package ranking

import (
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
