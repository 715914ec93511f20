package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/calibrate"
	"toptau/internal/app/plot"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
)

// Findings are the results about one model. Every field is optional, and Page leaves out empty ones.
type Findings struct {
	Title   string   // default "Classification at the top"
	About   []string // model, file and date
	Lead    string   // the goal in words
	Summary []string // about ten lines for a manager
	Claim   string   // the one of them about the guarantee; "": none
	// Expected is the rate that the goal limits, expected on new rows; nil: the decisions of the first point have it
	Expected *result.Expected

	Goal   metric.Goal      // what the first point is measured against; zero: its own goal
	Points []OperatingPoint // the summary describes the first
	Budget *Budget          // the goal, a line in the figures; nil if there is none

	// Curves on the evaluated rows: first the model's, then those of other models.
	ROC     []Curve // X false positive rate, Y true positive rate
	PR      []Curve // X recall, Y precision
	PTau    []Curve // X tau, Y precision in the top tau
	Recall  []Curve // X budget as a fraction of all rows, Y recall
	Budgets Budgets // what budgets find

	Reliability []calibrate.Reliability // of the model's probabilities; nil if it has none
	Learning    []result.LearningPoint  // models of fewer rows; nil if there are none
	Zoom        float64                 // largest tau of the second P-tau figure (default 0.01)

	Scores     *plot.Histogram // see plot.HistogramOf; empty texts get a default
	Comparison *Comparison
	Shapes     []Shape     // curves of the main columns, the most important first
	Pairs      []PairShape // of a model whose trees read two columns, the most important first
	By         []result.Breakdown
	Examples   []result.Example
	Data       []Fact    // rows, schema, digest
	Model      []Fact    // method, hyperparameters, seed, certificate
	Sections   []Section // more sections, shown before the data
	Warnings   []string
}

// Budget is a limit on the false positive rate or on the fraction of all rows that are alerts.
type Budget struct {
	Name   string // "budget 0.1 %"
	Rate   float64
	OfRows bool // Rate is a fraction of all rows, not of the negatives
}

// Curve is a named line over a rate. Points are pairs of X and Y, ascending in X.
type Curve struct {
	Name      string
	Points    [][2]float64
	Low, High []float64 // a band around Y, one value per point; nil if there is none
}

// CurveOf converts a curve of package metric. Thin a curve with many points with Corners and Downsample
// first.
func CurveOf(name string, c ranking.Curve) Curve {
	out := Curve{Name: name}
	for _, p := range c.Points {
		out.Points = append(out.Points, [2]float64{p.X, p.Y})
	}
	return out
}

// OperatingPoint is a threshold of the model, with its decisions on labelled rows.
type OperatingPoint struct {
	model.Point
	Decisions *metric.Confusion  // nil without labelled rows
	Value     *metric.Proportion // fraction of an amount that is found; nil if there is no column of amounts
	ValueName string             // its column
	Facts     []Fact             // added to those about the point
	Note      string             // how the decisions were measured; "": they are those of the rows
}

// MaxShapeRows is the largest number of rows that measure the effects of columns in ui. Chosen by hand.
const MaxShapeRows = 20000

// Shape is the contribution of one column to the score: a curve over its values, or one value per category.
type Shape struct {
	Column     string
	X, Y       []float64
	Categories []string // with one value of Y each, and without X
	Steps      bool     // the contribution is exactly a step function: Y[i] from X[i] to X[i+1]
	Effect     float64  // standard deviation of the contribution over the rows; 0 if unknown
}

// PairShape is what two columns add to the score together, which is constant in each cell of a grid.
type PairShape struct {
	Columns [2]string
	X, Y    []float64   // edges of the cells
	Values  [][]float64 // by row from Y[0] up, around their mean over the rows
	Effect  float64     // standard deviation over the rows
}

