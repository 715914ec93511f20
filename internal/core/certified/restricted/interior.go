package restricted

import (
	"math"
	"slices"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// interior is a primal-dual interior-point method with Mehrotra's predictor and corrector and Gondzio's
// centrality correctors (Nocedal and Wright, Numerical Optimization, chapter 14; Gondzio, Comput. Optim.
// Appl. 6, 1996).
//
// The problem with slacks. Both kinds of threshold have the form sum m (z - s)_+ <= kappa (t - s), where s is
// the lower edge of the band. The edge is free for the mean of the largest; for a quantile s = t - 1/beta, so
// the right side is kappa/beta. Everything is multiplied by C = M+, the mass of the positives, so that 0 <=
// p_i <= m_i. The unknowns are w, t, s, theta (the multiplier of the threshold's inequality) and positive
// pairs (dual, slack):
//
//	(p, sg), (al, xi)  per positive  xi - sg = 1 + t - w'x,   p + al = m          (squared loss: no al, p = 2 m xi)
//	(q, rh), (ga, et)  per row       et - rh = w'x - s,       q + ga = m theta
//	(theta, kap)                     sum m et + kap = kappa (t - s)               (quantile: s = t - 1/beta)
//
// with C lambda w = X+'p - S'q and sum p = kappa theta = sum q (quantile: sum p = sum q). S are the rows of
// the population. The product of each pair is driven to c mu, where c is about the weight m; see interior.cp.
//
// The linear equations need not hold at the start. A Newton step removes their residuals together with the
// error of the products.
type interior struct {
	iterate
	count float64 // number of pairs, counted by central weights: mu is the sum of the products over it

	// Central weights of the rows: each product is driven to c mu. It is the row's weight, so that a row of weight
	// m counts as m equal rows, but at most a few times the usual weight. Groups and heavy duplicates would
	// otherwise own nearly all of mu, and single rows would start on the boundary.
	cp, cs []float64

	t, s, theta, kap float64
	p, al, xi, sg    []float64
	q, ga, et, rh    []float64

	// Residuals of the linear equations, primal (rp) and dual (rd).
	rp1, rd1      []float64 // of the positives
	rp2, rd2      []float64 // of the population
	rdw           []float64 // of w
	rp3, rdt, rds float64   // of the threshold's inequality, of t and of s

	// The reduced Newton system; see factor.
	d1, d2, e2, eg, rq []float64 // diagonals
	g                  float64   // the negative of theta's diagonal element
	ridge              float64   // added to the diagonal of w
	size               int       // of the positive definite block: d + 2, quantile d + 1
	matrix             []float64 // the block B, lower triangle
	chol               linalg.Cholesky
	border             []float64  // u, the column of theta
	borderSolved       []float64  // B^-1 u
	inRows             *rowSystem // solves with B in a row space; nil: chol does

	// Scratch of a step, made by the first one.
	rightSides *targets
	directions [3]*direction
	blocking   [2]change // of the primal and the dual step
}

const (
	// fractionToBoundary is the part taken of the longest step that keeps all pairs positive. Over eight hard
	// instances of the prototype .95 took 208 steps in all and .995 took 220.
	fractionToBoundary = .95

	// minSigma keeps the centring parameter positive, so that a perfect predictor does not aim at the
	// boundary itself.
	minSigma = 1e-8

	// roundingLimit ends a run when its complementarity gap is this part of the tolerance and the bounds still
	// have not met: rounding allows no more.
	roundingLimit = 1e-4

	// minStep is the step length below which the method has stalled. Chosen by hand.
	minStep = 1e-10

	// ridgePart is the ridge on the diagonal of w, as a part of the mean diagonal element. It makes the
	// factorisation of collinear columns possible; refinement against the matrix without it removes its
	// effect.
	ridgePart = 1e-13

	// refinements is the largest number of solves of one system, and refined the residual, relative to the
	// right side, at which the system is solved to rounding.
	refinements = 8
	refined     = 1e-14
)

// Gondzio's correctors. The numbers are from experiments of the prototype: 3, 6 and 10 correctors took 220,
// 216 and 215 steps on eight hard instances; a look-ahead of .1 took 265 steps where .3 took 208; the band
// [.3, 3] was worse and [.01, 100] the same. The thresholds of acceptance were chosen by hand.
const (
	correctors       = 3    // at most, each step
	longEnough       = .95  // step lengths above which a corrector is not worth its solve
	lookAhead        = .3   // by how much longer a step the corrector aims at
	bandLow          = .1   // products outside [bandLow, bandHigh] times their target are moved to it
	bandHigh         = 10.0 // a product is lowered by at most bandHigh times its target
	correctorWeights = 9    // weights of a corrector that are tried, up to 1
	minGain          = 1.02 // factor by which the product of the step lengths must grow
	worthAnother     = .006 // growth of the sum of the step lengths below which no further corrector is tried
)

// maxCentral is the largest central weight, in units of the median weight of the rows.
const maxCentral = 100

// capped returns the weights, none above most.
func capped(weights []float64, most float64) []float64 {
	out := make([]float64, len(weights))
	for i, m := range weights {
		out[i] = min(m, most)
	}
	return out
}

// median returns the median of two lists together.
func median(a, b []float64) float64 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return all[len(all)/2]
}

