package threshold

import (
	"math"

	"toptau/internal/core/detmath"
	"toptau/surrogate"
)

// rootQuantile is the surrogate quantile of any surrogate, computed by a safeguarded Newton method. With u =
// beta (t - top) and y_j = beta (z_j - top) <= 0 it solves
//
//	phi(u) = sum_j m_j l(y_j - u) - M tau = 0.
//
// These variables are relative to the top score, so neither large scores nor an extreme beta cost digits. phi
// is convex and non-increasing. A Newton step from left of the root therefore moves right and never passes
// the root, and a step from right of it ends at or left of it. Since l(s) >= 1 + l'(0) s, the top row alone
// gives a lower bound of u. The hinge quantile for beta l'(0) is a better one, and the starting point.
type rootQuantile struct {
	surrogateQuantile
	loss surrogate.Surrogate
}

const (
	// maxSteps bounds the Newton steps. It is only a safeguard: a solution takes far fewer, and the loop ends
	// when a step no longer changes u.
	maxSteps = 200
	// farAway is the multiple of M tau above which steps solve log phi = log M tau, because the logarithm of
	// an exponential tail is a straight line. Chosen by hand.
	farAway = 2
)

func (q rootQuantile) At(z, m []float64, s *Support) {
	s.reset()
	top := highestScore(z, m)
	if math.IsInf(top, -1) {
		s.T, s.Edge = top, top
		return
	}
	u := q.solve(z, m, top, q.startingPoint(z, m, top, s), s)
	q.fillWeights(u, s)
	s.T = top + u/q.beta
	s.Edge = top + (u+q.loss.Properties().ZeroBelow)/q.beta
	for _, j := range s.Rows {
		s.Edge = min(s.Edge, z[j])
	}
}

// startingPoint returns a u near the root: the root of a thin copy if there are many rows, otherwise the
// hinge quantile.
func (q rootQuantile) startingPoint(z, m []float64, top float64, s *Support) float64 {
	thinZ, thinM, fraction, ok := s.thinCopy(z, m)
	if thinTop := highestScore(thinZ, thinM); ok && !math.IsInf(thinTop, -1) {
		thinner := q
		thinner.kappa *= fraction
		u := thinner.solve(thinZ, thinM, thinTop, thinner.tangentRoot(thinZ, thinM, thinTop, s), s)
		return u - float64(q.beta*(top-thinTop))
	}
	return q.tangentRoot(z, m, top, s)
}

// tangentRoot returns the root for the tangent max(0, 1 + l'(0) s) <= l(s). It is at or below the root for l.
func (q rootQuantile) tangentRoot(z, m []float64, top float64, s *Support) float64 {
	slope := q.loss.Derivative(0)
	w := waterLevel(z, m, top, q.kappa/(q.beta*slope), s)
	return float64(q.beta*w.scores)/w.mass + (w.mass-q.kappa)/(slope*w.mass)
}

// solve returns the root, and leaves in s the rows with a non-zero loss there. It starts with the rows that
// have one near the guess.
func (q rootQuantile) solve(z, m []float64, top, guess float64, s *Support) float64 {
	low := (1 - q.kappa/topWeight(z, m, top)) / q.loss.Derivative(0)
	guess = max(guess, low)
	zeroBelow := q.loss.Properties().ZeroBelow
	floor := guess + float64(guessMargin*zeroBelow)
	q.gatherRows(z, m, top, floor, s)
	u := q.newton(guess, low, s)
	if u+zeroBelow < floor { // the root of some rows is a lower bound: this floor is low enough
		q.gatherRows(z, m, top, u+zeroBelow, s)
		u = q.newton(u, low, s)
	}
	return u
}

// guessMargin is the width of the band of rows below a guess, in units of the loss's own width. An eighth
// more than the loss needs, chosen by hand: the band then still covers a root a little below the guess.
const guessMargin = 1.125

// gatherRows copies the rows with y above a floor: y to s.scores, weights to s.mass, indices to s.Rows.
func (q rootQuantile) gatherRows(z, m []float64, top, floor float64, s *Support) {
	s.Rows, s.scores, s.mass = s.Rows[:0], s.scores[:0], s.mass[:0]
	for j, zj := range z {
		y := float64(q.beta * (zj - top))
		if mj := weightOf(m, j); !(y <= floor) && mj > 0 {
			s.Rows = append(s.Rows, int32(j))
			s.scores = append(s.scores, y)
			s.mass = append(s.mass, mj)
		}
	}
}

// newton solves phi(u) = 0 for the gathered rows, started at u. low is a lower bound of the root.
func (q rootQuantile) newton(u, low float64, s *Support) float64 {
	high := math.Inf(1)
	for range maxSteps {
		value, slope := q.lossSums(u, s)
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
		case slope == 0: // right of all rows: bisect
			next = low + float64((high-low)/2)
		case next >= high: // possible only by rounding
			return u
		case math.Abs(next-u) <= 0x1p-50*(math.Abs(u)+value/slope):
			return next
		}
		u = next
	}
	return u
}

// lossSums returns sum_j m_j l(y_j - u) and sum_j m_j l'(y_j - u) over the gathered rows.
func (q rootQuantile) lossSums(u float64, s *Support) (value, slope float64) {
	var values, slopes detmath.Sum
	for k, y := range s.scores {
		values.Add(float64(s.mass[k] * q.loss.Value(y-u)))
		slopes.Add(float64(s.mass[k] * q.loss.Derivative(y-u)))
	}
	return values.Value(), slopes.Value()
}

// fillWeights keeps the gathered rows with a positive l' and fills s.A. For a tiny tau, rounding of u can
// leave l' = 0 even for the top score. The rows with the top score then share the weight.
func (q rootQuantile) fillWeights(u float64, s *Support) {
	vanished := q.loss.Derivative(-u) == 0
	var total detmath.Sum
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
			total.Add(slope)
			n++
		}
	}
	s.Rows = s.Rows[:n]
	s.divideBy(total.Value())
}

// squaredHingeQuantile is rootQuantile with the closed form of r(a).
type squaredHingeQuantile struct{ rootQuantile }

// Regulariser returns (sqrt(M tau sum_j a_j^2 / m_j) - 1) / beta.
func (q squaredHingeQuantile) Regulariser(a, m []float64) float64 {
	var squares detmath.Sum
	for j, aj := range a {
		if aj > 0 {
			squares.Add(float64(aj*aj) / weightOf(m, j))
		}
	}
	return (math.Sqrt(float64(q.kappa*squares.Value())) - 1) / q.beta
}
