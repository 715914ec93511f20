package objective

import (
	"toptau/internal/kernel"
	"toptau/internal/matrix"
	"toptau/surrogate"
)

// losses is the losses of one class at a point: the rows' margins are t - z on the positives and z - t on the negatives.
type losses struct {
	matrix.Response
	loss surrogate.Surrogate
	mass mass
	sign float64 // of the score in the margin
	t    float64
}

// set prepares for a reading of the positives, class 0, or the negatives.
func (l *losses) set(o *Objective, t float64, class int) {
	l.loss, l.mass, l.sign, l.t = o.loss, o.negatives, 1, t
	if class == 0 {
		l.mass, l.sign = o.positives, -1
	}
	l.Other = nil
	if l.loss == surrogate.Hinge && l.mass.weights == nil {
		// max(0, 1 + s) for the margin s = sign (z - t)
		l.Hinge = kernel.Hinge{Sign: l.sign, Shift: 1 - float64(l.sign*t), V: float32(l.sign / l.mass.total)}
		return
	}
	l.Other = l
}

// Respond is for surrogates and weights that have no kernel.
func (l *losses) Respond(first int, z []float32) (loss, slope float64) {
	zero := l.loss.Properties().ZeroBelow
	for i, zi := range z {
		z[i] = 0
		s := float64(l.sign * (float64(zi) - l.t))
		if !(s > zero) {
			continue
		}
		m := l.mass.of(first + i)
		loss += float64(m * l.loss.Value(s))
		d := float64(m * l.loss.Derivative(s))
		slope += d
		z[i] = float32(float64(l.sign*d) / l.mass.total)
	}
	return loss, slope
}

// mean is the mean of the losses, and that of their slopes; 0 when the class is empty.
func (l *losses) mean(m mass) (loss, slope float64) {
	if m.total == 0 {
		return 0, 0
	}
	return l.Loss / m.total, l.Slope / m.total
}
