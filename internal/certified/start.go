package certified

import "math"

// coldStart begins with small duals of the right size and large slacks, every pair exactly at m mu; w = 0. The scores
// zp, zs of some point whose value on all rows is at most upper = F only give the scales.
func (v *interior) coldStart(zp, zs []float64, upper float64) {
	t, _, order := v.threshold(zs, v.row.weight, v.order)
	v.order = order
	var violated float64
	for i, m := range v.pos.weight {
		if 1+t-zp[i] > 0 {
			violated += m
		}
	}
	share := math.Min(.5, math.Max(violated/v.mass, math.Min(.5, .3/v.mass)))
	mu := 5 * upper * v.mass / v.count
	total := share * v.mass
	rowMass := sum(v.row.weight)
	if v.kind == hingeQuantile {
		var above float64
		for j, m := range v.row.weight {
			if zs[j] > t-v.band() {
				above += m
			}
		}
		v.theta = total / math.Min(math.Max(v.kappa, above), .9*rowMass)
	} else {
		v.theta = total / v.kappa
	}
	clear(v.w)
	for i, m := range v.pos.weight {
		v.p[i] = share * m
		v.sg[i] = mu / share
		if v.squared {
			v.al[i], v.xi[i] = 0, share/2
		} else {
			v.al[i] = m - v.p[i]
			v.xi[i] = mu / (1 - share)
		}
	}
	rate := total / rowMass
	var used float64
	for j, m := range v.row.weight {
		v.q[j] = rate * m
		v.ga[j] = m * (v.theta - rate)
		v.et[j] = mu / (v.theta - rate)
		v.rh[j] = mu / rate
		used += float64(m * v.et[j])
	}
	v.kap = mu / v.theta
	v.s = mu/rate - mu/(v.theta-rate) // et - rh = -s at w = 0
	if v.kind == hingeQuantile {
		v.t = v.s + v.band()
	} else {
		v.t = v.s + (used+v.kap)/v.kappa
	}
}

// warmStart centres at w with the given multiplier theta (divided by C) and value of mu.
func (v *interior) warmStart(w []float64, theta, gap float64) {
	mu := gap * v.mass / v.count
	copy(v.w, w)
	v.pos.times(w, v.zp)
	v.row.times(w, v.zs)
	t, edge, order := v.threshold(v.zs, v.row.weight, v.order)
	v.t, v.s, v.order = t, edge, order
	v.theta = theta * v.mass
	v.kap = mu / v.theta
	for i, m := range v.pos.weight {
		margin := 1 + t - v.zp[i]
		if v.squared {
			// 2 xi sg = mu, xi - sg = margin.
			hi := float64(.5 * (math.Abs(margin) + math.Sqrt(float64(margin*margin)+float64(2*mu))))
			v.xi[i], v.sg[i] = hi, mu/float64(2*hi)
			if margin < 0 {
				v.xi[i], v.sg[i] = v.sg[i], v.xi[i]
			}
			v.p[i], v.al[i] = 2*m*v.xi[i], 0
			continue
		}
		v.xi[i], v.sg[i] = centred(margin, mu)
		v.p[i], v.al[i] = mu*m/v.sg[i], mu*m/v.xi[i]
	}
	for j, m := range v.row.weight {
		v.et[j], v.rh[j] = centred(v.zs[j]-edge, mu/v.theta)
		v.q[j], v.ga[j] = mu*m/v.rh[j], mu*m/v.et[j]
	}
}

// centred returns positive x and y with x - y = m and c/x + c/y = 1.
func centred(m, c float64) (x, y float64) {
	c, m = float64(c), float64(m)
	hi := float64((float64(2*c) + math.Sqrt(float64(4*c*c)+float64(m*m)) + math.Abs(m)) / 2)
	lo := c * hi / (hi - c)
	if m >= 0 {
		return hi, lo
	}
	return lo, hi
}
