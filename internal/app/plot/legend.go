package plot

// LegendEntry is a name in a legend with its swatch.
type LegendEntry struct {
	Name   string
	Width  float64                       // of the swatch
	Swatch func(c *Canvas, x, y float64) // draws the swatch from x to the right, with y as its middle line
}

// Sizes in user units, chosen by hand for text of 13 units.
const (
	SwatchWidth = 30.0 // of a line
	smallSwatch = 12.0 // of a vertical rule or a single mark
	entryGap    = 13.0
	legendRow   = 19.0
)

// DrawLegend draws entries below the canvas's height, in as many rows as they need. A legend is outside the
// plotting area, so it never hides data.
func DrawLegend(c *Canvas, entries []LegendEntry) {
	const margin = 8.0
	x := margin
	for i, e := range entries {
		space := c.Width - 2*margin - e.Width - 6
		name := shorten(e.Name, TextSize, space)
		width := e.Width + 6 + TextWidth(name, TextSize)
		if i == 0 || x+width > c.Width-margin {
			x = margin
			c.Height += legendRow
		}
		e.Swatch(c, x, c.Height-4)
		c.Text("axis", x+e.Width+6, c.Height, name)
		x += width + entryGap
	}
	if len(entries) > 0 {
		c.Height += 6
	}
}
