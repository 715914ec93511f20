package report

import (
	"fmt"
	"strings"

	"toptau/internal/plot"
	"toptau/internal/text"
	"toptau/metric"
	"toptau/model"
)

// Findings is what is known about one model. Fill what there is; Page leaves out what is missing.
type Findings struct {
	Title   string   // "": "Classification at the top"
	Lead    string   // the goal in words
	Summary []string // about ten lines for a manager

	Points []OperatingPoint // the first is the one that the summary speaks of
	Budget *Budget          // the goal as a line in the figures; nil: none

	// Curves on the evaluated rows: the model's first, then those to compare with.
	ROC    []Curve // X false positive rate, Y true positive rate
	PR     []Curve // X recall, Y precision
	PTau   []Curve // X tau, Y precision in the top tau
	Recall []Curve // X budget as a share of all rows, Y recall
	Zoom   float64 // where the second P-tau figure ends; 0: 0.01

	Scores     *plot.Histogram // see HistogramOf; its missing texts are filled in
	Comparison *Comparison
	Shapes     []Shape   // the main columns' curves, the most important first
	Data       []Fact    // rows, schema, digest
	Model      []Fact    // method, hyperparameters, seed, certificate
	Sections   []Section // more sections, shown before the data
	Warnings   []string
}

// Budget is a limit on the false positive rate or on the share of all rows that may be alerts.
type Budget struct {
	Name   string // "budget 0.1 %"
	Rate   float64
	OfRows bool // a share of all rows; otherwise of the negatives
}

// Curve is a line over a rate with its name: "this model". Points are pairs of X and Y, ascending in X.
type Curve struct {
	Name      string
	Points    [][2]float64
	Low, High []float64 // a band around Y, one value for each point; nil: none
}

// CurveOf takes a curve from package metric. A curve of many points should be thinned with Corners and Downsample first.
func CurveOf(name string, c metric.Curve) Curve {
	out := Curve{Name: name}
	for _, p := range c.Points {
		out.Points = append(out.Points, [2]float64{p.X, p.Y})
	}
	return out
}

// OperatingPoint is a threshold of the model, with what it does to labelled rows.
type OperatingPoint struct {
	model.Point
	Decisions *metric.Confusion // nil: there are no labelled rows
	Facts     []Fact            // further ones
}

// Shape is the contribution of one column to the score: a curve over its values, or a value for each category.
type Shape struct {
	Column     string
	X, Y       []float64
	Categories []string // with Y one value each; X is then unused
	Effect     float64  // the standard deviation of the contribution over the rows; 0: not shown
}

// Page makes the page. Sections follow the order in which the questions arise: what was chosen, what it promises, how
// good it is, against what, why, on which data.
func (f *Findings) Page() Page {
	p := Page{Title: f.Title, Lead: f.Lead, Summary: f.Summary,
		Footer: "Made by toptau. This page needs no network: text, tables and figures are all in this file."}
	if p.Title == "" {
		p.Title = "Classification at the top"
	}
	p.Sections = append(p.Sections, Section{Title: "Warnings", Warnings: f.Warnings})
	for i := range f.Points {
		p.Sections = append(p.Sections, f.Points[i].section(len(f.Points) > 1))
	}
	p.Sections = append(p.Sections, f.quality(), f.scores())
	if f.Comparison != nil {
		p.Sections = append(p.Sections, f.Comparison.section())
	}
	p.Sections = append(p.Sections, shapes(f.Shapes))
	p.Sections = append(p.Sections, f.Sections...)
	p.Sections = append(p.Sections, Section{Title: "Data", Facts: f.Data}, Section{Title: "Model", Facts: f.Model})
	return p
}

// quality is the section of the curves.
func (f *Findings) quality() Section {
	s := Section{Title: "Quality over all budgets"}
	for _, figure := range []*plot.Plot{f.roc(), f.recall(), f.pr(), f.pTau(0), f.pTau(f.zoom())} {
		if figure != nil {
			s.Figures = append(s.Figures, figure)
		}
	}
	return s
}

