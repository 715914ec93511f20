package threshold

import (
	"fmt"
	"math"

	"toptau/diag"
)

// SmoothQuantile is the t at which a count with soft edges reaches M tau,
//
//	sum_j m_j G((z_j - t) / Width) = M tau,
//
// where G rises from 0 at -1 to 1 at 1: G(u) = 1/2 + 15/16 (u - 2/3 u^3 + 1/5 u^5), the distribution of the biweight
// kernel g(u) = 15/16 (1 - u^2)^2. M tau stays real. t is at most Width away from the Quantile, but for the gaps below.
// Smooth in z, not convex. Differentiating gives
//
//	a_j = m_j g((z_j - t) / Width) / sum_i m_i g((z_i - t) / Width),
//
// so that the rows within Width of t share the gradient, where the Quantile gives all of it to one row and a surrogate
// quantile most of it to the highest ones. A logistic kernel of scale h has the same variance at Width = sqrt(7/3) pi
// h.
//
// When M tau rows lie above t and no row within Width of it, every t between them solves the equation; then t is the
// middle of the gap, and the rows at both its ends share the gradient, which is the limit of narrower gaps for rows of
// equal weight.
type SmoothQuantile struct {
	Tau   Rate
	Width float64 // of the soft edge, in units of the scores; positive and finite
}

// Convex is false.
func (SmoothQuantile) Convex() bool { return false }

// Bind fails when the population has no rows, and when a parameter is unset or out of range.
func (r SmoothQuantile) Bind(p Population) (Threshold, error) {
	if err := checkTau(r.Tau, p); err != nil {
		return nil, err
	}
	if !(r.Width > 0) || math.IsInf(r.Width, 1) {
		return nil, &diag.Error{
			Kind: diag.Usage, Found: fmt.Sprintf("a smoothing width of %v", r.Width), Expected: "a finite number above 0",
		}
	}
	return smoothQuantile{kappa: r.Tau.Times(p.Mass), width: r.Width}, nil
}

type smoothQuantile struct{ kappa, width float64 }

func (q smoothQuantile) Kappa() float64 { return q.kappa }

func (q smoothQuantile) Cap(float64) float64 { return 1 }

func (q smoothQuantile) Regulariser(_, _ []float64) float64 { return math.NaN() }

// At starts from the row e in which kappa is reached. The rows from e up have at least the mass kappa and those above e
// less, so e - Width <= t <= e + Width, and only rows within twice the Width of e can lie within the soft edge.
func (q smoothQuantile) At(z, m []float64, s *Support) {
	s.reset()
	e := topEdge(z, m, q.kappa, s)
	s.T, s.Edge = e, e
	if math.IsInf(e, -1) {
		return
	}
	sure, reached := q.gather(z, m, e, s)
	if reached <= float64(q.kappa*(1+massTolerance)) {
		if next := below(z, m, e); next < e-float64(2*q.width) {
			q.middle(z, m, e, next, s)
			return
		}
	}
	s.T = q.root(e, sure, s)
	s.Edge = s.T - q.width
	q.weights(s)
}

// gather copies the rows within twice the Width of e: indices to s.Rows, scores to s.scores, weights to s.mass. It
// returns the mass of the rows above them, and that of all rows from e up.
func (q smoothQuantile) gather(z, m []float64, e float64, s *Support) (sure, reached float64) {
	s.scores, s.mass = s.scores[:0], s.mass[:0]
	var above, top sum
	low, high := e-float64(2*q.width), e+float64(2*q.width)
	for j, zj := range z {
		if zj < low {
			continue
		}
		mj := weight(m, j)
		if zj >= e {
			top.add(mj)
		}
		if zj > high {
			above.add(mj)
		} else if mj > 0 {
			s.Rows = append(s.Rows, int32(j))
			s.scores = append(s.scores, zj)
			s.mass = append(s.mass, mj)
		}
	}
	return above.total(), top.total()
}

// below returns the highest score below e of a row with positive weight; +Inf when there is none.
func below(z, m []float64, e float64) float64 {
	next := math.Inf(1)
	for j, zj := range z {
		if zj < e && (zj > next || math.IsInf(next, 1)) && weight(m, j) > 0 {
			next = zj
		}
	}
	return next
}

// middle is the case of a wide gap from next to e.
func (q smoothQuantile) middle(z, m []float64, e, next float64, s *Support) {
	s.T = next + float64((e-next)/2)
	s.Edge = next
	s.Rows = s.Rows[:0]
	var ends [2]sum
	for j, zj := range z {
		if mj := weight(m, j); mj > 0 && (zj == e || zj == next) {
			s.Rows = append(s.Rows, int32(j))
			s.A = append(s.A, mj)
			ends[side(zj, e)].add(mj)
		}
	}
	for k, j := range s.Rows {
		s.A[k] /= 2 * ends[side(z[j], e)].total()
	}
}

func side(z, e float64) int {
	if z == e {
		return 0
	}
	return 1
}

// softEdge returns G(u) and g(u).
func softEdge(u float64) (share, density float64) {
	switch {
	case !(u > -1):
		return 0, 0
	case u >= 1:
		return 1, 0
	}
	square := float64(u * u)
	share = 0.5 + float64(15.0/16*float64(u*(1-float64(square*(2.0/3-float64(0.2*square))))))
	return share, float64(15.0 / 16 * float64((1-square)*(1-square)))
}

// root solves the equation between e - Width and e + Width. sure is the mass above all rows gathered. Of many rows it
// first takes a few at equal distances, for a start.
func (q smoothQuantile) root(e, sure float64, s *Support) float64 {
	start := e
	if stride := len(s.scores) / thinRows; stride >= 8 {
		s.thinScores, s.thinMass = s.thinScores[:0], s.thinMass[:0]
		for k := stride / 2; k < len(s.scores); k += stride {
			s.thinScores = append(s.thinScores, s.scores[k])
			s.thinMass = append(s.thinMass, s.mass[k]*float64(stride))
		}
		start = q.solve(e, e, sure, s.thinScores, s.thinMass)
	}
	return q.solve(start, e, sure, s.scores, s.mass)
}

// solve is Newton's method from start, with the middle of the bracket where a step leaves it.
func (q smoothQuantile) solve(start, e, sure float64, scores, mass []float64) float64 {
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

// excess returns the soft count at t minus M tau, and the sum of the densities: blocks of rows are added plainly, their
// sums with care.
func (q smoothQuantile) excess(t, sure float64, scores, mass []float64) (excess, density float64) {
	const block = 128
	var counts, densities sum
	counts.add(sure - q.kappa)
	for first := 0; first < len(scores); first += block {
		end := min(first+block, len(scores))
		var count, slopes float64
		for k, z := range scores[first:end] {
			m := mass[first+k]
			share, slope := softEdge((z - t) / q.width)
			count += float64(m * share)
			slopes += float64(m * slope)
		}
		counts.add(count)
		densities.add(slopes)
	}
	return counts.total(), densities.total()
}

// weights keeps the rows within the soft edge, with their a. Where rounding leaves none, the nearest row has it all.
func (q smoothQuantile) weights(s *Support) {
	var total sum
	kept, nearest := 0, 0
	for k, z := range s.scores {
		if math.Abs(z-s.T) < math.Abs(s.scores[nearest]-s.T) {
			nearest = k
		}
		_, slope := softEdge((z - s.T) / q.width)
		if a := float64(s.mass[k] * slope); a > 0 {
			s.Rows[kept] = s.Rows[k]
			s.A = append(s.A, a)
			total.add(a)
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
	for k := range s.A {
		s.A[k] /= total.total()
	}
}
