package report

import (
	"fmt"

	"toptau/calibrate"
	"toptau/internal/app/plot"
	"toptau/internal/core/binomial"
	"toptau/internal/core/text"
	"toptau/internal/models/wording"
	"toptau/metric"
	"toptau/model"
)

// section returns the section of an operating point: its goal, its guarantee and its decisions.
func (o *OperatingPoint) section(several bool) Section {
	s := Section{Title: "Operating point"}
	if several {
		s.Title += " " + o.Name
	}
	s.Facts = []Fact{{Name: "goal", Value: GoalText(o.Goal)},
		{Name: "decision", Value: "alert where score > " + text.Significant(o.Threshold, 6) + " (the model file has all digits)"},
		{Name: "threshold from", Value: o.Source}}
	if o.Guarantee != nil {
		s.Facts = append(s.Facts, guaranteeFacts(o.Guarantee)...)
		s.Figures = append(s.Figures, guaranteeFigure(o.Guarantee, o.Decisions)...)
	}
	s.Facts = append(append(s.Facts, o.budgetFacts()...), o.Facts...)
	if o.Note != "" {
		s.Notes = append(s.Notes, o.Note)
	}
	if o.Decisions != nil {
		s.Figures = append(s.Figures, rateFigure(o.Decisions), falseAlarmFigure(o.Decisions, o.Goal))
		s.Tables = append(s.Tables, decisionTable(o.Decisions, o.Value, o.ValueName), confusionTable(o.Decisions))
	}
	if len(o.Segments) > 0 {
		s.Tables = append(s.Tables, segmentTable(o.Segment, o.Segments))
	}
	return s
}

// budgetFacts compares the rate on these rows with the budget, if the goal has one.
func (o *OperatingPoint) budgetFacts() []Fact {
	c, tau := o.Decisions, o.Goal.Tau()
	if c == nil || !o.Goal.IsBudget() || tau.IsZero() || !c.FalsePositiveRate.Defined() {
		return nil
	}
	rate := limitedRate(c, o.Goal)
	missed := !keeps(rate, tau)
	return []Fact{{Name: "budget here", Value: text.Percent(rate) + " of " + text.Percent(tau.Float64()) +
		either(missed, ", exceeded ✗", ", kept ✓"), Missed: missed}}
}

// GoalText returns a point's goal in words. The threshold of a training problem has no goal.
func GoalText(g metric.Goal) string {
	if g == (metric.Goal{}) {
		return "the threshold of the training problem"
	}
	return g.String()
}

// boundedRate names the rate that a guarantee bounds.
func boundedRate(g *calibrate.Guarantee) string {
	if g.Kind == "top" {
		return "fraction of rows that are alerts"
	}
	return "false positive rate"
}

// EvidenceOf returns the counts behind a guarantee about precision or recall.
func EvidenceOf(g *calibrate.Guarantee) string {
	if g.Kind == metric.GoalMinRecall {
		return fmt.Sprintf("the threshold is just below score %s of %s positives in ascending order", text.Count(g.Order), text.Count(g.Rows))
	}
	last := g.Tested[len(g.Tested)-1]
	line := fmt.Sprintf("%s of %s alerts among %s calibration rows are real", text.Count(last.Real), text.Count(last.Rows), text.Count(g.Rows))
	if g.Recall != nil {
		line += "; " + EvidenceOf(g.Recall)
	}
	return line
}

// calibrationRows returns the number of calibration scores: of all rows, or of the negatives if the model
// does not contain the former.
func calibrationRows(g *calibrate.Guarantee) int {
	if g.Calibration != nil {
		return g.Calibration.Rows
	}
	return g.Negatives
}

