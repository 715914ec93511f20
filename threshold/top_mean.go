package threshold

import (
	"fmt"
	"math"

	"toptau/diag"
)

// TopCount is the mean of the K largest scores (equations problem_toppush, K = 1, and problem_toppushk). Convex. With weights
// K is a mass.
type TopCount struct{ K int }

// TopMean is the mean of the K = max(1, ceil(M tau)) largest scores (equations problem_topmeank and problem_topmeank_np),
// or of the top mass max(min m_j, M tau) where weights are not whole numbers. Convex.
type TopMean struct{ Tau Rate }

// Convex is true: a mean of the largest is a maximum of linear functions.
func (TopCount) Convex() bool { return true }

// Convex is true: a mean of the largest is a maximum of linear functions.
func (TopMean) Convex() bool { return true }

// Bind fails when the population has no rows, or fewer than K.
func (r TopCount) Bind(p Population) (Threshold, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if r.K < 1 {
		return nil, &diag.Error{
			Kind: diag.Usage, Found: fmt.Sprintf("k = %d", r.K), Expected: "a whole number of at least 1",
		}
	}
	if float64(r.K) > p.Mass {
		return nil, &diag.Error{
			Kind: diag.Data, Found: p.size(),
			Expected: fmt.Sprintf("at least k = %d", r.K), Hint: "use a smaller --k",
		}
	}
	return topMean{kappa: float64(r.K)}, nil
}

// Bind fails when the population has no rows.
func (r TopMean) Bind(p Population) (Threshold, error) {
	if err := checkTau(r.Tau, p); err != nil {
		return nil, err
	}
	return topMean{kappa: p.top(r.Tau)}, nil
}

// checkTau refuses an unset tau and an empty population.
func checkTau(tau Rate, p Population) error {
	if tau.IsZero() {
		return &diag.Error{Kind: diag.Usage, Found: "no tau", Expected: expectedRates}
	}
	return p.check()
}

// topMean is the mean of the largest scores of total mass kappa.
type topMean struct{ kappa float64 }

func (t topMean) Kappa() float64 { return t.kappa }

func (t topMean) Cap(m float64) float64 { return min(1, m/t.kappa) }

func (t topMean) Regulariser(_, _ []float64) float64 { return 0 }

// At takes the rows above the edge whole, and rows on it in index order until kappa is used.
func (t topMean) At(z, m []float64, s *Support) {
	s.reset()
	s.Edge = topEdge(z, m, t.kappa, s)
	above, _ := s.aboveEdge(z, m)
	left := t.kappa - above
	if m == nil {
		s.room(int(min(float64(len(z)), math.Ceil(t.kappa))))
	}
	below := math.Nextafter(s.Edge, math.Inf(-1))
	if below == s.Edge { // -Inf, which no row is below
		below = math.NaN()
	}
	var excess sum // sum of m_j (z_j - edge)
	for first := 0; first < len(z); first += sweepRows {
		for _, j := range s.rowsAbove(z, first, 0, below) {
			mj := weight(m, int(j))
			if z[j] == s.Edge {
				mj = min(mj, left)
				left = max(0, left-mj)
			}
			if mj > 0 {
				s.Rows = append(s.Rows, j)
				s.A = append(s.A, mj/t.kappa)
				excess.add(float64(mj * (z[j] - s.Edge)))
			}
		}
	}
	s.T = s.Edge + excess.total()/t.kappa
	if math.IsInf(s.T, 0) || math.IsNaN(s.T) {
		s.T = s.mean(z)
	}
}

// mean returns a'z for scores so far apart that their differences overflow.
func (s *Support) mean(z []float64) float64 {
	t, top := 0.0, math.Inf(-1)
	for i, j := range s.Rows {
		t += float64(s.A[i] * z[j])
		top = max(top, z[j])
	}
	return max(s.Edge, min(top, t))
}
