package certified

import (
	"math"
	"slices"

	"toptau/threshold"
)

// thresholdKind says which r(a) the threshold t(w) = max over the simplex of a'z - r(a) has.
type thresholdKind int

const (
	topMean         thresholdKind = iota // a_j <= m_j/kappa, r = 0
	hingeQuantile                        // r = (kappa max(a_j/m_j) - 1)/beta
	squaredQuantile                      // r = (sqrt(kappa sum a_j^2/m_j) - 1)/beta
)

// form is a training problem without its data:
// F(w) = (1/M+) sum over positives of m_i l(t(w) - z_i) + lambda/2 |w|^2.
type form struct {
	kind    thresholdKind
	squared bool // l(s) = max(0, 1+s)^2 instead of max(0, 1+s)
	kappa   float64
	beta    float64 // surrogate quantiles only
	lambda  float64
	rule    threshold.Threshold // the same threshold, bound to the whole population; nil where only parts are seen
}

// band is 1/beta: how far the band of a surrogate quantile reaches below t.
func (f *form) band() float64 { return 1 / f.beta }

// atZero is F(0) for a population of some mass, whose scores are all 0.
func (f *form) atZero(mass float64) float64 {
	t, _, _ := f.threshold([]float64{0}, []float64{mass}, nil)
	return f.loss(1 + t)
}

// threshold returns t and the lower edge of the band, below which no score matters, for scores z with weights m.
// The scores may be any part of the population that holds the band; a part gives a lower bound of t. order is
// scratch of any length, returned for the next call.
func (f *form) threshold(z, m []float64, order []int32) (t, edge float64, _ []int32) {
	switch f.kind {
	case topMean:
		return f.meanOfTop(z, m, order)
	case hingeQuantile:
		edge = edgeOfHinge(z, m, f.kappa*f.band())
		return edge + f.band(), edge, order
	default:
		t = rootOfSquares(z, m, f.kappa, f.beta)
		return t, t - f.band(), order
	}
}

func (f *form) meanOfTop(z, m []float64, order []int32) (t, edge float64, _ []int32) {
	order = order[:0]
	// The best kappa of mass lies above the smallest score of any part that holds it; a cheap bound saves most of the sort.
	bound := lowerBoundOfTop(z, m, f.kappa)
	for i, v := range z {
		if v >= bound {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		switch {
		case z[a] > z[b]:
			return -1
		case z[a] < z[b]:
			return 1
		}
		return int(a - b)
	})
	left, total := f.kappa, 0.0
	for _, i := range order {
		take := math.Min(left, m[i])
		total += float64(take * z[i])
		left -= take
		edge = z[i]
		if left <= 0 {
			break
		}
	}
	return total / (f.kappa - math.Max(left, 0)), edge, order
}

// lowerBoundOfTop returns a score above which at least the mass kappa lies, by bisection of the range.
func lowerBoundOfTop(z, m []float64, kappa float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range z {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	for range 12 {
		middle := lo + float64((hi-lo)/2)
		var mass float64
		for i, v := range z {
			if v >= middle {
				mass += m[i]
			}
		}
		if mass >= kappa {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}

// edgeOfHinge solves sum m_j max(0, z_j - s) = c for s: the left side is convex and falling, so Newton's method from
// the left is monotone and ends after finitely many steps.
func edgeOfHinge(z, m []float64, c float64) float64 {
	var mass, total float64
	for i, v := range z {
		mass += m[i]
		total += float64(m[i] * v)
	}
	s := (total - c) / mass // all rows in the band: a lower bound by Jensen's inequality
	for range 200 {
		mass, total = 0, 0
		for i, v := range z {
			if v > s {
				mass += m[i]
				total += float64(m[i] * (v - s))
			}
		}
		if mass == 0 {
			return s
		}
		step := (total - c) / mass
		if !(step > 1e-16*math.Abs(s)) {
			return s + step
		}
		s += step
	}
	return s
}

// rootOfSquares solves sum m_j max(0, 1 + beta (z_j - t))^2 = kappa for t.
func rootOfSquares(z, m []float64, kappa, beta float64) float64 {
	var mass, total float64
	for i, v := range z {
		mass += m[i]
		total += float64(m[i] * v)
	}
	t := total/mass + (1-math.Sqrt(kappa/mass))/beta
	for range 200 {
		var value, slope float64
		for i, v := range z {
			if u := 1 + float64(beta*(v-t)); u > 0 {
				value += float64(float64(m[i]*u) * u)
				slope += float64(m[i] * u)
			}
		}
		if slope == 0 {
			return t
		}
		step := (value - kappa) / (2 * beta * slope)
		if !(step > 1e-16*math.Abs(t)) {
			return t + step
		}
		t += step
	}
	return t
}

// loss is l(t - z) for one positive.
func (f *form) loss(margin float64) float64 { return lossAt(f.squared, margin) }

func lossAt(squared bool, margin float64) float64 {
	if margin <= 0 {
		return 0
	}
	if squared {
		return margin * margin
	}
	return margin
}

// meanLoss is (1/M+) sum m_i l(t - z_i).
func (f *form) meanLoss(t float64, z, m []float64, mass float64) float64 {
	var total float64
	for i, v := range z {
		total += float64(m[i] * f.loss(1+t-v))
	}
	return total / mass
}