// Page returns the page. The tiles have the answer. The sections, which are folded, answer in this order: which threshold, which
// guarantee, how good, compared with which models, which columns matter, which data.
func (f *Findings) Page() Page {
	p := Page{Chart: f.chart(), Title: f.Title, Lead: f.Lead, About: f.About, Tiles: f.tiles(), Claim: f.Claim, Summary: f.Summary,
		Explorer: f.explorer(),
		Footer:   "Made by toptau. This file contains all text, tables and figures, and needs no network."}
	if p.Title == "" {
		p.Title = "Classification at the top"
	}
	p.Sections = append(p.Sections, Section{Title: "Notes", Warnings: f.Warnings, Unfolded: true})
	for i := range f.Points {
		p.Sections = append(p.Sections, f.Points[i].section(len(f.Points) > 1))
	}
	groups := breakdownSection(f.By)
	if len(f.Points) > 0 {
		if line := differencesText(f.By, f.Points[0].Decisions); line != "" {
			groups.Paragraphs = append(groups.Paragraphs, line)
		}
	}
	p.Sections = append(p.Sections, f.Budgets.section(), groups, exampleSection(f.Examples), f.curveSection())
	if f.Comparison != nil {
		p.Sections = append(p.Sections, f.Comparison.section())
	}
	p.Sections = append(p.Sections, reliabilitySection(f.Reliability), learningSection(f.Learning), shapeSection(f.Shapes),
		pairSection(f.Pairs))
	p.Sections = append(p.Sections, f.Sections...)
	p.Sections = append(p.Sections, Section{Title: "Data", Facts: f.Data}, Section{Title: "Model", Facts: f.Model})
	return p
}

// tiles returns the answer of the first point in three numbers, nil without decisions.
func (f *Findings) tiles() []Tile {
	if len(f.Points) == 0 || f.Points[0].Decisions == nil {
		return nil
	}
	goal := f.Goal
	if goal == (metric.Goal{}) {
		goal = f.Points[0].Goal
	}
	return tilesOf(f.Points[0].Decisions, goal, f.Expected)
}

// ofRows reports whether the goal limits a fraction of all rows.
func (f *Findings) ofRows() bool { return f.Budget != nil && f.Budget.OfRows }

// chart returns the figure of the first screen, nil for none: positives found against what the goal limits.
func (f *Findings) chart() plot.Figure {
	roc, recall := f.ROCPlot(), f.RecallPlot()
	switch {
	case recall != nil && (f.ofRows() || roc == nil):
		return recall
	case roc != nil:
		return roc
	}
	return nil
}

// explorer returns the slider, which starts at the alerts of the first point; nil for none.
func (f *Findings) explorer() *Explorer {
	e := f.Budgets.Explorer
	if e == nil || len(f.Points) == 0 || f.Points[0].Decisions == nil {
		return e
	}
	started, rate := *e, f.Points[0].Decisions.AlertRate.Rate
	for i := range e.Rows {
		if math.Abs(e.Rows[i].Fraction-rate) <= math.Abs(e.Rows[started.Start].Fraction-rate) {
			started.Start = i
		}
	}
	return &started
}

// curveSection returns the section of the curves.
func (f *Findings) curveSection() Section {
	s := Section{Title: "Quality over all budgets"}
	second := f.RecallPlot() // the first screen has the other one
	if f.ofRows() {
		second = f.ROCPlot()
	}
	for _, figure := range []*plot.Plot{second, f.prPlot(), f.pTauPlot(f.zoomEnd())} {
		if figure != nil && !flat(figure) {
			s.Figures = append(s.Figures, figure)
		}
	}
	if h := f.ScorePlot(); h != nil {
		s.Figures = append(s.Figures, h)
	}
	return s
}

// minRise is the height of a curve, as a fraction of its axis, below which a figure only shows a flat line. Chosen by hand.
const minRise = 0.05

// flat reports whether the lines of a figure are level on its axes.
func flat(p *plot.Plot) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range p.Series {
		s := &p.Series[i]
		for k, y := range s.Y {
			if s.Draw != plot.Points && s.Style >= 0 && p.X.Covers(s.X[k]) {
				low, high = min(low, y), max(high, y)
			}
		}
	}
	return high-low < minRise*(p.Y.Max-p.Y.Min)
}

// zoomEnd returns the largest tau of the P-tau figure.
func (f *Findings) zoomEnd() float64 {
	if f.Zoom > 0 && f.Zoom < 1 {
		return f.Zoom
	}
	return 0.01
}

// ROCPlot returns the ROC curves on a logarithmic axis, so that the region of small budgets is readable, or nil.
func (f *Findings) ROCPlot() *plot.Plot {
	p := newCurvePlot(f.ROC, plot.Step)
	if p == nil {
		return nil
	}
	p.Text = plot.Caption{Title: "Positives found against false alarms",
		Note:        "The x axis is logarithmic, so that small false positive rates are readable.",
		Description: "ROC curve: true positive rate over the false positive rate on a logarithmic axis. " + describeEnds(f.ROC)}
	p.X = plot.Axis{Label: "false positive rate", Unit: plot.Percent, Scale: plot.Logarithmic}
	p.Y = plot.Axis{Label: "true positive rate (recall)", Unit: plot.Percent, Min: 0, Max: 1}
	f.addBudget(p, false)
	f.addThreshold(p, func(c *metric.Confusion) (x, y float64) { return c.FalsePositiveRate.Rate, c.TruePositiveRate.Rate })
	chance := plot.Series{Name: "chance", Style: plot.Reference}
	low := 1.0
	for _, s := range p.Series {
		for _, x := range s.X {
			if x > 0 {
				low = min(low, x)
			}
		}
	}
	for rate := 1.0; rate >= low; rate *= 0.8 { // on a logarithmic axis the diagonal is a curve
		chance.X, chance.Y = append(chance.X, rate), append(chance.Y, rate)
	}
	p.Series = append(p.Series, chance)
	return p
}

