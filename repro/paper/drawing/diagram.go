package drawing

import (
	"math"
	"slices"

	"toptau/internal/app/plot"
)

// Diagram shows boxes on a grid and arrows between them.
type Diagram struct {
	Text   plot.Caption
	Boxes  []Box
	Arrows []Arrow
	Kinds  []string // meaning of each kind of box, for the legend; Box.Kind is the index
	Solid  string   // meaning of a solid arrow, for the legend; "" if it is not listed
	Dashed string   // meaning of a dashed arrow
}

// Box is a box with a text. Column and Row start at 0 and may be fractions. Labels like "TopMean-NP" fit into
// three columns. For readers on a phone, a large diagram should have more rows, not more columns.
type Box struct {
	Key         string // the name by which arrows refer to the box
	Label       string
	Column, Row float64
	Kind        int // 0 plain, 1 shaded, 2 shaded with a double border
}

// Arrow leads from one box to another.
type Arrow struct {
	From, To string // keys; an arrow whose box is missing is not drawn
	Label    string // next to the middle; "" for none
	Dashed   bool
	Bend     float64 // offset of the middle to the left of the direction, as a fraction of the length
}

// Caption returns d.Text.
func (d *Diagram) Caption() plot.Caption { return d.Text }

// Sizes in user units, chosen by hand.
const (
	boxRow    = 84.0 // from one row to the next
	boxLine   = 15.0
	boxMargin = 10.0
)

// place is the position of a box on the canvas.
type place struct {
	middle        plot.Point
	width, height float64
	lines         []string
}

// Draw implements plot.Figure.
func (d *Diagram) Draw(c *plot.Canvas) {
	plot.DrawLegend(c, d.legendEntries())
	places, bottom := d.places(c)
	var taken []box
	for _, p := range places {
		taken = append(taken, box{p.middle.X - plot.Half(p.width), p.middle.Y - plot.Half(p.height), p.middle.X + plot.Half(p.width),
			p.middle.Y + plot.Half(p.height)})
	}
	for _, a := range d.Arrows {
		from, to := d.boxIndex(a.From), d.boxIndex(a.To)
		if from >= 0 && to >= 0 && from != to {
			drawArrow(c, a, places[from], places[to])
		}
	}
	for i, b := range d.Boxes {
		drawBox(c, b.Kind, places[i])
	}
	for _, a := range d.Arrows { // above the lines of other arrows
		from, to := d.boxIndex(a.From), d.boxIndex(a.To)
		if from >= 0 && to >= 0 && from != to && a.Label != "" {
			drawArrowLabel(c, a, places[from], places[to], &taken)
		}
	}
	c.Height = bottom
}

// boxIndex returns the index of a box, and -1 if there is none with the key.
func (d *Diagram) boxIndex(key string) int {
	return slices.IndexFunc(d.Boxes, func(b Box) bool { return b.Key == key })
}

// places lays out the boxes and returns the bottom of the diagram. All boxes have the same width, at most 78
// % of a column.
func (d *Diagram) places(c *plot.Canvas) ([]place, float64) {
	firstColumn, lastColumn := rangeOf(d.Boxes, func(b Box) float64 { return b.Column })
	firstRow, _ := rangeOf(d.Boxes, func(b Box) float64 { return b.Row })
	perColumn := (c.Width - 2*boxMargin) / (lastColumn - firstColumn + 1)
	width := 0.0
	for _, b := range d.Boxes {
		width = max(width, plot.TextWidth(b.Label, plot.TextSize)+20)
	}
	width = max(min(width, float64(0.78*perColumn)), 30)
	top := c.Height + boxMargin + 20
	bottom := top
	var places []place
	for _, b := range d.Boxes {
		lines := plot.Wrap(b.Label, plot.TextSize, width-10, 3)
		p := place{width: width, height: float64(boxLine*float64(len(lines))) + 14, lines: lines}
		if plot.Drawable(b.Column) && plot.Drawable(b.Row) {
			p.middle.X = boxMargin + float64((b.Column-firstColumn+0.5)*perColumn)
			p.middle.Y = top + float64((b.Row-firstRow)*boxRow)
		}
		bottom = max(bottom, p.middle.Y+plot.Half(p.height))
		places = append(places, p)
	}
	return places, bottom + boxMargin
}

