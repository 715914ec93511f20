package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/internal/core/detmath"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// Criterion is what candidates are compared by: the fraction of positives, or of their amounts, found within a
// budget, averaged over several budgets and over the folds. Ties count against the candidate. One budget alone depends on a
// few rows; the average chooses better (docs/results/quality.md).
type Criterion struct {
	Text    string   // "mean fraction of positives found at false positive rates of 0.1 % to 5 %"
	Budgets []string // of the first fold, as criteria: "positives@np(0.001)"
}

// budgetFactors are the budgets as multiples of the goal's rate: ten steps of about the same ratio.
var budgetFactors = []float64{0.1, 0.15, 0.25, 0.4, 0.65, 1, 1.5, 2.3, 3.5, 5}

// rowBudgets are budgets in rows. They are added if the goal has no rate, or if the rows resolve fewer than
// fewLevels budgets.
var rowBudgets = []int{0, 1, 2, 4, 8}

const fewLevels = 3

// level is one budget.
type level = ranking.Criterion

// oddsFactors are the precisions as multiples of the goal's odds p / (1 - p). The average over several chooses better than one, as
// for budgets.
var oddsFactors = []float64{0.25, 0.5, 1, 2, 4}

// passingErrors is the margin, in standard errors, by which a precision must pass out of fold: one lucky row decides nothing.
const passingErrors = 1

// levels returns the budgets that the units of a part can resolve: at least one unit, and at most half of them. For a lowest
// recall these are fractions of the positives that may be missed.
func levels(g metric.Goal, negatives, positives int) []level {
	switch g.Kind {
	case metric.GoalMinPrecision:
		return precisionLevels(g.RateOn(positives, negatives))
	case metric.GoalMinRecall:
		return recallLevels(g, positives)
	}
	base := ranking.CriterionOf(g)
	rows := negatives
	if base.Name == method.AtQuantile {
		rows += positives
	}
	var list []level
	if tau := g.Tau(); !tau.IsZero() {
		for _, factor := range budgetFactors {
			rate, err := timesRate(tau, factor)
			if err == nil && rate.Floor(rows) >= 1 && (rate.Float64() <= 0.5 || factor == 1) {
				list = append(list, level{Name: base.Name, Tau: rate})
			}
		}
	}
	if len(list) >= fewLevels {
		return list
	}
	return slices.Concat(list, levelsByRows(base.Name, rows))
}

// precisionLevels returns the lowest precisions around a goal's.
func precisionLevels(rate threshold.Rate) (list []level) {
	odds := rate.Float64() / (1 - rate.Float64())
	for _, factor := range oddsFactors {
		if p, err := threshold.ParseRate(strconv.FormatFloat(float64(factor*odds)/(1+float64(factor*odds)), 'g', 6, 64)); err == nil {
			list = append(list, ranking.Precision(p))
		}
	}
	return list
}

// recallLevels returns the lowest recalls around a goal's: levels of the mirrored problem.
func recallLevels(g metric.Goal, positives int) (list []level) {
	for _, l := range levels(metric.Goal{Kind: metric.GoalMaxFPR, Rate: g.Alpha()}, positives, 0) {
		if !l.Tau.IsZero() { // a recall of 1 is no rate
			list = append(list, ranking.Recall(l.Tau.Complement()))
		}
	}
	if len(list) == 0 {
		list = append(list, ranking.Recall(g.Rate)) // nothing may be missed
	}
	return list
}

// timesRate returns a multiple of a rate as a short decimal.
func timesRate(r threshold.Rate, factor float64) (threshold.Rate, error) {
	if factor == 1 {
		return r, nil
	}
	return threshold.ParseRate(strconv.FormatFloat(factor*r.Float64(), 'g', 6, 64))
}

// levelsByRows returns the budgets of rowBudgets.
func levelsByRows(name method.Criterion, rows int) []level {
	var list []level
	for _, k := range rowBudgets {
		switch {
		case k == 0:
			list = append(list, ranking.Top())
		case 2*k < rows:
			rate, err := threshold.ParseRate(fmt.Sprintf("%d/%d", k, rows))
			if err != nil {
				continue
			}
			if name == method.AtQuantile {
				list = append(list, ranking.Quantile(rate))
			} else {
				list = append(list, ranking.NP(rate))
			}
		}
	}
	return list
}

