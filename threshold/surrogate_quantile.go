package threshold

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/kernel"
	"toptau/surrogate"
)

// SurrogateQuantile is the t that solves
//
//	sum_j m_j l(beta (z_j - t)) = M tau
//
// (equations defin_quantile_surr and defin_quantile_surr_np). M tau is not rounded. t is convex in z (Lemma
// convex_surr). It is never below the TopMean with the same tau (Lemma thresholds1), since l(s) >= 1 + l'(0)
// s. Differentiating gives a_j = m_j l'(beta (z_j - t)) / sum_i m_i l'(beta (z_i - t)).
type SurrogateQuantile struct {
	Tau       Rate
	Beta      float64 // positive and finite
	Surrogate surrogate.Surrogate
}

// Convex returns true for every surrogate (Lemma convex_surr).
func (SurrogateQuantile) Convex() bool { return true }

// Bind fails if the population has no rows, if a parameter is unset or out of range, or if the surrogate
// never falls below tau, so that no t solves the equation.
func (r SurrogateQuantile) Bind(p Population) (Threshold, error) {
	if err := checkTau(r.Tau, p); err != nil {
		return nil, err
	}
	if !(r.Beta > 0) || math.IsInf(r.Beta, 1) {
		return nil, &diag.Error{
			Kind: diag.Usage, Param: "beta", Found: fmt.Sprint(r.Beta), Expected: "a finite number above 0",
		}
	}
	if r.Surrogate == nil {
		return nil, &diag.Error{Kind: diag.Usage, Param: "surrogate", Expected: "a surrogate for the quantile"}
	}
	if lowest := -r.Surrogate.Conjugate(0); !(lowest < r.Tau.Float64()) {
		return nil, &diag.Error{
			Kind:     diag.Usage,
			Param:    "surrogate",
			Found:    fmt.Sprintf("%s, which never falls below %v", r.Surrogate.Name(), lowest),
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

// surrogateQuantile holds the parameters of a bound SurrogateQuantile. kappa = M tau.
type surrogateQuantile struct{ kappa, beta float64 }

func (q surrogateQuantile) Kappa() float64 { return q.kappa }

func (q surrogateQuantile) Cap(float64) float64 { return 1 }

// highestScore returns the largest score of a row with positive weight: -Inf without such a row, NaN if any
// score is NaN.
func highestScore(z, m []float64) float64 {
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
