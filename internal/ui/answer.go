package ui

import (
	"fmt"
	"strings"

	"toptau/internal/report"
	"toptau/internal/text"
	"toptau/internal/wording"
	"toptau/metric"
	"toptau/result"
)

// budgetLines returns the table of both thresholds.
func budgetLines(b *result.Budget) []line {
	sides := []*result.BudgetSide{&b.Plain}
	if b.Certified != nil {
		sides = append(sides, b.Certified)
	}
	expected := "expected on new negatives"
	if b.Population == "all" {
		expected = "expected on new rows"
	}
	var lines []line
	add := func(name string, value func(*result.BudgetSide) string) {
		l := line{Name: name, Plain: unbroken(value(sides[0]))}
		if len(sides) > 1 {
			l.Certified = unbroken(value(sides[1]))
		}
		lines = append(lines, l)
	}
	add("alert where score >", func(s *result.BudgetSide) string { return text.Exact(s.Threshold) })
	add("alerts on these rows", func(s *result.BudgetSide) string { return text.Number(s.Alerts) })
	add("positives found", func(s *result.BudgetSide) string { return report.CountedRate(s.Found) })
	add("precision", func(s *result.BudgetSide) string { return report.CountedRate(s.Precision) })
	add("false alarms", func(s *result.BudgetSide) string { return report.CountedRate(s.FalseAlarms) })
	if b.Plain.MaxFalse != nil {
		add("false at most, without labels", func(s *result.BudgetSide) string { return text.Count(*s.MaxFalse) })
	}
	add(expected, func(s *result.BudgetSide) string {
		return fmt.Sprintf("%s, %s to %s", text.Percent(s.Expected.Rate), text.Percent(s.Expected.Low),
			text.Percent(s.Expected.High))
	})
	if b.Plain.Period == nil {
		return lines
	}
	for _, amount := range []struct {
		name string
		of   func(*result.Period) *result.Amount
	}{{"alerts a day", func(p *result.Period) *result.Amount { return &p.Alerts }},
		{"real ones among them", func(p *result.Period) *result.Amount { return &p.Real }},
		{"false ones among them", func(p *result.Period) *result.Amount { return &p.FalseAlarms }},
		{"cost a day", func(p *result.Period) *result.Amount { return p.Cost }}} {
		if amount.of(b.Plain.Period) != nil {
			add(amount.name, func(s *result.BudgetSide) string { return amountText(amount.of(s.Period)) })
		}
	}
	return lines
}

// unbroken keeps numbers together with their percent signs.
func unbroken(words string) string { return strings.ReplaceAll(words, " %", "\u00a0%") }

// amountText returns "12.3, 10.1 to 14.8".
func amountText(a *result.Amount) string {
	line := text.Number(a.Mean)
	if a.Low != nil && a.High != nil {
		line += fmt.Sprintf(", %s to %s", text.Number(*a.Low), text.Number(*a.High))
	}
	return line
}

// notes explains the guarantee and the cost of a budget.
func (s *Server) notes(b *result.Budget, a *asked) []string {
	what, rows := "of new negatives raise a false alarm", "negatives"
	if b.Population == "all" {
		what, rows = "of new rows become alerts", "rows"
	}
	enough := fmt.Sprintf("A guarantee at this budget needs %s %s; these are %s", text.Count(b.Needed), rows,
		text.Count(b.Rows))
	var notes []string
	switch {
	case b.Certified != nil:
		notes = append(notes, fmt.Sprintf("%s. With a confidence of %s at most %s %s above the certified threshold, if the budget was chosen "+
			"without a look at these rows.", enough, metric.ConfidenceText(b.Delta.Float64()),
			text.Percent(b.Goal.Tau().Float64()), what))
	case b.Needed > b.Rows:
		expected := result.NewExpected(b.Plain.Expected, false)
		expected.Population, expected.Rows = b.Population, b.Rows
		notes = append(notes, enough+": too few. Of the plain threshold: "+wording.WithoutGuarantee(b.Goal, &expected, nil)+".")
	default:
		notes = append(notes, fmt.Sprintf("%s. They cannot give one: %s.", enough, b.Reason))
	}
	if a.best != nil {
		notes = append(notes, fmt.Sprintf("The cheapest of all budgets on these rows: %s and a cost of %s, %s a row. New rows cost more than the best of "+
			"all budgets promises.", text.Plural(int(a.best.Alerts), "alert"), text.Number(a.best.Cost),
			text.Significant(a.best.Cost/float64(s.options.Explorer.Rows), 4)))
	}
	if a.costs != nil && a.perDay == 0 {
		found := b.Plain.Found
		c := a.costs.Of(metric.Confusion{TruePositives: found.Numerator, FalsePositives: b.Plain.Alerts - found.Numerator,
			FalseNegatives: found.Denominator - found.Numerator})
		notes = append(notes, fmt.Sprintf("At this budget these rows cost %s.", text.Number(c)))
	}
	return notes
}
