// Package threshold computes the threshold of a population's scores (Section 2 of the paper): the mean of the
// K largest, the quantile, the surrogate quantile, or a smooth quantile.
//
// A score is z = w'x. The population is the set of rows that a threshold is computed from: all rows (n of
// them) or the negatives (n-). tau is the fraction of the population that may lie on top, and k is a number
// of rows. beta scales the scores inside the surrogate l of a surrogate quantile. t is the threshold. Row j
// has the weight m_j, by default 1. M is the sum of the weights. kappa is the mass on top: K = max(1, ceil(M
// tau)), or the real number M tau in a surrogate quantile.
//
// Every rule returns t and weights a on the population with grad t = X'a, where a >= 0 and sum a = 1. The
// convex rules have the form
//
//	t(z) = max over a >= 0, sum a = 1 of  a'z - r(a).
//
// Every lower bound follows from it, because any feasible a gives t >= a'z - r(a).
//
//	mean of the largest               a_j <= m_j / kappa,  r = 0
//	surrogate quantile, hinge         r(a) = (M tau max_j (a_j / m_j) - 1) / beta
//	surrogate quantile, squared hinge r(a) = (sqrt(M tau sum_j a_j^2 / m_j) - 1) / beta
//	surrogate quantile, any l         r(a) = inf over u > 0 of u (M tau + sum_j m_j l*(a_j / (u m_j))) / beta
package threshold

import "slices"

// Population describes the rows that a threshold is computed from. Scores are not part of it.
type Population struct {
	Rows      int     // number of rows
	Mass      float64 // sum of the row weights; equal to Rows if all are 1
	MinWeight float64 // smallest positive row weight; 1 if all are 1
	Whole     bool    // all weights are whole numbers, so a weight counts equal rows
}

// Rule is a threshold rule with its parameters. The zero values of the concrete types are not valid.
type Rule interface {
	// Bind returns the rule for a population. It fails if a parameter is not valid, or if the population is
	// too small.
	Bind(p Population) (Threshold, error)
	// Convex reports whether t(w) is a convex function of w.
	Convex() bool
}

// Threshold is a rule bound to a population. It is safe for concurrent use, because each caller brings its
// own Support.
type Threshold interface {
	// Kappa returns the mass on top: K = max(1, ceil(M tau)) for whole weights, the real M tau for surrogate
	// quantiles.
	Kappa() float64
	// At computes t and a from the scores z of rows with weights m (nil: all 1). z holds the whole
	// population, or a part of it in the same order that contains every row with z >= Edge. At overwrites s
	// and reuses its slices.
	At(z, m []float64, s *Support)
	// Cap returns the largest feasible a for a row of weight m: m/kappa for a mean of the largest, 1 for
	// surrogate quantiles.
	Cap(m float64) float64
	// Regulariser returns r(a) for a >= 0 with sum a = 1, on rows with weights m (nil: all 1). Rows with a =
	// 0 may be left out. It returns NaN for rules that are not convex. It does not check the caps.
	Regulariser(a, m []float64) float64
}

// Support is a threshold with its gradient: t, and a for the rows where it is not 0.
type Support struct {
	T    float64   // the threshold t
	Edge float64   // rows with z < Edge have a = 0 and cannot change t
	Rows []int32   // indices into z of the rows with a > 0, ascending
	A    []float64 // A[i] is a of row Rows[i]; the sum is 1

	// Buffers that the rules reuse from call to call.
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

// growResult empties the result and gives it the capacity for some rows.
func (s *Support) growResult(rows int) {
	s.Rows = slices.Grow(s.Rows[:0], rows)
	s.A = slices.Grow(s.A[:0], rows)
}

// divideBy divides the weights by their sum. A row whose weight then becomes 0, below the smallest number, is left out.
func (s *Support) divideBy(sum float64) {
	n := 0
	for k, a := range s.A {
		if a /= sum; a > 0 {
			s.Rows[n], s.A[n] = s.Rows[k], a
			n++
		}
	}
	s.Rows, s.A = s.Rows[:n], s.A[:n]
}

// weightOf returns the weight of row j. nil weights are all 1.
func weightOf(m []float64, j int) float64 {
	if m == nil {
		return 1
	}
	return m[j]
}
