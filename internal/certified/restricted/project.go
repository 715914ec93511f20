package restricted

import (
	"math"

	"toptau/internal/certified/linalg"
)

const (
	// projections is the number of rounds. Each one is followed by a cut at the bounds of p and q, which
	// moves v again.
	projections = 4
	// projectRidge keeps the scaled matrix, whose diagonal is 1, positive definite.
	projectRidge = 1e-12
)

// project moves the multipliers to v = sum p x - sum q x = 0 and sum p = sum q. With lambda = 0 the bound
// loses R |v|, and an interior point leaves |v| at the rounding error of its large intermediate quantities,
// about 1e-8. Projected, |v| is about 1e-13. The move is the smallest one in a metric that weighs each
// multiplier by its distance from its bounds: with W1 = p (1 - p/m), W2 = q (1 - q/(m theta)) and rows A = [x
// 1],
//
//	(A+'W1 A+ + A'W2 A) y = -(v, sum p - sum q),   p += W1 A+ y,   q -= W2 A y.
//
// It runs only when the bound without R |v| would close the gap.
func (v *interior) project(tolerance float64) {
	if v.Lambda != 0 || v.best.gain < v.best.Value-tolerance || v.best.Value-v.best.Bound <= tolerance {
		return
	}
	d := v.Positives.D
	n := d + 1
	// Copies, cut at their bounds, and the metric.
	p, q := append([]float64(nil), v.p...), append([]float64(nil), v.q...)
	w1, w2 := make([]float64, len(p)), make([]float64, len(q))
	for i, m := range v.Positives.Weight {
		p[i] = math.Max(0, p[i])
		w1[i] = p[i]
		if !v.Squared {
			p[i] = math.Min(p[i], m)
			w1[i] = p[i] * (1 - p[i]/m)
		}
	}
	for j, m := range v.Population.Weight {
		q[j] = math.Min(math.Max(0, q[j]), m*v.theta)
		w2[j] = q[j] * (1 - q[j]/(m*v.theta))
	}
	// A+'W1 A+ + A'W2 A: the last row and column are those of the appended 1.
	matrix := make([]float64, n*n)
	v.Positives.AddGram(w1, matrix, n)
	v.Population.AddGram(w2, matrix, n)
	last := matrix[d*n:]
	v.Positives.AddTransposed(w1, 1, last[:d])
	v.Population.AddTransposed(w2, 1, last[:d])
	last[d] = linalg.Sum(w1) + linalg.Sum(w2)
	scale := make([]float64, n) // scales the diagonal to 1
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
		matrix[i*n+i] += projectRidge
	}
	var factor linalg.Cholesky
	factor.Factor(matrix, n)
	v.best.Systems++
	for range projections {
		// Solve for y, then move p and q by it and cut them at their bounds again.
		y := make([]float64, n)
		v.Positives.AddTransposed(p, -1, y[:d])
		v.Population.AddTransposed(q, 1, y[:d])
		y[d] = linalg.Sum(q) - linalg.Sum(p)
		for j := range y {
			y[j] *= scale[j]
		}
		factor.Solve(y)
		for j := range y {
			y[j] *= scale[j]
		}
		v.Positives.Times(y[:d], v.scratchP)
		for i, m := range v.Positives.Weight {
			p[i] = math.Max(0, p[i]+float64(w1[i]*(v.scratchP[i]+y[d])))
			if !v.Squared {
				p[i] = math.Min(p[i], m)
			}
		}
		v.Population.Times(y[:d], v.scratchS)
		for j, m := range v.Population.Weight {
			q[j] = math.Min(math.Max(0, q[j]-float64(w2[j]*(v.scratchS[j]+y[d]))), m*v.theta)
		}
		// Every round is offered: the cut can make a later one worse.
		pc := append([]float64(nil), p...)
		for i := range pc {
			pc[i] /= v.Mass
		}
		v.offerDual(pc, append([]float64(nil), q...), v.theta/v.Mass)
	}
}