// guaranteeFacts describes a guarantee.
func guaranteeFacts(g *calibrate.Guarantee) []Fact {
	confidence := text.Confidence(g.Delta.Float64())
	claim := fmt.Sprintf("with %s confidence the %s is at most %s", confidence, boundedRate(g), text.Percent(wording.GuaranteedLimit(g)))
	if !g.Certified {
		claim = "none: there were too few calibration rows, or they were also used for something else"
	}
	evidence := fmt.Sprintf("the threshold is calibration score %s of %s in ascending order", text.Count(g.Order),
		text.Count(calibrationRows(g)))
	if goal := (metric.Goal{Kind: g.Kind}); !goal.IsBudget() {
		claim = fmt.Sprintf("with %s confidence %s", confidence, wording.PromiseOf(g))
		evidence = EvidenceOf(g)
	}
	if !g.Rate.IsZero() {
		evidence += fmt.Sprintf("; the limit is exceeded with a probability of at most %s", text.Percent(g.Bound))
	}
	return []Fact{{Name: "guarantee", Value: claim}, {Name: "evidence", Value: evidence},
		{Name: "condition", Value: "new rows come from the same source as the calibration rows"}}
}

// guaranteeFigure shows the bound for any other limit x. If the threshold is the k-th smallest of n
// calibration scores, the rate exceeds x with probability at most P(Bin(n, 1-x) >= k).
func guaranteeFigure(g *calibrate.Guarantee, on *metric.Confusion) []plot.Figure {
	delta := g.Delta.Float64()
	n, k := calibrationRows(g), g.Order
	if n < 1 || k < 1 || k > n || !(wording.GuaranteedLimit(g) > 0) || !(delta > 0) {
		return nil
	}
	s := plot.Series{Name: "bound"}
	const steps = 120
	end := min(1, 1.6*wording.GuaranteedLimit(g))
	for i := range steps + 1 {
		x := end * float64(i) / steps
		s.X = append(s.X, x)
		s.Y = append(s.Y, binomial.AtLeast(n, k, 1-x))
	}
	p := &plot.Plot{Series: []plot.Series{s},
		X: plot.Axis{Label: boundedRate(g), Unit: plot.Percent, Min: 0, Max: end},
		Y: plot.Axis{Label: "probability of a larger true rate", Unit: plot.Percent, Min: 0, Max: 1},
		Rules: []plot.Rule{{Name: "limit " + text.Percent(wording.GuaranteedLimit(g)), At: wording.GuaranteedLimit(g)},
			{Name: "delta " + text.Percent(delta), At: delta, Horizontal: true}},
		Text: plot.Caption{Title: "How far the guarantee reaches",
			Description: fmt.Sprintf("Bound on the probability that the true %s exceeds a value, falling from 100 %% at 0 "+
				"to %s at the limit %s.", boundedRate(g), text.Percent(binomial.AtLeast(n, k, 1-wording.GuaranteedLimit(g))),
				text.Percent(wording.GuaranteedLimit(g)))}}
	if on != nil && g.Kind != "top" && on.FalsePositiveRate.Defined() && on.FalsePositiveRate.Rate <= end {
		p.Rules = append(p.Rules, plot.Rule{Name: "on the evaluated rows " + text.Percent(on.FalsePositiveRate.Rate),
			At: on.FalsePositiveRate.Rate})
	}
	return []plot.Figure{p}
}

// namedRates returns the rates of a confusion table in the order of the page.
func namedRates(c *metric.Confusion) []struct {
	Name string
	metric.Proportion
} {
	return []struct {
		Name string
		metric.Proportion
	}{{"positives found", c.TruePositiveRate}, {"precision", c.Precision}, {"false positive rate", c.FalsePositiveRate}}
}

// rateFigure shows recall and precision with their intervals. The false positive rate is too small for the
// same axis.
func rateFigure(c *metric.Confusion) plot.Figure {
	d := &plot.DotPlot{X: plot.Axis{Unit: plot.Percent, Min: 0, Max: 1}, Text: plot.Caption{
		Title:       "The threshold on the evaluated rows",
		Description: "Recall and precision at the threshold with their intervals. The table has the numbers."}}
	for _, r := range namedRates(c)[:2] {
		d.Rows = append(d.Rows, newDot(r.Name, r.Proportion))
	}
	return d
}

