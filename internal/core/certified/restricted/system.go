package restricted

import (
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// direction is one Newton direction in all unknowns of interior.
type direction struct {
	w                []float64
	t, s, theta, kap float64
	p, al, xi, sg    []float64
	q, ga, et, rh    []float64
}

// newDirection allocates a direction. Its slices of one element a row share one array.
func (v *interior) newDirection() *direction {
	n, m := v.Positives.N, v.Population.N
	a := make([]float64, 4*n+4*m)
	cut := func(k int) []float64 { b := a[:k:k]; a = a[k:]; return b }
	return &direction{w: make([]float64, v.Positives.D), p: cut(n), al: cut(n), xi: cut(n), sg: cut(n),
		q: cut(m), ga: cut(m), et: cut(m), rh: cut(m)}
}

// plus sets d to a + omega*b.
func (d *direction) plus(a *direction, omega float64, b *direction) {
	add := func(to, x, y []float64) {
		for i := range to {
			to[i] = x[i] + float64(omega*y[i])
		}
	}
	add(d.w, a.w, b.w)
	add(d.p, a.p, b.p)
	add(d.al, a.al, b.al)
	add(d.xi, a.xi, b.xi)
	add(d.sg, a.sg, b.sg)
	add(d.q, a.q, b.q)
	add(d.ga, a.ga, b.ga)
	add(d.et, a.et, b.et)
	add(d.rh, a.rh, b.rh)
	d.t = a.t + float64(omega*b.t)
	d.s = a.s + float64(omega*b.s)
	d.theta = a.theta + float64(omega*b.theta)
	d.kap = a.kap + float64(omega*b.kap)
}

// factor builds and factors the reduced system. Eliminating all pairs leaves (w, t, s | theta):
//
//	[ B  u ]   B = C lambda I + X+'D1 X+ + S'D2 S with its borders in t and s, positive definite
//	[ u' -g ]
//
// with D1 = 1/(xi/al + sg/p) and D2 = 1/(et/ga + rh/q). The one negative pivot, -g, is eliminated last, by
// its Schur complement: g + u'B^-1 u. For a quantile t and s are one unknown, and their rows and columns of B
// are added.
func (v *interior) factor() {
	// The diagonals. d1 and d2 are the curvatures of a positive and of a row along their scores: about 0 for
	// rows far on either side of the corner, and largest for rows on it.
	d := v.Positives.D
	for i, m := range v.Positives.Weight {
		if v.Squared {
			v.d1[i] = 1 / (1/(2*m) + v.sg[i]/v.p[i])
		} else {
			v.d1[i] = 1 / (v.xi[i]/v.al[i] + v.sg[i]/v.p[i])
		}
	}
	v.g = v.kap / v.theta
	for j, m := range v.Population.Weight {
		v.eg[j] = v.et[j] / v.ga[j]
		v.rq[j] = v.rh[j] / v.q[j]
		v.d2[j] = 1 / (v.eg[j] + v.rq[j])
		v.e2[j] = v.d2[j] * v.eg[j] * m
		v.g += float64(float64(v.e2[j]*v.rq[j]) * m)
	}
	// The border u is the derivative of the equations of (w, t, s) by theta.
	clear(v.border)
	v.Population.AddTransposed(v.e2, 1, v.border[:d])
	if v.Kind == form.HingeQuantile {
		v.border[d] = -linalg.Sum(v.e2)
	} else {
		v.border[d] = -v.Kappa
		v.border[d+1] = v.Kappa - linalg.Sum(v.e2)
	}
	if v.inRows != nil {
		v.inRows.factor(v.d1, v.d2)
	} else {
		v.assemble()
		v.chol.Factor(v.matrix, v.size)
	}
	// The Schur complement of every solve needs B^-1 u: once.
	copy(v.borderSolved, v.border)
	v.solveBlock(v.borderSolved)
	v.best.Systems++
}

// assemble computes the lower triangle of B, with a ridge on the diagonal of w.
func (v *interior) assemble() {
	d, n := v.Positives.D, v.size
	if v.matrix == nil {
		v.matrix = make([]float64, n*n)
	}
	clear(v.matrix)
	v.Positives.AddGram(v.d1, v.matrix, n)
	v.Population.AddGram(v.d2, v.matrix, n)
	// C lambda and the ridge on the diagonal of w; t and s need none.
	var trace float64
	for j := range d {
		v.matrix[j*n+j] += float64(v.Mass * v.Lambda)
		trace += v.matrix[j*n+j]
	}
	v.ridge = float64(ridgePart * trace / float64(d))
	if v.ridge == 0 {
		v.ridge = 1e-300 // all weights are zero: anything positive will do
	}
	for j := range d {
		v.matrix[j*n+j] += v.ridge
	}
	// The rows of t and s. For a quantile they are one unknown, and their rows are added.
	last := v.matrix[(n-1)*n : n*n]
	sum1, sum2 := linalg.Sum(v.d1), linalg.Sum(v.d2)
	if v.Kind == form.HingeQuantile {
		v.Positives.AddTransposed(v.d1, -1, last[:d])
		v.Population.AddTransposed(v.d2, -1, last[:d])
		last[d] = sum1 + sum2
		return
	}
	row := v.matrix[d*n : (d+1)*n]
	v.Positives.AddTransposed(v.d1, -1, row[:d])
	row[d] = sum1
	v.Population.AddTransposed(v.d2, -1, last[:d])
	last[d], last[d+1] = 0, sum2
}

// solveBlock overwrites b with about B^-1 b.
func (v *interior) solveBlock(b []float64) {
	if v.inRows != nil {
		v.inRows.solve(b)
		return
	}
	v.chol.Solve(b)
}

// solveReduced solves the factored system for (x, theta). It refines against the matrix without its ridge:
// the ridge then changes only the speed of the refinement.
func (v *interior) solveReduced(b []float64, last float64) (x []float64, theta float64) {
	n, d := v.size, v.Positives.D
	x = make([]float64, n)
	r, rLast := append([]float64(nil), b...), last
	var scale float64
	for _, e := range b {
		scale = max(scale, math.Abs(e))
	}
	scale = max(scale, math.Abs(last))
	previous := math.Inf(1)
	for range refinements {
		// Solve the bordered system by its Schur complement.
		v.solveBlock(r) // B^-1 r
		dtheta := (linalg.Dot(v.border, r) - rLast) / (v.g + linalg.Dot(v.border, v.borderSolved))
		linalg.Axpy(-dtheta, v.borderSolved, r)
		linalg.Axpy(1, r, x)
		theta += dtheta
		// The residual of the true system.
		copy(r, b)
		v.subtractMatrix(x, r)
		for j := range d {
			r[j] += float64(v.ridge * x[j])
		}
		linalg.Axpy(-theta, v.border, r)
		rLast = last - linalg.Dot(v.border, x) + float64(v.g*theta)
		// Stop at rounding, or when refinement does not help any more: B is then too ill-conditioned for its
		// factor.
		size := math.Abs(rLast)
		for _, e := range r {
			size = max(size, math.Abs(e))
		}
		if size <= refined*scale || !(size < previous) {
			break
		}
		previous = size
	}
	return x, theta
}

// subtractMatrix sets r -= B x, B given by its lower triangle, or by the rows.
func (v *interior) subtractMatrix(x, r []float64) {
	if v.inRows != nil {
		v.inRows.subtract(x, r)
		return
	}
	linalg.SubtractSymmetric(v.matrix, v.size, x, r)
}

// targets are the right-hand sides of the linearised products: of (p, sg), (al, xi), (q, rh), (ga, et) and
// (theta, kap).
type targets struct {
	c1, c2, c3, c4 []float64
	c5             float64
}

func (v *interior) newTargets() *targets {
	n, m := v.Positives.N, v.Population.N
	return &targets{c1: make([]float64, n), c2: make([]float64, n), c3: make([]float64, m), c4: make([]float64, m)}
}

// solveDirection writes the Newton direction for the given right-hand sides to out. With linear it also
// removes the residuals of the linear equations.
func (v *interior) solveDirection(c *targets, linear bool, out *direction) {
	d := v.Positives.D
	on := 0.0
	if linear {
		on = 1
	}
	// Eliminate the pairs. h1 and h2 are what the right-hand sides leave for p and q when no score moves; k2
	// is the sum of the slacks et, for the equation of theta.
	b := make([]float64, v.size)
	h1, h2 := v.scratchP, v.scratchS
	k2 := v.eliminate(c, on, h1, h2)
	// The right side of the reduced system, in the order (w, t, s).
	if linear {
		for j, r := range v.rdw {
			b[j] = -r
		}
	}
	v.Positives.AddTransposed(h1, 1, b[:d])
	v.Population.AddTransposed(h2, -1, b[:d])
	s1, s2 := linalg.Sum(h1), linalg.Sum(h2)
	if v.Kind == form.HingeQuantile {
		b[d] = -float64(on*(v.rdt+v.rds)) - s1 + s2
	} else {
		b[d] = -float64(on*v.rdt) - s1
		b[d+1] = -float64(on*v.rds) + s2
	}
	x, theta := v.solveReduced(b, -(float64(on*v.rp3) + c.c5/v.theta + k2))
	copy(out.w, x[:d])
	out.t, out.s, out.theta = x[d], x[v.size-1], theta
	// The eliminated parts, pair by pair.
	v.Positives.Times(out.w, out.xi)
	v.expandPositives(c, on, h1, out)
	v.Population.Times(out.w, out.et)
	v.expandPopulation(c, on, h2, out)
	out.kap = (c.c5 - float64(v.kap*out.theta)) / v.theta
}

// eliminate sets h1 and h2, and returns k2. Here and below the lists of a loop have the length of the first one, which the compiler must see.
func (v *interior) eliminate(c *targets, on float64, h1, h2 []float64) (k2 float64) {
	n := len(h1)
	m, d1, p, rd1, rp1, c1 := v.Positives.Weight[:n], v.d1[:n], v.p[:n], v.rd1[:n], v.rp1[:n], c.c1[:n]
	if v.Squared {
		for i := range h1 {
			h1[i] = d1[i] * (c1[i]/p[i] - float64(on*(rd1[i]/(2*m[i])+rp1[i])))
		}
	} else {
		c2, xi, al := c.c2[:n], v.xi[:n], v.al[:n]
		for i := range h1 {
			h1[i] = d1[i] * (c1[i]/p[i] - (c2[i]+float64(on*xi[i]*rd1[i]))/al[i] - float64(on*rp1[i]))
		}
	}
	n = len(h2)
	weights, d2, eg, q, ga, et := v.Population.Weight[:n], v.d2[:n], v.eg[:n], v.q[:n], v.ga[:n], v.et[:n]
	rd2, rp2, c3, c4 := v.rd2[:n], v.rp2[:n], c.c3[:n], c.c4[:n]
	for j := range h2 {
		k := (c4[j] + float64(on*et[j]*rd2[j])) / ga[j]
		h := d2[j] * (c3[j]/q[j] - k - float64(on*rp2[j]))
		h2[j] = h
		k2 += float64(weights[j] * (k + float64(eg[j]*h)))
	}
	return k2
}

// expandPositives sets the positives' part of a direction. out.xi has their scores, and e is the change of the margin w'x - t.
func (v *interior) expandPositives(c *targets, on float64, h1 []float64, out *direction) {
	n, t := len(h1), out.t
	d1, rd1, rp1 := v.d1[:n], v.rd1[:n], v.rp1[:n]
	p, al, xi, sg := out.p[:n], out.al[:n], out.xi[:n], out.sg[:n]
	if v.Squared {
		m := v.Positives.Weight[:n]
		for i, h := range h1 {
			e := xi[i] - t
			dp := h - float64(d1[i]*e)
			dxi := (dp + float64(on*rd1[i])) / (2 * m[i])
			p[i], al[i], xi[i] = dp, 0, dxi
			sg[i] = dxi + e + float64(on*rp1[i])
		}
		return
	}
	c2, slack, dual := c.c2[:n], v.xi[:n], v.al[:n]
	for i, h := range h1 {
		e := xi[i] - t
		dp := h - float64(d1[i]*e)
		dal := -dp - float64(on*rd1[i])
		dxi := (c2[i] - float64(slack[i]*dal)) / dual[i]
		p[i], al[i], xi[i] = dp, dal, dxi
		sg[i] = dxi + e + float64(on*rp1[i])
	}
}

// expandPopulation sets the population's part of a direction. out.et has the scores, and f is the change of s - w'x of a row.
func (v *interior) expandPopulation(c *targets, on float64, h2 []float64, out *direction) {
	n, s, theta := len(h2), out.s, out.theta
	weights, d2, e2, slack, dual := v.Population.Weight[:n], v.d2[:n], v.e2[:n], v.et[:n], v.ga[:n]
	rd2, rp2, c4 := v.rd2[:n], v.rp2[:n], c.c4[:n]
	q, ga, et, rh := out.q[:n], out.ga[:n], out.et[:n], out.rh[:n]
	for j, h := range h2 {
		f := s - et[j]
		dq := h - float64(d2[j]*f) + float64(e2[j]*theta)
		dga := float64(weights[j]*theta) - dq - float64(on*rd2[j])
		det := (c4[j] - float64(slack[j]*dga)) / dual[j]
		q[j], ga[j], et[j] = dq, dga, det
		rh[j] = det + f + float64(on*rp2[j])
	}
}
