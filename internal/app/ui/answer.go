package ui

import (
	"fmt"
	"strings"

	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/internal/models/wording"
	"toptau/internal/training/summary"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
)

// Columns of the table of answers.
const (
	plainColumn     = "plain threshold"
	certifiedColumn = "with a guarantee"
)

func ownColumn(own *model.Point) string { return "the model's own, of its point " + own.Name }

// ownPoint returns the model's default point, nil without a model.
func (s *Server) ownPoint() *model.Point {
	x := s.options.Explorer
	if len(x.Points) == 0 {
		return nil
	}
	p, _ := x.Model().Point(x.Points[0].Name)
	return &p
}

// budgetTable returns the table of the thresholds: the plain one, the certified one and the model's own, if there are such.
// The model's may be one for each segment.
func budgetTable(b *result.Budget, own *model.Point) (columns []string, lines []line) {
	columns, sides := []string{plainColumn}, []*result.BudgetSide{&b.Plain}
	if b.Certified != nil {
		columns, sides = append(columns, certifiedColumn), append(sides, b.Certified)
	}
	if b.Own != nil {
		columns, sides = append(columns, ownColumn(own)), append(sides, b.Own)
	}
	add := func(name string, value func(*result.BudgetSide) string) {
		l := line{Name: name}
		for _, side := range sides {
			l.Values = append(l.Values, unbroken(value(side)))
		}
		lines = append(lines, l)
	}
	add("alert if the score is above", func(s *result.BudgetSide) string {
		if s == b.Own && len(own.Segments) > 0 {
			return "one for each segment"
		}
		return text.Exact(s.Threshold)
	})
	add("alerts on these rows", func(s *result.BudgetSide) string { return text.Number(s.Alerts) })
	add("positives found", func(s *result.BudgetSide) string { return report.CountedRate(s.Found) })
	add("precision", func(s *result.BudgetSide) string { return report.CountedRate(s.Precision) })
	add("false alarms", func(s *result.BudgetSide) string { return report.CountedRate(s.FalseAlarms) })
	expected := "expected on new negatives"
	if b.Population == "all" {
		expected = "expected on new rows"
	}
	add(expected, func(s *result.BudgetSide) string {
		if s.Expected.Confidence == 0 {
			return text.Percent(s.Expected.Rate)
		}
		return fmt.Sprintf("%s, %s to %s", text.Percent(s.Expected.Rate), text.Percent(s.Expected.Low), text.Percent(s.Expected.High))
	})
	if b.Plain.Period == nil {
		return columns, lines
	}
	for _, amount := range []struct {
		name string
		of   func(*result.Period) *result.Amount
	}{{"alerts a day", func(p *result.Period) *result.Amount { return &p.Alerts }},
		{"real alerts a day", func(p *result.Period) *result.Amount { return &p.Real }},
		{"false alerts a day", func(p *result.Period) *result.Amount { return &p.FalseAlarms }},
		{"cost a day", func(p *result.Period) *result.Amount { return p.Cost }}} {
		if amount.of(b.Plain.Period) != nil {
			add(amount.name, func(s *result.BudgetSide) string { return amountText(amount.of(s.Period)) })
		}
	}
	return columns, lines
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
	enough := fmt.Sprintf("A guarantee for this budget needs at least %s %s, and these rows have %s", text.Count(b.Needed), rows, text.Count(b.Rows))
	var notes []string
	if b.Plain.MaxFalse != nil {
		notes = append(notes, fmt.Sprintf("Even without a label here: at most %s of the %s above the plain threshold are false, with 95 %% confidence. "+
			"That follows from the scores of the model's calibration negatives, if these rows come from the same source.",
			text.Count(*b.Plain.MaxFalse), text.Plural(int(b.Plain.Alerts), "alert")))
	}
	switch {
	case b.Certified != nil:
		notes = append(notes, fmt.Sprintf("%s. With %s confidence at most %s %s at the threshold with a guarantee, if the budget was chosen "+
			"before anyone looked at these rows.", enough, text.Confidence(b.Delta.Float64()),
			text.Percent(b.Goal.Tau().Float64()), what))
	case b.Needed > b.Rows:
		expected := summary.NewExpected(b.Plain.Expected, false)
		expected.Population, expected.Rows = b.Population, b.Rows
		notes = append(notes, enough+", too few. For the plain threshold: "+wording.WithoutGuarantee(b.Goal, &expected, nil)+".")
	default:
		notes = append(notes, fmt.Sprintf("%s. They still cannot give one: %s.", enough, b.Reason))
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
