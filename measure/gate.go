package measure

import (
	"fmt"

	"toptau/internal/core/text"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// defaultMargin is the loss that a gate accepts if Margin is not set: two percentage points. Chosen by hand (a change moves results).
var defaultMargin = threshold.MustRate("0.02")

// gate decides whether the first entry may replace the reference. Both conditions are about evidence, so too few
// rows keep the gate closed:
//
//  1. The lower end of the paired interval of the goal's criterion, new minus old, is above minus the margin.
//  2. The interval of the rate that the new model's goal bounds, at its own threshold, is not on the wrong side of the goal.
func (e *Evaluation) gate(o Options) *result.Gate {
	first := &e.Entries[0]
	margin := o.Margin
	if margin.IsZero() {
		margin = defaultMargin
	}
	g := &result.Gate{Entry: first.Name, Against: e.Against, Margin: margin.Float64(), Reasons: []string{}}
	if first.Difference == nil {
		g.Reasons = append(g.Reasons, "the new model is the one that it is compared with")
		return g
	}
	g.Difference = *first.Difference
	switch d := first.Difference; {
	case d.Undefined != "" || d.Interval == nil:
		g.Reasons = append(g.Reasons, "the difference is undefined: "+d.Undefined)
	case d.Interval.Low < -g.Margin:
		g.Reasons = append(g.Reasons, fmt.Sprintf("it may find up to %s points less than %s, more than the margin of %s",
			text.Fixed(-100*d.Interval.Low, 1), e.Against, text.Fixed(100*g.Margin, 1)))
	}
	if len(first.Points) > 0 {
		p := &first.Points[0]
		rate, what := p.Decisions.FalsePositiveRate, "of the negatives raise a false alarm"
		if p.Goal.Population() == method.AllRows {
			rate, what = p.Decisions.AlertRate, "of the rows are alerts"
		}
		if missed := missedGoal(p); missed != "" {
			g.Reasons = append(g.Reasons, missed)
		}
		if tau := p.Goal.Tau(); !tau.IsZero() && rate.Interval != nil && rate.Interval.Low > tau.Float64() {
			g.Reasons = append(g.Reasons, fmt.Sprintf("its threshold exceeds the goal of %s: %s %s (%s to %s)", text.Percent(tau.Float64()),
				text.Percent(rate.Rate), what, text.Percent(rate.Interval.Low), text.Percent(rate.Interval.High)))
		}
	}
	g.Passed = len(g.Reasons) == 0
	return g
}

// missedGoal returns why an operating point misses its lowest precision or recall, "" if the rows do not show that.
func missedGoal(p *result.Decisions) string {
	below := func(rate threshold.Rate, measured metric.Proportion, what string) string {
		if rate.IsZero() || measured.Interval == nil || measured.Interval.High >= rate.Float64() {
			return ""
		}
		return fmt.Sprintf("its threshold misses the goal of %s: %s %s (%s to %s)", text.Percent(rate.Float64()), text.Percent(measured.Rate),
			what,
			text.Percent(measured.Interval.Low), text.Percent(measured.Interval.High))
	}
	const found = "of the positives are found"
	switch p.Goal.Kind {
	case metric.GoalMinRecall:
		return below(p.Goal.Rate, p.Decisions.TruePositiveRate, found)
	case metric.GoalMinPrecision:
		if missed := below(p.Goal.Rate, p.Decisions.Precision, "of the alerts are real"); missed != "" && p.Goal.Prevalence.IsZero() {
			return missed
		}
		return below(p.Goal.Recall, p.Decisions.TruePositiveRate, found)
	}
	return ""
}
