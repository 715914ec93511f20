package restricted

import (
	"math"

	"toptau/internal/core/certified/linalg"
)

// newton is Newton's method for Pat&Mat with the squared hinge. Its threshold and loss are continuously
// differentiable. With u_j = max(0, 1 + beta (z_j - t)) and U = sum m_j u_j,
//
//	grad t = X'a,  a_j = m_j u_j/U,     hess t = (beta/U) sum over u_j > 0 of m_j (x_j - grad t)(x_j - grad t)'
//
// and with the margins e_i = max(0, 1 + t - z_i), P = (2/M+) sum m_i e_i,
//
//	grad F = lambda w + (2/M+) sum m_i e_i (grad t - x_i)
//	hess F = lambda I + (2/M+) sum over e_i > 0 of m_i (grad t - x_i)(grad t - x_i)' + P hess t.
//
// The line search is exact. The dual point is that of the gradient: p_i = 2 m_i e_i/M+ and a. At the minimum
// v = lambda w, so the bound is tight.
type newton struct {
	iterate
	t        float64
	p, a     []float64
	gradient []float64 // of F
	slope    []float64 // grad t
	chol     linalg.Cholesky
	matrix   []float64
}

func newNewton(p Problem) *newton {
	d := p.Positives.D
	return &newton{iterate: newIterate(p), p: make([]float64, p.Positives.N), a: make([]float64, p.Population.N),
		gradient: make([]float64, d), slope: make([]float64, d), matrix: make([]float64, d*d)}
}

// run iterates from w until the best value and the best bound are within tolerance, for at most limit steps.
func (v *newton) run(w []float64, tolerance float64, limit int, stop func() bool) {
	copy(v.w, w)
	for step := 0; ; step++ {
		v.best.steps++
		v.computeScores()
		v.differentiate()
		v.offerPoint()
		v.offerDual(append(v.scratchP[:0], v.p...), append(v.scratchS[:0], v.a...), 1)
		if v.worthProjecting(tolerance) {
			v.projectDual()
		}
		if v.best.Value-v.best.Bound <= tolerance {
			v.best.Closed = true
			return
		}
		if step >= limit || stop() || !v.advance() {
			return
		}
	}
}

// projectDual projects the dual point of the gradient. With columns that are collinear up to the rounding of storage the steps end at a
// gradient of about 1e-9, and a ball of 1,000 |w| makes that more than the gap: without, Pat&Mat-NP 1 % with lambda = 0 stops at a gap
// of 1.6e-6 on w8a and 5.8e-6 on a9a.
func (v *newton) projectDual() {
	v.projectPoint(v.p, v.a, math.Inf(1), 1, projections)
}

// differentiate computes t, the dual point and the gradient at the current scores.
func (v *newton) differentiate() {
	v.t = v.RootOfSquares(v.zs, v.Population.Weight)
	for j, m := range v.Population.Weight {
		v.a[j] = m * max(0, 1+float64(v.Beta*(v.zs[j]-v.t)))
	}
	// a is u normalised.
	total := linalg.Sum(v.a)
	for j := range v.a {
		v.a[j] /= total
	}
	for i, m := range v.Positives.Weight {
		v.p[i] = 2 * m / v.Mass * max(0, 1+v.t-v.zp[i])
	}
	// grad t, then the gradient: lambda w + P grad t - X'p.
	clear(v.slope)
	v.Population.AddTransposed(v.a, 1, v.slope)
	for j, x := range v.w {
		v.gradient[j] = v.Lambda * x
	}
	linalg.Axpy(linalg.Sum(v.p), v.slope, v.gradient)
	v.Positives.AddTransposed(v.p, -1, v.gradient)
}

// advance takes one Newton step. It reports false when no step is left.
func (v *newton) advance() bool {
	d := v.Positives.D
	// The Hessian, from the positives with a loss and from the rows in the band.
	clear(v.matrix)
	v.addCurvature(v.Positives, v.scratchP, func(i int) float64 {
		if v.p[i] > 0 {
			return 2 * v.Positives.Weight[i] / v.Mass
		}
		return 0
	})
	var total float64 // U
	for j, m := range v.Population.Weight {
		total += float64(m * max(0, 1+float64(v.Beta*(v.zs[j]-v.t))))
	}
	rate := linalg.Sum(v.p) * v.Beta / total
	v.addCurvature(v.Population, v.scratchS, func(j int) float64 {
		if v.a[j] > 0 {
			return rate * v.Population.Weight[j]
		}
		return 0
	})
	var trace float64
	for j := range d {
		v.matrix[j*d+j] += v.Lambda
		trace += v.matrix[j*d+j]
	}
	for j := range d {
		v.matrix[j*d+j] += float64(newtonRidge*trace/float64(d)) + 1e-300
	}
	v.chol.Factor(v.matrix, d)
	v.best.Systems++
	// Newton's direction. It descends, up to rounding, because the Hessian is positive definite.
	step := make([]float64, d)
	for j, g := range v.gradient {
		step[j] = -g
	}
	v.chol.Solve(step)
	if !(linalg.Dot(step, v.gradient) < 0) {
		return false
	}
	length := v.lineSearch(step)
	if !(length > 0) {
		return false
	}
	linalg.Axpy(length, step, v.w)
	return true
}

