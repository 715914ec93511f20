package report

import (
	"strings"
)

// Plot shows pairs of values: lines, steps, points, trajectories, with bands, rules and contours.
type Plot struct {
	Text   Caption
	X, Y   Axis
	Series []Series
	Rules  []Rule
	Field  *Field  // contours below the series; nil: none
	Height float64 // of the plotting area in units of 1/420 of the figure's width; 0: 250
	Square bool    // the plotting area is as high as wide; Height is ignored
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

func (p *Plot) draw(c *canvas) {
	legend(c, p.legend())
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
	if p.Field != nil {
		p.Field.lines(c, &f)
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
	if p.Field != nil {
		p.Field.labels(c, &f)
	}
	if !ex.any {
		c.text("axis mid", (f.left+f.right)/2, (f.top+f.bottom)/2, "no data")
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
			if !drawable(x) || !drawable(y) || p.X.Scale == Logarithmic && x < 0 || p.Y.Scale == Logarithmic && y < 0 {
				continue
			}
			ex.add(x)
			if p.X.covers(x) {
				ey.add(y)
			}
			if p.X.covers(x) && i < min(len(s.Low), len(s.High)) {
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
	if p.Field != nil {
		for _, x := range []float64{p.Field.X0, p.Field.X1} {
			ex.add(x)
		}
		for _, y := range []float64{p.Field.Y0, p.Field.Y1} {
			ey.add(y)
		}
	}
	return ex, ey
}

func (p *Plot) legend() []entry {
	var entries []entry
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
		width := swatchWidth
		if s.Style == Highlight {
			width = smallSwatch
		}
		entries = append(entries, entry{s.Name, width, func(c *canvas, x, y float64) { s.swatch(c, x, y, l, p.curves()) }})
	}
	for i, r := range p.Rules {
		if r.Name == "" {
			continue
		}
		if r.Horizontal {
			entries = append(entries, entry{r.Name, swatchWidth, func(c *canvas, x, y float64) {
				c.line(ruleClass(i), x, y, x+swatchWidth, y)
			}})
			continue
		}
		entries = append(entries, entry{r.Name, smallSwatch, func(c *canvas, x, y float64) {
			c.line(ruleClass(i), x+smallSwatch/2, y-9, x+smallSwatch/2, y+7)
		}})
	}
	return entries
}

// ruleClass gives each rule its dash pattern.
func ruleClass(i int) string {
	return "rule d" + position(float64([]int{5, 3, 4, 1}[i%4]))
}

func (p *Plot) rule(c *canvas, f *frame, r Rule, i int) {
	if r.Horizontal {
		if y, ok := f.y.at(r.At); ok {
			c.line(ruleClass(i), f.left, y, f.right, y)
		}
		return
	}
	if x, ok := f.x.at(r.At); ok {
		c.line(ruleClass(i), x, f.top, x, f.bottom)
	}
}

// runs are the places of the series as it is drawn.
func (s *Series) runs(f *frame) polyline {
	line := f.trace(s.X, s.Y)
	for i, run := range line {
		if s.Draw == Step {
			run = stairs(run)
		}
		line[i] = thin(run)
	}
	return line
}

func (s *Series) line(c *canvas, f *frame, l look) {
	if s.Draw == Points {
		s.cloud(c, f, l)
		return
	}
	var d strings.Builder
	for _, run := range s.runs(f) {
		if len(run) > 1 {
			d.WriteString(pathOf(run))
		}
	}
	if d.Len() > 0 {
		c.path("line "+l.class, d.String())
	}
}

// band fills the area between Low and High.
func (s *Series) band(c *canvas, f *frame, l look) {
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
	outline := pathOf(above)
	for i := len(below) - 1; i >= 0; i-- {
		outline += "L" + pair(below[i].x, below[i].y)
	}
	c.path("band "+l.colour(), outline+"z")
	c.path("thin "+l.colour()+" d3", pathOf(above)+pathOf(below))
}

// scattered is the number of points up to which a cloud's dots are drawn larger.
const scattered = 300

// cloud draws points as one path; of those that cover each other only the first is drawn.
func (s *Series) cloud(c *canvas, f *frame, l look) {
	if s.Style == Highlight {
		return // drawn with the markers, above everything
	}
	taken := map[[2]int]bool{}
	var d strings.Builder
	for _, run := range f.trace(s.X, s.Y) {
		for _, p := range run {
			cell := [2]int{int(p.x / 1.5), int(p.y / 1.5)}
			if !taken[cell] && f.inside(p) {
				taken[cell] = true
				d.WriteString(cloudPath(l.marker, p.x, p.y))
			}
		}
	}
	if d.Len() > 0 {
		class := cloudClass(l.marker) + " " + l.colour()
		if len(taken) <= scattered {
			class += " large"
		}
		c.path(class, d.String())
	}
}

// few is the number of places up to which each of them gets a marker.
const few = 16

// marks draws the markers of a series: on every pair where there are few, a handful along a long line when several lines
// must be told apart.
func (s *Series) marks(c *canvas, f *frame, l look, curves, number int) {
	switch {
	case s.Style == Highlight:
		for _, run := range f.trace(s.X, s.Y) {
			for _, p := range run {
				c.path("ring", markerPath(0, p.x, p.y, 5.5))
			}
		}
		return
	case s.Draw == Points || l.marker < 0:
		return
	case s.Draw == Trajectory:
		s.ends(c, f, l)
		return
	}
	var places []point
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
			d.WriteString(markerPath(l.marker, p.x, p.y, 3.2))
		}
	}
	if d.Len() > 0 {
		c.path("mark "+l.colour(), d.String())
	}
}

// ends marks where a trajectory starts and ends.
func (s *Series) ends(c *canvas, f *frame, l look) {
	for _, run := range f.trace(s.X, s.Y) {
		first, last := run[0], run[len(run)-1]
		if f.inside(first) {
			c.path("open "+l.colour(), markerPath(0, first.x, first.y, 3.2))
		}
		if f.inside(last) {
			c.path("mark "+l.colour(), markerPath(0, last.x, last.y, 3.2))
		}
	}
}

func (s *Series) swatch(c *canvas, x, y float64, l look, curves int) {
	middle := x + swatchWidth/2
	switch {
	case s.Style == Highlight:
		c.path("ring", markerPath(0, x+smallSwatch/2, y, 5.5))
		return
	case s.Draw == Points:
		c.path(cloudClass(l.marker)+" "+l.colour(), cloudPath(l.marker, middle-8, y+2)+
			cloudPath(l.marker, middle+7, y-3)+cloudPath(l.marker, middle, y+4))
		return
	}
	if len(s.Low) > 0 && len(s.High) > 0 {
		c.rect("band "+l.colour(), x, y-6, swatchWidth, 12, 0)
	}
	c.line("line "+l.class, x, y, x+swatchWidth, y)
	switch {
	case s.Draw == Trajectory:
		c.path("open "+l.colour(), markerPath(0, x+3, y, 3.2))
		c.path("mark "+l.colour(), markerPath(0, x+swatchWidth-3, y, 3.2))
	case l.marker >= 0 && (curves > 1 || s.Draw != Step && len(s.X) <= few):
		c.path("mark "+l.colour(), markerPath(l.marker, middle, y, 3.2))
	}
}