// newInterior returns the method for a problem. system solves its Newton systems in a row space; nil: in the
// columns.
func newInterior(p Problem, system *rowSystem) *interior {
	n, m, d := p.Positives.N, p.Population.N, p.Positives.D
	v := &interior{iterate: newIterate(p), inRows: system}
	most := maxCentral * median(p.Positives.Weight, p.Population.Weight)
	v.cp, v.cs = capped(p.Positives.Weight, most), capped(p.Population.Weight, most)
	v.count = linalg.Sum(v.cp) + float64(2*linalg.Sum(v.cs)) + v.Unit
	if !p.Squared {
		v.count += linalg.Sum(v.cp)
	}
	v.rdw = make([]float64, d)
	for _, a := range []*[]float64{&v.p, &v.al, &v.xi, &v.sg, &v.rp1, &v.rd1, &v.d1} {
		*a = make([]float64, n)
	}
	for _, a := range []*[]float64{&v.q, &v.ga, &v.et, &v.rh, &v.rp2, &v.rd2, &v.d2, &v.e2, &v.eg, &v.rq} {
		*a = make([]float64, m)
	}
	v.size = d + 2
	if p.Kind == form.HingeQuantile {
		v.size = d + 1
	}
	v.border = make([]float64, v.size)
	v.borderSolved = make([]float64, v.size)
	return v
}

// run iterates until the best value and the best bound are within tolerance, for at most limit steps.
func (v *interior) run(tolerance float64, limit int, stop func() bool) {
	v.takeSteps(tolerance, limit, stop)
	if !v.best.Closed && v.worthProjecting(tolerance) {
		v.projectBest()
		v.best.Closed = v.best.Value-v.best.Bound <= tolerance
	}
}

// takeSteps is run without a last projection.
func (v *interior) takeSteps(tolerance float64, limit int, stop func() bool) {
	for step := 0; ; step++ {
		v.best.steps++
		v.residuals()
		v.certify()
		if v.worthProjecting(tolerance) {
			v.project(v.p, v.q, v.theta, v.theta/v.Mass, projections)
		}
		// Both bounds are computed at every step: an infeasible point has a value and a bound too.
		mu := v.products() / v.count
		if v.best.Value-v.best.Bound <= tolerance {
			v.best.Closed = true
			return
		}
		if mu*v.count/v.Mass < roundingLimit*tolerance || step >= limit || !(mu > 0) || math.IsInf(mu, 0) || stop() {
			return
		}
		if !v.advance(mu) {
			return
		}
	}
}

// products is the sum of all complementary products.
func (v *interior) products() float64 {
	total := linalg.Dot(v.p, v.sg) + linalg.Dot(v.q, v.rh) + linalg.Dot(v.ga, v.et) + float64(v.theta*v.kap)
	if !v.Squared {
		total += linalg.Dot(v.al, v.xi)
	}
	return total
}

// certify offers the current point and the bound of its multipliers. Its scores must be current.
func (v *interior) certify() {
	v.offerPoint()
	p, a := v.scratchP, v.scratchS
	for i, m := range v.Positives.Weight {
		p[i] = max(v.p[i], 0) / v.Mass
		if !v.Squared {
			p[i] = min(p[i], m/v.Mass)
		}
	}
	copy(a, v.q)
	v.offerDual(p, a, v.theta/v.Mass)
}

// residuals computes the scores and the residuals of all linear equations.
func (v *interior) residuals() {
	v.Positives.Times(v.w, v.zp)
	v.Population.Times(v.w, v.zs)
	for i, m := range v.Positives.Weight {
		v.rp1[i] = v.xi[i] - v.sg[i] - (1 + v.t - v.zp[i])
		if v.Squared {
			v.rd1[i] = v.p[i] - float64(2*m*v.xi[i])
		} else {
			v.rd1[i] = v.p[i] + v.al[i] - m
		}
	}
	var used float64
	for j, m := range v.Population.Weight {
		v.rp2[j] = v.et[j] - v.rh[j] - (v.zs[j] - v.s)
		v.rd2[j] = v.q[j] + v.ga[j] - float64(m*v.theta)
		used += float64(m * v.et[j])
	}
	if v.Kind == form.HingeQuantile {
		v.rp3 = v.kap + used - float64(v.Kappa*v.Band())
	} else {
		v.rp3 = v.kap + used - float64(v.Kappa*(v.t-v.s))
	}
	sp, sq := linalg.Sum(v.p), linalg.Sum(v.q)
	v.rdt = sp - float64(v.Kappa*v.theta)
	v.rds = float64(v.Kappa*v.theta) - sq
	for j := range v.rdw {
		v.rdw[j] = v.Mass * v.Lambda * v.w[j]
	}
	v.Positives.AddTransposed(v.p, -1, v.rdw)
	v.Population.AddTransposed(v.q, 1, v.rdw)
}

