package report

import (
	"fmt"

	"toptau/internal/binomial"
	"toptau/internal/plot"
	"toptau/internal/text"
	"toptau/metric"
	"toptau/model"
)

// section tells an operating point: what it is for, what is promised, what it did.
func (o *OperatingPoint) section(several bool) Section {
	s := Section{Title: "Operating point"}
	if several {
		s.Title += " " + o.Name
	}
	s.Facts = []Fact{{Name: "goal", Value: GoalText(o.Goal)},
		{Name: "decision", Value: "alert where score > " + text.Significant(o.Threshold, 6)},
		{Name: "threshold from", Value: o.Source}}
	if o.Guarantee != nil {
		s.Facts = append(s.Facts, guaranteeFacts(o.Guarantee)...)
		s.Figures = append(s.Figures, guaranteeFigure(o.Guarantee, o.Decisions)...)
	}
	s.Facts = append(s.Facts, o.Facts...)
	if o.Decisions != nil {
		s.Figures = append(s.Figures, rates(o.Decisions))
		s.Tables = append(s.Tables, decisions(o.Decisions))
	}
	if len(o.Segments) > 0 {
		s.Tables = append(s.Tables, segments(o.Segment, o.Segments))
	}
	return s
}

// GoalText returns a point's goal in words; a threshold that came with a training problem has none.
func GoalText(g metric.Goal) string {
	if g == (metric.Goal{}) {
		return "the threshold of the training problem"
	}
	return g.String()
}

// bounded is the name of the rate that a guarantee is about.
func bounded(g *model.Guarantee) string {
	if g.Kind == "top" {
		return "share of rows that are alerts"
	}
	return "false positive rate"
}

// limit is the rate that holds with confidence 1 - delta: the one asked for, or for the absolute top the one that follows.
func limit(g *model.Guarantee) float64 {
	if g.Rate.IsZero() {
		return g.Bound
	}
	return g.Rate.Float64()
}

// calibrated is the number of calibration scores: of negatives, or for a share of all rows of all of them, which older models
// did not keep.
func calibrated(g *model.Guarantee) int {
	if g.Calibration != nil {
		return g.Calibration.Rows
	}
	return g.Negatives
}

func guaranteeFacts(g *model.Guarantee) []Fact {
	confidence := metric.ConfidenceText(g.Delta.Float64())
	claim := fmt.Sprintf("with %s confidence the %s is at most %s", confidence, bounded(g), text.Percent(limit(g)))
	if !g.Certified {
		claim = "not certified: the calibration rows were too few, or were not kept for the threshold alone"
	}
	evidence := fmt.Sprintf("score number %s from the smallest of %s", text.Count(g.Order),
		text.Plural(calibrated(g), "calibration row"))
	if !g.Rate.IsZero() {
		evidence += fmt.Sprintf("; exact probability of exceeding the limit: at most %s", text.Percent(g.Bound))
	}
	return []Fact{{Name: "guarantee", Value: claim}, {Name: "evidence", Value: evidence},
		{Name: "holds when", Value: "rows come from where the calibration rows came from"}}
}

