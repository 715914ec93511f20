package report

// frame is a plotting area with its two axes.
type frame struct {
	x, y                     mapping
	left, right, top, bottom float64
}

// margins around the plotting area.
const (
	tickGap     = 6.0
	rightMargin = 10.0
)

// newFrame lays out a plotting area of the given height below the canvas's present height and draws its grid, ticks and
// labels. The label of the y axis stands above the axis, where it can be read without turning the head.
func newFrame(c *canvas, x, y Axis, ex, ey extent, height float64) frame {
	if y.Label != "" {
		c.height += 16
		c.text("axis", 8, c.height, shorten(y.Label, textSize, c.width-16))
	}
	f := frame{top: c.height + 11}
	f.bottom = f.top + height
	f.y = newMapping(y, ey, f.bottom, f.top, func(string) float64 { return 2 * smallSize })
	widest := 0.0
	for _, t := range f.y.ticks {
		widest = max(widest, textWidth(t.label, smallSize))
	}
	f.left = 8 + widest + tickGap
	f.right = c.width - rightMargin
	f.x = newMapping(x, ex, f.left, f.right, labelRoom)
	f.right -= f.overhang()
	f.x = newMapping(x, ex, f.left, f.right, labelRoom)
	f.draw(c)
	return f
}

// labelRoom is the length that a label takes on a horizontal axis.
func labelRoom(label string) float64 { return textWidth(label, smallSize) + 11 }

// overhang is how far the labels of the x axis reach beyond the margin on the right.
func (f *frame) overhang() float64 {
	over := 0.0
	for _, t := range f.x.ticks {
		at, _ := f.x.at(t.at)
		over = max(over, at+halfOf(textWidth(t.label, smallSize))-f.right-rightMargin+4)
	}
	return over
}

func (f *frame) draw(c *canvas) {
	for _, t := range f.x.ticks {
		at, _ := f.x.at(t.at)
		if t.label != "" {
			c.line("grid", at, f.top, at, f.bottom)
		}
	}
	for _, t := range f.y.ticks {
		at, _ := f.y.at(t.at)
		if t.label != "" {
			c.line("grid", f.left, at, f.right, at)
			c.text("tick end", f.left-tickGap, at+4, t.label)
		}
	}
	c.height = f.bottom
	c.height += 16
	for _, t := range f.x.ticks {
		at, _ := f.x.at(t.at)
		length := 3.0
		if t.label != "" {
			length = 5
			c.text("tick mid", at, c.height, t.label)
		}
		c.line("frame", at, f.bottom, at, f.bottom+length)
	}
	c.path("frame", "M"+pair(f.left, f.top)+"V"+position(f.bottom)+"H"+position(f.right))
	f.breaks(c)
	if f.x.Label != "" {
		c.height += 17
		c.text("axis mid", (f.left+f.right)/2, c.height, shorten(f.x.Label, textSize, c.width-16))
	}
	c.height += 8
}

// breaks marks where a logarithmic axis jumps to 0.
func (f *frame) breaks(c *canvas) {
	if f.x.zero {
		x := f.left + gutter/2
		c.path("frame", "M"+pair(x-4, f.bottom+4)+"l4 -8M"+pair(x+1, f.bottom+4)+"l4 -8")
	}
	if f.y.zero {
		y := f.bottom - gutter/2
		c.path("frame", "M"+pair(f.left-4, y+3)+"l8 -4M"+pair(f.left-4, y-2)+"l8 -4")
	}
}

// at is the place of a pair of values; false where it has none.
func (f *frame) at(x, y float64) (point, bool) {
	px, ok := f.x.at(x)
	if !ok {
		return point{}, false
	}
	py, ok := f.y.at(y)
	return point{px, py}, ok
}

// clip starts a group whose content is cut at the plotting area, widened so that lines on its border keep their width.
func (f *frame) clip(c *canvas) {
	c.printf("<clipPath id=\"%s-c\"><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/></clipPath>\n",
		c.id, position(f.left-2), position(f.top-2), position(f.right-f.left+4), position(f.bottom-f.top+4))
	c.printf("<g clip-path=\"url(#%s-c)\">\n", c.id)
}

func (f *frame) endClip(c *canvas) { c.printf("</g>\n") }

// inside reports whether a place lies in the plotting area.
func (f *frame) inside(p point) bool {
	return p.x >= f.left-0.1 && p.x <= f.right+0.1 && p.y >= f.top-0.1 && p.y <= f.bottom+0.1
}