// RecallPlot returns recall over the budget, or nil.
func (f *Findings) RecallPlot() *plot.Plot {
	p := newCurvePlot(f.Recall, plot.Line)
	if p == nil {
		return nil
	}
	p.Text = plot.Caption{Title: "Positives found against the budget",
		Description: "Recall over the fraction of all rows that are alerts, on a logarithmic axis. " + describeEnds(f.Recall)}
	if len(f.Recall[0].Low) > 0 {
		p.Text.Note = "The band shows the interval at each budget separately."
	}
	p.X = plot.Axis{Label: "alerts as a fraction of all rows", Unit: plot.Percent, Scale: plot.Logarithmic}
	p.Y = plot.Axis{Label: "positives found", Unit: plot.Percent, Min: 0, Max: 1}
	f.addBudget(p, true)
	f.addThreshold(p, func(c *metric.Confusion) (x, y float64) {
		return c.AlertRate.Rate, c.TruePositiveRate.Rate
	})
	return p
}

// prPlot returns precision over recall.
func (f *Findings) prPlot() *plot.Plot {
	p := newCurvePlot(f.PR, plot.Line)
	if p == nil {
		return nil
	}
	p.Text = plot.Caption{Title: "Precision against recall",
		Description: "Precision over recall. " + describeEnds(f.PR)}
	p.X = plot.Axis{Label: "recall", Unit: plot.Percent, Min: 0, Max: 1}
	p.Y = plot.Axis{Label: "precision", Unit: plot.Percent, Min: 0, Max: 1}
	f.addThreshold(p, func(c *metric.Confusion) (x, y float64) { return c.TruePositiveRate.Rate, c.Precision.Rate })
	return p
}

// pTauPlot returns the P-tau curves up to an end of the x axis.
func (f *Findings) pTauPlot(end float64) *plot.Plot {
	p := newCurvePlot(f.PTau, plot.Line)
	if p == nil {
		return nil
	}
	p.Text = plot.Caption{Title: "Precision in the top tau of all rows",
		Description: "P-tau curve: precision in the fraction tau of rows with the highest scores. " + describeEnds(f.PTau)}
	p.X = plot.Axis{Label: "tau, fraction of all rows", Unit: plot.Percent, Min: 0, Max: end}
	p.Y = plot.Axis{Label: "precision", Unit: plot.Percent, Min: 0, Max: 1}
	f.addBudget(p, true)
	return p
}

