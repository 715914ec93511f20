package report

import (
	"fmt"

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
		{Name: "decision", Value: "alert where score > " + Number.write(o.Threshold, 6)},
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
	confidence := confidenceText(g.Delta.Float64())
	claim := fmt.Sprintf("with %s confidence the %s is at most %s", confidence, bounded(g), Percent.write(limit(g), 3))
	if !g.Certified {
		claim = "not certified: the calibration rows were too few, or were not kept for the threshold alone"
	}
	evidence := fmt.Sprintf("score number %s from the smallest of %s", significant(float64(g.Order), 3),
		count(calibrated(g), "calibration row"))
	if !g.Rate.IsZero() {
		evidence += fmt.Sprintf("; exact probability of exceeding the limit: at most %s", Percent.write(g.Bound, 3))
	}
	return []Fact{{Name: "guarantee", Value: claim}, {Name: "evidence", Value: evidence},
		{Name: "holds when", Value: "rows come from where the calibration rows came from"}}
}

// guaranteeFigure shows how sure one can be of any other limit: the probability that the rate exceeds x is at most
// P(Bin(n, 1-x) >= k) for the k-th smallest of n calibration scores.
func guaranteeFigure(g *model.Guarantee, on *metric.Confusion) []Figure {
	delta := g.Delta.Float64()
	n, k := calibrated(g), g.Order
	if n < 1 || k < 1 || k > n || !(limit(g) > 0) || !(delta > 0) {
		return nil
	}
	s := Series{Name: "bound"}
	const steps = 120
	end := min(1, 1.6*limit(g))
	for i := range steps + 1 {
		x := end * float64(i) / steps
		s.X = append(s.X, x)
		s.Y = append(s.Y, metric.BinomialAtLeast(n, k, 1-x))
	}
	p := &Plot{Series: []Series{s},
		X: Axis{Label: bounded(g), Unit: Percent, Min: 0, Max: end},
		Y: Axis{Label: "probability that the true rate is above", Unit: Percent, Min: 0, Max: 1},
		Rules: []Rule{{Name: "limit " + Percent.write(limit(g), 3), At: limit(g)},
			{Name: "delta " + Percent.write(delta, 3), At: delta, Horizontal: true}},
		Text: Caption{Title: "How far the guarantee reaches",
			Description: fmt.Sprintf("Bound on the probability that the true %s exceeds a value, falling from 100 %% at 0 "+
				"to %s at the limit %s.", bounded(g), Percent.write(metric.BinomialAtLeast(n, k, 1-limit(g)), 3),
				Percent.write(limit(g), 3))}}
	if on != nil && g.Kind != "top" && on.FalsePositiveRate.Defined() && on.FalsePositiveRate.Rate <= end {
		p.Rules = append(p.Rules, Rule{Name: "on the evaluated rows " + Percent.write(on.FalsePositiveRate.Rate, 3),
			At: on.FalsePositiveRate.Rate})
	}
	return []Figure{p}
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
func rates(c *metric.Confusion) Figure {
	d := &DotPlot{X: Axis{Unit: Percent, Min: 0, Max: 1}, Text: Caption{
		Title:       "What the threshold does on the evaluated rows",
		Description: "Recall and precision at the threshold with their intervals; the numbers stand in the table."}}
	for _, r := range named(c)[:2] {
		d.Rows = append(d.Rows, dot(r.Name, r.Proportion))
	}
	return d
}

// dot is a row of a DotPlot for a proportion.
func dot(name string, p metric.Proportion) Dot {
	row := Dot{Name: name, Value: p.Rate, Undefined: p.Undefined}
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
	rate, interval := Percent.write(p.Rate, 3), p.NoInterval
	if !p.Defined() {
		return []string{"none", "", p.Undefined}
	}
	if p.Interval != nil {
		interval = fmt.Sprintf("%s to %s (%s)", Percent.write(p.Interval.Low, 3), Percent.write(p.Interval.High, 3),
			confidenceText(1-p.Interval.Confidence))
	}
	return []string{rate, significant(p.Numerator, 6) + " of " + significant(p.Denominator, 6), interval}
}

func segments(column string, list []model.Segment) Table {
	t := Table{Caption: "Thresholds by " + column, Header: []string{column, "threshold", "calibration rows", "guarantee"},
		Numbers: []int{1, 2}}
	for _, s := range list {
		row := []string{s.Value, Number.write(s.Threshold, 6), "", "none"}
		if g := s.Guarantee; g != nil {
			row[2] = significant(float64(g.Negatives), 3)
			row[3] = "not certified"
			if g.Certified {
				row[3] = fmt.Sprintf("at most %s, confidence %s", Percent.write(limit(g), 3),
					confidenceText(g.Delta.Float64()))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
