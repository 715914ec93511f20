package certified

import "math"

// interior is a primal-dual interior-point method for the problem restricted to some rows. All of it is scaled by
// C = M+, the mass of the positives, so that 0 <= p_i <= m_i. Unknowns: w, t, the band's edge s, theta, and positive
// pairs (dual, slack)
//
//	(p, sg), (al, xi)  per positive  xi - sg = 1 + t - w'x,   p + al = m          (squared loss: no al, p = 2 m xi)
//	(q, rh), (ga, et)  per row       et - rh = w'x - s,       q + ga = m theta
//	(theta, kap)                     sum m et + kap = kappa (t - s)               (quantile: s = t - 1/beta)
//
// with C lambda w = X+'p - S'q, sum p = kappa theta = sum q (quantile: sum p = sum q). Each product is driven to
// m mu, so that a row of weight m is treated as m equal rows.
type interior struct {
	restricted
	count float64 // number of complementary products, counted by mass

	t, s, theta, kap float64
	p, al, xi, sg    []float64
	q, ga, et, rh    []float64

	// Residuals of the linear equations.
	rp1, rd1      []float64
	rp2, rd2      []float64
	rdw           []float64
	rp3, rdt, rds float64

	// The current linear system.
	d1, d2, e2, eg, rq []float64
	g, ridge           float64
	size               int // of the positive definite block: d + 2, quantile d + 1
	matrix             []float64
	border             []float64
	chol               cholesky
	borderSolved       []float64
	inRows             *rowSystem // solves the systems in a row space; nil: chol does

	// Space for a step, made by the first one.
	aims       *targets
	directions [4]*direction
}

func newInterior(f form, pos, row *rows, mass float64) *interior {
	n, m, d := pos.n, row.n, pos.d
	v := &interior{restricted: newRestricted(f, pos, row, mass)}
	v.count = v.mass + float64(2*sum(row.weight)) + 1
	if !f.squared {
		v.count += v.mass
	}
	v.rdw = make([]float64, d)
	for _, a := range []*[]float64{&v.p, &v.al, &v.xi, &v.sg, &v.rp1, &v.rd1, &v.d1} {
		*a = make([]float64, n)
	}
	for _, a := range []*[]float64{&v.q, &v.ga, &v.et, &v.rh, &v.rp2, &v.rd2, &v.d2, &v.e2, &v.eg, &v.rq} {
		*a = make([]float64, m)
	}
	v.size = d + 2
	if f.kind == hingeQuantile {
		v.size = d + 1
	}
	v.border = make([]float64, v.size)
	v.borderSolved = make([]float64, v.size)
	return v
}

// run iterates until the best value and the best bound are within tolerance.
func (v *interior) run(tolerance float64, limit int, stop func() bool) {
	for step := 0; ; step++ {
		v.best.steps++
		v.residuals()
		v.certify()
		v.project(tolerance)
		mu := v.products() / v.count
		if v.best.value-v.best.bound <= tolerance {
			v.best.closed = true
			return
		}
		if mu*v.count/v.mass < 1e-4*tolerance || step >= limit || !(mu > 0) || math.IsInf(mu, 0) || stop() {
			return
		}
		if !v.advance(mu) {
			return
		}
	}
}

// products is the sum of all complementary products.
func (v *interior) products() float64 {
	total := dot(v.p, v.sg) + dot(v.q, v.rh) + dot(v.ga, v.et) + float64(v.theta*v.kap)
	if !v.squared {
		total += dot(v.al, v.xi)
	}
	return total
}

