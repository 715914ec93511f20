package surrogate

import "math"

// Hinge is l(s) = max(0, 1+s) (equation defin_surrogate), the loss of all experiments in the paper.
// Convex, not differentiable at -1. Conjugate: l*(p) = -p on [0, 1].
var Hinge Surrogate = hinge{}

type hinge struct{}

func (hinge) Name() Name { return "hinge" }

func (hinge) Value(s float64) float64 { return max(0, 1+s) }

func (hinge) Derivative(s float64) float64 {
	if s > -1 {
		return 1
	}
	return 0
}

func (hinge) Conjugate(p float64) float64 {
	if p >= 0 && p <= 1 {
		return 0 - p
	}
	return math.Inf(1)
}

func (hinge) Properties() Properties {
	return Properties{Convex: true, NonDecreasing: true, Kinks: []float64{-1}, ZeroBelow: -1, MaxDerivative: 1}
}
