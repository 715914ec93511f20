package certified

import "math"

// newton solves the restricted problem of Pat&Mat with the squared hinge, whose threshold and loss are continuously
// differentiable: with u_j = max(0, 1 + beta (z_j - t)) and U = sum m_j u_j,
//
//	grad t = X'a,  a_j = m_j u_j/U,     hess t = (beta/U) sum over u_j > 0 of m_j (x_j - grad t)(x_j - grad t)'
//
// and with the margins e_i = max(0, 1 + t - z_i), P = (2/M+) sum m_i e_i,
//
//	grad F = lambda w + (2/M+) sum m_i e_i (grad t - x_i)
//	hess F = lambda I + (2/M+) sum over e_i > 0 of m_i (grad t - x_i)(grad t - x_i)' + P hess t.
//
// Newton's method with an exact line search. The dual point is the gradient's: p_i = 2 m_i e_i/M+ and a.
type newton struct {
	restricted
	t        float64
	p, a     []float64
	gradient []float64
	slope    []float64 // grad t
	chol     cholesky
	matrix   []float64
}

func newNewton(f form, pos, row *rows, mass float64) *newton {
	d := pos.d
	return &newton{restricted: newRestricted(f, pos, row, mass), p: make([]float64, pos.n), a: make([]float64, row.n),
		gradient: make([]float64, d), slope: make([]float64, d), matrix: make([]float64, d*d)}
}

func (v *newton) run(w []float64, tolerance float64, limit int, stop func() bool) {
	copy(v.w, w)
	for step := 0; ; step++ {
		v.best.steps++
		v.score()
		v.differentiate()
		v.offerPoint()
		v.offerDual(append(v.scratchP[:0], v.p...), append(v.scratchS[:0], v.a...), 1)
		if v.best.value-v.best.bound <= tolerance {
			v.best.closed = true
			return
		}
		if step >= limit || stop() || !v.advance() {
			return
		}
	}
}

// differentiate computes t, the dual point and the gradient at the current scores.
func (v *newton) differentiate() {
	v.t = rootOfSquares(v.zs, v.row.weight, v.kappa, v.beta)
	for j, m := range v.row.weight {
		v.a[j] = m * math.Max(0, 1+float64(v.beta*(v.zs[j]-v.t)))
	}
	total := sum(v.a)
	for j := range v.a {
		v.a[j] /= total
	}
	for i, m := range v.pos.weight {
		v.p[i] = 2 * m / v.mass * math.Max(0, 1+v.t-v.zp[i])
	}
	clear(v.slope)
	v.row.addTransposed(v.a, 1, v.slope)
	for j, x := range v.w {
		v.gradient[j] = v.lambda * x
	}
	axpy(sum(v.p), v.slope, v.gradient)
	v.pos.addTransposed(v.p, -1, v.gradient)
}

// advance takes one Newton step. It reports false when no step is left.
func (v *newton) advance() bool {
	d := v.pos.d
	clear(v.matrix)
	v.addCurvature(v.pos, v.scratchP, func(i int) float64 {
		if v.p[i] > 0 {
			return 2 * v.pos.weight[i] / v.mass
		}
		return 0
	})
	var total float64 // U
	for j, m := range v.row.weight {
		total += float64(m * math.Max(0, 1+float64(v.beta*(v.zs[j]-v.t))))
	}
	rate := sum(v.p) * v.beta / total
	v.addCurvature(v.row, v.scratchS, func(j int) float64 {
		if v.a[j] > 0 {
			return rate * v.row.weight[j]
		}
		return 0
	})
	var trace float64
	for j := range d {
		v.matrix[j*d+j] += v.lambda
		trace += v.matrix[j*d+j]
	}
	for j := range d {
		v.matrix[j*d+j] += float64(1e-14*trace/float64(d)) + 1e-300
	}
	v.chol.factor(v.matrix, d)
	v.best.systems++
	step := make([]float64, d)
	for j, g := range v.gradient {
		step[j] = -g
	}
	v.chol.solve(step)
	if !(dot(step, v.gradient) < 0) {
		return false
	}
	length := v.search(step)
	if !(length > 0) {
		return false
	}
	axpy(length, step, v.w)
	return true
}

// addCurvature adds sum of D_i (x_i - g)(x_i - g)' with g = grad t.
func (v *newton) addCurvature(set *rows, diagonal []float64, weight func(i int) float64) {
	d := set.d
	for i := range set.n {
		diagonal[i] = weight(i)
	}
	set.addGram(diagonal, v.matrix, d)
	u := make([]float64, d)
	set.addTransposed(diagonal[:set.n], 1, u)
	total := sum(diagonal[:set.n])
	for i := range d {
		for j := range i + 1 {
			v.matrix[i*d+j] += float64(float64(total*v.slope[i])*v.slope[j]) - (float64(u[i]*v.slope[j]) + float64(v.slope[i]*u[j]))
		}
	}
}

// search returns the length of the step that minimises F along it, from the scores alone.
func (v *newton) search(step []float64) float64 {
	dp, ds := make([]float64, v.pos.n), make([]float64, v.row.n)
	v.pos.times(step, dp)
	v.row.times(step, ds)
	zp, zs := make([]float64, v.pos.n), make([]float64, v.row.n)
	linear, square := v.lambda*dot(v.w, step), v.lambda*dot(step, step)
	slope := func(alpha float64) float64 {
		for j, z := range v.zs {
			zs[j] = z + float64(alpha*ds[j])
		}
		for i, z := range v.zp {
			zp[i] = z + float64(alpha*dp[i])
		}
		t := rootOfSquares(zs, v.row.weight, v.kappa, v.beta)
		var num, den float64
		for j, m := range v.row.weight {
			if u := 1 + float64(v.beta*(zs[j]-t)); u > 0 {
				num += float64(float64(m*u) * ds[j])
				den += float64(m * u)
			}
		}
		total := linear + float64(alpha*square)
		for i, m := range v.pos.weight {
			if e := 1 + t - zp[i]; e > 0 {
				total += float64(2 * m / v.mass * e * (num/den - dp[i]))
			}
		}
		return total
	}
	lo, hi := 0.0, 1.0
	first := slope(0)
	last := slope(1)
	if math.Abs(last) <= 1e-3*math.Abs(first) {
		return 1 // the last steps converge quadratically: leave them alone
	}
	for grow := 0; last < 0 && grow < 60; grow++ {
		lo, first = hi, last
		hi *= 2
		last = slope(hi)
	}
	for range 40 {
		middle := lo + float64((hi-lo)*first)/(first-last)
		if !(middle > lo+float64(.02*(hi-lo))) || !(middle < hi-float64(.02*(hi-lo))) {
			middle = lo + float64((hi-lo)/2)
		}
		s := slope(middle)
		if math.Abs(s) <= 1e-10*math.Abs(first) || hi-lo <= 1e-12*hi {
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
