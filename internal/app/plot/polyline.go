package plot

import (
	"math"
	"strings"
)

// polyline is a line on the canvas. Each run is a connected part; values that cannot be drawn interrupt the
// line.
type polyline [][]Point

// trace returns the positions of pairs of values. It stops at the end of the shorter slice.
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

// stairs replaces the lines of a run by steps: to the right at the old height, then up or down.
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

// most is the largest number of points in one line. It bounds the size of the file to about 40 kB per line.
const most = 4000

// many is the number of points above which a line is thinned by columns, about 2.5 per user unit of width.
const many = 1000

// thinRun drops points that cannot be seen. It first drops points closer than 0.2 units to the one before. If
// many are left, it keeps only the first, the lowest, the highest and the last point within each unit of x.
func thinRun(run []Point) []Point {
	out := DropClose(run)
	if len(out) > many {
		out = thinColumns(out)
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

// thinColumns keeps the first, the lowest, the highest and the last of the consecutive points in each unit of
// x.
func thinColumns(run []Point) []Point {
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

// PathOf returns a run as path data, without the points in the middle of a horizontal or vertical line.
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

// between reports whether b is on a horizontal or vertical line from a to d.
func between(a, b, d Point) bool {
	same := func(x, y float64) bool { return position(x) == position(y) }
	return same(a.Y, b.Y) && same(b.Y, d.Y) && (b.X-a.X)*(d.X-b.X) >= 0 ||
		same(a.X, b.X) && same(b.X, d.X) && (b.Y-a.Y)*(d.Y-b.Y) >= 0
}

// spaced returns about count points of a run, evenly along its length. The first is offset times the spacing
// from the start. Points outside the plotting area are left out.
func (f *Frame) spaced(run []Point, count int, offset float64) []Point {
	length := 0.0
	for i := 1; i < len(run); i++ {
		length += f.insideLength(run[i-1], run[i])
	}
	var out []Point
	walked, next := 0.0, length/float64(count)*offset
	for i := 1; i < len(run) && length > 0; i++ {
		walked += f.insideLength(run[i-1], run[i])
		if walked >= next && f.inside(run[i]) {
			out = append(out, run[i])
			for next <= walked {
				next += length / float64(count)
			}
		}
	}
	return out
}

// insideLength returns the length of a segment inside the plotting area, and 0 if an end is outside.
func (f *Frame) insideLength(a, b Point) float64 {
	if !f.inside(a) || !f.inside(b) {
		return 0
	}
	return math.Abs(b.X-a.X) + math.Abs(b.Y-a.Y)
}
