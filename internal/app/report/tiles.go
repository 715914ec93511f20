package report

import (
	"fmt"

	"toptau/internal/core/text"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// tilesOf returns the answer in three numbers: positives found, real alerts, and false alarms or what the goal limits instead. expected is
// the rate that the goal limits, nil if the decisions have it.
func tilesOf(c *metric.Confusion, goal metric.Goal, expected *result.Expected) []Tile {
	if !c.TruePositiveRate.Defined() || !c.FalsePositiveRate.Defined() {
		return nil
	}
	found := Tile{Name: "positives found", Value: text.Percent(c.TruePositiveRate.Rate), Detail: countsText(c.TruePositiveRate)}
	if goal.Kind == metric.GoalMinRecall || !goal.Recall.IsZero() {
		limit := goal.Recall.Float64()
		if goal.Kind == metric.GoalMinRecall {
			limit = goal.Rate.Float64()
		}
		found.judge(c.TruePositiveRate.Rate >= limit, fmt.Sprintf("goal %s; ", text.Percent(limit)))
	}
	real := Tile{Name: "of 1,000 alerts are real", Value: "none", Detail: "nothing scores above the threshold"}
	if p := c.Precision; p.Defined() {
		real.Value, real.Detail = text.Fixed(1000*p.Rate, 0), countsText(p)
		if goal.Kind == metric.GoalMinPrecision {
			real.judge(p.Rate >= goal.Rate.Float64(), fmt.Sprintf("goal %s; ", text.Fixed(1000*goal.Rate.Float64(), 0)))
		}
	}
	return []Tile{found, real, limitTile(c, goal, expected)}
}

// limitTile returns the rate that the goal limits, against the budget, or else the rate of false alarms.
func limitTile(c *metric.Confusion, goal metric.Goal, expected *result.Expected) Tile {
	t := Tile{Name: "false alarms", Value: text.Percent(c.FalsePositiveRate.Rate), Detail: countsText(c.FalsePositiveRate)}
	tau := goal.Tau()
	if !goal.IsBudget() || tau.IsZero() {
		return t
	}
	rate := limitedRate(c, goal)
	if goal.Population() == method.AllRows {
		t = Tile{Name: "alerts, of all rows", Value: text.Percent(rate)}
	}
	if e := expected; e != nil {
		rate = e.Rate
		t.Name, t.Value, t.Detail = t.Name+" expected", text.Percent(rate), "from "+text.Plural(e.Rows, scoresOf(e.Scheme))
	}
	t.judge(keeps(rate, tau), "budget "+text.Percent(tau.Float64())+either(t.Detail == "", "", "; "))
	return t
}

// limitedRate returns the rate that a budget limits: of false alarms, or of alerts among all rows.
func limitedRate(c *metric.Confusion, goal metric.Goal) float64 {
	if goal.Population() == method.AllRows {
		return c.AlertRate.Rate
	}
	return c.FalsePositiveRate.Rate
}

// keeps reports whether a rate is within a budget, but for rounding.
func keeps(rate float64, budget threshold.Rate) bool { return rate <= budget.Float64()+1e-9 }

// scoresOf names the scores from which a rate is expected.
func scoresOf(s string) string {
	switch tune.Scheme(s) {
	case tune.SchemeAllRows, tune.SchemeCrossFitted:
		return "out-of-fold score"
	case tune.SchemeValidation:
		return "validation score"
	}
	return "held-out score"
}

// judge compares a tile with the goal, which it names before the detail.
func (t *Tile) judge(kept bool, goal string) {
	t.Verdict, t.Detail = either(kept, "kept", "missed"), goal+t.Detail
}

// countsText returns the counts of a rate and its interval.
func countsText(p metric.Proportion) string {
	line := text.Number(p.Numerator) + " of " + text.Number(p.Denominator)
	if i := p.Interval; i != nil {
		line += fmt.Sprintf("; %s to %s", text.Percent(i.Low), text.Percent(i.High))
	}
	return line
}
