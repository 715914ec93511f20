package learn

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/detmath"
)

// Loss is a loss l(s) of the margin s = -y (w'x + b).
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

// ByName returns the loss of a name.
func ByName(name string) (Loss, error) {
	for _, l := range []Loss{Logistic, SquaredHinge} {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, &diag.Error{Kind: diag.Usage, Found: "loss " + diag.Quote(name),
		Expected: fmt.Sprintf("%v or %v", Logistic, SquaredHinge)}
}

// x The exponential is only ever taken of
// -|s|, so nothing overflows.
func (l Loss) at(s float64) (value, first, second float64) {
	if l == SquaredHinge {
		if u := 1 + s; u > 0 {
			return float64(u * u), 2 * u, 2
		}
		return 0, 0, 0
	}
	e := detmath.Exp(-math.Abs(s))
	share := 1 / (1 + e)
	first, second = float64(e*share), float64(float64(e*share)*share)
	if s >= 0 {
		first = share
	}
	return max(0, s) + detmath.Log1p(e), first, second
}

// conjugate is sup over s of q s - l(s): for the logistic loss minus the entropy of q in [0, 1], for the squared hinge
// q^2/4 - q for q >= 0.
func (l Loss) conjugate(q float64) float64 {
	if l == SquaredHinge {
		return float64(q * (float64(q/4) - 1))
	}
	if !(q > 0 && q < 1) {
		return 0
	}
	return float64(q*detmath.Log(q)) + float64((1-q)*detmath.Log1p(-q))
}

// intercept is the best b at w = 0 for the masses of the two classes.
func (l Loss) intercept(positives, negatives float64) float64 {
	if l == SquaredHinge {
		return (positives - negatives) / (positives + negatives)
	}
	return detmath.Log(positives) - detmath.Log(negatives)
}
