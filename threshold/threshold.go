// Package threshold holds the rules that turn a population's scores z into a threshold t (Section 2 of the paper):
// mean of the K largest, quantile, surrogate quantile. Every rule returns, beside t, weights a on the population with
// grad t = X'a, and for the convex ones the r(a) of t = max over a of a'z - r(a).
package threshold

// Population describes the rows a threshold is computed from, before any score is known.
type Population struct {
	Rows      int
	Mass      float64 // sum of the row weights; Rows when all are 1
	MinWeight float64 // smallest row weight; 1 when all are 1
	Whole     bool    // every weight is a whole number, so the mass counts rows
}

// Rule is a threshold rule with its parameters. The zero values of the concrete types are not valid.
type Rule interface {
	// Bind fixes the rule for a population. It fails when the population is too small for the rule.
	Bind(p Population) (Threshold, error)
	// Convex reports whether t(w) is a convex function of w.
	Convex() bool
}

// Threshold is a rule bound to a population. It is safe for concurrent use; scratch space lives in Support.
type Threshold interface {
	// Kappa is the mass that lies on top: K for whole weights (max(1, ceil(M tau))), the real M tau for surrogate quantiles.
	Kappa() float64
	// At computes t and a from scores z with row weights m (nil: all 1). z is the whole population or any part of it
	// that holds every row with a positive weight a; s is overwritten, its slices are reused.
	At(z, m []float64, s *Support)
	// Cap is the largest feasible a for a row of weight m: m/kappa for the mean of the largest, 1 for surrogate quantiles.
	Cap(m float64) float64
	// Regulariser is r(a) for weights a >= 0, sum a = 1, on rows of weights m (nil: all 1). Rows with a = 0 may be left out.
	// For rules that are not convex it is NaN.
	Regulariser(a, m []float64) float64
}

// Support is a threshold value with its gradient: t, and the rows with non-zero weight in ascending order.
type Support struct {
	T    float64
	Edge float64   // the band's lower edge: rows with z < Edge have a = 0, and no row below Edge can change t
	Rows []int32   // indices into z, ascending
	A    []float64 // beside Rows; sums to 1
	// scratch is unexported space owned by the rule.
	scratch []float64
	order   []int32
}
