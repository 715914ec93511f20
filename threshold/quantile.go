package threshold

import "math"

// Quantile is the K-th largest score, K = max(1, ceil(M tau)) (equations defin_quantile and
// defin_quantile_np). With weights it is the largest s with mass{z >= s} >= kappa. It is continuous and
// piecewise linear in w, but not convex.
type Quantile struct{ Tau Rate }

// Convex returns false: the K-th largest element of a vector is a difference of two convex functions.
func (Quantile) Convex() bool { return false }

// Bind fails if tau is unset or the population has no rows.
func (r Quantile) Bind(p Population) (Threshold, error) {
	if err := checkTau(r.Tau, p); err != nil {
		return nil, err
	}
	q := quantile{kappa: p.massOnTop(r.Tau)}
	q.reach = q.kappa
	if !p.Whole {
		q.reach -= float64(q.kappa * massTolerance)
	}
	return q, nil
}

// massTolerance is the fraction of kappa by which a sum of fractional weights may fall short: three rows of
// 0.1 must reach 0.3. It covers the rounding of the weights themselves (2^-53 relative) with a wide margin,
// chosen by hand.
const massTolerance = 1e-12

// quantile is a bound Quantile. reach is the mass at which a row becomes the edge: kappa less the tolerance.
type quantile struct{ kappa, reach float64 }

func (q quantile) Kappa() float64 { return q.kappa }

func (q quantile) Cap(float64) float64 { return 1 }

func (q quantile) Regulariser(_, _ []float64) float64 { return math.NaN() }

// At puts all of a on the row in which the mass reaches kappa. Rows on the edge are counted in the order of
// their indices.
func (q quantile) At(z, m []float64, s *Support) {
	s.reset()
	s.Edge = topEdge(z, m, q.reach, s)
	s.T = s.Edge
	above, first := s.aboveEdge(z, m)
	left := q.reach - above
	row := -1
	for j := first; j < len(z) && (left > 0 || row < 0); j++ {
		if mj := weightOf(m, j); z[j] == s.Edge && mj > 0 {
			row = j
			left -= mj
		}
	}
	if row >= 0 {
		s.Rows = append(s.Rows, int32(row))
		s.A = append(s.A, 1)
	}
}