// above is 1 and more than a product and a quotient are rounded by.
const above = 1 + 0x1p-50

// longest returns the largest step, at most bound, that keeps x + step*(a + omega*b) at least 0. Quotients are rare: most rows allow bound,
// which a product shows.
func longest(bound float64, x, a []float64, omega float64, b []float64) float64 {
	a, b = a[:len(x)], b[:len(x)]
	most := bound * above
	for i, x := range x {
		d := a[i] + float64(omega*b[i])
		if x >= -d*most {
			continue
		}
		if r := -x / d; r < bound {
			bound, most = r, r*above
		}
	}
	return bound
}

// change is some elements of the point, and how they change along two directions.
type change struct{ x, d, e []float64 }

// changes lists the changes of all pairs along two directions.
func (v *interior) changes(d, e *direction) (primal, dual []change) {
	primal = []change{{v.sg, d.sg, e.sg}, {v.rh, d.rh, e.rh}, {v.et, d.et, e.et}, {[]float64{v.kap}, []float64{d.kap}, []float64{e.kap}}}
	dual = []change{{v.p, d.p, e.p}, {v.q, d.q, e.q}, {v.ga, d.ga, e.ga}, {[]float64{v.theta}, []float64{d.theta}, []float64{e.theta}}}
	if !v.Squared {
		primal, dual = append(primal, change{v.xi, d.xi, e.xi}), append(dual, change{v.al, d.al, e.al})
	}
	return primal, dual
}

// lengths returns the longest primal and dual steps along d, at most 1. They differ: with residuals carried along, separate
// lengths are correct for lambda > 0 too.
func (v *interior) lengths(d *direction) (primal, dual float64) {
	ps, ds := v.changes(d, d)
	return longestOf(ps, 0), longestOf(ds, 0)
}

// longestOf returns the longest step along d + omega e, at most 1.
func longestOf(list []change, omega float64) float64 {
	step := 1.0
	for _, c := range list {
		step = longest(step, c.x, c.d, omega, c.e)
	}
	return step
}

// correctorWeight returns the weights of a corrector that are tried, for k from 0 to correctorWeights - 1: from lowest to 1, ascending.
func correctorWeight(lowest float64, k int) float64 {
	return lowest + float64((1-lowest)*float64(k)/(correctorWeights-1))
}

// blocking returns what keeps a step along d + omega e below 1 for some weight omega of a corrector, in the memory of space. The change of
// an element is monotone in omega, and rounding keeps that, so the ends show it.
func blocking(list []change, lowest float64, space *change) []change {
	low, high := correctorWeight(lowest, 0), correctorWeight(lowest, correctorWeights-1)
	*space = change{space.x[:0], space.d[:0], space.e[:0]}
	for _, c := range list {
		d, e := c.d[:len(c.x)], c.e[:len(c.x)]
		for i, x := range c.x {
			if x < -(d[i]+float64(low*e[i]))*above || x < -(d[i]+float64(high*e[i]))*above {
				space.x, space.d, space.e = append(space.x, x), append(space.d, d[i]), append(space.e, e[i])
			}
		}
	}
	return []change{*space}
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
	if !v.Squared {
		total += part(v.al, d.al, v.xi, d.xi)
	}
	return total
}

