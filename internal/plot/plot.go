package plot

import "strings"

// Plot shows pairs of values: lines, steps, points, trajectories, with bands, rules and contours.
type Plot struct {
	Text   Caption
	X, Y   Axis
	Series []Series
	Rules  []Rule
	Layer  Layer   // drawn below the series; nil: none
	Height float64 // of the plotting area in units of 1/420 of the figure's width; 0: 250
	Square bool    // the plotting area is as high as wide; Height is ignored
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

// Series is one line or cloud of points. Pairs with a value that is not finite, or that a logarithmic axis cannot show,
// are left out, and a line is interrupted there.
type Series struct {
	Name      string // in the legend; "": not listed
	X, Y      []float64
	Low, High []float64 // a band around Y at the same X; nil: none
	Draw      Draw
	Style     int // 0: by its place among the series; 1, 2, ...: that colour, dash and marker; Reference; Highlight
}

// Draw says how a series is drawn.
type Draw int

const (
	Line       Draw = iota // straight between neighbours
	Step                   // horizontal to the next X, then vertical: what a curve of counts guarantees between its points
	Points                 // a cloud
	Trajectory             // straight, with an open circle where it starts and a full one where it ends
)

// Rule is a straight line across the plot, vertical at an X unless Horizontal.
type Rule struct {
	Name       string
	At         float64
	Horizontal bool
}

// Caption returns p.Text.
func (p *Plot) Caption() Caption { return p.Text }

func (p *Plot) Draw(c *Canvas) {
	DrawLegend(c, p.legend())
	ex, ey := p.extents()
	height := p.Height
	if height <= 0 {
		height = 250
	}
	if p.Square {
		height = 340
	}
	f := newFrame(c, p.X, p.Y, ex, ey, height)
	f.clip(c)
	if p.Layer != nil {
		p.Layer.DrawShapes(c, &f)
	}
	for i := range p.Series {
		p.Series[i].band(c, &f, p.look(i))
	}
	for i, r := range p.Rules {
		p.rule(c, &f, r, i)
	}
	for i := range p.Series {
		p.Series[i].line(c, &f, p.look(i))
	}
	f.endClip(c)
	for i := range p.Series { // markers may stand on the border, where a clip would halve them
		p.Series[i].marks(c, &f, p.look(i), p.curves(), i)
	}
	if p.Layer != nil {
		p.Layer.DrawLabels(c, &f)
	}
	if !ex.any {
		c.Text("axis mid", (f.Left+f.Right)/2, (f.Top+f.Bottom)/2, "no data")
	}
}

// look is how series i is told apart.
func (p *Plot) look(i int) look {
	if s := p.Series[i].Style; s != 0 {
		return lookOf(s)
	}
	return lookOf(i + 1)
}

// curves is how many lines must be told apart by markers.
func (p *Plot) curves() int {
	count := 0
	for _, s := range p.Series {
		if s.Draw != Points && s.Style >= 0 {
			count++
		}
	}
	return count
}

// extents is what the axes must cover; the y axis only needs what lies within the x axis.
func (p *Plot) extents() (ex, ey extent) {
	for _, s := range p.Series {
		for i := range min(len(s.X), len(s.Y)) {
			x, y := s.X[i], s.Y[i]
			if !Drawable(x) || !Drawable(y) || p.X.Scale == Logarithmic && x < 0 || p.Y.Scale == Logarithmic && y < 0 {
				continue
			}
			ex.add(x)
			if p.X.Covers(x) {
				ey.add(y)
			}
			if p.X.Covers(x) && i < min(len(s.Low), len(s.High)) {
				ey.add(s.Low[i])
				ey.add(s.High[i])
			}
		}
	}
	for _, r := range p.Rules {
		switch {
		case !r.Horizontal && ex.any && (p.X.Scale == Linear || r.At > 0):
			ex.add(r.At)
		case r.Horizontal && ey.any && (p.Y.Scale == Linear || r.At > 0):
			ey.add(r.At)
		}
	}
	if p.Layer != nil {
		x, y := p.Layer.Extent()
		for i := range x {
			ex.add(x[i])
			ey.add(y[i])
		}
	}
	return ex, ey
}

func (p *Plot) legend() []LegendEntry {
	var entries []LegendEntry
	listed := 0
	for _, s := range p.Series {
		if s.Name != "" {
			listed++
		}
	}
	for i := range p.Series {
		s, l := &p.Series[i], p.look(i)
		if s.Name == "" || listed == 1 && len(p.Rules) == 0 && len(s.Low) == 0 && s.Draw != Trajectory {
			continue // a single line needs no name beside the title
		}
		width := SwatchWidth
		if s.Style == Highlight {
			width = smallSwatch
		}
		entries = append(entries, LegendEntry{s.Name, width, func(c *Canvas, x, y float64) { s.swatch(c, x, y, l, p.curves()) }})
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

// ruleClass gives each rule its dash pattern.
func ruleClass(i int) string {
	return "rule d" + position(float64([]int{5, 3, 4, 1}[i%4]))
}

func (p *Plot) rule(c *Canvas, f *Frame, r Rule, i int) {
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

// runs are the places of the series as it is drawn.
func (s *Series) runs(f *Frame) polyline {
	line := f.trace(s.X, s.Y)
	for i, run := range line {
		if s.Draw == Step {
			run = stairs(run)
		}
		line[i] = thin(run)
	}
	return line
}

func (s *Series) line(c *Canvas, f *Frame, l look) {
	if s.Draw == Points {
		s.cloud(c, f, l)
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

// band fills the area between Low and High.
func (s *Series) band(c *Canvas, f *Frame, l look) {
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
	below, above = thin(below), thin(above)
	outline := PathOf(above)
	for i := len(below) - 1; i >= 0; i-- {
		outline += "L" + Pair(below[i].X, below[i].Y)
	}
	c.Path("band "+l.colour(), outline+"z")
	c.Path("thin "+l.colour()+" d3", PathOf(above)+PathOf(below))
}

// scattered is the number of points up to which a cloud's dots are drawn larger.
const scattered = 300

// cloud draws points as one path; of those that cover each other only the first is drawn.
func (s *Series) cloud(c *Canvas, f *Frame, l look) {
	if s.Style == Highlight {
		return // drawn with the markers, above everything
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

// few is the number of places up to which each of them gets a marker.
const few = 16

// marks draws the markers of a series: on every pair where there are few, a handful along a long line when several lines
// must be told apart.
func (s *Series) marks(c *Canvas, f *Frame, l look, curves, number int) {
	switch {
	case s.Style == Highlight:
		for _, run := range f.trace(s.X, s.Y) {
			for _, p := range run {
				c.Path("ring", markerPath(0, p.X, p.Y, 5.5))
			}
		}
		return
	case s.Draw == Points || l.marker < 0:
		return
	case s.Draw == Trajectory:
		s.ends(c, f, l)
		return
	}
	var places []Point
	single := s.Draw != Step && min(len(s.X), len(s.Y)) <= few
	for _, run := range f.trace(s.X, s.Y) {
		switch {
		case single || len(run) == 1:
			places = append(places, run...)
		case curves > 1:
			offset := 0.3 + float64(0.17*float64(number%styleCount))
			places = append(places, f.spaced(thin(run), 6, offset)...)
		}
	}
	var d strings.Builder
	for _, p := range places {
		if f.inside(p) {
			d.WriteString(markerPath(l.marker, p.X, p.Y, 3.2))
		}
	}
	if d.Len() > 0 {
		c.Path("mark "+l.colour(), d.String())
	}
}

// ends marks where a trajectory starts and ends.
func (s *Series) ends(c *Canvas, f *Frame, l look) {
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

func (s *Series) swatch(c *Canvas, x, y float64, l look, curves int) {
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