// effectiveRows returns the number of rows of equal weight that resolve as much as these: (sum w)^2 / sum w^2, which only depends
// on ratios of weights (Kish, Survey Sampling, 1965, section 11.7). nil weights are 1 each.
func effectiveRows(weights []float64, rows int) int {
	var most, sum, squares float64
	for _, w := range weights {
		most = max(most, w)
	}
	for _, w := range weights {
		sum += w / most
		squares += float64((w / most) * (w / most))
	}
	if squares == 0 {
		return rows
	}
	return int(math.Round(sum * sum / squares))
}

// describeCriterion describes the criterion with the budgets of a fold.
func describeCriterion(list []level, o *SearchOptions, daily bool) Criterion {
	if o.Goal.Kind == metric.GoalCostAlert {
		price := exactNumber(o.Goal.Cost)
		return Criterion{Text: "highest sum of " + o.Value + " found less " + price + " for each alert, as a fraction of that of all positives",
			Budgets: []string{"profit@cost-alert(" + price + ")"}}
	}
	c := Criterion{Text: "mean fraction of positives found"}
	name := "positives@"
	if o.Value != "" {
		c.Text, name = "mean fraction of the positives' "+o.Value+" found", "value@"
	}
	for _, l := range list {
		c.Budgets = append(c.Budgets, strings.Replace(l.String(), "positives@", name, 1))
	}
	if list[0].Name == method.AtRecall {
		c.Text = "mean fraction of negatives without an alert"
	}
	first, last := text.Percent(list[0].Tau.Float64()), text.Percent(list[len(list)-1].Tau.Float64())
	switch list[0].Name {
	case method.AtTop:
		c.Text += " above all negatives, or all but a few"
	case method.AtPrecision:
		c.Text += fmt.Sprintf(" where at least %s to %s of the alerts are real", first, last)
	case method.AtRecall:
		c.Text += fmt.Sprintf(" at recalls of %s to %s", first, last)
	case method.AtQuantile:
		c.Text += fmt.Sprintf(" in the top %s to %s of the rows", first, last)
	default:
		c.Text += fmt.Sprintf(" at false positive rates of %s to %s", first, last)
	}
	if o.Entity != "" {
		c.Text += ", with one alert per " + o.Entity
		if daily {
			c.Text += " and day"
		}
	}
	return c
}

// meanCriterion returns the criterion on one fold.
func meanCriterion(g metric.Goal, r *ranked, list []level) (float64, error) {
	if g.Kind == metric.GoalCostAlert {
		profit, err := r.profit(g.Cost)
		return profit.Rate, err
	}
	var total float64
	for _, l := range list {
		var res metric.Result
		var err error
		if l.Name == method.AtPrecision {
			res = r.valued(r.Precise(l.Tau, passingErrors))
		} else if res, err = r.measure(l); err != nil {
			return 0, err
		}
		total += res.Rate // an undefined one is 0 for every candidate
	}
	return total / float64(len(list)), nil
}

// averageScore averages the criterion over the folds, which have the given number of positives together. The
// standard error is over the folds; with one fold it is that of a proportion of its positives.
func averageScore(values []float64, positives int) result.Estimate {
	mean, standardError := detmath.MeanAndError(values)
	if len(values) == 1 {
		standardError = math.Sqrt(float64(mean*(1-mean)) / float64(positives))
	}
	return result.Estimate{Mean: mean, StandardError: standardError, Folds: values}
}

// gainOf returns how much higher a is than b, compared fold by fold. With one fold the errors are taken as
// independent.
func gainOf(a, b result.Estimate) result.Estimate {
	differences := make([]float64, len(a.Folds))
	for i := range differences {
		differences[i] = a.Folds[i] - b.Folds[i]
	}
	mean, standardError := detmath.MeanAndError(differences)
	if len(differences) == 1 {
		standardError = math.Sqrt(float64(a.StandardError*a.StandardError) + float64(b.StandardError*b.StandardError))
	}
	return result.Estimate{Mean: mean, StandardError: standardError}
}
