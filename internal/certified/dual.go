package certified

import "math"

// restricted is the problem on the rows held, with the best point and the best dual point found so far. Both are kept
// in the units of F.
type restricted struct {
	form
	pos, row *rows
	mass     float64 // C = M+
	w        []float64
	zp, zs   []float64 // scores of w
	best     innerResult

	scratchP, scratchS []float64
	order              []int32
}

// innerResult is what an inner solve hands back: its best point and its best dual, which need not belong together.
type innerResult struct {
	w       []float64
	value   float64 // F on the restricted problem, at w
	bound   float64 // D(p, a)
	gain    float64 // the largest D without the term in |v|
	p, a    []float64
	theta   float64 // multiplier divided by C, for the next start
	systems int
	steps   int
	closed  bool // value - bound reached the tolerance
}

// newRestricted binds a form to rows. mass is M+ of all positives, held or not: those that are not have p = 0.
func newRestricted(f form, pos, row *rows, mass float64) restricted {
	v := restricted{form: f, pos: pos, row: row, mass: mass, w: make([]float64, pos.d),
		zp: make([]float64, pos.n), scratchP: make([]float64, pos.n),
		zs: make([]float64, row.n), scratchS: make([]float64, row.n)}
	v.best.value, v.best.bound, v.best.gain = math.Inf(1), math.Inf(-1), math.Inf(-1)
	return v
}

// score computes the scores of the current point.
func (v *restricted) score() {
	v.pos.times(v.w, v.zp)
	v.row.times(v.w, v.zs)
}

// offerPoint evaluates the current point on the rows held.
func (v *restricted) offerPoint() {
	t, _, order := v.threshold(v.zs, v.row.weight, v.order)
	v.order = order
	value := v.meanLoss(t, v.zp, v.pos.weight, v.mass) + float64(v.lambda/2*dot(v.w, v.w))
	if value < v.best.value {
		v.best.value = value
		v.best.w = append(v.best.w[:0], v.w...)
	}
}

// offerDual evaluates a dual candidate; p must be feasible, a is repaired. Both are overwritten.
func (v *restricted) offerDual(p, a []float64, theta float64) {
	if !v.repair(a, v.row.weight) {
		return
	}
	bound := v.bound(p, a)
	if bound > v.best.bound {
		v.best.bound = bound
		v.best.p = append(v.best.p[:0], p...)
		v.best.a = append(v.best.a[:0], a...)
		v.best.theta = theta
	}
}

// certify evaluates the current point and the bound of its multipliers. Its scores must be current.
func (v *interior) certify() {
	v.offerPoint()
	p, a := v.scratchP, v.scratchS
	for i, m := range v.pos.weight {
		p[i] = math.Max(v.p[i], 0) / v.mass
		if !v.squared {
			p[i] = math.Min(p[i], m/v.mass)
		}
	}
	copy(a, v.q)
	v.offerDual(p, a, v.theta/v.mass)
}

// repair makes a >= 0, sum a = 1 and, for the mean of the largest, a_j <= m_j/kappa.
func (f *form) repair(a, m []float64) bool {
	var total float64
	for j := range a {
		a[j] = math.Max(a[j], 0)
		total += a[j]
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return false
	}
	for j := range a {
		a[j] /= total
	}
	if f.kind != topMean {
		return true
	}
	var room, used float64
	for j := range a {
		limit := m[j] / f.kappa
		a[j] = math.Min(a[j], limit)
		used += a[j]
		room += limit - a[j]
	}
	if deficit := 1 - used; deficit > 0 {
		if room <= 0 {
			return deficit < 1e-9
		}
		share := math.Min(1, deficit/room)
		for j := range a {
			limit := m[j] / f.kappa
			a[j] = math.Min(limit, a[j]+float64(share*(limit-a[j])))
		}
	}
	return true
}

// regulariser is r(a).
func (f *form) regulariser(a, m []float64) float64 {
	switch f.kind {
	case topMean:
		return 0
	case hingeQuantile:
		var largest float64
		for j, v := range a {
			largest = math.Max(largest, v/m[j])
		}
		return (float64(f.kappa*largest) - 1) / f.beta
	default:
		var total float64
		for j, v := range a {
			total += float64(v*v) / m[j]
		}
		return (math.Sqrt(float64(f.kappa*total)) - 1) / f.beta
	}
}

// bound is D(p, a) = A - B - |v|^2/(2 lambda) after the best scaling of p, which it applies; lambda = 0: A - B - R|v|.
// A = P - P r(a), v = sum p x - P sum a x, B = (M+/4) sum p^2/m for the squared loss.
func (v *restricted) bound(p, a []float64) float64 {
	total := sum(p)
	g := make([]float64, v.pos.d)
	v.pos.addTransposed(p, 1, g)
	v.row.addTransposed(a, -total, g)
	linear := total - float64(total*v.regulariser(a, v.row.weight))
	var quadratic, share float64
	for i, m := range v.pos.weight {
		if v.squared {
			quadratic += float64(v.mass/4*p[i]*p[i]) / m
		} else {
			share = math.Max(share, p[i]*v.mass/m)
		}
	}
	norm2 := dot(g, g)
	if v.lambda == 0 {
		v.best.gain = math.Max(v.best.gain, linear-quadratic)
		return linear - quadratic - float64(v.radius()*math.Sqrt(norm2))
	}
	curvature := float64(2*quadratic) + norm2/v.lambda
	scale := math.Inf(1)
	if share > 0 {
		scale = 1 / share
	}
	if curvature > 0 {
		scale = math.Min(scale, math.Max(0, linear/curvature))
	} else if math.IsInf(scale, 1) {
		scale = 1
	}
	for i := range p {
		p[i] *= scale
	}
	return float64(scale*linear) - float64(float64(scale*scale)*curvature/2)
}

// radius is the ball |w| <= R in which bounds for lambda = 0 hold.
func (v *restricted) radius() float64 { return v.ball(v.w) }

// ball is R for a point of the solve.
func (f *form) ball(w []float64) float64 {
	far := 1.0
	if f.kind != topMean {
		far = math.Max(far, f.band())
	}
	return 1e3 * (math.Sqrt(dot(w, w)) + far)
}
