package report

import (
	"math"
	"slices"
)

// Diagram shows boxes on a grid and arrows between them.
type Diagram struct {
	Text   Caption
	Boxes  []Box
	Arrows []Arrow
	Kinds  []string // what the kinds of boxes mean, for the legend; Box.Kind counts from 0
	Solid  string   // what a solid arrow means, for the legend; "": not listed
	Dashed string   // the same for a dashed one
}

// Box is a box with a text. Column and Row count from 0 and may be fractions. Three columns have room for labels like
// "TopMean-NP"; a diagram should rather grow downwards, so that it can be read on a phone.
type Box struct {
	Key         string // by which arrows name it
	Label       string
	Column, Row float64
	Kind        int // 0: plain, 1: washed, 2: washed and a double border
}

// Arrow leads from one box to another.
type Arrow struct {
	From, To string // keys; an arrow whose box is missing is not drawn
	Label    string // beside the middle; "": none
	Dashed   bool
	Bend     float64 // how far its middle is pushed to the left of its direction, as a share of its length
}

// Caption returns d.Text.
func (d *Diagram) Caption() Caption { return d.Text }

const (
	boxRow    = 84.0 // from one row to the next
	boxLine   = 15.0
	boxMargin = 10.0
)

// place is a box on the canvas, by its middle.
type place struct {
	middle        point
	width, height float64
	lines         []string
}

func (d *Diagram) draw(c *canvas) {
	legend(c, d.legend())
	places, bottom := d.places(c)
	var taken []box
	for _, p := range places {
		taken = append(taken, box{p.middle.x - halfOf(p.width), p.middle.y - halfOf(p.height), p.middle.x + halfOf(p.width),
			p.middle.y + halfOf(p.height)})
	}
	for _, a := range d.Arrows {
		from, to := d.find(a.From), d.find(a.To)
		if from >= 0 && to >= 0 && from != to {
			drawArrow(c, a, places[from], places[to])
		}
	}
	for i, b := range d.Boxes {
		drawBox(c, b.Kind, places[i])
	}
	for _, a := range d.Arrows { // above the lines of other arrows
		from, to := d.find(a.From), d.find(a.To)
		if from >= 0 && to >= 0 && from != to && a.Label != "" {
			arrowLabel(c, a, places[from], places[to], &taken)
		}
	}
	c.height = bottom
}

func (d *Diagram) find(key string) int {
	return slices.IndexFunc(d.Boxes, func(b Box) bool { return b.Key == key })
}

// places lays out the boxes; all have the same width, the largest that leaves room between the columns.
func (d *Diagram) places(c *canvas) ([]place, float64) {
	var columns, rows extent
	for _, b := range d.Boxes {
		columns.add(b.Column)
		rows.add(b.Row)
	}
	perColumn := (c.width - 2*boxMargin) / (columns.high - columns.low + 1)
	width := 0.0
	for _, b := range d.Boxes {
		width = max(width, textWidth(b.Label, textSize)+20)
	}
	width = max(min(width, float64(0.78*perColumn)), 30)
	top := c.height + boxMargin + 20
	bottom := top
	var places []place
	for _, b := range d.Boxes {
		lines := wrap(b.Label, textSize, width-10, 3)
		p := place{width: width, height: float64(boxLine*float64(len(lines))) + 14, lines: lines}
		if drawable(b.Column) && drawable(b.Row) {
			p.middle.x = boxMargin + float64((b.Column-columns.low+0.5)*perColumn)
			p.middle.y = top + float64((b.Row-rows.low)*boxRow)
		}
		bottom = max(bottom, p.middle.y+halfOf(p.height))
		places = append(places, p)
	}
	return places, bottom + boxMargin
}

func drawBox(c *canvas, kind int, p place) {
	x, y := p.middle.x-halfOf(p.width), p.middle.y-halfOf(p.height)
	c.rect("box", x, y, p.width, p.height, 6)
	if kind >= 1 {
		c.rect("wash c0", x, y, p.width, p.height, 6)
	}
	if kind >= 2 {
		c.rect("thin c0", x+3, y+3, p.width-6, p.height-6, 4)
	}
	line := p.middle.y + 4 - halfOf(boxLine*float64(len(p.lines)-1))
	for _, text := range p.lines {
		c.text("axis mid", p.middle.x, line, text)
		line += boxLine
	}
}

