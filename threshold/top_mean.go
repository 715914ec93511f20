package threshold

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/detmath"
)

// TopCount is the mean of the K largest scores (equations problem_toppush, with K = 1, and problem_toppushk).
// It is convex. If rows have weights, K is a mass.
type TopCount struct{ K int }

// TopMean is the mean of the K = max(1, ceil(M tau)) largest scores (equations problem_topmeank and
// problem_topmeank_np). If weights are not whole numbers, it is the mean of the top mass max(min m_j, M tau).
// It is convex.
type TopMean struct{ Tau Rate }

// Convex returns true: the mean of the K largest elements is a maximum of linear functions.
func (TopCount) Convex() bool { return true }

// Convex returns true: the mean of the K largest elements is a maximum of linear functions.
func (TopMean) Convex() bool { return true }

// Bind fails if K is below 1 or above the mass of the population.
func (r TopCount) Bind(p Population) (Threshold, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if r.K < 1 {
		return nil, &diag.Error{
			Kind: diag.Usage, Param: "k", Found: fmt.Sprint(r.K), Expected: "a whole number of at least 1",
		}
	}
	if float64(r.K) > p.Mass {
		return nil, &diag.Error{
			Kind: diag.Data, Found: p.sizeText(),
			Expected: fmt.Sprintf("at least k = %d", r.K), Hint: "use a smaller k",
		}
	}
	return topMean{kappa: float64(r.K)}, nil
}

// Bind fails if tau is unset or the population has no rows.
func (r TopMean) Bind(p Population) (Threshold, error) {
	if err := checkTau(r.Tau, p); err != nil {
		return nil, err
	}
	return topMean{kappa: p.massOnTop(r.Tau)}, nil
}

// checkTau returns an error for an unset tau, and for an empty population.
func checkTau(tau Rate, p Population) error {
	if tau.IsZero() {
		return &diag.Error{Kind: diag.Usage, Param: "tau", Expected: expectedRates}
	}
	return p.check()
}

// topMean is the mean of the highest scores with total mass kappa.
type topMean struct{ kappa float64 }

func (t topMean) Kappa() float64 { return t.kappa }

func (t topMean) Cap(m float64) float64 { return min(1, m/t.kappa) }

func (t topMean) Regulariser(_, _ []float64) float64 { return 0 }

// At counts rows above the edge with their full weight. Rows on the edge are counted in the order of their
// indices until the mass is kappa.
func (t topMean) At(z, m []float64, s *Support) {
	s.reset()
	s.Edge = topEdge(z, m, t.kappa, s)
	above, _ := s.aboveEdge(z, m)
	left := t.kappa - above
	if m == nil {
		s.growResult(int(min(float64(len(z)), math.Ceil(t.kappa))))
	}
	below := math.Nextafter(s.Edge, math.Inf(-1))
	if below == s.Edge { // the edge is -Inf; comparisons with NaN are false, so every row is kept
		below = math.NaN()
	}
	var excess detmath.Sum // sum of m_j (z_j - edge)
	for first := 0; first < len(z); first += sweepRows {
		for _, j := range s.rowsAbove(z, first, 0, below) {
			mj := weightOf(m, int(j))
			if z[j] == s.Edge {
				mj = min(mj, left)
				left = max(0, left-mj)
			}
			if mj > 0 {
				s.Rows = append(s.Rows, j)
				s.A = append(s.A, mj/t.kappa)
				excess.Add(float64(mj * (z[j] - s.Edge)))
			}
		}
	}
	s.T = s.Edge + excess.Value()/t.kappa
	if math.IsInf(s.T, 0) || math.IsNaN(s.T) {
		s.T = s.weightedMean(z)
	}
}

// weightedMean returns a'z. At uses it if scores are so far apart that their differences overflow.
func (s *Support) weightedMean(z []float64) float64 {
	t, top := 0.0, math.Inf(-1)
	for i, j := range s.Rows {
		t += float64(s.A[i] * z[j])
		top = max(top, z[j])
	}
	return max(s.Edge, min(top, t))
}
