package plot

// Frame is a plotting area with its two axes.
type Frame struct {
	Left, Right, Top, Bottom float64 // on the canvas
	x, y                     mapping
}

// Margins around the plotting area in user units.
const (
	tickGap     = 6.0
	rightMargin = 10.0
)

// newFrame lays out a plotting area below the canvas's height and draws its grid, ticks and labels. The label
// of the y axis is above the axis, in horizontal text.
func newFrame(c *Canvas, x, y Axis, ex, ey extent, height float64) Frame {
	if y.Label != "" {
		c.Height += 16
		c.Text("axis", 8, c.Height, shorten(y.Label, TextSize, c.Width-16))
	}
	f := Frame{Top: c.Height + 11}
	f.Bottom = f.Top + height
	f.y = newMapping(y, ey, f.Bottom, f.Top, func(string) float64 { return 2 * SmallSize })
	widest := 0.0
	for _, t := range f.y.ticks {
		widest = max(widest, TextWidth(t.label, SmallSize))
	}
	f.Left = 8 + widest + tickGap
	f.Right = c.Width - rightMargin
	f.x = newMapping(x, ex, f.Left, f.Right, labelWidth)
	f.Right -= f.overhang()
	f.x = newMapping(x, ex, f.Left, f.Right, labelWidth)
	f.drawGrid(c)
	return f
}

// labelWidth returns the length that a label takes on a horizontal axis.
func labelWidth(label string) float64 { return TextWidth(label, SmallSize) + 11 }

// overhang returns how far the labels of the x axis reach beyond the right margin.
func (f *Frame) overhang() float64 {
	over := 0.0
	for _, t := range f.x.ticks {
		at, _ := f.x.at(t.at)
		over = max(over, at+Half(TextWidth(t.label, SmallSize))-f.Right-rightMargin+4)
	}
	return over
}

// drawGrid draws the grid, the ticks and the labels of both axes.
func (f *Frame) drawGrid(c *Canvas) {
	for _, t := range f.x.ticks {
		at, _ := f.x.at(t.at)
		if t.label != "" {
			c.Line("grid", at, f.Top, at, f.Bottom)
		}
	}
	for _, t := range f.y.ticks {
		at, _ := f.y.at(t.at)
		if t.label != "" {
			c.Line("grid", f.Left, at, f.Right, at)
			c.Text("tick end", f.Left-tickGap, at+4, t.label)
		}
	}
	c.Height = f.Bottom
	c.Height += 16
	for _, t := range f.x.ticks {
		at, _ := f.x.at(t.at)
		length := 3.0
		if t.label != "" {
			length = 5
			c.Text("tick mid", at, c.Height, t.label)
		}
		c.Line("frame", at, f.Bottom, at, f.Bottom+length)
	}
	c.Path("frame", "M"+Pair(f.Left, f.Top)+"V"+position(f.Bottom)+"H"+position(f.Right))
	f.drawBreaks(c)
	if f.x.Label != "" {
		c.Height += 17
		c.Text("axis mid", (f.Left+f.Right)/2, c.Height, shorten(f.x.Label, TextSize, c.Width-16))
	}
	c.Height += 8
}

// drawBreaks marks the jump to 0 on a logarithmic axis.
func (f *Frame) drawBreaks(c *Canvas) {
	if f.x.zero {
		x := f.Left + gutter/2
		c.Path("frame", "M"+Pair(x-4, f.Bottom+4)+"l4 -8M"+Pair(x+1, f.Bottom+4)+"l4 -8")
	}
	if f.y.zero {
		y := f.Bottom - gutter/2
		c.Path("frame", "M"+Pair(f.Left-4, y+3)+"l8 -4M"+Pair(f.Left-4, y-2)+"l8 -4")
	}
}

// At returns the position of a pair of values, and false if the axes cannot show it.
func (f *Frame) At(x, y float64) (Point, bool) {
	px, ok := f.x.at(x)
	if !ok {
		return Point{}, false
	}
	py, ok := f.y.at(y)
	return Point{px, py}, ok
}

// beginClip starts a group that is clipped to the plotting area. The area is 2 units larger, so that lines on
// its border keep their width.
func (f *Frame) beginClip(c *Canvas) {
	c.printf("<clipPath id=\"%s-c\"><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/></clipPath>\n",
		c.id, position(f.Left-2), position(f.Top-2), position(f.Right-f.Left+4), position(f.Bottom-f.Top+4))
	c.printf("<g clip-path=\"url(#%s-c)\">\n", c.id)
}

// endClip ends the group of beginClip.
func (f *Frame) endClip(c *Canvas) { c.printf("</g>\n") }

// inside reports whether a point is in the plotting area.
func (f *Frame) inside(p Point) bool {
	return p.X >= f.Left-0.1 && p.X <= f.Right+0.1 && p.Y >= f.Top-0.1 && p.Y <= f.Bottom+0.1
}
