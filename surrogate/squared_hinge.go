package surrogate

import "math"

// SquaredHinge is l(s) = max(0, 1+s)^2. Convex, differentiable everywhere, with an unbounded derivative 2
// max(0, 1+s). Conjugate: l*(p) = p^2/4 - p for p >= 0.
var SquaredHinge Surrogate = squaredHinge{}

type squaredHinge struct{}

func (squaredHinge) Name() Name { return "squared-hinge" }

func (squaredHinge) Value(s float64) float64 {
	u := max(0, 1+s)
	return float64(u * u)
}

func (squaredHinge) Derivative(s float64) float64 { return float64(2 * max(0, 1+s)) }

func (squaredHinge) Conjugate(p float64) float64 {
	if p >= 0 {
		return float64(p * (float64(p/4) - 1))
	}
	return math.Inf(1)
}

func (squaredHinge) Properties() Properties {
	return Properties{
		Convex: true, NonDecreasing: true, Differentiable: true,
		ZeroBelow: -1, MaxDerivative: math.Inf(1),
	}
}