// advance takes one step. It reports false when the method has stalled.
func (v *interior) advance(mu float64) bool {
	v.factor()
	if v.rightSides == nil {
		v.rightSides = v.newTargets()
		for k := range v.directions {
			v.directions[k] = v.newDirection()
		}
	}
	c := v.rightSides
	// The affine direction aims at products of 0.
	for i := range v.p {
		c.c1[i] = -float64(v.p[i] * v.sg[i])
		c.c2[i] = -float64(v.al[i] * v.xi[i])
	}
	for j := range v.q {
		c.c3[j] = -float64(v.q[j] * v.rh[j])
		c.c4[j] = -float64(v.ga[j] * v.et[j])
	}
	c.c5 = -float64(v.theta * v.kap)
	// Predictor: how far the affine direction gets determines how much centring is needed (Mehrotra).
	affine, step, corrector := v.directions[0], v.directions[1], v.directions[2]
	v.solveDirection(c, true, affine)
	primal, dual := v.lengths(affine)
	ratio := v.productsAt(affine, primal, dual) / v.count / mu
	sigma := min(1, max(minSigma, ratio*ratio*ratio))
	target := float64(sigma * mu)
	// Corrector: aims at target, less the second-order term of the affine direction.
	for i, m := range v.cp {
		c.c1[i] = float64(target*m) - float64(affine.p[i]*affine.sg[i])
		c.c2[i] = float64(target*m) - float64(affine.al[i]*affine.xi[i])
	}
	for j, m := range v.cs {
		c.c3[j] = float64(target*m) - float64(affine.q[j]*affine.rh[j])
		c.c4[j] = float64(target*m) - float64(affine.ga[j]*affine.et[j])
	}
	c.c5 = float64(target*v.Unit) - float64(affine.theta*affine.kap)
	v.solveDirection(c, false, corrector)
	step.plus(affine, 1, corrector)
	primal, dual = v.lengths(step)
	step, primal, dual = v.addCorrectors(step, primal, dual, target, c, affine, corrector)
	if !(primal > minStep || dual > minStep) {
		return false
	}
	v.move(step, min(1, fractionToBoundary*primal), min(1, fractionToBoundary*dual))
	return !math.IsNaN(v.t + v.theta)
}

// addCorrectors adds Gondzio's centrality correctors to a step while they make it longer. Each one aims a
// little further than the step can go, and moves the products that would leave the band around their target
// there back to the band. The best of several weights is taken. c, spare and corrector are overwritten.
func (v *interior) addCorrectors(step *direction, primal, dual, target float64, c *targets, spare, corrector *direction) (*direction,
	float64, float64) {
	for range correctors {
		if primal > longEnough && dual > longEnough {
			break
		}
		// Where the products would be a little beyond the longest step, and what would bring the outliers
		// back.
		bp, bd := min(1, primal+lookAhead), min(1, dual+lookAhead)
		aim := func(x, dx, y, dy, m []float64, c []float64) {
			for i := range x {
				c[i] = correction((x[i]+float64(bd*dx[i]))*(y[i]+float64(bp*dy[i])), target*m[i])
			}
		}
		aim(v.p, step.p, v.sg, step.sg, v.cp, c.c1)
		if !v.Squared {
			aim(v.al, step.al, v.xi, step.xi, v.cp, c.c2)
		}
		aim(v.q, step.q, v.rh, step.rh, v.cs, c.c3)
		aim(v.ga, step.ga, v.et, step.et, v.cs, c.c4)
		c.c5 = correction((v.theta+float64(bd*step.theta))*(v.kap+float64(bp*step.kap)), target*v.Unit)
		v.solveDirection(c, false, corrector)
		// A weight near 0 keeps the step, a weight of 1 adds the whole corrector. Take the one with the
		// longest steps.
		lowest := float64(primal * dual)
		bestP, bestD, bestWeight := 0.0, 0.0, 0.0
		ps, ds := v.changes(step, corrector)
		ps, ds = blocking(ps, lowest, &v.blocking[0]), blocking(ds, lowest, &v.blocking[1])
		for k := range correctorWeights {
			omega := correctorWeight(lowest, k)
			lp, ld := longestOf(ps, omega), longestOf(ds, omega)
			if lp*ld > bestP*bestD {
				bestP, bestD, bestWeight = lp, ld, omega
			}
		}
		if !(bestP*bestD >= minGain*primal*dual && min(bestP, bestD) > min(primal, dual)) {
			break
		}
		gain := bestP + bestD - primal - dual
		spare.plus(step, bestWeight, corrector)
		step, spare = spare, step
		primal, dual = bestP, bestD
		if gain < worthAnother {
			break
		}
	}
	return step, primal, dual
}

// correction returns the change that moves a product to the band around its target.
func correction(product, target float64) float64 {
	product, target = float64(product), float64(target)
	switch {
	case product < bandLow*target:
		return float64(bandLow*target) - product
	case product > bandHigh*target:
		return max(float64(bandHigh*target)-product, -bandHigh*target)
	}
	return 0
}

// move takes a step of the given lengths.
func (v *interior) move(d *direction, primal, dual float64) {
	linalg.Axpy(primal, d.w, v.w)
	v.t += float64(primal * d.t)
	v.s += float64(primal * d.s)
	v.kap += float64(primal * d.kap)
	v.theta += float64(dual * d.theta)
	linalg.Axpy(primal, d.xi, v.xi)
	linalg.Axpy(primal, d.sg, v.sg)
	linalg.Axpy(primal, d.et, v.et)
	linalg.Axpy(primal, d.rh, v.rh)
	linalg.Axpy(dual, d.p, v.p)
	linalg.Axpy(dual, d.al, v.al)
	linalg.Axpy(dual, d.q, v.q)
	linalg.Axpy(dual, d.ga, v.ga)
}
