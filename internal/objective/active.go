package objective

import (
	"toptau/internal/kernel"
	"toptau/surrogate"
)

// active is the rows of one class whose loss is not zero.
type active struct {
	rows []int32
	v    []float32 // coefficients beside rows: the derivative of the losses by the score
	loss float64   // sum of m_i l/M
	sum  float64   // sum of m_i l'/M

	z, margins, losses, slopes []float64
}

func (a *active) reset() { a.rows, a.v, a.loss, a.sum = a.rows[:0], a.v[:0], 0, 0 }

// activeChunk is the number of rows that are filtered at a time.
const activeChunk = 2048

var signs = map[int][]float64{-1: {-1}, 1: {1}}

// find collects the rows whose margin sign*(z-t) lies above the point from which the surrogate l is zero downwards.
func (a *active) find(o *Objective, m mass, z []float32, sign int, t float64) {
	a.reset()
	floor := o.loss.Properties().ZeroBelow + float64(float64(sign)*t)
	a.z = resize(a.z, activeChunk)
	for first := 0; first < len(z); first += activeChunk {
		chunk := z[first:min(first+activeChunk, len(z))]
		a.filter(chunk, signs[sign], floor, first)
	}
	a.evaluate(o.loss, m, sign, float64(float64(sign)*t))
}

// filter appends the rows of a chunk with sign z > floor, with sign z in margins.
func (a *active) filter(z []float32, sign []float64, floor float64, first int) {
	whole := len(z) / kernel.PanelRows * kernel.PanelRows
	wide := a.z[:len(z)]
	kernel.ScorePanels(z[:whole], sign, wide[:whole], false)
	for i := whole; i < len(z); i++ {
		wide[i] = float64(float64(z[i]) * sign[0])
	}
	n := len(a.rows)
	a.rows, a.margins = room(a.rows, n+len(z)), room(a.margins[:n], n+len(z))
	n += kernel.Filter(wide, floor, int32(first), a.margins[n:], a.rows[n:])
	a.rows, a.margins = a.rows[:n], a.margins[:n]
}

// room returns s with n elements, of which the old ones are kept.
func room[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]T, n, n+n/2)
	copy(grown, s)
	return grown
}

// evaluate turns margins, less a shift, into losses and coefficients of the given sign.
func (a *active) evaluate(l surrogate.Surrogate, m mass, sign int, shift float64) {
	n := len(a.rows)
	a.v = resize(a.v, n)
	if n == 0 {
		return
	}
	if l == surrogate.Hinge && m.weights == nil {
		a.hinge(m.total, sign, shift)
		return
	}
	a.losses, a.slopes = resize(a.losses, n), resize(a.slopes, n)
	for i, s := range a.margins {
		mi := m.of(int(a.rows[i]))
		a.losses[i] = float64(mi * l.Value(s-shift))
		a.slopes[i] = float64(mi * l.Derivative(s-shift))
	}
	a.loss, a.sum = total(a.losses)/m.total, total(a.slopes)/m.total
	for i, slope := range a.slopes {
		a.v[i] = float32(float64(float64(sign)*slope) / m.total)
	}
}

// hinge is max(0, 1+s) with weights 1: active rows all have the slope 1.
func (a *active) hinge(mass float64, sign int, shift float64) {
	for i, s := range a.margins {
		a.margins[i] = max(0, 1+(s-shift))
	}
	a.loss, a.sum = total(a.margins)/mass, float64(len(a.rows))/mass
	v := float32(float64(sign) / mass)
	for i := range a.v {
		a.v[i] = v
	}
}

// total adds numbers pairwise, in an order that depends on their number only.
func total(x []float64) float64 {
	if len(x) <= sumBlock {
		var s [4]float64
		for ; len(x) >= 4; x = x[4:] {
			s[0] += x[0]
			s[1] += x[1]
			s[2] += x[2]
			s[3] += x[3]
		}
		for _, xi := range x {
			s[0] += xi
		}
		return (s[0] + s[1]) + (s[2] + s[3])
	}
	half := (len(x)/2 + sumBlock - 1) / sumBlock * sumBlock
	return total(x[:half]) + total(x[half:])
}