func (f *Findings) zoom() float64 {
	if f.Zoom > 0 && f.Zoom < 1 {
		return f.Zoom
	}
	return 0.01
}

func (f *Findings) roc() *plot.Plot {
	p := curves(f.ROC, plot.Step)
	if p == nil {
		return nil
	}
	p.Text = plot.Caption{Title: "Positives found against false alarms",
		Note: "ROC with a logarithmic axis: the left part, where budgets lie, gets the room. Steps: what is reached " +
			"without exceeding the rate below.",
		Description: "ROC curve: true positive rate over the false positive rate on a logarithmic axis. " + ends(f.ROC)}
	p.X = plot.Axis{Label: "false positive rate", Unit: plot.Percent, Scale: plot.Logarithmic}
	p.Y = plot.Axis{Label: "true positive rate (recall)", Unit: plot.Percent, Min: 0, Max: 1}
	f.budget(p, false)
	f.working(p, func(c *metric.Confusion) (x, y float64) { return c.FalsePositiveRate.Rate, c.TruePositiveRate.Rate })
	chance := plot.Series{Name: "chance", Style: plot.Reference}
	low := 1.0
	for _, s := range p.Series {
		for _, x := range s.X {
			if x > 0 {
				low = min(low, x)
			}
		}
	}
	for rate := 1.0; rate >= low; rate *= 0.8 { // a diagonal is bent on a logarithmic axis
		chance.X, chance.Y = append(chance.X, rate), append(chance.Y, rate)
	}
	p.Series = append(p.Series, chance)
	return p
}

func (f *Findings) recall() *plot.Plot {
	p := curves(f.Recall, plot.Line)
	if p == nil {
		return nil
	}
	p.Text = plot.Caption{Title: "Positives found against the budget",
		Description: "Recall over the share of all rows that are alerts, on a logarithmic axis. " + ends(f.Recall)}
	if len(f.Recall[0].Low) > 0 {
		p.Text.Note = "Bands: the interval at each budget by itself."
	}
	p.X = plot.Axis{Label: "alerts as a share of all rows", Unit: plot.Percent, Scale: plot.Logarithmic}
	p.Y = plot.Axis{Label: "recall", Unit: plot.Percent, Min: 0, Max: 1}
	f.budget(p, true)
	return p
}

func (f *Findings) pr() *plot.Plot {
	p := curves(f.PR, plot.Line)
	if p == nil {
		return nil
	}
	p.Text = plot.Caption{Title: "Precision against recall",
		Description: "Precision over recall. " + ends(f.PR)}
	p.X = plot.Axis{Label: "recall", Unit: plot.Percent, Min: 0, Max: 1}
	p.Y = plot.Axis{Label: "precision", Unit: plot.Percent, Min: 0, Max: 1}
	f.working(p, func(c *metric.Confusion) (x, y float64) { return c.TruePositiveRate.Rate, c.Precision.Rate })
	return p
}

// pTau is the P-tau curve up to the end of the x axis; 0 means all of it.
func (f *Findings) pTau(end float64) *plot.Plot {
	p := curves(f.PTau, plot.Line)
	if p == nil {
		return nil
	}
	p.Text = plot.Caption{Title: "Precision in the top tau of all rows",
		Description: "P-tau curve: precision among the share tau of rows with the highest scores. " + ends(f.PTau)}
	p.X = plot.Axis{Label: "tau, share of all rows", Unit: plot.Percent, Min: 0, Max: 1}
	p.Y = plot.Axis{Label: "precision", Unit: plot.Percent, Min: 0, Max: 1}
	if end > 0 {
		p.X.Max = end
		p.Text.Title = fmt.Sprintf("The same, up to tau = %s", text.Percent(end))
	}
	f.budget(p, true)
	return p
}