func (v *interior) residuals() {
	v.pos.times(v.w, v.zp)
	v.row.times(v.w, v.zs)
	for i, m := range v.pos.weight {
		v.rp1[i] = v.xi[i] - v.sg[i] - (1 + v.t - v.zp[i])
		if v.squared {
			v.rd1[i] = v.p[i] - float64(2*m*v.xi[i])
		} else {
			v.rd1[i] = v.p[i] + v.al[i] - m
		}
	}
	var used float64
	for j, m := range v.row.weight {
		v.rp2[j] = v.et[j] - v.rh[j] - (v.zs[j] - v.s)
		v.rd2[j] = v.q[j] + v.ga[j] - float64(m*v.theta)
		used += float64(m * v.et[j])
	}
	if v.kind == hingeQuantile {
		v.rp3 = v.kap + used - float64(v.kappa*v.band())
	} else {
		v.rp3 = v.kap + used - float64(v.kappa*(v.t-v.s))
	}
	sp, sq := sum(v.p), sum(v.q)
	v.rdt = sp - float64(v.kappa*v.theta)
	v.rds = float64(v.kappa*v.theta) - sq
	for j := range v.rdw {
		v.rdw[j] = v.mass * v.lambda * v.w[j]
	}
	v.pos.addTransposed(v.p, -1, v.rdw)
	v.row.addTransposed(v.q, 1, v.rdw)
}

// direction is one Newton direction in all unknowns.
type direction struct {
	w                []float64
	t, s, theta, kap float64
	p, al, xi, sg    []float64
	q, ga, et, rh    []float64
}