// newCurvePlot returns a plot with the curves as series, and nil if there are no points.
func newCurvePlot(list []Curve, draw plot.Draw) *plot.Plot {
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

// addBudget adds the budget to a figure whose x axis is the rate that it limits.
func (f *Findings) addBudget(p *plot.Plot, ofRows bool) {
	if f.Budget == nil || f.Budget.OfRows != ofRows || f.Budget.Rate <= 0 || !p.X.Covers(f.Budget.Rate) {
		return
	}
	p.Rules = append(p.Rules, plot.Rule{Name: f.Budget.Name, At: f.Budget.Rate})
}

// addThreshold marks the first operating point.
func (f *Findings) addThreshold(p *plot.Plot, at func(*metric.Confusion) (x, y float64)) {
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

// describeEnds returns the ends of curves in words.
func describeEnds(list []Curve) string {
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

// ScorePlot returns the histogram of scores with its texts, or nil.
func (f *Findings) ScorePlot() *plot.Histogram {
	if f.Scores == nil {
		return nil
	}
	h := *f.Scores
	if h.Text.Title == "" {
		h.Text.Title = "Scores by class"
	}
	if h.Text.Description == "" {
		h.Text.Description = "Histogram of the scores of negatives and positives, as fractions of each class."
		if h.Threshold != nil {
			h.Text.Description += " The threshold is " + text.Significant(*h.Threshold, 4) + "."
		}
	}
	return &h
}

// shapeSection returns the section of the columns' contributions.
func shapeSection(list []Shape) Section {
	largest := 0.0
	for i := range list {
		largest = max(largest, rise(list[i].Y))
	}
	list = slices.DeleteFunc(slices.Clone(list), func(s Shape) bool { return rise(s.Y) < minRise*largest })
	return Section{Title: "What the main columns add to the score", Small: true, Figures: ShapeFigures(list)}
}

func rise(y []float64) float64 {
	if len(y) == 0 {
		return 0
	}
	return slices.Max(y) - slices.Min(y)
}

// ShapeFigures returns the figures of columns' contributions, all with the same scale.
func ShapeFigures(list []Shape) []plot.Figure {
	low, high := 0.0, 0.0
	for i := range list {
		low, high = min(low, slices.Min(list[i].Y)), max(high, slices.Max(list[i].Y))
	}
	margin := float64(0.04 * (high - low)) // so that no line runs along the edge; chosen by hand
	low, high = low-margin, high+margin
	var figures []plot.Figure
	for i := range list {
		figures = append(figures, list[i].figure(plot.Axis{Label: "adds to the score", Min: low, Max: high}))
	}
	return figures
}

// figure returns the figure of one column's contribution on an axis.
func (s *Shape) figure(adds plot.Axis) plot.Figure {
	name := ColumnName(s.Column)
	caption := plot.Caption{Title: name, Description: "Contribution of " + s.Column + " to the score over its values."}
	if s.Effect != 0 {
		caption.Note = "standard deviation of its contribution: " + text.Number(s.Effect)
	}
	if len(s.Categories) > 0 {
		d := &plot.DotPlot{Text: caption, X: adds, Rules: []plot.Rule{{At: 0}}}
		for i := range min(len(s.Categories), len(s.Y)) {
			d.Rows = append(d.Rows, plot.Dot{Name: s.Categories[i], Value: s.Y[i]})
		}
		return d
	}
	series := plot.Series{X: s.X, Y: s.Y}
	if s.Steps {
		series.Draw = plot.Step
		caption.Description = "Contribution of " + s.Column + " to the score: an exact step function of its value."
	}
	p := &plot.Plot{Text: caption, Height: 130, X: plot.Axis{Label: name}, Y: adds,
		Series: []plot.Series{series}, Rules: []plot.Rule{{At: 0, Horizontal: true}}}
	if !s.Steps && skewed(s.X) {
		p.X, p.Series[0].X = quantileAxis(s.X, name)
		p.Series[0].Values = s.X
	}
	return p
}

// skewedRange is the range of a column in multiples of the distance of its quartiles above which most values are
// crowded at one end of a linear axis. Chosen by hand.
const skewedRange = 20

// skewed reports whether ascending values, each for about the same number of rows, are crowded.
func skewed(x []float64) bool {
	n := len(x)
	if n < 5 {
		return false
	}
	return x[n-1]-x[0] > float64(skewedRange*(x[(3*n)/4]-x[n/4]))
}

// quantileAxis returns an axis on which ascending values are evenly spaced, and their places on it.
func quantileAxis(x []float64, name string) (plot.Axis, []float64) {
	places := make([]float64, len(x))
	for i := range x {
		places[i] = float64(i) / float64(len(x)-1)
	}
	a := plot.Axis{Label: name + ", spaced by the number of rows", Min: 0, Max: 1}
	for _, quantile := range []float64{0, 0.25, 0.5, 0.75, 1} {
		i := int(quantile * float64(len(x)-1))
		a.Marks = append(a.Marks, plot.Mark{At: places[i], Label: text.Significant(x[i], 3)})
	}
	return a, places
}

func pairSection(list []PairShape) Section {
	s := Section{Title: "What pairs of columns add together", Small: true}
	for i := range list {
		s.Figures = append(s.Figures, list[i].Figure())
	}
	return s
}

// Figure returns the figure of a pair: its cells in two colours.
func (s *PairShape) Figure() plot.Figure {
	full := 0.0
	for _, row := range s.Values {
		for _, v := range row {
			full = max(full, math.Abs(v))
		}
	}
	return &plot.Plot{
		Text: plot.Caption{Title: s.Columns[0] + " and " + s.Columns[1],
			Note: fmt.Sprintf("orange raises the score and blue lowers it, by up to %s; standard deviation: %s", text.Number(full),
				text.Number(s.Effect)),
			Description: "What " + s.Columns[0] + " and " + s.Columns[1] + " add to the score together, over their values."},
		Height: 200, X: plot.Axis{Label: s.Columns[0]}, Y: plot.Axis{Label: s.Columns[1]},
		Layer: &plot.Cells{X: s.X, Y: s.Y, Values: s.Values, Full: full}}
}