// curves makes the series of a figure; nil without points.
func curves(list []Curve, draw plot.Draw) *plot.Plot {
	p := &plot.Plot{}
	points := 0
	for _, c := range list {
		s := plot.Series{Name: c.Name, Draw: draw, Low: c.Low, High: c.High}
		for _, q := range c.Points {
			s.X, s.Y = append(s.X, q[0]), append(s.Y, q[1])
		}
		points += len(c.Points)
		p.Series = append(p.Series, s)
	}
	if points == 0 {
		return nil
	}
	return p
}

// budget draws the goal where the axis is the rate that it limits.
func (f *Findings) budget(p *plot.Plot, ofRows bool) {
	if f.Budget == nil || f.Budget.OfRows != ofRows || f.Budget.Rate <= 0 || !p.X.Covers(f.Budget.Rate) {
		return
	}
	p.Rules = append(p.Rules, plot.Rule{Name: f.Budget.Name, At: f.Budget.Rate})
}

// working rings the operating point.
func (f *Findings) working(p *plot.Plot, at func(*metric.Confusion) (x, y float64)) {
	if len(f.Points) == 0 || f.Points[0].Decisions == nil {
		return
	}
	c := f.Points[0].Decisions
	if !c.TruePositiveRate.Defined() || !c.FalsePositiveRate.Defined() || !c.Precision.Defined() {
		return
	}
	x, y := at(c)
	p.Series = append(p.Series, plot.Series{Name: "the model's threshold", Draw: plot.Points, Style: plot.Highlight,
		X: []float64{x}, Y: []float64{y}})
}

// ends says in words where curves start and end.
func ends(list []Curve) string {
	var parts []string
	for _, c := range list {
		if len(c.Points) == 0 {
			continue
		}
		first, last := c.Points[0], c.Points[len(c.Points)-1]
		name := c.Name
		if name == "" {
			name = "The curve"
		}
		parts = append(parts, fmt.Sprintf("%s: from %s at %s to %s at %s.", name, text.Percent(first[1]),
			text.Percent(first[0]), text.Percent(last[1]), text.Percent(last[0])))
	}
	return strings.Join(parts, " ")
}

// scores is the section of the histogram.
func (f *Findings) scores() Section {
	s := Section{Title: "Scores"}
	if f.Scores == nil {
		return s
	}
	h := *f.Scores
	if h.Text.Title == "" {
		h.Text.Title = "Scores by class"
	}
	if h.Text.Description == "" {
		h.Text.Description = "Histogram of the scores of negatives and positives, each as shares of its class."
		if h.Threshold != nil {
			h.Text.Description += " The threshold is " + text.Significant(*h.Threshold, 4) + "."
		}
	}
	s.Figures = []plot.Figure{&h}
	return s
}

// shapes is the section of the columns' contributions.
func shapes(list []Shape) Section {
	s := Section{Title: "What the main columns add to the score", Small: true}
	for _, shape := range list {
		s.Figures = append(s.Figures, shape.figure())
	}
	return s
}

func (s *Shape) figure() plot.Figure {
	caption := plot.Caption{Title: s.Column, Description: "Contribution of " + s.Column + " to the score over its values."}
	if s.Effect != 0 {
		caption.Note = "standard deviation of its contribution: " + text.Number(s.Effect)
	}
	if len(s.Categories) > 0 {
		d := &plot.DotPlot{Text: caption, X: plot.Axis{Label: "contribution"}, Rules: []plot.Rule{{At: 0}}}
		for i := range min(len(s.Categories), len(s.Y)) {
			d.Rows = append(d.Rows, plot.Dot{Name: s.Categories[i], Value: s.Y[i]})
		}
		return d
	}
	return &plot.Plot{Text: caption, Height: 130, X: plot.Axis{Label: "value"}, Y: plot.Axis{Label: "contribution"},
		Series: []plot.Series{{X: s.X, Y: s.Y}}, Rules: []plot.Rule{{At: 0, Horizontal: true}}}
}
