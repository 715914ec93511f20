package smoothed

import (
	"math"
	"testing"
)

// TestHinge checks that a smoothed hinge lies above the sharp one, less so the narrower it is, and compares
// its derivatives with differences.
func TestHinge(t *testing.T) {
	for _, k := range []Hinge{{Width: .5}, {Width: 2}, {Square: true}} {
		for x := -2.0; x <= 2; x += .01 {
			const h = 1e-6
			value, slope, curvature := k.At(x)
			if got := (valueAt(k, x+h) - valueAt(k, x-h)) / (2 * h); math.Abs(got-slope) > 3*h {
				t.Errorf("%+v at %g: slope %g, differences %g", k, x, slope, got)
			}
			corner := math.Abs(math.Abs(x)-k.Width/2) < 2*h
			if got := (slopeAt(k, x+h) - slopeAt(k, x-h)) / (2 * h); !corner && math.Abs(got-curvature) > 1e-6 {
				t.Errorf("%+v at %g: second derivative %g, differences %g", k, x, curvature, got)
			}
			if !k.Square && (value < math.Max(0, x) || value < valueAt(Hinge{Width: k.Width / 3}, x) || slope < 0 || slope > 1) {
				t.Errorf("%+v at %g: %g, slope %g", k, x, value, slope)
			}
		}
	}
}

func valueAt(h Hinge, x float64) float64 { v, _, _ := h.At(x); return v }
func slopeAt(h Hinge, x float64) float64 { _, v, _ := h.At(x); return v }

// TestHingeBetween checks that a hinge between knots has slopes that rise from 0 to 1 without steps, and about the value of the smooth
// one, whose slope it has at the knots.
func TestHingeBetween(t *testing.T) {
	for _, h := range []Hinge{{Width: .5}, {Width: .02}, {Square: true, Width: .5}} {
		for _, corner := range []float64{0, .013, -.27} {
			var knots []float64
			for x := -.8; x < .8; x += .03 {
				knots = append(knots, x)
			}
			pieces := h.Between(append(knots, math.Inf(1)), corner)
			last := 0.0
			for k, p := range pieces {
				for _, x := range []float64{knots[k], knots[k] + .015, knots[k] + .03} {
					slope := p.Rate + p.Slope*x
					if slope < last-1e-12 || !h.Square && slope > 1+1e-12 {
						t.Errorf("%+v at %g, piece %d: slope %g after %g", h, corner, k, slope, last)
					}
					last = slope
					cell := Cell{Mass: 1, Score: x, Square: x * x}
					value, at, _ := h.At(x - corner)
					if got := h.value(&cell, p); math.Abs(got-value) > 1.01*p.Off+1e-12 {
						t.Errorf("%+v at %g, piece %d: value %g at %g, want %g up to %g", h, corner, k, got, x, value, p.Off)
					}
					if x == knots[k] && math.Abs(slope-at) > 1e-12 {
						t.Errorf("%+v at %g: slope %g at the knot %g, want %g", h, corner, slope, x, at)
					}
				}
			}
		}
	}
}
