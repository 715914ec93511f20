package form

import "math"

// Repair makes a >= 0, sum a = 1 and, for the mean of the largest, a_j <= m_j/kappa. It reports false if that
// is impossible.
func (f *Form) Repair(a, m []float64) bool {
	// Negative multipliers of an interior point are rounding errors.
	var total float64
	for j := range a {
		a[j] = max(a[j], 0)
		total += a[j]
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return false
	}
	for j := range a {
		a[j] /= total
	}
	if f.Kind != TopMean {
		return true
	}
	// Cut at the caps, and spread the deficit over what the caps leave.
	var spare, used float64
	for j := range a {
		limit := m[j] / f.Kappa
		a[j] = min(a[j], limit)
		used += a[j]
		spare += limit - a[j]
	}
	if deficit := 1 - used; deficit > 0 {
		if spare <= 0 {
			return deficit < 1e-9 // kappa is the whole mass, up to rounding
		}
		fraction := min(1, deficit/spare)
		for j := range a {
			limit := m[j] / f.Kappa
			a[j] = min(limit, a[j]+float64(fraction*(limit-a[j])))
		}
	}
	return true
}

// Regulariser returns r(a) for row weights m.
func (f *Form) Regulariser(a, m []float64) float64 {
	switch f.Kind {
	case TopMean:
		return 0
	case HingeQuantile: // (kappa max a_j/m_j - 1)/beta
		var largest float64
		for j, v := range a {
			largest = max(largest, v/m[j])
		}
		return (float64(f.Kappa*largest) - 1) / f.Beta
	default: // (sqrt(kappa sum a_j^2/m_j) - 1)/beta
		var total float64
		for j, v := range a {
			total += float64(v*v) / m[j]
		}
		return (math.Sqrt(float64(f.Kappa*total)) - 1) / f.Beta
	}
}

// ballFactor makes the ball of Ball much longer than the points of a solve. With 10 |w| + 1 a prototype found
// lower bounds above upper ones (ionosphere and oil_spill, beta = 0.1), because early points are short; with
// 1,000 it found none.
const ballFactor = 1e3

// Ball returns the radius of the ball |w| <= R in which a bound for lambda = 0 holds, for a point w of the
// solve.
func (f *Form) Ball(w []float64) float64 {
	var square float64
	for _, v := range w {
		square += float64(v * v)
	}
	return float64(ballFactor * (math.Sqrt(square) + f.Reach()))
}

// Reach is max(1, 1/beta): the range of scores over which the loss and the threshold bend. Weights are of
// about this size on columns of unit size.
func (f *Form) Reach() float64 {
	if f.Kind == TopMean {
		return 1
	}
	return max(1, f.Band())
}
