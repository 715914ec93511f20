package summary

import (
	"fmt"
	"strings"

	"toptau/internal/core/text"
	"toptau/internal/models/wording"
	"toptau/internal/training/rowset"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
)

// Choice returns why a model was chosen: "the mean of boosting on boosted and boosting on stochastic (63.8 % ± 1.6),
// best of 2; +9.9 ± 0.4 points over logistic on raw".
func Choice(f *tune.Found) string {
	c := &f.Choice
	names := make([]string, len(c.Members))
	for i, t := range c.Members {
		names[i] = t.String()
	}
	chosen, score := f.Candidates[c.Best].String(), text.PlusMinus(c.Average.Mean, c.Average.StandardError)
	if c.Averaged {
		chosen = "the mean of " + text.List(names, "and")
	}
	var list []string
	if c.Uncertain {
		list = append(list, fmt.Sprintf("the order of the best of %d is uncertain, so %s is taken (%s)", c.Of, chosen, score))
	} else {
		list = append(list, fmt.Sprintf("%s (%s), best of %d", chosen, score, c.Of))
	}
	list = append(list, raceText("derived columns", c.DerivedGain, c.Derived)...)
	list = append(list, raceText("random trees", c.LeavesGain, c.Leaves)...)
	if c.Gain != nil {
		gain := gainText(c.Gain) + " over logistic on raw"
		switch {
		case !c.Guarded:
		case c.Gain.Mean > c.Gain.StandardError:
			gain += ", less than two standard errors with so few positives, so logistic on raw, the simplest, is kept"
		default:
			gain += ", no more than chance, so logistic on raw is kept"
		}
		list = append(list, gain)
	}
	if len(c.Collapsed) > 0 {
		list = append(list, "cannot rank because the optimum is w = 0: "+strings.Join(c.Collapsed, ", "))
	}
	switch {
	case c.Instead != nil:
		list = append(list, "no time was left to fit it, so "+c.Instead.String()+" is")
	case c.ForTime > 0:
		list = append(list, "no time was left to average more than "+text.Plural(c.ForTime, "member"))
	}
	return strings.Join(list, "; ")
}

// raceText returns what something brought that was tried with the boosters, and whether it was kept; nothing if it was not tried in all
// folds.
func raceText(name string, gain *result.Estimate, kept bool) []string {
	if gain == nil {
		return nil
	}
	end := "left out, no more than chance"
	if kept {
		end = "kept"
	}
	return []string{name + " bring " + gainText(gain) + ": " + end}
}

// gainText returns "+9.9 ± 0.4 points".
func gainText(gain *result.Estimate) string {
	return fmt.Sprintf("%s ± %s points", text.Points(gain.Mean), strings.TrimPrefix(text.Points(gain.StandardError), "+"))
}

// Threshold returns which rows gave a threshold, and whether it is guaranteed.
func Threshold(f *tune.Found) string {
	t := &f.Threshold
	unit := rowset.UnitOf(f.Units, 0)
	rows := wording.NegativeNames(unit)
	switch t.Population {
	case method.AllRows:
		rows = wording.UnitNames(unit)
	case method.Positives:
		rows = method.Positives.String()
	}
	rows = text.Count(t.Rows) + " " + rows
	switch t.Scheme {
	case tune.SchemeCertified:
		rows += " that were set aside for this"
	case tune.SchemeHeldOut:
		rows += " that were held out"
		if f.HeldBecause != "" {
			rows += ", because " + f.HeldBecause
		}
	case tune.SchemeValidation:
		rows += " of the validation part, which also chose the model"
	case tune.SchemeAllRows:
		rows += ", each scored by a fit that did not see it"
	case tune.SchemeCrossFitted:
		rows += ", each scored by a fit that did not see it, in " + text.Plural(t.CrossFolds, "fold")
	}
	switch {
	case t.Goal.Kind == metric.GoalCostAlert:
		return fmt.Sprintf("the highest profit on %s, with %s; new rows bring less than the best of all thresholds", rows,
			text.Plural(t.Rows-t.Order, "alert"))
	case t.Certified && t.Goal.Kind == metric.GoalMinPrecision:
		last := t.Guarantee.Tested[len(t.Guarantee.Tested)-1]
		return fmt.Sprintf("guaranteed with %s confidence if new rows come from the same distribution: %s of %s alerts are real, of %s",
			text.Confidence(t.Guarantee.Delta.Float64()), text.Count(last.Real), text.Count(last.Rows), rows)
	case t.Certified:
		return fmt.Sprintf("guaranteed with %s confidence if new rows come from the same distribution: score %s from the top of %s",
			text.Confidence(t.Guarantee.Delta.Float64()), text.Count(t.Rows-t.Order+1), rows)
	case t.OutOfFold:
		return fmt.Sprintf("not guaranteed: score %s from the top of %s; these rows also chose the model (docs/results/guarantee.md counts how "+
			"often such thresholds exceed the budget)", text.Count(t.Rows-t.Order+1), rows)
	}
	where := fmt.Sprintf("score %d from the top", t.Rows-t.Order+1)
	switch {
	case t.Goal.Kind == metric.GoalMinPrecision:
		where = text.Plural(t.Rows-t.Order, "alert")
	case t.Between:
		where = fmt.Sprintf("between scores %d and %d from the top", t.Rows-t.Order+1, t.Rows-t.Order+2)
	}
	expected := Expected(t)
	how := "not guaranteed"
	if t.Scheme == tune.SchemeAllRows {
		how = "estimated from all rows, not guaranteed"
	}
	return fmt.Sprintf("%s: %s of %s; %s", how, where, rows, wording.WithoutGuarantee(t.Goal, &expected, unit))
}

// Untried lists the learners on encodings that were not fitted. It adds the reason unless time was up.
func Untried(f *tune.Found) []string {
	list := []string{}
	for _, u := range f.NotTried {
		name := u.Task.String()
		if u.Reason != "" {
			name += ": " + u.Reason
		}
		list = append(list, name)
	}
	return list
}

// Expected returns the expected rate of a threshold on new rows.
func Expected(t *tune.Threshold) result.Expected {
	e := NewExpected(t.Expected, t.Refitted)
	e.Scheme, e.Population, e.Rows, e.Approximate = string(t.Scheme), t.Population.String(), t.Rows, t.Approximate
	return e
}
