package drawing

import (
	"math"
	"slices"

	"toptau/internal/app/plot"
)

// Field is a layer of a plot with the contours of a function of two variables, given on a grid.
type Field struct {
	X0, X1, Y0, Y1 float64   // the grid covers X0 to X1 and Y0 to Y1, ends included
	Columns, Rows  int       // grid points in each direction, at least 2
	Values         []float64 // Rows times Columns, row by row from Y0 up; cells with a value that is not finite are skipped
	Levels         []float64 // default: about 8 round numbers
	Unit           plot.Unit
}

// Extent returns the corners of the grid.
func (g *Field) Extent() (x, y [2]float64) { return [2]float64{g.X0, g.X1}, [2]float64{g.Y0, g.Y1} }

// usable reports whether the sizes are valid and match.
func (g *Field) usable() bool {
	return g.Columns >= 2 && g.Rows >= 2 && g.Columns <= 1<<15 && g.Rows <= 1<<15 && len(g.Values) == g.Columns*g.Rows
}

func (g *Field) value(i, j int) float64 { return g.Values[j*g.Columns+i] }

// levels returns the levels of the contours.
func (g *Field) levels() []float64 {
	if len(g.Levels) > 0 {
		return g.Levels
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range g.Values {
		if plot.Drawable(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return plot.RoundNumbers(low, high, 8)
}

// crossing is the point at which a contour crosses an edge of the grid, with the edges that follow on the
// contour.
type crossing struct {
	at   plot.Point
	next []int
}

// contour returns the lines of one level, found by marching squares. Edge 2 (j Columns + i) goes from grid
// point (i, j) to the right, and the edge with the next number goes up. Lines that end at the border come
// first, then closed lines.
func (g *Field) contour(level float64, f *plot.Frame) [][]plot.Point {
	crossings := map[int]*crossing{}
	var order []int
	join := func(a, b int) {
		for _, e := range [][2]int{{a, b}, {b, a}} {
			if crossings[e[0]] == nil {
				crossings[e[0]] = &crossing{at: g.interpolate(e[0], level, f)}
				order = append(order, e[0])
			}
			crossings[e[0]].next = append(crossings[e[0]].next, e[1])
		}
	}
	for j := range g.Rows - 1 {
		for i := range g.Columns - 1 {
			g.joinCell(i, j, level, join)
		}
	}
	var lines [][]plot.Point
	for _, open := range []bool{true, false} {
		for _, e := range order {
			if c := crossings[e]; len(c.next) > 0 && (!open || len(c.next) == 1) {
				lines = append(lines, followLine(crossings, e))
			}
		}
	}
	return lines
}

// joinCell joins the crossed edges of one cell.
func (g *Field) joinCell(i, j int, level float64, join func(a, b int)) {
	corners := [4]float64{g.value(i, j), g.value(i+1, j), g.value(i+1, j+1), g.value(i, j+1)}
	sum := 0.0
	for _, v := range corners {
		if !plot.Drawable(v) {
			return
		}
		sum += float64(v / 4)
	}
	edge := func(i, j int) int { return 2 * (j*g.Columns + i) }
	edges := [4]int{edge(i, j), edge(i+1, j) + 1, edge(i, j+1), edge(i, j) + 1} // below, right, above, left
	var crossed []int
	for k := range 4 {
		if (corners[k] >= level) != (corners[(k+1)%4] >= level) {
			crossed = append(crossed, edges[k])
		}
	}
	switch len(crossed) {
	case 2:
		join(crossed[0], crossed[1])
	case 4: // a saddle: the mean of the corners decides which pair of corners is connected
		if (sum >= level) == (corners[0] >= level) {
			join(crossed[0], crossed[1])
			join(crossed[2], crossed[3])
		} else {
			join(crossed[3], crossed[0])
			join(crossed[1], crossed[2])
		}
	}
}

// interpolate returns the point at which the level crosses an edge, by linear interpolation.
func (g *Field) interpolate(edge int, level float64, f *plot.Frame) plot.Point {
	i, j := edge/2%g.Columns, edge/2/g.Columns
	di, dj := 1-edge%2, edge%2
	a, b := g.value(i, j), g.value(i+di, j+dj)
	t := min(max((level-a)/(b-a), 0), 1)
	x := g.X0 + float64((g.X1-g.X0)*(float64(i)+float64(t*float64(di)))/float64(g.Columns-1))
	y := g.Y0 + float64((g.Y1-g.Y0)*(float64(j)+float64(t*float64(dj)))/float64(g.Rows-1))
	p, _ := f.At(x, y)
	return p
}

// followLine returns the line from an edge to its end. It removes the joins that it uses.
func followLine(crossings map[int]*crossing, e int) []plot.Point {
	run := []plot.Point{crossings[e].at}
	for len(crossings[e].next) > 0 {
		next := crossings[e].next[0]
		crossings[e].next = crossings[e].next[1:]
		back := crossings[next]
		back.next = slices.Delete(back.next, slices.Index(back.next, e), slices.Index(back.next, e)+1)
		run = append(run, back.at)
		e = next
	}
	return run
}

// DrawShapes draws the contours.
func (g *Field) DrawShapes(c *plot.Canvas, f *plot.Frame) {
	if !g.usable() {
		return
	}
	for _, level := range g.levels() {
		d := ""
		for _, run := range g.contour(level, f) {
			d += plot.PathOf(plot.DropClose(run))
		}
		if d != "" {
			c.Path("contour", d)
		}
	}
}

// DrawLabels writes each level on the longest of its lines, where no other label is.
func (g *Field) DrawLabels(c *plot.Canvas, f *plot.Frame) {
	if !g.usable() {
		return
	}
	var taken []box
	for _, level := range g.levels() {
		text := g.Unit.Write(level, 3)
		half := plot.Half(plot.TextWidth(text, plot.SmallSize))
		if at, ok := placeLabel(f, longest(g.contour(level, f)), half, &taken); ok {
			c.Text("halo mid", at.X, at.Y+4, text)
		}
	}
}

// box is the area of a label.
type box struct{ left, top, right, bottom float64 }

// meets reports whether two boxes overlap.
func (b box) meets(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// placeLabel finds a free position on a line for a label. It starts at a quarter of the line.
func placeLabel(f *plot.Frame, run []plot.Point, half float64, taken *[]box) (plot.Point, bool) {
	for i := range run {
		p := run[(i+len(run)/4)%len(run)]
		b := box{p.X - half - 3, p.Y - 9, p.X + half + 3, p.Y + 9}
		inside := b.left > f.Left && b.right < f.Right && b.top > f.Top && b.bottom < f.Bottom
		if inside && !slices.ContainsFunc(*taken, b.meets) {
			*taken = append(*taken, b)
			return p, true
		}
	}
	return plot.Point{}, false
}

// longest returns the longest run of at least 40 user units, about the width of a label, and nil if there is
// none.
func longest(lines [][]plot.Point) []plot.Point {
	var best []plot.Point
	length := 40.0
	for _, run := range lines {
		l := 0.0
		for i := 1; i < len(run); i++ {
			l += math.Abs(run[i].X-run[i-1].X) + math.Abs(run[i].Y-run[i-1].Y)
		}
		if l > length {
			best, length = run, l
		}
	}
	return best
}
