package plot

// DotPlot shows one value per row with its interval, to compare models.
type DotPlot struct {
	Text  Caption
	X     Axis
	Rows  []Dot
	Rules []Rule // vertical lines, for instance where the difference is 0
}

// Dot is a row of a DotPlot.
type Dot struct {
	Name      string
	Value     float64
	Interval  *[2]float64 // low and high; nil if there is none
	Undefined string      // why there is no value; "" if there is one
	Chosen    bool        // drawn larger, as a full dot, with its name in bold
	Baseline  bool        // drawn as an open square
}

// Caption returns d.Text.
func (d *DotPlot) Caption() Caption { return d.Text }

// Sizes of a row in user units, chosen by hand. The name is left of the plotting area on up to dotLines
// lines, the value is right of it.
const (
	dotNames   = 164.0
	dotLines   = 3
	dotLine    = 15.0
	dotPadding = 12.0
)

// Draw implements Figure.
func (d *DotPlot) Draw(c *Canvas) {
	p := Plot{Rules: d.Rules}
	DrawLegend(c, append(d.legendEntries(), p.legendEntries()...))
	names, values := d.columns(c.scaled(dotNames))
	top := c.Height + 6
	heights, bottom := make([]float64, len(d.Rows)), top
	for i, lines := range names {
		heights[i] = float64(dotLine*float64(max(1, len(lines)))) + dotPadding
		bottom += heights[i]
	}
	f := d.drawFrame(c, top, bottom, names, values)
	for _, r := range d.Rules {
		if x, ok := f.x.at(r.At); ok {
			c.Line("rule d5", x, f.Top, x, f.Bottom)
		}
	}
	y := top
	for i, row := range d.Rows {
		middle := y + Half(heights[i])
		d.drawRow(c, &f, row, names[i], values[i], middle)
		y += heights[i]
	}
	if len(d.Rows) == 0 {
		c.Text("axis mid", (f.Left+f.Right)/2, f.Bottom-4, "no data")
	}
}

// columns returns the texts left and right of the plotting area.
func (d *DotPlot) columns(width float64) (names [][]string, values []string) {
	for _, row := range d.Rows {
		names = append(names, Wrap(row.Name, row.size(), width, dotLines))
		value := d.X.Unit.Write(row.Value, 3)
		if row.Undefined != "" || !Drawable(row.Value) {
			value = "none"
		}
		values = append(values, value)
	}
	return names, values
}

// drawFrame draws the grid and the axis below the rows.
func (d *DotPlot) drawFrame(c *Canvas, top, bottom float64, names [][]string, values []string) Frame {
	var e extent
	for _, row := range d.Rows {
		if row.Undefined != "" {
			continue
		}
		e.include(row.Value)
		if row.Interval != nil {
			e.include(row.Interval[0])
			e.include(row.Interval[1])
		}
	}
	for _, r := range d.Rules {
		e.include(r.At)
	}
	left, right := 0.0, 0.0
	for i, row := range d.Rows {
		for _, line := range names[i] {
			left = max(left, TextWidth(line, row.size()))
		}
		right = max(right, TextWidth(values[i], row.size()))
	}
	f := Frame{Left: 8 + left + 12, Right: c.Width - 8 - right - 12, Top: top, Bottom: max(bottom, top+24)}
	f.x = newMapping(d.X, e, f.Left, f.Right, labelWidth)
	for _, t := range f.x.ticks {
		if at, _ := f.x.at(t.at); t.label != "" {
			c.Line("grid", at, f.Top, at, f.Bottom)
			c.Text("tick mid", at, f.Bottom+16, t.label)
		}
	}
	c.Line("frame", f.Left, f.Bottom, f.Right, f.Bottom)
	c.Height = f.Bottom + 16
	if d.X.Label != "" {
		c.Height += 17
		label := shorten(d.X.Label, TextSize, c.Width-16)
		half := Half(TextWidth(label, TextSize))
		middle := min(max(Half(f.Left+f.Right), 8+half), c.Width-8-half)
		c.Text("axis mid", middle, c.Height, label)
	}
	c.Height += 8
	return f
}

func (d *DotPlot) drawRow(c *Canvas, f *Frame, row Dot, name []string, value string, middle float64) {
	class := "axis"
	if row.Chosen {
		class = "axis strong"
	}
	y := middle + 4 - Half(dotLine*float64(len(name)-1))
	for _, line := range name {
		c.Text(class, 8, y, line)
		y += dotLine
	}
	c.Text(class+" end", c.Width-8, middle+4, value)
	c.Line("grid", f.Left, middle, f.Right, middle)
	x, ok := f.x.at(row.Value)
	if !ok || row.Undefined != "" {
		return
	}
	if row.Interval != nil {
		low, lowOK := f.x.at(row.Interval[0])
		high, highOK := f.x.at(row.Interval[1])
		if lowOK && highOK {
			c.Path("line "+dotClass(row), "M"+Pair(low, middle)+"H"+position(high)+
				"M"+Pair(low, middle-4)+"v8M"+Pair(high, middle-4)+"v8")
		}
	}
	title := row.Name + ": " + value
	if row.Interval != nil {
		title += ", " + d.X.Unit.Write(row.Interval[0], 3) + " to " + d.X.Unit.Write(row.Interval[1], 3)
	}
	dotMark(c, row, x, middle, title)
}

// size returns the size of the text of a row. Bold text is about 6 % wider.
func (r Dot) size() float64 {
	if r.Chosen {
		return 1.06 * TextSize
	}
	return TextSize
}

func dotClass(row Dot) string {
	switch {
	case row.Chosen:
		return "c1"
	case row.Baseline:
		return "c2"
	}
	return "c6"
}

func dotMark(c *Canvas, row Dot, x, y float64, title string) {
	switch {
	case row.Chosen:
		c.Titled("mark c1", markerPath(0, x, y, 5.5), title)
	case row.Baseline:
		c.Titled("open c2", markerPath(1, x, y, 4.5), title)
	default:
		c.Titled("open c6", markerPath(0, x, y, 4), title)
	}
}

func (d *DotPlot) legendEntries() []LegendEntry {
	var entries []LegendEntry
	for _, kind := range []struct {
		name string
		dot  Dot
	}{{"chosen", Dot{Chosen: true}}, {"baseline", Dot{Baseline: true}}} {
		for _, row := range d.Rows {
			if row.Chosen == kind.dot.Chosen && row.Baseline == kind.dot.Baseline {
				entries = append(entries, LegendEntry{kind.name, smallSwatch, func(c *Canvas, x, y float64) {
					dotMark(c, kind.dot, x+smallSwatch/2, y, "")
				}})
				break
			}
		}
	}
	return entries
}