// bent is the control point of an arrow's curve.
func bent(a Arrow, from, to point) point {
	bend := 2 * min(max(a.Bend, -1), 1) // a quadratic curve goes half the way to its control point
	if !(bend == bend) {                // NaN
		bend = 0
	}
	return point{halfOf(from.x+to.x) + float64(bend*(to.y-from.y)), halfOf(from.y+to.y) - float64(bend*(to.x-from.x))}
}

// border is where the way from the middle of a box towards a place leaves the box, a little further out.
func (p place) border(towards point, gap float64) point {
	dx, dy := towards.x-p.middle.x, towards.y-p.middle.y
	if dx == 0 && dy == 0 {
		return p.middle
	}
	share := math.Inf(1)
	if dx != 0 {
		share = min(share, (halfOf(p.width)+gap)/math.Abs(dx))
	}
	if dy != 0 {
		share = min(share, (halfOf(p.height)+gap)/math.Abs(dy))
	}
	return point{p.middle.x + float64(share*dx), p.middle.y + float64(share*dy)}
}

func drawArrow(c *canvas, a Arrow, from, to place) {
	control := bent(a, from.middle, to.middle)
	start, end := from.border(control, 2), to.border(control, 3)
	dx, dy := end.x-control.x, end.y-control.y
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if length == 0 {
		return
	}
	dx, dy = dx/length, dy/length
	const long, half = 9.0, 4.0
	base := point{end.x - float64(long*dx), end.y - float64(long*dy)}
	class := "line c0"
	if a.Dashed {
		class = "line c0 d3"
	}
	c.path(class, "M"+pair(start.x, start.y)+"Q"+pair(control.x, control.y)+" "+pair(base.x, base.y))
	c.path("tip c0", "M"+pair(end.x, end.y)+"L"+pair(base.x-float64(half*dy), base.y+float64(half*dx))+
		"L"+pair(base.x+float64(half*dy), base.y-float64(half*dx))+"z")
}

// arrowLabel writes the label beside the arrow, where it meets neither a box nor another label; where there is no such
// place, beside its middle.
func arrowLabel(c *canvas, a Arrow, from, to place, taken *[]box) {
	control := bent(a, from.middle, to.middle)
	start, end := from.border(control, 2), to.border(control, 3)
	half := halfOf(textWidth(a.Label, smallSize))
	steep := math.Abs(end.y-start.y) > math.Abs(end.x-start.x)
	var chosen box
	for i, t := range []float64{0.5, 0.5, 0.38, 0.38, 0.62, 0.62, 0.25, 0.25, 0.75, 0.75} {
		u := 1 - t
		x := float64(u*u*start.x) + float64(2*u*t*control.x) + float64(t*t*end.x)
		y := float64(u*u*start.y) + float64(2*u*t*control.y) + float64(t*t*end.y)
		side := float64(1 - 2*(i%2)) // first right or above, then left or below
		if steep {
			x += float64(side * (half + 7))
		} else {
			y -= float64(side * 11)
		}
		x = min(max(x, half+2), c.width-half-2)
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
	c.text("halo mid", halfOf(chosen.left+chosen.right), halfOf(chosen.top+chosen.bottom)+4, a.Label)
}

func (d *Diagram) legend() []entry {
	var entries []entry
	for kind, name := range d.Kinds {
		entries = append(entries, entry{name, swatchWidth, func(c *canvas, x, y float64) {
			drawBox(c, kind, place{middle: point{x + swatchWidth/2, y}, width: swatchWidth - 4, height: 13})
		}})
	}
	for _, arrow := range []struct {
		name, class string
	}{{d.Solid, "line c0"}, {d.Dashed, "line c0 d3"}} {
		if arrow.name != "" {
			entries = append(entries, entry{arrow.name, swatchWidth, func(c *canvas, x, y float64) {
				c.line(arrow.class, x, y, x+swatchWidth-8, y)
				c.path("tip c0", "M"+pair(x+swatchWidth, y)+"l-9 -4v8z")
			}})
		}
	}
	return entries
}
