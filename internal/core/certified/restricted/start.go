package restricted

import (
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// The cold start. Infeasible starts of the usual size have far too large duals where F* is near 0 or kappa is
// much larger than the number of positives: steps of .05 to .1 must then bring sum p down by a factor of 100.
// So the start has small duals of the right size and large slacks. With it the prototype took 33, 33, 39 and
// 55 steps on four hard instances. cvxopt's coneqp took 87, 83 and, on two, more than 100.
const (
	// largestFraction is the largest fraction of positives that counts as violated: sum p is at most half of
	// its cap.
	largestFraction = .5
	// minViolated is the smallest number of violated positives, as a number of rows.
	minViolated = .3
	// startFactor is the first gap, the sum of the products over M+, in units of the upper bound. Factors of
	// 3 to 10 took the same number of steps in the prototype; 1 lost robustness.
	startFactor = 5
	// maxBand is the largest part of the population's mass that the band may hold, so that theta stays above
	// the mean q.
	maxBand = .9
)

// coldStart sets w = 0 and every pair to a product of exactly mu times its central weight. The scores zp, zs of some point, and its
// value upper on all rows, only give the scales.
func (v *interior) coldStart(zp, zs []float64, upper float64) {
	t, _, order := v.Threshold(zs, v.Population.Weight, v.order)
	v.order = order
	// sum p is about the mass of the positives that are violated at the point.
	var violated float64
	for i, m := range v.Positives.Weight {
		if 1+t-zp[i] > 0 {
			violated += m
		}
	}
	fraction := min(largestFraction, max(violated/v.Mass, min(largestFraction, minViolated*v.Unit/v.Mass)))
	// Every product is mu times its weight.
	mu := startFactor * upper * v.Mass / v.count
	total := fraction * v.Mass // sum p
	rowMass := linalg.Sum(v.Population.Weight)
	if v.Kind == form.HingeQuantile {
		var above float64
		for j, m := range v.Population.Weight {
			if zs[j] > t-v.Band() {
				above += m
			}
		}
		v.theta = total / min(max(v.Kappa, above), maxBand*rowMass)
	} else {
		v.theta = total / v.Kappa
	}
	// The positives: p in the middle of its range, and slacks from the products.
	clear(v.w)
	for i, m := range v.Positives.Weight {
		v.p[i] = fraction * m
		v.sg[i] = mu * v.cp[i] / v.p[i]
		if v.Squared {
			v.al[i], v.xi[i] = 0, fraction/2
		} else {
			v.al[i] = m - v.p[i]
			v.xi[i] = mu * v.cp[i] / v.al[i]
		}
	}
	// The population: all q_j/m_j are equal.
	rate := total / rowMass
	var used float64
	for j, m := range v.Population.Weight {
		v.q[j] = rate * m
		v.ga[j] = m * (v.theta - rate)
		v.et[j] = mu * v.cs[j] / v.ga[j]
		v.rh[j] = mu * v.cs[j] / v.q[j]
		used += float64(m * v.et[j])
	}
	// s and t follow from the equations of the slacks at w = 0.
	v.kap = mu * v.Unit / v.theta
	v.s = mu/rate - mu/(v.theta-rate) // et - rh = -s at w = 0
	if v.Kind == form.HingeQuantile {
		v.t = v.s + v.Band()
	} else {
		v.t = v.s + (used+v.kap)/v.Kappa
	}
}

// warmStart centres every pair at w, for the multiplier theta (divided by C) of an earlier solve and a
// complementarity gap. t and s are exact, so that the equations that link slacks to scores hold.
func (v *interior) warmStart(w []float64, theta, gap float64) {
	mu := gap * v.Mass / v.count
	copy(v.w, w)
	v.Positives.Times(w, v.zp)
	v.Population.Times(w, v.zs)
	t, edge, order := v.Threshold(v.zs, v.Population.Weight, v.order)
	v.t, v.s, v.order = t, edge, order
	// All slacks follow from the scores, and the duals from the products.
	v.theta = theta * v.Mass
	v.kap = mu * v.Unit / v.theta
	for i, m := range v.Positives.Weight {
		margin := 1 + t - v.zp[i]
		if v.Squared {
			// Solve 2 m xi sg = c mu, xi - sg = margin. The smaller one is formed as a quotient: no cancellation.
			own := mu * v.cp[i] / m
			hi := float64(.5 * (math.Abs(margin) + math.Sqrt(float64(margin*margin)+float64(2*own))))
			v.xi[i], v.sg[i] = hi, own/float64(2*hi)
			if margin < 0 {
				v.xi[i], v.sg[i] = v.sg[i], v.xi[i]
			}
			v.p[i], v.al[i] = 2*m*v.xi[i], 0
			continue
		}
		own := mu * v.cp[i]
		v.xi[i], v.sg[i] = centred(margin, own/m)
		v.p[i], v.al[i] = own/v.sg[i], own/v.xi[i]
	}
	for j, m := range v.Population.Weight {
		own := mu * v.cs[j]
		v.et[j], v.rh[j] = centred(v.zs[j]-edge, own/m/v.theta)
		v.q[j], v.ga[j] = own/v.rh[j], own/v.et[j]
	}
}

// centred returns positive x and y with x - y = m and c/x + c/y = 1. The smaller one is formed as a quotient:
// no cancellation.
func centred(m, c float64) (x, y float64) {
	c, m = float64(c), float64(m)
	hi := float64((float64(2*c) + math.Sqrt(float64(4*c*c)+float64(m*m)) + math.Abs(m)) / 2)
	lo := c * hi / (hi - c)
	if m >= 0 {
		return hi, lo
	}
	return lo, hi
}
