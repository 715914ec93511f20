// Package surrogate defines the losses that replace the 0-1 loss [s >= 0] (equation defin_counts_surr):
// convex, non-negative, non-decreasing functions l with l(0) = 1.
package surrogate

// Name identifies a loss: "hinge", "squared-hinge" or "logistic".
type Name string

// Surrogate is a loss l(s). All methods are pure functions and safe for concurrent use.
type Surrogate interface {
	Name() Name                   // identifies the loss
	Value(s float64) float64      // returns l(s)
	Derivative(s float64) float64 // returns l'(s), where l' jumps the left derivative
	Conjugate(p float64) float64  // returns l*(p) = sup over s of p s - l(s), +Inf outside its domain
	Properties() Properties       // returns what is proven about l
}

// Properties are the properties that a loss declares. One test checks them for all losses.
type Properties struct {
	Convex         bool
	NonDecreasing  bool
	Differentiable bool
	Kinks          []float64 // the points where l' jumps
	ZeroBelow      float64   // l(s) = 0 for s <= ZeroBelow; -Inf if l is positive everywhere
	MaxDerivative  float64   // sup l'; +Inf if l' is unbounded
}
