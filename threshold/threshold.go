// Package threshold holds the rules that turn a population's scores into a threshold (Section 2 of the paper): the mean of
// the K largest, the quantile, and the surrogate quantile.
//
// Notation, once. A score is z = w'x. The population is the rows a threshold is computed from: all rows (n of them) or the
// negatives (n-). tau is the fraction of the population that may lie on top and k a number of rows; beta scales the scores
// inside the surrogate l of a surrogate quantile. t is the threshold. Row j weighs m_j, 1 unless told otherwise, M is the sum
// of the weights, and kappa the mass on top: K = max(1, ceil(M tau)), or the real M tau in a surrogate quantile.
//
// Every rule returns, beside t, weights a on the population with grad t = X'a, where a >= 0 and sum a = 1. The convex rules
// have the form
//
//	t(z) = max over a >= 0, sum a = 1 of  a'z - r(a),
//
// from which every lower bound follows: any feasible a gives t >= a'z - r(a).
//
//	mean of the largest               a_j <= m_j / kappa,  r = 0
//	surrogate quantile, hinge         r(a) = (M tau max_j (a_j / m_j) - 1) / beta
//	surrogate quantile, squared hinge r(a) = (sqrt(M tau sum_j a_j^2 / m_j) - 1) / beta
//	surrogate quantile, any l         r(a) = inf over u > 0 of u (M tau + sum_j m_j l*(a_j / (u m_j))) / beta
package threshold

import "slices"

// Population describes the rows a threshold is computed from, before any score is known.
type Population struct {
	Rows      int
	Mass      float64 // sum of the row weights; Rows when all are 1
	MinWeight float64 // smallest positive row weight; 1 when all are 1
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
	// At computes t and a from scores z with row weights m (nil: all 1). z is the whole population or any part of it, in
	// the same order, that holds every row with z >= Edge; s is overwritten, its slices are reused.
	At(z, m []float64, s *Support)
	// Cap is the largest feasible a for a row of weight m: m/kappa for the mean of the largest, 1 for surrogate quantiles.
	Cap(m float64) float64
	// Regulariser is r(a) for weights a >= 0, sum a = 1, on rows of weights m (nil: all 1). Rows with a = 0 may be left out.
	// For rules that are not convex it is NaN. It does not look at the caps.
	Regulariser(a, m []float64) float64
}

// Support is a threshold value with its gradient: t, and the rows with non-zero weight in ascending order.
type Support struct {
	T    float64
	Edge float64   // the band's lower edge: rows with z < Edge have a = 0, and no row below Edge can change t
	Rows []int32   // indices into z, ascending
	A    []float64 // beside Rows; sums to 1

	// Space that the rules reuse from call to call.
	keys                 []uint64
	scores, mass         []float64
	thinScores, thinMass []float64
	found                []int32
}

// reset empties the result.
func (s *Support) reset() {
	s.Rows = s.Rows[:0]
	s.A = s.A[:0]
}

// room makes an empty result large enough for some rows, so that it need not grow.
func (s *Support) room(rows int) {
	s.Rows = slices.Grow(s.Rows[:0], rows)
	s.A = slices.Grow(s.A[:0], rows)
}

// weight returns the weight of row j.
func weight(m []float64, j int) float64 {
	if m == nil {
		return 1
	}
	return m[j]
}
