package plot

import (
	"fmt"
	"strconv"
	"strings"
)

// Plot shows pairs of values as lines, steps, points or trajectories, with bands, rules and a layer.
type Plot struct {
	Text   Caption
	X, Y   Axis
	Series []Series
	Rules  []Rule
	Layer  Layer   // drawn below the series; nil if there is none
	Height float64 // of the plotting area in user units, of which a figure is 420 wide (default 250)
	Square bool    // the plotting area is about as high as wide, and Height is ignored
}

// Layer is a drawing in the coordinates of a plot: contours, for instance.
type Layer interface {
	// Extent returns the values that the axes must cover.
	Extent() (x, y [2]float64)
	// DrawShapes draws below the series. It is clipped to the plotting area.
	DrawShapes(c *Canvas, f *Frame)
	// DrawLabels draws above the series.
	DrawLabels(c *Canvas, f *Frame)
}

// Series is a line or a cloud of points. Pairs that an axis cannot show, because a value is not finite or not
// positive on a logarithmic axis, are left out. A line is interrupted there.
type Series struct {
	Name      string // in the legend; "" if it is not listed
	X, Y      []float64
	Values    []float64 // what X stands for on an axis with marks, for scripts of a page; nil: X
	Low, High []float64 // a band around Y at the same X; nil if there is none
	Draw      Draw
	Style     int // number of a colour, dash and marker from 1, or Reference, or Highlight (default: its place among the series)
}

// Draw is the way in which a series is drawn.
type Draw int

const (
	Line       Draw = iota // straight lines between neighbours
	Step                   // horizontal to the next X, then vertical, for curves of counts
	Points                 // a cloud
	Trajectory             // straight lines, with an open circle at the start and a full one at the end
)

// Rule is a straight line across the plot, vertical at an X unless Horizontal.
type Rule struct {
	Name       string
	At         float64
	Horizontal bool
}

// Caption returns p.Text.
func (p *Plot) Caption() Caption { return p.Text }

// Draw implements Figure.
func (p *Plot) Draw(c *Canvas) {
	DrawLegend(c, p.legendEntries())
	ex, ey := p.extents()
	height := p.Height
	if height <= 0 {
		height = 250
	}
	if p.Square {
		height = 340
	}
	f := newFrame(c, p.X, p.Y, ex, ey, c.scaled(height))
	f.beginClip(c)
	if p.Layer != nil {
		p.Layer.DrawShapes(c, &f)
	}
	for i := range p.Series {
		p.Series[i].drawBand(c, &f, p.lookOfSeries(i))
	}
	for i, r := range p.Rules {
		p.drawRule(c, &f, r, i)
	}
	for i := range p.Series {
		p.Series[i].drawLine(c, &f, p.lookOfSeries(i))
	}
	f.endClip(c)
	for i := range p.Series { // markers may be on the border, where the clip would halve them
		p.Series[i].drawMarks(c, &f, p.lookOfSeries(i), p.markedLines(), i)
	}
	if p.Layer != nil {
		p.Layer.DrawLabels(c, &f)
	}
	if c.values {
		for i := range p.Series {
			p.writeValues(c, &f, &p.Series[i])
		}
	}
	if !ex.any {
		c.Text("axis mid", (f.Left+f.Right)/2, (f.Top+f.Bottom)/2, "no data")
	}
}

// lookOfSeries returns the look of series i.
func (p *Plot) lookOfSeries(i int) look {
	if s := p.Series[i].Style; s != 0 {
		return lookOf(s)
	}
	return lookOf(i + 1)
}

// markedLines returns the number of lines that need markers to be distinguished.
func (p *Plot) markedLines() int {
	count := 0
	for _, s := range p.Series {
		if s.Draw != Points && s.Style >= 0 {
			count++
		}
	}
	return count
}

// extents returns the ranges that the axes must cover. The y axis needs only the points that the x axis
// shows.
func (p *Plot) extents() (ex, ey extent) {
	for _, s := range p.Series {
		for i := range min(len(s.X), len(s.Y)) {
			x, y := s.X[i], s.Y[i]
			if !Drawable(x) || !Drawable(y) || p.X.Scale == Logarithmic && x < 0 || p.Y.Scale == Logarithmic && y < 0 {
				continue
			}
			ex.include(x)
			if p.X.Covers(x) {
				ey.include(y)
			}
			if p.X.Covers(x) && i < min(len(s.Low), len(s.High)) {
				ey.include(s.Low[i])
				ey.include(s.High[i])
			}
		}
	}
	for _, r := range p.Rules {
		switch {
		case !r.Horizontal && ex.any && (p.X.Scale == Linear || r.At > 0):
			ex.include(r.At)
		case r.Horizontal && ey.any && (p.Y.Scale == Linear || r.At > 0):
			ey.include(r.At)
		}
	}
	if p.Layer != nil {
		x, y := p.Layer.Extent()
		for i := range x {
			ex.include(x[i])
			ey.include(y[i])
		}
	}
	return ex, ey
}

