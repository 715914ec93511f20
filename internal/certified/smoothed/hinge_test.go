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
