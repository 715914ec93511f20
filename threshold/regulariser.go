package threshold

import "math"

// Regulariser is
//
//	r(a) = inf over u > 0 of f(u) / beta,   f(u) = u (M tau + sum_j m_j l*(a_j / (u m_j))),
//
// the Lagrangian dual of sup a'y subject to sum_j m_j l(beta y_j) <= M tau. f is convex. Its minimum is bracketed by steps
// of growing ratio and narrowed by golden sections to the last bits of u. Any u at all gives an upper bound of r(a), so a
// lower bound of the objective that is built on it holds whatever the rounding.
func (q rootQuantile) Regulariser(a, m []float64) float64 {
	steepest := 0.0
	for j, aj := range a {
		if aj > 0 {
			steepest = max(steepest, aj/weight(m, j))
		}
	}
	f := func(u float64) float64 { return q.dual(u, a, m) }
	inside := 2 * steepest / q.loss.Derivative(0) // every a_j / (u m_j) is below l'(0): inside the domain of l*
	low, high := bracket(f, inside)
	return minimum(f, low, high) / q.beta
}

// dual is f(u); +Inf outside its domain.
func (q rootQuantile) dual(u float64, a, m []float64) float64 {
	var total sum
	total.add(q.kappa)
	for j, aj := range a {
		if aj > 0 {
			mj := weight(m, j)
			total.add(float64(mj * q.loss.Conjugate(aj/float64(u*mj))))
		}
	}
	return float64(u * total.total())
}

// bracket returns low < high around the minimum of a convex function on (0, Inf) that is finite at inside.
func bracket(f func(float64) float64, inside float64) (low, high float64) {
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

// goldenSteps narrows a bracket by 0.618^100 < 2^-69.
const goldenSteps = 100

// minimum returns the least value of a convex function met while narrowing a bracket of its minimum by golden sections.
func minimum(f func(float64) float64, low, high float64) float64 {
	const golden = 0.6180339887498949
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
