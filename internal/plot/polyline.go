package plot

import (
	"math"
	"strings"
)

// polyline is a line on the canvas: runs of places that belong together, parted where a value cannot be drawn.
type polyline [][]Point

// trace places the pairs of a series. It stops at the shorter of the two slices.
func (f *Frame) trace(x, y []float64) polyline {
	var line polyline
	var run []Point
	for i := range min(len(x), len(y)) {
		p, ok := f.At(x[i], y[i])
		if !ok {
			if run != nil {
				line, run = append(line, run), nil
			}
			continue
		}
		run = append(run, p)
	}
	if run != nil {
		line = append(line, run)
	}
	return line
}

// stairs turns a run into steps: to the right on the old height, then up or down.
func stairs(run []Point) []Point {
	if len(run) == 0 {
		return nil
	}
	out := []Point{run[0]}
	for i := 1; i < len(run); i++ {
		if run[i].X != run[i-1].X && run[i].Y != run[i-1].Y {
			out = append(out, Point{run[i].X, run[i-1].Y})
		}
		out = append(out, run[i])
	}
	return out
}

// most is how many places of one line are kept at the end, whatever it looks like.
const most = 4000

// many is the number of places from which on a line is thinned by columns.
const many = 1000

// thin drops places that cannot be seen: of those closer than a fifth of a unit all but one, and where many are left, of
// those that follow each other within one unit of x all but the first, the lowest, the highest and the last.
func thin(run []Point) []Point {
	out := DropClose(run)
	if len(out) > many {
		out = columns(out)
	}
	if len(out) > most {
		stride := (len(out) + most - 2) / (most - 1)
		var kept []Point
		for i := 0; i < len(out)-1; i += stride {
			kept = append(kept, out[i])
		}
		out = append(kept, out[len(out)-1])
	}
	return out
}

// DropClose returns a run without the points closer than 0.2 user units to the one before. The ends stay.
func DropClose(run []Point) []Point {
	var out []Point
	for i, p := range run {
		last := len(out) - 1
		if i > 0 && i < len(run)-1 && math.Abs(p.X-out[last].X) < 0.2 && math.Abs(p.Y-out[last].Y) < 0.2 {
			continue
		}
		out = append(out, p)
	}
	return out
}

func columns(run []Point) []Point {
	var out []Point
	for first := 0; first < len(run); {
		end, low, high := first+1, first, first
		for end < len(run) && math.Floor(run[end].X) == math.Floor(run[first].X) {
			if run[end].Y < run[low].Y {
				low = end
			}
			if run[end].Y > run[high].Y {
				high = end
			}
			end++
		}
		kept := first - 1
		for _, i := range []int{first, min(low, high), max(low, high), end - 1} {
			if i > kept {
				out, kept = append(out, run[i]), i
			}
		}
		first = end
	}
	return out
}

// PathOf writes a run as path data, without the places in the middle of a horizontal or vertical stretch.
func PathOf(run []Point) string {
	if len(run) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("M" + Pair(run[0].X, run[0].Y))
	last := run[0]
	for i := 1; i < len(run); i++ {
		if i+1 < len(run) && between(last, run[i], run[i+1]) {
			continue
		}
		b.WriteString(lineTo(last, run[i]))
		last = run[i]
	}
	return b.String()
}

// between reports whether b lies on the straight horizontal or vertical way from a to d.
func between(a, b, d Point) bool {
	same := func(x, y float64) bool { return position(x) == position(y) }
	return same(a.Y, b.Y) && same(b.Y, d.Y) && (b.X-a.X)*(d.X-b.X) >= 0 ||
		same(a.X, b.X) && same(b.X, d.X) && (b.Y-a.Y)*(d.Y-b.Y) >= 0
}

// spaced picks about count places of a run, evenly along its length, the first at the share offset of the spacing. Places
// outside the plotting area do not count.
func (f *Frame) spaced(run []Point, count int, offset float64) []Point {
	length := 0.0
	for i := 1; i < len(run); i++ {
		length += f.stretch(run[i-1], run[i])
	}
	var out []Point
	walked, next := 0.0, length/float64(count)*offset
	for i := 1; i < len(run) && length > 0; i++ {
		walked += f.stretch(run[i-1], run[i])
		if walked >= next && f.inside(run[i]) {
			out = append(out, run[i])
			for next <= walked {
				next += length / float64(count)
			}
		}
	}
	return out
}

// stretch is the length of a segment that lies inside the plotting area, otherwise 0.
func (f *Frame) stretch(a, b Point) float64 {
	if !f.inside(a) || !f.inside(b) {
		return 0
	}
	return math.Abs(b.X-a.X) + math.Abs(b.Y-a.Y)
}
