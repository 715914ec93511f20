package drawing

import (
	"math"
	"testing"

	"toptau/internal/app/plot"
)

// probe is a layer that keeps the frame in which it is drawn.
type probe struct {
	*Field
	frame *plot.Frame
}

func (p *probe) DrawShapes(_ *plot.Canvas, f *plot.Frame) { p.frame = f }

// frameOf returns the frame of a plot with a field.
func frameOf(g *Field, axis plot.Axis) *plot.Frame {
	p := &probe{Field: g}
	plot.SVG(&plot.Plot{Layer: p, X: axis, Y: axis})
	return p.frame
}

// bowl returns x^2 + y^2/2 on an n by n grid over [-1, 1] x [-1, 1].
func bowl(n int) []float64 {
	var values []float64
	for j := range n {
		for i := range n {
			x, y := 2*float64(i)/float64(n-1)-1, 2*float64(j)/float64(n-1)-1
			values = append(values, float64(x*x)+float64(y*y)/2)
		}
	}
	return values
}

func TestContourOfABowlIsAClosedEllipse(t *testing.T) {
	const n = 41
	g := &Field{X0: -1, X1: 1, Y0: -1, Y1: 1, Columns: n, Rows: n, Values: bowl(n)}
	f := frameOf(g, plot.Axis{Min: -1, Max: 1})
	lines := g.contour(0.4, f)
	if len(lines) != 1 || lines[0][0] != lines[0][len(lines[0])-1] {
		t.Fatalf("%d lines, closed: want one closed line", len(lines))
	}
	for _, q := range lines[0] {
		x := 2*(q.X-f.Left)/(f.Right-f.Left) - 1
		y := 2*(f.Bottom-q.Y)/(f.Bottom-f.Top) - 1
		if value := x*x + y*y/2; math.Abs(value-0.4) > 0.003 {
			t.Fatalf("the contour of 0.4 passes a place of value %v", value)
		}
	}
	if lines := g.contour(1.3, f); len(lines) != 4 {
		t.Errorf("1.3 is only reached in the corners: %d lines", len(lines))
	}
	if lines := g.contour(2, f); len(lines) != 0 {
		t.Errorf("2 is not reached: %d lines", len(lines))
	}
}

func TestContourOfASaddleDoesNotCross(t *testing.T) {
	g := &Field{X0: 0, X1: 1, Y0: 0, Y1: 1, Columns: 2, Rows: 2, Values: []float64{1, 0, 0, 1}}
	f := frameOf(g, plot.Axis{})
	for _, level := range []float64{0.3, 0.5, 0.7} {
		lines := g.contour(level, f)
		if len(lines) != 2 || len(lines[0]) != 2 || len(lines[1]) != 2 {
			t.Errorf("level %v: %v, want two lines across corners", level, lines)
		}
	}
}
