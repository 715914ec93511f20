package restricted

import (
	"math"
	"slices"

	"toptau/internal/core/certified/linalg"
)

const (
	// projections is the number of rounds. Each one is followed by a cut at the bounds of p and q, which
	// moves v again.
	projections = 4
	// lastProjections is that number for the last projection of a run. The ridge leaves a part of v in directions of few multipliers
	// off their bounds: .7 to .97 of it a round on kddcup99, where TopPush and TopPushK missed the gap after 4,000 systems without.
	lastProjections = 20
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
// A dual point of Newton's method has no largest theta: most is then infinite. theta is that of the result.
func (v *iterate) project(p, q []float64, most, theta float64, rounds int) {
	r := v.newProjection(p, q, most)
	v.best.Systems++
	for range rounds {
		r.move()
		// Every round is offered: the cut can make a later one worse.
		p := append([]float64(nil), r.p...)
		for i := range p {
			p[i] /= v.Mass
		}
		v.offerDual(p, append([]float64(nil), r.q...), theta)
	}
}

// projectPoint projects the dual point with multipliers p and shares a of all of them, in units of the mass.
func (v *iterate) projectPoint(p, a []float64, most, theta float64, rounds int) {
	scaled, q := make([]float64, len(p)), make([]float64, len(a))
	linalg.Axpy(v.Mass, p, scaled)
	linalg.Axpy(linalg.Sum(scaled), a, q)
	v.project(scaled, q, most, theta, rounds)
}

// projectBest projects the best dual point again, with more rounds.
func (v *iterate) projectBest() {
	if v.best.P != nil {
		v.projectPoint(v.best.P, v.best.A, v.best.Theta*v.Mass, v.best.Theta, lastProjections)
	}
}

// worthProjecting reports whether the bound without R |v| would close the gap.
func (v *iterate) worthProjecting(tolerance float64) bool {
	return v.Lambda == 0 && v.best.gain >= v.best.Value-tolerance && v.best.Value-v.best.Bound > tolerance
}

// projection has copies of the multipliers, cut at their bounds, and the system that moves them.
type projection struct {
	of     *iterate
	p, q   []float64
	most   float64         // the largest q_j/m_j: theta
	w1, w2 []float64       // the metric W1, W2
	scale  []float64       // scales the diagonal of the system's matrix to 1
	factor linalg.Cholesky // of the scaled matrix
}

func (v *iterate) newProjection(p, q []float64, most float64) *projection {
	r := &projection{of: v, p: slices.Clone(p), q: slices.Clone(q), most: most}
	r.w1, r.w2 = make([]float64, len(r.p)), make([]float64, len(r.q))
	for i, m := range v.Positives.Weight {
		r.p[i] = max(0, r.p[i])
		r.w1[i] = r.p[i]
		if !v.Squared {
			r.p[i] = min(r.p[i], m)
			r.w1[i] = r.p[i] * (1 - r.p[i]/m)
		}
	}
	for j, m := range v.Population.Weight {
		r.q[j] = min(max(0, r.q[j]), m*most)
		r.w2[j] = r.q[j] * (1 - r.q[j]/(m*most))
	}
	r.factorise()
	return r
}

// factorise factorises A+'W1 A+ + A'W2 A. The last row and column are those of the appended 1.
func (r *projection) factorise() {
	v, d := r.of, r.of.Positives.D
	n := d + 1
	matrix := make([]float64, n*n)
	v.Positives.AddGram(r.w1, matrix, n)
	v.Population.AddGram(r.w2, matrix, n)
	last := matrix[d*n:]
	v.Positives.AddTransposed(r.w1, 1, last[:d])
	v.Population.AddTransposed(r.w2, 1, last[:d])
	last[d] = linalg.Sum(r.w1) + linalg.Sum(r.w2)
	r.scale = make([]float64, n)
	for j := range n {
		r.scale[j] = 1
		if diagonal := matrix[j*n+j]; diagonal > 0 {
			r.scale[j] = 1 / math.Sqrt(diagonal)
		}
	}
	for i := range n {
		for j := range i + 1 {
			matrix[i*n+j] *= r.scale[i] * r.scale[j]
		}
		matrix[i*n+i] += projectRidge
	}
	r.factor.Factor(matrix, n)
}

// move solves for y, moves p and q by it, and cuts them at their bounds again.
func (r *projection) move() {
	v, d := r.of, r.of.Positives.D
	y := make([]float64, d+1)
	v.Positives.AddTransposed(r.p, -1, y[:d])
	v.Population.AddTransposed(r.q, 1, y[:d])
	y[d] = linalg.Sum(r.q) - linalg.Sum(r.p)
	for j := range y {
		y[j] *= r.scale[j]
	}
	r.factor.Solve(y)
	for j := range y {
		y[j] *= r.scale[j]
	}
	v.Positives.Times(y[:d], v.scratchP)
	for i, m := range v.Positives.Weight {
		r.p[i] = max(0, r.p[i]+float64(r.w1[i]*(v.scratchP[i]+y[d])))
		if !v.Squared {
			r.p[i] = min(r.p[i], m)
		}
	}
	v.Population.Times(y[:d], v.scratchS)
	for j, m := range v.Population.Weight {
		r.q[j] = min(max(0, r.q[j]-float64(r.w2[j]*(v.scratchS[j]+y[d]))), m*r.most)
	}
}