func (v *interior) newDirection() *direction {
	n, m := v.pos.n, v.row.n
	a := make([]float64, 4*n+4*m)
	cut := func(k int) []float64 { b := a[:k:k]; a = a[k:]; return b }
	return &direction{w: make([]float64, v.pos.d), p: cut(n), al: cut(n), xi: cut(n), sg: cut(n),
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

// factor builds and factors the reduced system in (w, t, s | theta):
//
//	[ B  u ]   B = C lambda I + X+'D1 X+ + S'D2 S with its borders in t and s, positive definite
//	[ u' -g ]
func (v *interior) factor() {
	d := v.pos.d
	for i, m := range v.pos.weight {
		if v.squared {
			v.d1[i] = 1 / (1/(2*m) + v.sg[i]/v.p[i])
		} else {
			v.d1[i] = 1 / (v.xi[i]/v.al[i] + v.sg[i]/v.p[i])
		}
	}
	v.g = v.kap / v.theta
	for j, m := range v.row.weight {
		v.eg[j] = v.et[j] / v.ga[j]
		v.rq[j] = v.rh[j] / v.q[j]
		v.d2[j] = 1 / (v.eg[j] + v.rq[j])
		v.e2[j] = v.d2[j] * v.eg[j] * m
		v.g += float64(float64(v.e2[j]*v.rq[j]) * m)
	}
	clear(v.border)
	v.row.addTransposed(v.e2, 1, v.border[:d])
	if v.kind == hingeQuantile {
		v.border[d] = -sum(v.e2)
	} else {
		v.border[d] = -v.kappa
		v.border[d+1] = v.kappa - sum(v.e2)
	}
	if v.inRows != nil {
		v.inRows.factor(v.d1, v.d2)
	} else {
		v.assemble()
		v.chol.factor(v.matrix, v.size)
	}
	copy(v.borderSolved, v.border)
	v.solveBlock(v.borderSolved)
	v.best.systems++
}

// assemble computes B, with a ridge.
func (v *interior) assemble() {
	d, n := v.pos.d, v.size
	if v.matrix == nil {
		v.matrix = make([]float64, n*n)
	}
	clear(v.matrix)
	v.pos.addGram(v.d1, v.matrix, n)
	v.row.addGram(v.d2, v.matrix, n)
	var trace float64
	for j := range d {
		v.matrix[j*n+j] += float64(v.mass * v.lambda)
		trace += v.matrix[j*n+j]
	}
	v.ridge = float64(1e-13 * trace / float64(d))
	if v.ridge == 0 {
		v.ridge = 1e-300
	}
	for j := range d {
		v.matrix[j*n+j] += v.ridge
	}
	last := v.matrix[(n-1)*n : n*n]
	sum1, sum2 := sum(v.d1), sum(v.d2)
	if v.kind == hingeQuantile {
		v.pos.addTransposed(v.d1, -1, last[:d])
		v.row.addTransposed(v.d2, -1, last[:d])
		last[d] = sum1 + sum2
		return
	}
	row := v.matrix[d*n : (d+1)*n]
	v.pos.addTransposed(v.d1, -1, row[:d])
	row[d] = sum1
	v.row.addTransposed(v.d2, -1, last[:d])
	last[d], last[d+1] = 0, sum2
}

// solveBlock overwrites b with about B^-1 b.
func (v *interior) solveBlock(b []float64) {
	if v.inRows != nil {
		v.inRows.solve(b)
		return
	}
	v.chol.solve(b)
}

// solveReduced solves the factored system for (x, theta), with refinement against the matrix without its ridge.
func (v *interior) solveReduced(b []float64, last float64) (x []float64, theta float64) {
	n, d := v.size, v.pos.d
	x = make([]float64, n)
	r, rLast := append([]float64(nil), b...), last
	var scale float64
	for _, e := range b {
		scale = math.Max(scale, math.Abs(e))
	}
	scale = math.Max(scale, math.Abs(last))
	previous := math.Inf(1)
	for range 8 {
		// One solve of the bordered system by its Schur complement.
		v.solveBlock(r)
		dtheta := (dot(v.border, r) - rLast) / (v.g + dot(v.border, v.borderSolved))
		axpy(-dtheta, v.borderSolved, r)
		axpy(1, r, x)
		theta += dtheta
		// Residual.
		copy(r, b)
		v.subtractMatrix(x, r)
		for j := range d {
			r[j] += float64(v.ridge * x[j])
		}
		axpy(-theta, v.border, r)
		rLast = last - dot(v.border, x) + float64(v.g*theta)
		size := math.Abs(rLast)
		for _, e := range r {
			size = math.Max(size, math.Abs(e))
		}
		if size <= 1e-14*scale || !(size < previous) {
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
	n := v.size
	for i := range n {
		row := v.matrix[i*n : i*n+i]
		r[i] -= dot(row, x[:i]) + float64(v.matrix[i*n+i]*x[i])
		axpy(-x[i], row, r[:i])
	}
}

// targets are the right-hand sides of the five linearised products.
type targets struct {
	c1, c2, c3, c4 []float64
	c5             float64
}

func (v *interior) newTargets() *targets {
	return &targets{c1: make([]float64, v.pos.n), c2: make([]float64, v.pos.n), c3: make([]float64, v.row.n), c4: make([]float64, v.row.n)}
}

// solve finds the direction for the targets; linear asks it to remove the residuals of the linear equations too.
func (v *interior) solve(c *targets, linear bool, out *direction) {
	d := v.pos.d
	on := 0.0
	if linear {
		on = 1
	}
	b := make([]float64, v.size)
	h1, h2 := v.scratchP, v.scratchS
	for i, m := range v.pos.weight {
		if v.squared {
			h1[i] = v.d1[i] * (c.c1[i]/v.p[i] - float64(on*(v.rd1[i]/(2*m)+v.rp1[i])))
		} else {
			h1[i] = v.d1[i] * (c.c1[i]/v.p[i] - (c.c2[i]+float64(on*v.xi[i]*v.rd1[i]))/v.al[i] - float64(on*v.rp1[i]))
		}
	}
	var k2 float64
	for j, m := range v.row.weight {
		k := (c.c4[j] + float64(on*v.et[j]*v.rd2[j])) / v.ga[j]
		h2[j] = v.d2[j] * (c.c3[j]/v.q[j] - k - float64(on*v.rp2[j]))
		k2 += float64(m * (k + float64(v.eg[j]*h2[j])))
	}
	if linear {
		for j, r := range v.rdw {
			b[j] = -r
		}
	}
	v.pos.addTransposed(h1, 1, b[:d])
	v.row.addTransposed(h2, -1, b[:d])
	s1, s2 := sum(h1), sum(h2)
	if v.kind == hingeQuantile {
		b[d] = -float64(on*(v.rdt+v.rds)) - s1 + s2
	} else {
		b[d] = -float64(on*v.rdt) - s1
		b[d+1] = -float64(on*v.rds) + s2
	}
	x, theta := v.solveReduced(b, -(float64(on*v.rp3) + c.c5/v.theta + k2))
	copy(out.w, x[:d])
	out.t, out.s, out.theta = x[d], x[v.size-1], theta
	v.expand(c, on, h1, h2, out)
}

// expand recovers the eliminated parts of a direction.
func (v *interior) expand(c *targets, on float64, h1, h2 []float64, out *direction) {
	v.pos.times(out.w, out.xi)
	for i, m := range v.pos.weight {
		e := out.xi[i] - out.t
		dp := h1[i] - float64(v.d1[i]*e)
		out.p[i] = dp
		if v.squared {
			out.al[i] = 0
			out.xi[i] = (dp + float64(on*v.rd1[i])) / (2 * m)
		} else {
			out.al[i] = -dp - float64(on*v.rd1[i])
			out.xi[i] = (c.c2[i] - float64(v.xi[i]*out.al[i])) / v.al[i]
		}
		out.sg[i] = out.xi[i] + e + float64(on*v.rp1[i])
	}
	v.row.times(out.w, out.et)
	for j, m := range v.row.weight {
		f := out.s - out.et[j]
		dq := h2[j] - float64(v.d2[j]*f) + float64(v.e2[j]*out.theta)
		out.q[j] = dq
		out.ga[j] = float64(m*out.theta) - dq - float64(on*v.rd2[j])
		out.et[j] = (c.c4[j] - float64(v.et[j]*out.ga[j])) / v.ga[j]
		out.rh[j] = out.et[j] + f + float64(on*v.rp2[j])
	}
	out.kap = (c.c5 - float64(v.kap*out.theta)) / v.theta
}

// longest returns the largest step up to bound that keeps x + step*dx positive.
func longest(bound float64, x, dx []float64) float64 {
	for i, d := range dx {
		if d < 0 {
			if r := -x[i] / d; r < bound {
				bound = r
			}
		}
	}
	return bound
}

// lengths returns the longest primal and dual steps along d.
func (v *interior) lengths(d *direction) (primal, dual float64) {
	primal = longest(1, v.sg, d.sg)
	primal = longest(primal, v.rh, d.rh)
	primal = longest(primal, v.et, d.et)
	dual = longest(1, v.p, d.p)
	dual = longest(dual, v.q, d.q)
	dual = longest(dual, v.ga, d.ga)
	if !v.squared {
		primal = longest(primal, v.xi, d.xi)
		dual = longest(dual, v.al, d.al)
	}
	primal = longest(primal, []float64{v.kap}, []float64{d.kap})
	dual = longest(dual, []float64{v.theta}, []float64{d.theta})
	return primal, dual
}

// productsAt is the sum of the products after steps of the given lengths.
func (v *interior) productsAt(d *direction, primal, dual float64) float64 {
	part := func(x, dx, y, dy []float64) (s float64) {
		for i := range x {
			s += float64((x[i] + float64(dual*dx[i])) * (y[i] + float64(primal*dy[i])))
		}
		return s
	}
	total := part(v.p, d.p, v.sg, d.sg) + part(v.q, d.q, v.rh, d.rh) + part(v.ga, d.ga, v.et, d.et) +
		float64((v.theta+float64(dual*d.theta))*(v.kap+float64(primal*d.kap)))
	if !v.squared {
		total += part(v.al, d.al, v.xi, d.xi)
	}
	return total
}

// advance takes one step: Mehrotra's predictor and corrector and up to three weighted centrality correctors of Gondzio.
func (v *interior) advance(mu float64) bool {
	v.factor()
	if v.aims == nil {
		v.aims = v.newTargets()
		for k := range v.directions {
			v.directions[k] = v.newDirection()
		}
	}
	c := v.aims
	for i := range v.p {
		c.c1[i] = -float64(v.p[i] * v.sg[i])
		c.c2[i] = -float64(v.al[i] * v.xi[i])
	}
	for j := range v.q {
		c.c3[j] = -float64(v.q[j] * v.rh[j])
		c.c4[j] = -float64(v.ga[j] * v.et[j])
	}
	c.c5 = -float64(v.theta * v.kap)
	affine, step, corrector, spare := v.directions[0], v.directions[1], v.directions[2], v.directions[3]
	v.solve(c, true, affine)
	primal, dual := v.lengths(affine)
	ratio := v.productsAt(affine, primal, dual) / v.count / mu
	sigma := math.Min(1, math.Max(1e-8, ratio*ratio*ratio))
	target := float64(sigma * mu)
	for i, m := range v.pos.weight {
		c.c1[i] = float64(target*m) - float64(affine.p[i]*affine.sg[i])
		c.c2[i] = float64(target*m) - float64(affine.al[i]*affine.xi[i])
	}
	for j, m := range v.row.weight {
		c.c3[j] = float64(target*m) - float64(affine.q[j]*affine.rh[j])
		c.c4[j] = float64(target*m) - float64(affine.ga[j]*affine.et[j])
	}
	c.c5 = target - float64(affine.theta*affine.kap)
	v.solve(c, false, corrector)
	step.plus(affine, 1, corrector)
	primal, dual = v.lengths(step)
	step, primal, dual = v.centre(step, primal, dual, target, c, [2]*direction{affine, spare}, corrector)
	if !(primal > 1e-10 || dual > 1e-10) {
		return false
	}
	v.move(step, math.Min(1, .95*primal), math.Min(1, .95*dual))
	return !math.IsNaN(v.t + v.theta)
}

// centre adds the correctors. c, the two spare directions and corrector are overwritten.
func (v *interior) centre(step *direction, primal, dual, target float64, c *targets, spares [2]*direction,
	corrector *direction) (*direction, float64, float64) {
	best, spare := spares[0], spares[1]
	for range 3 {
		if primal > .95 && dual > .95 {
			break
		}
		bp, bd := math.Min(1, primal+.3), math.Min(1, dual+.3)
		aim := func(x, dx, y, dy, m []float64, c []float64) {
			for i := range x {
				c[i] = correction((x[i]+float64(bd*dx[i]))*(y[i]+float64(bp*dy[i])), target*m[i])
			}
		}
		aim(v.p, step.p, v.sg, step.sg, v.pos.weight, c.c1)
		if !v.squared {
			aim(v.al, step.al, v.xi, step.xi, v.pos.weight, c.c2)
		}
		aim(v.q, step.q, v.rh, step.rh, v.row.weight, c.c3)
		aim(v.ga, step.ga, v.et, step.et, v.row.weight, c.c4)
		c.c5 = correction((v.theta+float64(bd*step.theta))*(v.kap+float64(bp*step.kap)), target)
		v.solve(c, false, corrector)
		least := float64(primal * dual)
		bestP, bestD := 0.0, 0.0
		for k := range 9 {
			omega := least + float64((1-least)*float64(k)/8)
			spare.plus(step, omega, corrector)
			lp, ld := v.lengths(spare)
			if lp*ld > bestP*bestD {
				bestP, bestD = lp, ld
				best, spare = spare, best
			}
		}
		if !(bestP*bestD >= 1.02*primal*dual && math.Min(bestP, bestD) > math.Min(primal, dual)) {
			break
		}
		gain := bestP + bestD - primal - dual
		step, best = best, step
		primal, dual = bestP, bestD
		if gain < .006 {
			break
		}
	}
	return step, primal, dual
}

// correction moves a product towards the band [target/10, 10 target].
func correction(product, target float64) float64 {
	product, target = float64(product), float64(target)
	switch {
	case product < .1*target:
		return float64(.1*target) - product
	case product > 10*target:
		return math.Max(float64(10*target)-product, -10*target)
	}
	return 0
}

func (v *interior) move(d *direction, primal, dual float64) {
	axpy(primal, d.w, v.w)
	v.t += float64(primal * d.t)
	v.s += float64(primal * d.s)
	v.kap += float64(primal * d.kap)
	v.theta += float64(dual * d.theta)
	axpy(primal, d.xi, v.xi)
	axpy(primal, d.sg, v.sg)
	axpy(primal, d.et, v.et)
	axpy(primal, d.rh, v.rh)
	axpy(dual, d.p, v.p)
	axpy(dual, d.al, v.al)
	axpy(dual, d.q, v.q)
	axpy(dual, d.ga, v.ga)
}
