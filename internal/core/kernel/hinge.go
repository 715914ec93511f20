package kernel

import "math"

// Hinge converts the scores of one model to coefficients. With
//
//	u = Shift + Sign z,    Sign -1 or 1, in float64,
//
// a row with u > 0 gets the coefficient V and adds u to a sum. Other rows, and rows whose score is NaN, get 0.
type Hinge struct {
	Sign, Shift float64
	V           float32
}

// Panels replaces the scores of panels that are stride elements apart by coefficients and returns the number of rows with
// u > 0. Row r of a panel adds its u to lane r mod 16; lanes start at +0.
func (h Hinge) Panels(z []float32, stride, panels int, lanes *[TileLanes]float64) int {
	if panels == 0 {
		return 0
	}
	z = z[:(panels-1)*stride+PanelRows]
	if uses(hingeFamily) {
		flip := float32(0) // a row counts when -Sign z lies below the bound
		if h.Sign > 0 {
			flip = math.Float32frombits(1 << 31)
		}
		return asmHinge(&z[0], 4*stride, panels, flip, h.bound(), h.Sign, h.Shift, h.V, &lanes[0])
	}
	count := 0
	for p := range panels {
		count += h.Rows(z[p*stride:][:PanelRows], lanes)
	}
	return count
}

// Rows is Panels for the first rows of one panel.
func (h Hinge) Rows(z []float32, lanes *[TileLanes]float64) int {
	count := 0
	for r, s := range z {
		z[r] = 0
		if u := h.Shift + float64(h.Sign*float64(s)); u > 0 {
			lanes[r%TileLanes] += u
			z[r] = h.V
			count++
		}
	}
	return count
}

// bound returns the smallest float32 that is not below Shift. A float32 is below bound exactly when it is below Shift.
func (h Hinge) bound() float32 {
	b := float32(h.Shift)
	if float64(b) < h.Shift {
		return math.Nextafter32(b, float32(math.Inf(1)))
	}
	return b
}

// SumLanes returns the sum of sixteen lanes, in the order of a gradient.
func SumLanes(l *[TileLanes]float64) float64 {
	var s [Lanes]float64
	for i := range s {
		s[i] = l[i] + l[i+Lanes]
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}
