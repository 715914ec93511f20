package threshold

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/detmath"
)

// SmoothQuantile is the t at which a count with soft edges reaches M tau,
//
//	sum_j m_j G((z_j - t) / Width) = M tau,
//
// where G rises from 0 at -1 to 1 at 1: G(u) = 1/2 + 15/16 (u - 2/3 u^3 + 1/5 u^5), the distribution function
// of the biweight kernel g(u) = 15/16 (1 - u^2)^2. M tau is not rounded. Except in the gaps described below,
// t is at most Width away from the Quantile. It is smooth in z but not convex. Differentiating gives
//
//	a_j = m_j g((z_j - t) / Width) / sum_i m_i g((z_i - t) / Width).
//
// The rows within Width of t share the gradient. Quantile gives all of it to one row, and a surrogate
// quantile gives most of it to the highest rows. A logistic kernel of scale h has the same variance as this
// one at Width = sqrt(7/3) pi h.
//
// If the rows above t have the mass M tau and no row is within Width of t, every t in that gap solves the
// equation. At then returns the middle of the gap, and the rows at its two ends share the gradient. For rows
// of equal weight that is the limit of narrower gaps.
type SmoothQuantile struct {
	Tau   Rate
	Width float64 // half the width of the soft edge, in units of the scores; positive and finite
}

// Convex returns false.
func (SmoothQuantile) Convex() bool { return false }

// Bind fails if the population has no rows, or if a parameter is unset or out of range.
func (r SmoothQuantile) Bind(p Population) (Threshold, error) {
	if err := checkTau(r.Tau, p); err != nil {
		return nil, err
	}
	if !(r.Width > 0) || math.IsInf(r.Width, 1) {
		return nil, &diag.Error{
			Kind: diag.Usage, Param: "width", Found: fmt.Sprint(r.Width), Expected: "a finite number above 0",
		}
	}
	return smoothQuantile{kappa: r.Tau.Times(p.Mass), width: r.Width}, nil
}

type smoothQuantile struct{ kappa, width float64 }

func (q smoothQuantile) Kappa() float64 { return q.kappa }

func (q smoothQuantile) Cap(float64) float64 { return 1 }

func (q smoothQuantile) Regulariser(_, _ []float64) float64 { return math.NaN() }

// At starts from the score e at which the mass reaches kappa. The rows at or above e have at least the mass
// kappa, those above e have less. So e - Width <= t <= e + Width, and only rows within twice the Width of e
// can lie in the soft edge.
func (q smoothQuantile) At(z, m []float64, s *Support) {
	s.reset()
	e := topEdge(z, m, q.kappa, s)
	s.T, s.Edge = e, e
	if math.IsInf(e, -1) {
		return
	}
	sure, reached := q.gatherRows(z, m, e, s)
	if reached <= float64(q.kappa*(1+massTolerance)) {
		if next := nextBelow(z, m, e); next < e-float64(2*q.width) {
			q.setMiddle(z, m, e, next, s)
			return
		}
	}
	s.T = q.root(e, sure, s)
	s.Edge = s.T - q.width
	q.fillWeights(s)
}

// gatherRows copies the rows within twice the Width of e: indices to s.Rows, scores to s.scores, weights to
// s.mass. It returns the mass of the rows above them, and the mass of all rows at or above e.
func (q smoothQuantile) gatherRows(z, m []float64, e float64, s *Support) (sure, reached float64) {
	s.scores, s.mass = s.scores[:0], s.mass[:0]
	var above, top detmath.Sum
	low, high := e-float64(2*q.width), e+float64(2*q.width)
	for j, zj := range z {
		if zj < low {
			continue
		}
		mj := weightOf(m, j)
		if zj >= e {
			top.Add(mj)
		}
		if zj > high {
			above.Add(mj)
		} else if mj > 0 {
			s.Rows = append(s.Rows, int32(j))
			s.scores = append(s.scores, zj)
			s.mass = append(s.mass, mj)
		}
	}
	return above.Value(), top.Value()
}

// nextBelow returns the highest score below e of a row with positive weight, +Inf if there is none.
func nextBelow(z, m []float64, e float64) float64 {
	next := math.Inf(1)
	for j, zj := range z {
		if zj < e && (zj > next || math.IsInf(next, 1)) && weightOf(m, j) > 0 {
			next = zj
		}
	}
	return next
}