// rangeOf returns the least and the largest value of the boxes that can be drawn, 0 and 0 if there is none.
func rangeOf(boxes []Box, value func(Box) float64) (low, high float64) {
	first := true
	for _, b := range boxes {
		v := value(b)
		if !plot.Drawable(v) {
			continue
		}
		if first {
			low, high, first = v, v, false
		}
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// drawBox draws a box with its text.
func drawBox(c *plot.Canvas, kind int, p place) {
	x, y := p.middle.X-plot.Half(p.width), p.middle.Y-plot.Half(p.height)
	c.Rect("box", x, y, p.width, p.height, 6)
	if kind >= 1 {
		c.Rect("wash c0", x, y, p.width, p.height, 6)
	}
	if kind >= 2 {
		c.Rect("thin c0", x+3, y+3, p.width-6, p.height-6, 4)
	}
	line := p.middle.Y + 4 - plot.Half(boxLine*float64(len(p.lines)-1))
	for _, text := range p.lines {
		c.Text("axis mid", p.middle.X, line, text)
		line += boxLine
	}
}

// controlPoint returns the control point of an arrow's curve.
func controlPoint(a Arrow, from, to plot.Point) plot.Point {
	bend := 2 * min(max(a.Bend, -1), 1) // a quadratic curve goes half the way to its control point
	if !(bend == bend) {                // NaN
		bend = 0
	}
	return plot.Point{X: plot.Half(from.X+to.X) + float64(bend*(to.Y-from.Y)), Y: plot.Half(from.Y+to.Y) - float64(bend*(to.X-from.X))}
}

// border returns the point at which the line from the middle of a box towards a point leaves the box, gap
// units outside.
func (p place) border(towards plot.Point, gap float64) plot.Point {
	dx, dy := towards.X-p.middle.X, towards.Y-p.middle.Y
	if dx == 0 && dy == 0 {
		return p.middle
	}
	fraction := math.Inf(1)
	if dx != 0 {
		fraction = min(fraction, (plot.Half(p.width)+gap)/math.Abs(dx))
	}
	if dy != 0 {
		fraction = min(fraction, (plot.Half(p.height)+gap)/math.Abs(dy))
	}
	return plot.Point{X: p.middle.X + float64(fraction*dx), Y: p.middle.Y + float64(fraction*dy)}
}

// drawArrow draws an arrow between two boxes.
func drawArrow(c *plot.Canvas, a Arrow, from, to place) {
	control := controlPoint(a, from.middle, to.middle)
	start, end := from.border(control, 2), to.border(control, 3)
	dx, dy := end.X-control.X, end.Y-control.Y
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if length == 0 {
		return
	}
	dx, dy = dx/length, dy/length
	const long, half = 9.0, 4.0
	base := plot.Point{X: end.X - float64(long*dx), Y: end.Y - float64(long*dy)}
	class := "line c0"
	if a.Dashed {
		class = "line c0 d3"
	}
	c.Path(class, "M"+plot.Pair(start.X, start.Y)+"Q"+plot.Pair(control.X, control.Y)+" "+plot.Pair(base.X, base.Y))
	c.Path("tip c0", "M"+plot.Pair(end.X, end.Y)+"L"+plot.Pair(base.X-float64(half*dy), base.Y+float64(half*dx))+
		"L"+plot.Pair(base.X+float64(half*dy), base.Y-float64(half*dx))+"z")
}

// drawArrowLabel writes the label next to the arrow, at a position that overlaps neither a box nor another
// label. If there is none, it writes the label next to the arrow's middle.
func drawArrowLabel(c *plot.Canvas, a Arrow, from, to place, taken *[]box) {
	control := controlPoint(a, from.middle, to.middle)
	start, end := from.border(control, 2), to.border(control, 3)
	half := plot.Half(plot.TextWidth(a.Label, plot.SmallSize))
	steep := math.Abs(end.Y-start.Y) > math.Abs(end.X-start.X)
	var chosen box
	for i, t := range []float64{0.5, 0.5, 0.38, 0.38, 0.62, 0.62, 0.25, 0.25, 0.75, 0.75} {
		u := 1 - t
		x := float64(u*u*start.X) + float64(2*u*t*control.X) + float64(t*t*end.X)
		y := float64(u*u*start.Y) + float64(2*u*t*control.Y) + float64(t*t*end.Y)
		side := float64(1 - 2*(i%2)) // first right or above, then left or below
		if steep {
			x += float64(side * (half + 7))
		} else {
			y -= float64(side * 11)
		}
		x = min(max(x, half+2), c.Width-half-2)
		b := box{x - half - 2, y - 7, x + half + 2, y + 7}
		free := !slices.ContainsFunc(*taken, b.meets)
		if free || i == 0 {
			chosen = b
		}
		if free {
			break
		}
	}
	*taken = append(*taken, chosen)
	c.Text("halo mid", plot.Half(chosen.left+chosen.right), plot.Half(chosen.top+chosen.bottom)+4, a.Label)
}

func (d *Diagram) legendEntries() []plot.LegendEntry {
	var entries []plot.LegendEntry
	for kind, name := range d.Kinds {
		entries = append(entries, plot.LegendEntry{Name: name, Width: plot.SwatchWidth, Swatch: func(c *plot.Canvas, x, y float64) {
			drawBox(c, kind, place{middle: plot.Point{X: x + plot.SwatchWidth/2, Y: y}, width: plot.SwatchWidth - 4, height: 13})
		}})
	}
	for _, arrow := range []struct {
		name, class string
	}{{d.Solid, "line c0"}, {d.Dashed, "line c0 d3"}} {
		if arrow.name != "" {
			entries = append(entries, plot.LegendEntry{Name: arrow.name, Width: plot.SwatchWidth, Swatch: func(c *plot.Canvas, x, y float64) {
				c.Line(arrow.class, x, y, x+plot.SwatchWidth-8, y)
				c.Path("tip c0", "M"+plot.Pair(x+plot.SwatchWidth, y)+"l-9 -4v8z")
			}})
		}
	}
	return entries
}