// guaranteeFigure shows how sure one can be of any other limit: the probability that the rate exceeds x is at most
// P(Bin(n, 1-x) >= k) for the k-th smallest of n calibration scores.
func guaranteeFigure(g *model.Guarantee, on *metric.Confusion) []plot.Figure {
	delta := g.Delta.Float64()
	n, k := calibrated(g), g.Order
	if n < 1 || k < 1 || k > n || !(limit(g) > 0) || !(delta > 0) {
		return nil
	}
	s := plot.Series{Name: "bound"}
	const steps = 120
	end := min(1, 1.6*limit(g))
	for i := range steps + 1 {
		x := end * float64(i) / steps
		s.X = append(s.X, x)
		s.Y = append(s.Y, binomial.AtLeast(n, k, 1-x))
	}
	p := &plot.Plot{Series: []plot.Series{s},
		X: plot.Axis{Label: bounded(g), Unit: plot.Percent, Min: 0, Max: end},
		Y: plot.Axis{Label: "probability that the true rate is above", Unit: plot.Percent, Min: 0, Max: 1},
		Rules: []plot.Rule{{Name: "limit " + text.Percent(limit(g)), At: limit(g)},
			{Name: "delta " + text.Percent(delta), At: delta, Horizontal: true}},
		Text: plot.Caption{Title: "How far the guarantee reaches",
			Description: fmt.Sprintf("Bound on the probability that the true %s exceeds a value, falling from 100 %% at 0 "+
				"to %s at the limit %s.", bounded(g), text.Percent(binomial.AtLeast(n, k, 1-limit(g))),
				text.Percent(limit(g)))}}
	if on != nil && g.Kind != "top" && on.FalsePositiveRate.Defined() && on.FalsePositiveRate.Rate <= end {
		p.Rules = append(p.Rules, plot.Rule{Name: "on the evaluated rows " + text.Percent(on.FalsePositiveRate.Rate),
			At: on.FalsePositiveRate.Rate})
	}
	return []plot.Figure{p}
}

// named are the rates of a confusion table in the order in which they are told.
func named(c *metric.Confusion) []struct {
	Name string
	metric.Proportion
} {
	return []struct {
		Name string
		metric.Proportion
	}{{"positives found", c.TruePositiveRate}, {"precision", c.Precision}, {"false positive rate", c.FalsePositiveRate}}
}

// rates shows the rates with their intervals; the false positive rate, small by intent, only in the table.
func rates(c *metric.Confusion) plot.Figure {
	d := &plot.DotPlot{X: plot.Axis{Unit: plot.Percent, Min: 0, Max: 1}, Text: plot.Caption{
		Title:       "What the threshold does on the evaluated rows",
		Description: "Recall and precision at the threshold with their intervals; the numbers stand in the table."}}
	for _, r := range named(c)[:2] {
		d.Rows = append(d.Rows, dot(r.Name, r.Proportion))
	}
	return d
}

// dot is a row of a DotPlot for a proportion.
func dot(name string, p metric.Proportion) plot.Dot {
	row := plot.Dot{Name: name, Value: p.Rate, Undefined: p.Undefined}
	if p.Interval != nil {
		row.Interval = &[2]float64{p.Interval.Low, p.Interval.High}
	}
	return row
}

func decisions(c *metric.Confusion) Table {
	t := Table{Header: []string{"on the evaluated rows", "rate", "counts", "interval"}, Numbers: []int{1, 2}}
	for _, r := range named(c) {
		t.Rows = append(t.Rows, append([]string{r.Name}, proportionCells(r.Proportion)...))
	}
	return t
}

// proportionCells are the rate, the counts behind it and the interval.
func proportionCells(p metric.Proportion) []string {
	rate, interval := text.Percent(p.Rate), p.NoInterval
	if !p.Defined() {
		return []string{"none", "", p.Undefined}
	}
	if p.Interval != nil {
		interval = fmt.Sprintf("%s to %s (%s)", text.Percent(p.Interval.Low), text.Percent(p.Interval.High),
			metric.ConfidenceText(1-p.Interval.Confidence))
	}
	return []string{rate, text.Significant(p.Numerator, 6) + " of " + text.Significant(p.Denominator, 6), interval}
}

func segments(column string, list []model.Segment) Table {
	t := Table{Caption: "Thresholds by " + column, Header: []string{column, "threshold", "calibration rows", "guarantee"},
		Numbers: []int{1, 2}}
	for _, s := range list {
		row := []string{s.Value, text.Significant(s.Threshold, 6), "", "none"}
		if g := s.Guarantee; g != nil {
			row[2] = text.Count(g.Negatives)
			row[3] = "not certified"
			if g.Certified {
				row[3] = fmt.Sprintf("at most %s, confidence %s", text.Percent(limit(g)),
					metric.ConfidenceText(g.Delta.Float64()))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