func (p *Plot) legendEntries() []LegendEntry {
	var entries []LegendEntry
	listed := 0
	for _, s := range p.Series {
		if s.Name != "" {
			listed++
		}
	}
	for i := range p.Series {
		s, l := &p.Series[i], p.lookOfSeries(i)
		if s.Name == "" || listed == 1 && len(p.Rules) == 0 && len(s.Low) == 0 && s.Draw != Trajectory {
			continue // a single line needs no name in addition to the title
		}
		width := SwatchWidth
		if s.Style == Highlight {
			width = smallSwatch
		}
		entries = append(entries, LegendEntry{s.Name, width, func(c *Canvas, x, y float64) { s.drawSwatch(c, x, y, l, p.markedLines()) }})
	}
	for i, r := range p.Rules {
		if r.Name == "" {
			continue
		}
		if r.Horizontal {
			entries = append(entries, LegendEntry{r.Name, SwatchWidth, func(c *Canvas, x, y float64) {
				c.Line(ruleClass(i), x, y, x+SwatchWidth, y)
			}})
			continue
		}
		entries = append(entries, LegendEntry{r.Name, smallSwatch, func(c *Canvas, x, y float64) {
			c.Line(ruleClass(i), x+smallSwatch/2, y-9, x+smallSwatch/2, y+7)
		}})
	}
	return entries
}

// ruleClass returns the style of rule i, with its dash pattern.
func ruleClass(i int) string {
	return "rule d" + position(float64([]int{5, 3, 4, 1}[i%4]))
}

func (p *Plot) drawRule(c *Canvas, f *Frame, r Rule, i int) {
	if r.Horizontal {
		if y, ok := f.y.at(r.At); ok {
			c.Line(ruleClass(i), f.Left, y, f.Right, y)
		}
		return
	}
	if x, ok := f.x.at(r.At); ok {
		c.Line(ruleClass(i), x, f.Top, x, f.Bottom)
	}
}

// runs returns the points of the series as they are drawn.
func (s *Series) runs(f *Frame) polyline {
	line := f.trace(s.X, s.Y)
	for i, run := range line {
		if s.Draw == Step {
			run = stairs(run)
		}
		line[i] = thinRun(run)
	}
	return line
}

func (s *Series) drawLine(c *Canvas, f *Frame, l look) {
	if s.Draw == Points {
		s.drawCloud(c, f, l)
		return
	}
	var d strings.Builder
	for _, run := range s.runs(f) {
		if len(run) > 1 {
			d.WriteString(PathOf(run))
		}
	}
	if d.Len() > 0 {
		c.Path("line "+l.class, d.String())
	}
}

// drawBand fills the area between Low and High.
func (s *Series) drawBand(c *Canvas, f *Frame, l look) {
	n := min(len(s.X), len(s.Low), len(s.High))
	if n < 2 {
		return
	}
	low, high := f.trace(s.X[:n], s.Low[:n]), f.trace(s.X[:n], s.High[:n])
	if len(low) != 1 || len(high) != 1 {
		return // a band with holes has no area
	}
	below, above := low[0], high[0]
	if s.Draw == Step {
		below, above = stairs(below), stairs(above)
	}
	below, above = thinRun(below), thinRun(above)
	outline := PathOf(above)
	for i := len(below) - 1; i >= 0; i-- {
		outline += "L" + Pair(below[i].X, below[i].Y)
	}
	c.Path("band "+l.colour(), outline+"z")
	c.Path("thin "+l.colour()+" d3", PathOf(above)+PathOf(below))
}

// scattered is the largest number of points that are drawn with larger dots, chosen by hand.
const scattered = 300

// drawCloud draws points as one path. Of points that cover each other, only the first is drawn.
func (s *Series) drawCloud(c *Canvas, f *Frame, l look) {
	if s.Style == Highlight {
		return // drawMarks draws it above everything else
	}
	taken := map[[2]int]bool{}
	var d strings.Builder
	for _, run := range f.trace(s.X, s.Y) {
		for _, p := range run {
			cell := [2]int{int(p.X / 1.5), int(p.Y / 1.5)}
			if !taken[cell] && f.inside(p) {
				taken[cell] = true
				d.WriteString(cloudPath(l.marker, p.X, p.Y))
			}
		}
	}
	if d.Len() > 0 {
		class := cloudClass(l.marker) + " " + l.colour()
		if len(taken) <= scattered {
			class += " large"
		}
		c.Path(class, d.String())
	}
}

// few is the largest number of points that each get a marker, chosen by hand.
const few = 16

