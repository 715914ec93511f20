package threshold

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/kernel"
	"toptau/surrogate"
)

// SurrogateQuantile is the t that solves
//
//	sum_j m_j l(beta (z_j - t)) = M tau
//
// (equations defin_quantile_surr and defin_quantile_surr_np), in which M tau stays real. Convex in z (Lemma convex_surr), and
// never below the mean of the largest with the same tau (Lemma thresholds1), since l(s) >= 1 + l'(0) s. Differentiating
// gives a_j = m_j l'(beta (z_j - t)) / sum_i m_i l'(beta (z_i - t)).
type SurrogateQuantile struct {
	Tau       Rate
	Beta      float64 // positive and finite
	Surrogate surrogate.Surrogate
}

// Convex is true for every surrogate (Lemma convex_surr).
func (SurrogateQuantile) Convex() bool { return true }

// Bind fails when the population has no rows, and when a parameter is unset or out of range.
func (r SurrogateQuantile) Bind(p Population) (Threshold, error) {
	if err := checkTau(r.Tau, p); err != nil {
		return nil, err
	}
	if !(r.Beta > 0) || math.IsInf(r.Beta, 1) {
		return nil, &diag.Error{
			Kind: diag.Usage, Found: fmt.Sprintf("beta = %v", r.Beta), Expected: "a finite number above 0",
		}
	}
	if r.Surrogate == nil {
		return nil, &diag.Error{Kind: diag.Usage, Found: "no surrogate", Expected: "a surrogate for the quantile"}
	}
	if lowest := -r.Surrogate.Conjugate(0); !(lowest < r.Tau.Float64()) {
		return nil, &diag.Error{
			Kind:     diag.Usage,
			Found:    fmt.Sprintf("surrogate %s, which never falls below %v", r.Surrogate.Name(), lowest),
			Expected: "one that falls below tau = " + r.Tau.String(),
		}
	}
	base := surrogateQuantile{kappa: r.Tau.Times(p.Mass), beta: r.Beta}
	switch r.Surrogate {
	case surrogate.Hinge:
		return hingeQuantile{base}, nil
	case surrogate.SquaredHinge:
		return squaredHingeQuantile{rootQuantile{base, r.Surrogate}}, nil
	default:
		return rootQuantile{base, r.Surrogate}, nil
	}
}

// surrogateQuantile is what all surrogates share; kappa = M tau.
type surrogateQuantile struct{ kappa, beta float64 }

func (q surrogateQuantile) Kappa() float64 { return q.kappa }

func (q surrogateQuantile) Cap(float64) float64 { return 1 }

// highest returns the largest score of a row with positive weight, -Inf when there is none, and NaN when a score is.
func highest(z, m []float64) float64 {
	if m == nil {
		return kernel.Highest(z)
	}
	top := math.Inf(-1)
	for j, zj := range z {
		if m[j] > 0 {
			top = max(top, zj)
		}
	}
	return top
}