// addCurvature adds the sum of D_i (x_i - g)(x_i - g)' to the matrix, with g = grad t and D_i = weight(i).
func (v *newton) addCurvature(set *linalg.Rows, diagonal []float64, weight func(i int) float64) {
	d := set.D
	for i := range set.N {
		diagonal[i] = weight(i)
	}
	// sum D (x - g)(x - g)' = X'DX - u g' - g u' + (sum D) g g' with u = X'D 1.
	set.AddGram(diagonal, v.matrix, d)
	u := make([]float64, d)
	set.AddTransposed(diagonal[:set.N], 1, u)
	total := linalg.Sum(diagonal[:set.N])
	for i := range d {
		for j := range i + 1 {
			v.matrix[i*d+j] += float64(float64(total*v.slope[i])*v.slope[j]) -
				(float64(u[i]*v.slope[j]) + float64(v.slope[i]*u[j]))
		}
	}
}

// newtonRidge is a part of the mean diagonal element, added to the diagonal: rounding of collinear columns.
const newtonRidge = 1e-14

// The line search finds a zero of the slope by regula falsi, with a bisection whenever the secant lands
// within closeToEnd of an end of the bracket. It changes only the number of steps. Chosen by hand.
const (
	quadratic  = 1e-3  // part of the slope that a full step leaves in the phase of quadratic convergence
	doublings  = 60    // of the step until the slope is positive
	trials     = 40    // at most
	closeToEnd = .02   // of the bracket
	flat       = 1e-10 // part of the slope at the bracket's lower end that counts as zero
	minWindow  = 1e-12 // relative width of a bracket that rounding cannot shrink
)

// lineSearch returns the length of the step that minimises F along it. It needs only scores: those of the
// step, once.
func (v *newton) lineSearch(step []float64) float64 {
	dp, ds := make([]float64, v.Positives.N), make([]float64, v.Population.N)
	v.Positives.Times(step, dp)
	v.Population.Times(step, ds)
	zp, zs := make([]float64, v.Positives.N), make([]float64, v.Population.N)
	linear, square := v.Lambda*linalg.Dot(v.w, step), v.Lambda*linalg.Dot(step, step)
	// slope is dF/dalpha; dt/dalpha = sum m u ds / sum m u.
	slope := func(alpha float64) float64 {
		for j, z := range v.zs {
			zs[j] = z + float64(alpha*ds[j])
		}
		for i, z := range v.zp {
			zp[i] = z + float64(alpha*dp[i])
		}
		t := v.RootOfSquares(zs, v.Population.Weight)
		var num, den float64
		for j, m := range v.Population.Weight {
			if u := 1 + float64(v.Beta*(zs[j]-t)); u > 0 {
				num += float64(float64(m*u) * ds[j])
				den += float64(m * u)
			}
		}
		total := linear + float64(alpha*square)
		for i, m := range v.Positives.Weight {
			if e := 1 + t - zp[i]; e > 0 {
				total += float64(2 * m / v.Mass * e * (num/den - dp[i]))
			}
		}
		return total
	}
	// Bracket the zero, then shrink the bracket.
	lo, hi := 0.0, 1.0
	first := slope(0)
	last := slope(1)
	if math.Abs(last) <= quadratic*math.Abs(first) {
		return 1 // a longer or shorter step would only spoil the convergence
	}
	for grow := 0; last < 0 && grow < doublings; grow++ {
		lo, first = hi, last
		hi *= 2
		last = slope(hi)
	}
	for range trials {
		middle := lo + float64((hi-lo)*first)/(first-last)
		if !(middle > lo+float64(closeToEnd*(hi-lo))) || !(middle < hi-float64(closeToEnd*(hi-lo))) {
			middle = lo + float64((hi-lo)/2)
		}
		s := slope(middle)
		if math.Abs(s) <= flat*math.Abs(first) || hi-lo <= minWindow*hi {
			return middle
		}
		if s < 0 {
			lo, first = middle, s
		} else {
			hi, last = middle, s
		}
	}
	return lo
}