// drawMarks draws the markers of a series: at every pair if there are few, and about six along a long line if
// several lines have to be distinguished.
func (s *Series) drawMarks(c *Canvas, f *Frame, l look, curves, number int) {
	switch {
	case s.Style == Highlight:
		for i := range min(len(s.X), len(s.Y)) {
			if p, ok := f.At(s.X[i], s.Y[i]); ok {
				c.Titled("ring", markerPath(0, p.X, p.Y, 5.5), s.titleOf(f, i))
			}
		}
		return
	case s.Draw == Points || l.marker < 0:
		return
	case s.Draw == Trajectory:
		s.drawEnds(c, f, l)
		return
	}
	var marked []Point
	single := s.Draw != Step && min(len(s.X), len(s.Y)) <= few
	if single && c.values {
		for i := range min(len(s.X), len(s.Y)) {
			if p, ok := f.At(s.X[i], s.Y[i]); ok && f.inside(p) {
				c.Titled("mark "+l.colour(), markerPath(l.marker, p.X, p.Y, 3.2), s.titleOf(f, i))
			}
		}
		return
	}
	for _, run := range f.trace(s.X, s.Y) {
		switch {
		case single || len(run) == 1:
			marked = append(marked, run...)
		case curves > 1:
			offset := 0.3 + float64(0.17*float64(number%styleCount))
			marked = append(marked, f.spaced(thinRun(run), 6, offset)...)
		}
	}
	var d strings.Builder
	for _, p := range marked {
		if f.inside(p) {
			d.WriteString(markerPath(l.marker, p.X, p.Y, 3.2))
		}
	}
	if d.Len() > 0 {
		c.Path("mark "+l.colour(), d.String())
	}
}

// titleOf returns the name and the values of a point.
func (s *Series) titleOf(f *Frame, i int) string {
	x := s.X[i]
	if i < len(s.Values) {
		x = s.Values[i]
	}
	title := f.y.Unit.Write(s.Y[i], 3) + " at " + f.x.Unit.Write(x, 3)
	if s.Name != "" {
		title = s.Name + ": " + title
	}
	return title
}

// drawEnds marks the start and the end of a trajectory.
func (s *Series) drawEnds(c *Canvas, f *Frame, l look) {
	for _, run := range f.trace(s.X, s.Y) {
		first, last := run[0], run[len(run)-1]
		if f.inside(first) {
			c.Path("open "+l.colour(), markerPath(0, first.X, first.Y, 3.2))
		}
		if f.inside(last) {
			c.Path("mark "+l.colour(), markerPath(0, last.X, last.Y, 3.2))
		}
	}
}

func (s *Series) drawSwatch(c *Canvas, x, y float64, l look, curves int) {
	middle := x + SwatchWidth/2
	switch {
	case s.Style == Highlight:
		c.Path("ring", markerPath(0, x+smallSwatch/2, y, 5.5))
		return
	case s.Draw == Points:
		c.Path(cloudClass(l.marker)+" "+l.colour(), cloudPath(l.marker, middle-8, y+2)+
			cloudPath(l.marker, middle+7, y-3)+cloudPath(l.marker, middle, y+4))
		return
	}
	if len(s.Low) > 0 && len(s.High) > 0 {
		c.Rect("band "+l.colour(), x, y-6, SwatchWidth, 12, 0)
	}
	c.Line("line "+l.class, x, y, x+SwatchWidth, y)
	switch {
	case s.Draw == Trajectory:
		c.Path("open "+l.colour(), markerPath(0, x+3, y, 3.2))
		c.Path("mark "+l.colour(), markerPath(0, x+SwatchWidth-3, y, 3.2))
	case l.marker >= 0 && (curves > 1 || s.Draw != Step && len(s.X) <= few):
		c.Path("mark "+l.colour(), markerPath(l.marker, middle, y, 3.2))
	}
}

// maxValues is the largest number of points whose values a page can show. Chosen by hand: two per pixel and a
// half of a phone.
const maxValues = 200

// writeValues writes the values of a series for scripts of a page.
func (p *Plot) writeValues(c *Canvas, f *Frame, s *Series) {
	n := min(len(s.X), len(s.Y))
	if n == 0 || s.Style == Reference {
		return
	}
	values, label := s.X, p.X.describe()
	if len(s.Values) == len(s.X) {
		values, label = s.Values, "value"
	}
	stride := (n + maxValues - 1) / maxValues
	var b strings.Builder
	write := func(i int) {
		if at, ok := f.At(s.X[i], s.Y[i]); ok && f.inside(at) {
			fmt.Fprintf(&b, "%s,%s,%s,%s;", position(at.X), position(at.Y), strconv.FormatFloat(values[i], 'g', 5, 64), strconv.FormatFloat(s.Y[i], 'g', 5, 64))
		}
	}
	for i := 0; i < n; i += stride {
		write(i)
	}
	if (n-1)%stride != 0 {
		write(n - 1)
	}
	c.printf("<g class=\"values\" data-name=\"%s\" data-x=\"%s\" data-y=\"%s\" data-points=\"%s\"></g>\n", escape(s.Name),
		escape(label), escape(p.Y.describe()), strings.TrimSuffix(b.String(), ";"))
}

// describe returns the axis's label, with "%" in front of fractions that are shown as percentages.
func (a Axis) describe() string {
	if a.Unit == Percent {
		return "%" + a.Label
	}
	return a.Label
}