// setMiddle fills s for the wide gap between next and e.
func (q smoothQuantile) setMiddle(z, m []float64, e, next float64, s *Support) {
	s.T = next + float64((e-next)/2)
	s.Edge = next
	s.Rows = s.Rows[:0]
	var ends [2]detmath.Sum
	for j, zj := range z {
		if mj := weightOf(m, j); mj > 0 && (zj == e || zj == next) {
			s.Rows = append(s.Rows, int32(j))
			s.A = append(s.A, mj)
			ends[edgeSide(zj, e)].Add(mj)
		}
	}
	for k, j := range s.Rows {
		s.A[k] /= 2 * ends[edgeSide(z[j], e)].Value()
	}
}

func edgeSide(z, e float64) int {
	if z == e {
		return 0
	}
	return 1
}

// softEdge returns G(u) and g(u).
func softEdge(u float64) (fraction, density float64) {
	switch {
	case !(u > -1):
		return 0, 0
	case u >= 1:
		return 1, 0
	}
	square := float64(u * u)
	fraction = 0.5 + float64(15.0/16*float64(u*(1-float64(square*(2.0/3-float64(0.2*square))))))
	return fraction, float64(15.0 / 16 * float64((1-square)*(1-square)))
}

// root solves the equation between e - Width and e + Width. sure is the mass above all gathered rows. With
// many rows, the starting point is the solution for a few thousand of them at equal distances.
func (q smoothQuantile) root(e, sure float64, s *Support) float64 {
	start := e
	if stride := len(s.scores) / thinRows; stride >= 8 {
		s.thinScores, s.thinMass = s.thinScores[:0], s.thinMass[:0]
		for k := stride / 2; k < len(s.scores); k += stride {
			s.thinScores = append(s.thinScores, s.scores[k])
			s.thinMass = append(s.thinMass, s.mass[k]*float64(stride))
		}
		start = q.newton(e, e, sure, s.thinScores, s.thinMass)
	}
	return q.newton(start, e, sure, s.scores, s.mass)
}

// newton is Newton's method from start. A step that leaves the bracket is replaced by bisection. It ends when
// a step is below 2^-50 of |t| + Width, a few units in the last place.
func (q smoothQuantile) newton(start, e, sure float64, scores, mass []float64) float64 {
	t, low, high := start, e-q.width, e+q.width
	for range maxSteps {
		excess, density := q.excess(t, sure, scores, mass)
		if excess >= 0 {
			low = t
		} else {
			high = t
		}
		next := t + float64(excess/density*q.width)
		if !(next >= low && next <= high) {
			next = low + float64((high-low)/2)
		}
		if math.Abs(next-t) <= 0x1p-50*(math.Abs(t)+q.width) || next == low && next == high {
			return next
		}
		t = next
	}
	return t
}

// excess returns the soft count at t minus M tau, and the sum of the densities. Rows are added plainly within
// a block, and the sums of the blocks with compensation.
func (q smoothQuantile) excess(t, sure float64, scores, mass []float64) (excess, density float64) {
	const block = 128 // rows; few enough for a small rounding error, enough to make the compensation cheap
	var counts, densities detmath.Sum
	counts.Add(sure - q.kappa)
	for first := 0; first < len(scores); first += block {
		end := min(first+block, len(scores))
		var count, slopes float64
		for k, z := range scores[first:end] {
			m := mass[first+k]
			fraction, slope := softEdge((z - t) / q.width)
			count += float64(m * fraction)
			slopes += float64(m * slope)
		}
		counts.Add(count)
		densities.Add(slopes)
	}
	return counts.Value(), densities.Value()
}

// fillWeights keeps the rows within the soft edge and fills s.A. If rounding leaves none, the row nearest to
// t gets a = 1.
func (q smoothQuantile) fillWeights(s *Support) {
	var total detmath.Sum
	kept, nearest := 0, 0
	for k, z := range s.scores {
		if math.Abs(z-s.T) < math.Abs(s.scores[nearest]-s.T) {
			nearest = k
		}
		_, slope := softEdge((z - s.T) / q.width)
		if a := float64(s.mass[k] * slope); a > 0 {
			s.Rows[kept] = s.Rows[k]
			s.A = append(s.A, a)
			total.Add(a)
			kept++
		}
	}
	if kept == 0 {
		s.Rows[0], s.A = s.Rows[nearest], append(s.A, 1)
		s.Rows = s.Rows[:1]
		s.Edge = min(s.Edge, s.scores[nearest])
		return
	}
	s.Rows = s.Rows[:kept]
	s.divideBy(total.Value())
}
