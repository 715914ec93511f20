package learn

import (
	"math"

	"toptau/internal/core/detmath"
)

// Loss is a loss l(s) of s = -y (w'x + b). Package surrogate has the same functions with value and slope
// only. The fits need the second derivative too, from one exponential, and the conjugate over all margins.
type Loss int

const (
	Logistic     Loss = iota // ln(1 + e^s)
	SquaredHinge             // max(0, 1 + s)^2
)

// String returns "logistic" or "squared-hinge".
func (l Loss) String() string {
	if l == SquaredHinge {
		return "squared-hinge"
	}
	return "logistic"
}

// at returns l, l' and l". It takes the exponential of -|s| only, so nothing overflows.
func (l Loss) at(s float64) (value, first, second float64) {
	if l == SquaredHinge {
		if u := 1 + s; u > 0 {
			return float64(u * u), 2 * u, 2
		}
		return 0, 0, 0
	}
	e := detmath.Exp(-math.Abs(s))
	rate := 1 / (1 + e)
	first, second = float64(e*rate), float64(float64(e*rate)*rate)
	if s >= 0 {
		first = rate
	}
	return max(0, s) + detmath.Log1p(e), first, second
}

// conjugate returns l*(q), the supremum over s of q s - l(s). For the logistic loss it is minus the entropy
// of q in [0, 1], for the squared hinge q^2/4 - q for q >= 0.
func (l Loss) conjugate(q float64) float64 {
	if l == SquaredHinge {
		return float64(q * (float64(q/4) - 1))
	}
	if !(q > 0 && q < 1) {
		return 0
	}
	return float64(q*detmath.Log(q)) + float64((1-q)*detmath.Log1p(-q))
}

// intercept returns the best b at w = 0 for the masses of the two classes.
func (l Loss) intercept(positives, negatives float64) float64 {
	if l == SquaredHinge {
		return (positives - negatives) / (positives + negatives)
	}
	return detmath.Log(positives) - detmath.Log(negatives)
}
