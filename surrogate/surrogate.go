// Package surrogate holds the losses that stand in for the 0-1 loss [s >= 0] (equation defin_counts_surr): convex,
// non-negative, non-decreasing functions l with l(0) = 1. One file each.
package surrogate

// Name identifies a loss, as on the command line: "hinge", "squared-hinge", "logistic".
type Name string

// Surrogate is one loss l(s). All methods are pure and safe for concurrent use.
type Surrogate interface {
	Name() Name
	Value(s float64) float64      // l(s)
	Derivative(s float64) float64 // l'(s); at a kink the left derivative
	Conjugate(p float64) float64  // l*(p) = sup over s of p s - l(s); +Inf outside its domain
	Properties() Properties
}

// Properties are declared by a loss and checked by one test for all of them.
type Properties struct {
	Convex         bool
	NonDecreasing  bool
	Differentiable bool
	Kinks          []float64 // where l' jumps
	ZeroBelow      float64   // l(s) = 0 for s <= ZeroBelow; -Inf when never
	MaxDerivative  float64   // sup l'; +Inf when unbounded
}
