package surrogate

import (
	"math"

	"toptau/internal/core/detmath"
)

// Logistic is l(s) = log2(1 + e^s). Convex, smooth, positive everywhere; l'(s) = 1 / (ln 2 (1 + e^-s)) < 1/ln
// 2. Conjugate: with q = p ln 2 in [0, 1], l*(p) = q log2 q + (1-q) log2 (1-q), minus the binary entropy of
// q.
//
// All exponentials are of -|s|, so nothing overflows. l(s) approaches s / ln 2 for large s and e^s / ln 2 for
// very negative s.
var Logistic Surrogate = logistic{}

type logistic struct{}

func (logistic) Name() Name { return "logistic" }

func (logistic) Value(s float64) float64 {
	tail := detmath.Log1p(detmath.Exp(-math.Abs(s)))
	return (max(0, s) + tail) / math.Ln2
}

func (logistic) Derivative(s float64) float64 {
	e := detmath.Exp(-math.Abs(s))
	if s >= 0 {
		return 1 / (math.Ln2 * (1 + e))
	}
	return e / (math.Ln2 * (1 + e))
}

func (logistic) Conjugate(p float64) float64 {
	const steepest = 1 / math.Ln2
	if !(p >= 0 && p <= steepest) {
		return math.Inf(1)
	}
	q := min(1, float64(p*math.Ln2))
	if q == 0 || q == 1 {
		return 0
	}
	return (float64(q*detmath.Log(q)) + float64((1-q)*detmath.Log1p(-q))) / math.Ln2
}

func (logistic) Properties() Properties {
	return Properties{
		Convex: true, NonDecreasing: true, Differentiable: true,
		ZeroBelow: math.Inf(-1), MaxDerivative: 1 / math.Ln2,
	}
}
