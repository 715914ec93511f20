package threshold

import (
	"math"

	"toptau/internal/core/detmath"
)

// Regulariser returns
//
//	r(a) = inf over u > 0 of f(u) / beta,   f(u) = u (M tau + sum_j m_j l*(a_j / (u m_j))),
//
// the Lagrangian dual of sup a'y subject to sum_j m_j l(beta y_j) <= M tau. f is convex. Steps of growing
// ratio bracket its minimum, and golden sections narrow the bracket to the last bits of u. Every u gives an
// upper bound of r(a), so an inexact u weakens a lower bound of the objective but never makes it false.
func (q rootQuantile) Regulariser(a, m []float64) float64 {
	steepest := 0.0
	for j, aj := range a {
		if aj > 0 {
			steepest = max(steepest, aj/weightOf(m, j))
		}
	}
	f := func(u float64) float64 { return q.dualValue(u, a, m) }
	inside := 2 * steepest / q.loss.Derivative(0) // a_j / (u m_j) <= l'(0) / 2: in the domain of l*
	low, high := bracketMinimum(f, inside)
	return goldenMinimum(f, low, high) / q.beta
}

// dualValue returns f(u), +Inf outside its domain.
func (q rootQuantile) dualValue(u float64, a, m []float64) float64 {
	var total detmath.Sum
	total.Add(q.kappa)
	for j, aj := range a {
		if aj > 0 {
			mj := weightOf(m, j)
			total.Add(float64(mj * q.loss.Conjugate(aj/float64(u*mj))))
		}
	}
	return float64(u * total.Value())
}

// bracketMinimum returns low < high that enclose the minimum of a convex function on (0, Inf). f must be
// finite at inside. The ratio of the steps is squared each time, so even an extreme minimum is found in about
// ten steps.
func bracketMinimum(f func(float64) float64, inside float64) (low, high float64) {
	low, high = inside/2, inside*2
	middle := f(inside)
	ratio := 2.0
	for fl, best := f(low), middle; fl < best && ratio < math.MaxFloat64; fl = f(low) {
		best = fl
		ratio *= ratio
		low /= ratio
	}
	ratio = 2.0
	for fh, best := f(high), middle; fh < best && ratio < math.MaxFloat64; fh = f(high) {
		best = fh
		ratio *= ratio
		high *= ratio
	}
	return low, high
}

// goldenSteps is enough to narrow a bracket by 0.618^100 < 2^-69, beyond the 53 bits of u.
const goldenSteps = 100

// goldenMinimum narrows a bracket of a convex function's minimum by golden sections. It returns the smallest
// value seen.
func goldenMinimum(f func(float64) float64, low, high float64) float64 {
	const golden = 0.6180339887498949 // (sqrt(5) - 1) / 2
	left := high - float64(golden*(high-low))
	right := low + float64(golden*(high-low))
	fl, fr := f(left), f(right)
	least := min(fl, fr)
	for range goldenSteps {
		if fl <= fr {
			high, right, fr = right, left, fl
			left = high - float64(golden*(high-low))
			fl = f(left)
		} else {
			low, left, fl = left, right, fr
			right = low + float64(golden*(high-low))
			fr = f(right)
		}
		least = min(least, fl, fr)
		if !(low < left && left < right && right < high) {
			break
		}
	}
	return least
}
