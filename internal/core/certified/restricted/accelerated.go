package restricted

import (
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// accelerated solves the dual of a restricted problem by the accelerated proximal gradient method (Beck and Teboulle 2009) with adaptive
// restarts (O'Donoghue and Candes 2015) and a step that follows the curvature. It needs only the inner products of the rows: with
// c = (p, -q) and the matrix K of products, the scores of w = sum c x/lambda are K c/lambda. So the columns, of which wide data have
// more than rows, do not matter, and a step is a product with K.
//
// With q = a sum p the dual is to minimise
//
//	c'Kc/(2 lambda) - sum p + R(p, q) + (M+/4) sum p^2/m  [the last term for the squared loss, else p <= m/M+]
//
// where sum p = sum q, p >= 0, q >= 0, and with one number more, theta,
//
//	mean of the largest  q_j <= m_j theta, sum p = kappa theta, R = 0
//	hinge quantile       q_j <= m_j theta, R = (kappa theta - sum p)/beta
//	squared quantile     R = (kappa sum q^2/m/theta + theta)/(2 beta) - sum p/beta, for the best theta
//
// The proximal step is a search for theta, with one or two multipliers of the sums inside.
type accelerated struct {
	iterate
	k         *products
	l         float64 // bound on the curvature of the quadratic
	theta     float64
	spread    float64   // relative width in which the next theta is expected
	linear    float64   // of each p_i
	t, s      float64   // multipliers of sum p and of sum q
	cap, bend []float64 // of each p_i: the largest, and the curvature of its own
	g, h      []float64 // where p and q would go, times l
	x, y, new dualPoint

	exact []float64 // the exact scores of some point, less those of the products: nearly the same for points near it
}

// dualPoint is a dual point with its scores, those of the positives first.
type dualPoint struct{ p, q, z []float64 }

func newDualPoint(n, m int) dualPoint {
	return dualPoint{make([]float64, n), make([]float64, m), make([]float64, n+m)}
}

func newAccelerated(p Problem, k *products) *accelerated {
	n, m := p.Positives.N, p.Population.N
	v := &accelerated{iterate: newIterate(p), k: k, linear: 1, spread: 1, x: newDualPoint(n, m), y: newDualPoint(n, m), new: newDualPoint(n, m),
		cap: make([]float64, n), bend: make([]float64, n), g: make([]float64, n), h: make([]float64, m), exact: make([]float64, n+m)}
	if p.Kind != form.TopMean {
		v.linear += p.Band()
	}
	for i, w := range p.Positives.Weight {
		v.cap[i] = math.Inf(1)
		if p.Squared {
			v.bend[i] = p.Mass / (2 * w)
		} else {
			v.cap[i] = w / p.Mass
		}
	}
	return v
}

// scores sets the scores of a dual point.
func (v *accelerated) scores(d *dualPoint) {
	v.k.times(d.p, d.q, d.z)
	for i := range d.z {
		d.z[i] = d.z[i]/v.Lambda + v.exact[i]
	}
}

const (
	acceleratedSteps = 5000 // at most; gisette takes 50 to 300
	checkEvery       = 5    // steps between two looks at the bounds, which cost a sort

	// The step grows by 1/curvatureFalls until the curvature along a step is above its bound.
	curvatureFalls = .98
)

// corrections is the largest number of times that scores are corrected. gisette needs none. Chosen by hand.
const corrections = 10

// run iterates until value and bound are within tolerance. The rows decide that: if the products say so and the rows do not, the scores of the
// products get the difference, and the steps go on.
func (v *accelerated) run(tolerance float64, limit int, stop func() bool) {
	for range corrections {
		v.descend(tolerance, limit-v.best.steps, stop)
		v.offer(tolerance)
		if v.best.Closed || v.best.steps >= limit || stop() {
			return
		}
		n := len(v.x.p)
		for i, z := range v.zp {
			v.exact[i] += z - v.x.z[i]
		}
		for j, z := range v.zs {
			v.exact[n+j] += z - v.x.z[n+j]
		}
	}
}

// descend iterates until value and bound are within tolerance by the products.
func (v *accelerated) descend(tolerance float64, limit int, stop func() bool) {
	n := len(v.x.p)
	v.scores(&v.x)
	copyPoint(&v.y, &v.x)
	if v.l == 0 {
		v.l = v.firstCurvature()
	}
	momentum := 1.0
	for step := 1; step <= limit; step++ {
		v.best.steps++
		v.proximal()
		v.scores(&v.new)
		var square, curve, uphill float64
		add := func(x, y, to, zy, zto []float64, sign float64) {
			for i := range x {
				d := to[i] - y[i]
				square += float64(d * d)
				curve += float64(sign * d * (zto[i] - zy[i]))
				uphill -= float64(d * (to[i] - x[i]))
			}
		}
		add(v.x.p, v.y.p, v.new.p, v.y.z[:n], v.new.z[:n], 1)
		add(v.x.q, v.y.q, v.new.q, v.y.z[n:], v.new.z[n:], -1)
		if curve > v.l*square*(1+1e-9) {
			v.l = max(1.5*v.l, 1.1*curve/square)
			continue
		}
		if uphill > 0 {
			momentum = 1
		}
		next := (1 + math.Sqrt(1+float64(4*momentum*momentum))) / 2
		beta := (momentum - 1) / next
		momentum = next
		extrapolate := func(y, to, x []float64) {
			for i, a := range to {
				y[i] = a + float64(beta*(a-x[i]))
			}
		}
		extrapolate(v.y.p, v.new.p, v.x.p)
		extrapolate(v.y.q, v.new.q, v.x.q)
		extrapolate(v.y.z, v.new.z, v.x.z)
		v.x, v.new = v.new, v.x
		v.l *= curvatureFalls
		if step%checkEvery == 0 || step == limit {
			if v.gap() <= tolerance || stop() {
				break
			}
		}
	}
}

func copyPoint(to, from *dualPoint) {
	copy(to.p, from.p)
	copy(to.q, from.q)
	copy(to.z, from.z)
}

// firstCurvature estimates the largest eigenvalue of K by a few steps of the power method.
func (v *accelerated) firstCurvature() float64 {
	d := newDualPoint(len(v.x.p), len(v.x.q))
	for i := range d.p {
		d.p[i] = 1
	}
	for j := range d.q {
		d.q[j] = -1 + float64(j%3)
	}
	size := 0.0
	for range 8 {
		v.scores(&d)
		size = math.Sqrt(linalg.Dot(d.z, d.z))
		if size == 0 {
			return 1
		}
		for i := range d.p {
			d.p[i] = d.z[i] / size
		}
		for j := range d.q {
			d.q[j] = -d.z[len(d.p)+j] / size
		}
	}
	return size
}

// gap returns the difference of value and bound at x, from its scores.
func (v *accelerated) gap() float64 {
	n := len(v.x.p)
	t, _, order := v.Threshold(v.x.z[n:], v.Population.Weight, v.order)
	v.order = order
	norm := (linalg.Dot(v.x.p, v.x.z[:n]) - linalg.Dot(v.x.q, v.x.z[n:])) / v.Lambda
	value := v.MeanLoss(t, v.x.z[:n], v.Positives.Weight, v.Mass) + float64(v.Lambda/2*norm)
	total := linalg.Sum(v.x.p)
	if !(total > 0) {
		return math.Inf(1)
	}
	a := v.scratchS
	for j, q := range v.x.q {
		a[j] = q / total
	}
	bound := total - float64(total*v.Regulariser(a, v.Population.Weight)) - float64(v.Lambda/2*norm)
	for i, p := range v.x.p {
		bound -= float64(v.bend[i] / 2 * p * p)
	}
	return value - bound
}

// offer offers the current point and its dual point, evaluated on the rows.
func (v *accelerated) offer(tolerance float64) {
	clear(v.w)
	v.Positives.AddTransposed(v.x.p, 1/v.Lambda, v.w)
	v.Population.AddTransposed(v.x.q, -1/v.Lambda, v.w)
	v.computeScores()
	v.offerPoint()
	copy(v.scratchP, v.x.p)
	copy(v.scratchS, v.x.q)
	var theta float64
	for j, q := range v.x.q {
		theta = max(theta, q/v.Population.Weight[j])
	}
	v.offerDual(v.scratchP, v.scratchS, theta)
	v.best.Closed = v.best.Value-v.best.Bound <= tolerance
}

// proximal sets new to the proximal step from y.
func (v *accelerated) proximal() {
	n := len(v.y.p)
	for i, p := range v.y.p {
		v.g[i] = float64(v.l*p) - v.y.z[i] + v.linear
	}
	for j, q := range v.y.q {
		v.h[j] = float64(v.l*q) + v.y.z[n+j]
	}
	if v.theta == 0 {
		v.theta = v.firstTheta()
	}
	last := v.theta
	v.theta = v.bestTheta()
	if last > 0 {
		v.spread = min(1, max(1e-9, 4*math.Abs(v.theta/last-1)))
	}
	v.slopeAt(v.theta)
	for i := range v.new.p {
		v.new.p[i] = v.pAt(i, v.t)
	}
	for j := range v.new.q {
		v.new.q[j] = v.qAt(j, v.s, v.theta)
	}
}

// firstTheta is a guess of the size of theta.
func (v *accelerated) firstTheta() float64 {
	var total float64
	for i := range v.g {
		total += v.pAt(i, float64(v.linear/2))
	}
	return max(total, 1e-12) / v.Kappa
}

// pAt is p_i for the multiplier t of sum p.
func (v *accelerated) pAt(i int, t float64) float64 {
	return min(v.cap[i], max(0, (v.g[i]-t)/(v.l+v.bend[i])))
}

// qAt is q_j for the multiplier s of sum q, and theta.
func (v *accelerated) qAt(j int, s, theta float64) float64 {
	m := v.Population.Weight[j]
	if v.Kind == form.SquaredQuantile {
		return max(0, (v.h[j]+s)/(v.l+v.Kappa/(v.Beta*theta*m)))
	}
	return min(m*theta, max(0, (v.h[j]+s)/v.l))
}

// sumP returns sum p and its derivative at t.
func (v *accelerated) sumP(t float64) (sum, slope float64) {
	for i, g := range v.g {
		if g <= t {
			continue
		}
		c := v.l + v.bend[i]
		if p := (g - t) / c; p < v.cap[i] {
			sum += p
			slope -= 1 / c
		} else {
			sum += v.cap[i]
		}
	}
	return sum, slope
}

// sumQ returns sum q and its derivative at s.
func (v *accelerated) sumQ(s, theta float64) (sum, slope float64) {
	for j, h := range v.h {
		u := h + s
		if u <= 0 {
			continue
		}
		m := v.Population.Weight[j]
		if v.Kind == form.SquaredQuantile {
			c := v.l + v.Kappa/(v.Beta*theta*m)
			sum += u / c
			slope += 1 / c
		} else if q := u / v.l; q < m*theta {
			sum += q
			slope += 1 / v.l
		} else {
			sum += float64(m * theta)
		}
	}
	return sum, slope
}

// slopeAt sets t and s to the multipliers for theta, and returns the derivative of the objective.
func (v *accelerated) slopeAt(theta float64) float64 {
	if v.Kind == form.TopMean {
		total := v.Kappa * theta
		v.t = root(v.t, func(t float64) (float64, float64) {
			sum, slope := v.sumP(t)
			return total - sum, -slope
		})
		v.s = root(v.s, func(s float64) (float64, float64) {
			sum, slope := v.sumQ(s, theta)
			return sum - total, slope
		})
		return float64(v.Kappa*(v.s-v.t)) - v.overCaps(theta)
	}
	v.t = root(v.t, func(t float64) (float64, float64) {
		p, dp := v.sumP(t)
		q, dq := v.sumQ(t, theta)
		return q - p, dq - dp
	})
	v.s = v.t
	if v.Kind == form.HingeQuantile {
		return float64(v.Kappa*v.Band()) - v.overCaps(theta)
	}
	var squares float64
	for j, m := range v.Population.Weight {
		q := v.qAt(j, v.s, theta)
		squares += float64(q*q) / m
	}
	return (1 - float64(v.Kappa*squares)/(theta*theta)) / (2 * v.Beta)
}

// overCaps returns the sum of the multipliers of the caps q_j <= m_j theta, times m_j.
func (v *accelerated) overCaps(theta float64) (total float64) {
	for j, m := range v.Population.Weight {
		if over := v.h[j] + v.s - float64(v.l*m*theta); over > 0 {
			total += float64(m * over)
		}
	}
	return total
}

// root solves f(x) = 0 for a function that ascends and is linear between corners, by Newton's method inside a bracket.
func root(x float64, f func(x float64) (value, slope float64)) float64 {
	low, high := math.Inf(-1), math.Inf(1)
	stride := max(1, math.Abs(x))
	for range 200 {
		value, slope := f(x)
		switch {
		case value == 0:
			return x
		case value < 0:
			low = x
		default:
			high = x
		}
		next := x - value/slope
		if !(next > low && next < high) || slope == 0 {
			switch {
			case math.IsInf(high, 1):
				next = x + stride
				stride *= 4
			case math.IsInf(low, -1):
				next = x - stride
				stride *= 4
			default:
				next = low + float64((high-low)/2)
			}
		}
		if math.Abs(next-x) <= 1e-14*max(math.Abs(x), math.Abs(next)) {
			return next
		}
		x = next
	}
	return x
}

// bestTheta returns the theta at which the derivative of the objective is 0.
func (v *accelerated) bestTheta() float64 {
	theta := v.theta
	most := math.Inf(1)
	if !v.Squared && v.Kind == form.TopMean {
		most = linalg.Sum(v.cap) / v.Kappa * (1 - 1e-9)
		theta = min(theta, most)
	}
	low, high := theta, theta
	slope := v.slopeAt(theta)
	fLow, fHigh := slope, slope
	for factor := 1 + v.spread; fLow > 0; factor *= factor {
		high, fHigh = low, fLow
		low /= factor
		if low < 1e-15*v.firstTheta() || low < 1e-300 {
			return low
		}
		fLow = v.slopeAt(low)
	}
	for factor := 1 + v.spread; fHigh < 0; factor *= factor {
		if high >= most {
			return high
		}
		low, fLow = high, fHigh
		high = min(most, high*factor)
		fHigh = v.slopeAt(high)
	}
	side := 0
	for range 60 {
		if high-low <= 1e-11*high {
			break
		}
		middle := (float64(low*fHigh) - float64(high*fLow)) / (fHigh - fLow)
		if !(middle > low && middle < high) {
			middle = low + float64((high-low)/2)
		}
		f := v.slopeAt(middle)
		switch {
		case f == 0:
			return middle
		case f < 0:
			low, fLow = middle, f
			if side < 0 {
				fHigh /= 2
			}
			side = -1
		default:
			high, fHigh = middle, f
			if side > 0 {
				fLow /= 2
			}
			side = 1
		}
	}
	return low + float64((high-low)/2)
}
