package report

// entry is one name in a legend with its swatch, drawn from x on around the middle line y.
type entry struct {
	name   string
	width  float64 // of the swatch
	swatch func(c *canvas, x, y float64)
}

const (
	swatchWidth = 30.0
	smallSwatch = 12.0 // a vertical rule, a single mark
	entryGap    = 13.0
	legendRow   = 19.0
)

// legend draws the entries below the present height, in as many rows as they need. It stands outside the plotting area,
// so that it never hides data.
func legend(c *canvas, entries []entry) {
	const margin = 8.0
	x := margin
	for i, e := range entries {
		room := c.width - 2*margin - e.width - 6
		name := shorten(e.name, textSize, room)
		width := e.width + 6 + textWidth(name, textSize)
		if i == 0 || x+width > c.width-margin {
			x = margin
			c.height += legendRow
		}
		e.swatch(c, x, c.height-4)
		c.text("axis", x+e.width+6, c.height, name)
		x += width + entryGap
	}
	if len(entries) > 0 {
		c.height += 6
	}
}
