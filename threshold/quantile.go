package threshold

import "math"

// Quantile is the K-th largest score, K = max(1, ceil(M tau)) (equations defin_quantile and defin_quantile_np). With weights
// it is the largest s with mass{z >= s} >= kappa. Continuous and piecewise linear in w, but not convex.
type Quantile struct{ Tau Rate }

// Convex is false: the K-th largest of a vector is a difference of two convex functions.
func (Quantile) Convex() bool { return false }

// Bind fails when the population has no rows.
func (r Quantile) Bind(p Population) (Threshold, error) {
	if err := checkTau(r.Tau, p); err != nil {
		return nil, err
	}
	q := quantile{kappa: p.top(r.Tau)}
	q.reach = q.kappa
	if !p.Whole {
		q.reach -= float64(q.kappa * massTolerance)
	}
	return q, nil
}

// massTolerance is the part of kappa that a sum of fractional weights may miss by rounding: three rows of 0.1 reach 0.3.
const massTolerance = 1e-12

type quantile struct{ kappa, reach float64 }

func (q quantile) Kappa() float64 { return q.kappa }

func (q quantile) Cap(float64) float64 { return 1 }

func (q quantile) Regulariser(_, _ []float64) float64 { return math.NaN() }

// At puts the whole weight on the row in which kappa is reached, rows on the edge taken in index order.
func (q quantile) At(z, m []float64, s *Support) {
	s.reset()
	s.Edge = topEdge(z, m, q.reach, s)
	s.T = s.Edge
	above, first := s.aboveEdge(z, m)
	left := q.reach - above
	row := -1
	for j := first; j < len(z) && (left > 0 || row < 0); j++ {
		if mj := weight(m, j); z[j] == s.Edge && mj > 0 {
			row = j
			left -= mj
		}
	}
	if row >= 0 {
		s.Rows = append(s.Rows, int32(row))
		s.A = append(s.A, 1)
	}
}