// newDot returns the row of a DotPlot for a proportion.
func newDot(name string, p metric.Proportion) plot.Dot {
	row := plot.Dot{Name: name, Value: p.Rate, Undefined: p.Undefined}
	if p.Interval != nil {
		row.Interval = &[2]float64{p.Interval.Low, p.Interval.High}
	}
	return row
}

// decisionTable lists the rates at the threshold.
func decisionTable(c *metric.Confusion, value *metric.Proportion, name string) Table {
	t := Table{Header: []string{"on the evaluated rows", "rate", "counts", "interval"}, Numbers: []int{1, 2}}
	for _, r := range namedRates(c) {
		t.Rows = append(t.Rows, append([]string{r.Name}, proportionCells(r.Proportion)...))
	}
	if value != nil {
		t.Rows = append(t.Rows, append([]string{name + " found"}, proportionCells(*value)...))
	}
	return t
}

// confusionTable counts rows by class and decision.
func confusionTable(c *metric.Confusion) Table {
	number := func(x float64) string { return text.Significant(x, 6) }
	return Table{Header: []string{"", "alert", "no alert", "all"}, Numbers: []int{1, 2, 3}, Rows: [][]string{
		{"positive", number(c.TruePositives), number(c.FalseNegatives), number(c.TruePositives + c.FalseNegatives)},
		{"negative", number(c.FalsePositives), number(c.TrueNegatives), number(c.FalsePositives + c.TrueNegatives)},
		{"all", number(c.TruePositives + c.FalsePositives), number(c.FalseNegatives + c.TrueNegatives),
			number(c.TruePositives + c.FalseNegatives + c.FalsePositives + c.TrueNegatives)}}}
}

// falseAlarmFigure shows the false positive rate with its interval, on an axis that fits it, and the budget.
func falseAlarmFigure(c *metric.Confusion, goal metric.Goal) plot.Figure {
	p := c.FalsePositiveRate
	high := p.Rate
	if p.Interval != nil {
		high = p.Interval.High
	}
	d := &plot.DotPlot{Text: plot.Caption{Title: "False alarms at the threshold",
		Description: "Fraction of the negatives above the threshold, with its interval. The table has the numbers."}}
	if tau := goal.Tau(); goal.Kind == metric.GoalMaxFPR && !tau.IsZero() {
		d.Rules = []plot.Rule{{Name: "budget " + text.Percent(tau.Float64()), At: tau.Float64()}}
		high = max(high, tau.Float64())
	}
	if high == 0 {
		high = 0.01
	}
	d.X = plot.Axis{Unit: plot.Percent, Min: 0, Max: min(1, 1.15*high)}
	d.Rows = []plot.Dot{newDot("false alarms", p)}
	return d
}

// proportionCells returns the cells of a rate, its counts and its interval.
func proportionCells(p metric.Proportion) []string {
	rate, interval := text.Percent(p.Rate), p.NoInterval
	if !p.Defined() {
		return []string{"none", "", p.Undefined}
	}
	if p.Interval != nil {
		interval = fmt.Sprintf("%s to %s (%s)", text.Percent(p.Interval.Low), text.Percent(p.Interval.High),
			text.Confidence(1-p.Interval.Confidence))
	}
	return []string{rate, text.Significant(p.Numerator, 6) + " of " + text.Significant(p.Denominator, 6), interval}
}

// segmentTable lists the thresholds of the segments.
func segmentTable(column string, list []model.Segment) Table {
	t := Table{Caption: "Thresholds by " + column, Header: []string{column, "threshold", "calibration rows", "guarantee"},
		Numbers: []int{1, 2}}
	for _, s := range list {
		row := []string{s.Value, text.Significant(s.Threshold, 6), "", "none"}
		if g := s.Guarantee; g != nil {
			row[2] = text.Count(g.Negatives)
			row[3] = "none"
			if g.Certified {
				row[3] = fmt.Sprintf("at most %s, confidence %s", text.Percent(wording.GuaranteedLimit(g)),
					text.Confidence(g.Delta.Float64()))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
