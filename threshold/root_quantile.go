package threshold

import (
	"math"

	"toptau/internal/detmath"
	"toptau/surrogate"
)

// rootQuantile is the surrogate quantile of any surrogate, by a safeguarded Newton method. In u = beta (t - top) and
// y_j = beta (z_j - top) <= 0 it solves
//
//	phi(u) = sum_j m_j l(y_j - u) - M tau = 0,
//
// in which neither large scores nor extreme beta can spoil a digit. phi is convex and non-increasing, so a Newton step from
// anywhere ends at or left of the root: from the left it rises without ever passing it, from the right it comes back in one
// step. Since l(s) >= 1 + l'(0) s, the top row alone bounds u from below, and so does the hinge quantile for beta l'(0),
// which is the start.
type rootQuantile struct {
	surrogateQuantile
	loss surrogate.Surrogate
}

const (
	maxSteps = 200 // far more than are ever needed; the method ends when a step no longer changes u
	farAway  = 2   // times M tau: above this, steps are taken on the logarithm, which is straight in an exponential tail
)

func (q rootQuantile) At(z, m []float64, s *Support) {
	s.reset()
	top := highest(z, m)
	if math.IsInf(top, -1) {
		s.T, s.Edge = top, top
		return
	}
	u := q.solve(z, m, top, q.guess(z, m, top, s), s)
	q.weights(u, s)
	s.T = top + u/q.beta
	s.Edge = top + (u+q.loss.Properties().ZeroBelow)/q.beta
	for _, j := range s.Rows {
		s.Edge = min(s.Edge, z[j])
	}
}

// guess returns a u near the root: from a thin copy of many rows, from the hinge quantile for few.
func (q rootQuantile) guess(z, m []float64, top float64, s *Support) float64 {
	thinZ, thinM, share, ok := s.thin(z, m)
	if thinTop := highest(thinZ, thinM); ok && !math.IsInf(thinTop, -1) {
		thinner := q
		thinner.kappa *= share
		u := thinner.solve(thinZ, thinM, thinTop, thinner.tangent(thinZ, thinM, thinTop, s), s)
		return u - float64(q.beta*(top-thinTop))
	}
	return q.tangent(z, m, top, s)
}

// tangent returns the root for the tangent max(0, 1 + l'(0) s) <= l(s), which is at or below the root for l.
func (q rootQuantile) tangent(z, m []float64, top float64, s *Support) float64 {
	slope := q.loss.Derivative(0)
	w := waterLevel(z, m, top, q.kappa/(q.beta*slope), s)
	return float64(q.beta*w.scores)/w.mass + (w.mass-q.kappa)/(slope*w.mass)
}

// solve returns the root and leaves the rows that matter for it in s. It first looks at those that matter near the guess.
func (q rootQuantile) solve(z, m []float64, top, guess float64, s *Support) float64 {
	low := (1 - q.kappa/topWeight(z, m, top)) / q.loss.Derivative(0)
	guess = max(guess, low)
	zeroBelow := q.loss.Properties().ZeroBelow
	floor := guess + float64(guessMargin*zeroBelow)
	q.gather(z, m, top, floor, s)
	u := q.root(guess, low, s)
	if u+zeroBelow < floor { // the root of some rows is a lower bound, so this time the floor is low enough
		q.gather(z, m, top, u+zeroBelow, s)
		u = q.root(u, low, s)
	}
	return u
}

// guessMargin widens the band of a guess, in units of the loss's own.
const guessMargin = 1.125

// gather copies the rows above a floor: y to s.scores, m to s.mass, indices to s.Rows.
func (q rootQuantile) gather(z, m []float64, top, floor float64, s *Support) {
	s.Rows, s.scores, s.mass = s.Rows[:0], s.scores[:0], s.mass[:0]
	for j, zj := range z {
		y := float64(q.beta * (zj - top))
		if mj := weight(m, j); !(y <= floor) && mj > 0 {
			s.Rows = append(s.Rows, int32(j))
			s.scores = append(s.scores, y)
			s.mass = append(s.mass, mj)
		}
	}
}

// root solves phi(u) = 0 for the rows gathered, from u; low is a lower bound of the root.
func (q rootQuantile) root(u, low float64, s *Support) float64 {
	high := math.Inf(1)
	for range maxSteps {
		value, slope := q.sums(u, s)
		next := u + (value-q.kappa)/slope
		if value >= q.kappa {
			low = u
			if value > farAway*q.kappa {
				if far := u + float64(value/slope*detmath.Log(value/q.kappa)); far < high {
					next = max(next, far)
				}
			}
		} else {
			high = u
			next = max(next, low)
		}
		switch {
		case slope == 0: // beyond all rows
			next = low + float64((high-low)/2)
		case next >= high: // only by rounding
			return u
		case math.Abs(next-u) <= 0x1p-50*(math.Abs(u)+value/slope):
			return next
		}
		u = next
	}
	return u
}

// sums returns sum_j m_j l(y_j - u) and sum_j m_j l'(y_j - u) over the rows gathered.
func (q rootQuantile) sums(u float64, s *Support) (value, slope float64) {
	var values, slopes sum
	for k, y := range s.scores {
		values.add(float64(s.mass[k] * q.loss.Value(y-u)))
		slopes.add(float64(s.mass[k] * q.loss.Derivative(y-u)))
	}
	return values.total(), slopes.total()
}

// weights keeps the gathered rows with a positive l' and fills s.A.
func (q rootQuantile) weights(u float64, s *Support) {
	vanished := q.loss.Derivative(-u) == 0 // even at the top, for tau so small that u has rounded: the top rows share
	var total sum
	n := 0
	for k, y := range s.scores {
		slope := s.mass[k]
		switch {
		case !vanished:
			slope = float64(slope * q.loss.Derivative(y-u))
		case y < 0:
			slope = 0
		}
		if slope > 0 {
			s.Rows[n] = s.Rows[k]
			s.A = append(s.A, slope)
			total.add(slope)
			n++
		}
	}
	s.Rows = s.Rows[:n]
	all := total.total()
	for k := range s.A {
		s.A[k] /= all
	}
}

// squaredHingeQuantile is rootQuantile with the closed form of r(a).
type squaredHingeQuantile struct{ rootQuantile }

// Regulariser is (sqrt(M tau sum_j a_j^2 / m_j) - 1) / beta.
func (q squaredHingeQuantile) Regulariser(a, m []float64) float64 {
	var squares sum
	for j, aj := range a {
		if aj > 0 {
			squares.add(float64(aj*aj) / weight(m, j))
		}
	}
	return (math.Sqrt(float64(q.kappa*squares.total())) - 1) / q.beta
}
