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
			if got := (k.Value(x+h) - k.Value(x-h)) / (2 * h); math.Abs(got-slope) > 3*h {
				t.Errorf("%+v at %g: slope %g, differences %g", k, x, slope, got)
			}
			corner := math.Abs(math.Abs(x)-k.Width/2) < 2*h
			if got := (k.Slope(x+h) - k.Slope(x-h)) / (2 * h); !corner && math.Abs(got-curvature) > 1e-6 {
				t.Errorf("%+v at %g: second derivative %g, differences %g", k, x, curvature, got)
			}
			if !k.Square && (value < math.Max(0, x) || value < (Hinge{Width: k.Width / 3}).Value(x) || slope < 0 || slope > 1) {
				t.Errorf("%+v at %g: %g, slope %g", k, x, value, slope)
			}
		}
	}
}
