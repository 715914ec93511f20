package certified

import "math"

// project moves the multipliers to v = sum p x - sum q x = 0 and sum p = sum q. With lambda = 0 the bound loses R|v|,
// and an interior point leaves |v| at rounding errors of its large intermediate quantities. The move is the smallest one
// in the metric of the room that every multiplier has: with W1 = p (1 - p/m), W2 = q (1 - q/(m theta)) and rows A = [x 1],
//
//	(A+'W1 A+ + A'W2 A) y = -(v, sum p - sum q),   p += W1 A+ y,   q -= W2 A y.
//
// It runs when the bound without its norm would close the gap.
func (v *interior) project(tolerance float64) {
	if v.lambda != 0 || v.best.gain < v.best.value-tolerance || v.best.value-v.best.bound <= tolerance {
		return
	}
	d := v.pos.d
	n := d + 1
	p, q := append([]float64(nil), v.p...), append([]float64(nil), v.q...)
	w1, w2 := make([]float64, len(p)), make([]float64, len(q))
	for i, m := range v.pos.weight {
		p[i] = math.Max(0, p[i])
		w1[i] = p[i]
		if !v.squared {
			p[i] = math.Min(p[i], m)
			w1[i] = p[i] * (1 - p[i]/m)
		}
	}
	for j, m := range v.row.weight {
		q[j] = math.Min(math.Max(0, q[j]), m*v.theta)
		w2[j] = q[j] * (1 - q[j]/(m*v.theta))
	}
	matrix := make([]float64, n*n)
	v.pos.addGram(w1, matrix, n)
	v.row.addGram(w2, matrix, n)
	last := matrix[d*n:]
	v.pos.addTransposed(w1, 1, last[:d])
	v.row.addTransposed(w2, 1, last[:d])
	last[d] = sum(w1) + sum(w2)
	scale := make([]float64, n)
	for j := range n {
		scale[j] = 1
		if diagonal := matrix[j*n+j]; diagonal > 0 {
			scale[j] = 1 / math.Sqrt(diagonal)
		}
	}
	for i := range n {
		for j := range i + 1 {
			matrix[i*n+j] *= scale[i] * scale[j]
		}
		matrix[i*n+i] += 1e-12
	}
	var factor cholesky
	factor.factor(matrix, n)
	v.best.systems++
	for range 4 {
		y := make([]float64, n)
		v.pos.addTransposed(p, -1, y[:d])
		v.row.addTransposed(q, 1, y[:d])
		y[d] = sum(q) - sum(p)
		for j := range y {
			y[j] *= scale[j]
		}
		factor.solve(y)
		for j := range y {
			y[j] *= scale[j]
		}
		v.pos.times(y[:d], v.scratchP)
		for i, m := range v.pos.weight {
			p[i] = math.Max(0, p[i]+float64(w1[i]*(v.scratchP[i]+y[d])))
			if !v.squared {
				p[i] = math.Min(p[i], m)
			}
		}
		v.row.times(y[:d], v.scratchS)
		for j, m := range v.row.weight {
			q[j] = math.Min(math.Max(0, q[j]-float64(w2[j]*(v.scratchS[j]+y[d]))), m*v.theta)
		}
		pc := append([]float64(nil), p...)
		for i := range pc {
			pc[i] /= v.mass
		}
		v.offerDual(pc, append([]float64(nil), q...), v.theta/v.mass)
	}
}
