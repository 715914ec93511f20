package form

import (
	"math"
	"slices"
)

// The thresholds of this file are those of package threshold, for rows that are only a part of the
// population. They are kept apart because their bits differ: package threshold measures scores from the top
// one and compensates its sums, which the inner solver need not do. Every certificate is computed by package
// threshold. A part of the population gives a lower bound of t, and the same t if it holds the whole band.

// Threshold returns t for scores z with weights m, and the lower edge of the band, below which no score
// matters. order is scratch of any length; it is returned for the next call.
func (f *Form) Threshold(z, m []float64, order []int32) (t, edge float64, _ []int32) {
	switch f.Kind {
	case TopMean:
		return f.meanOfTop(z, m, order)
	case HingeQuantile:
		edge = edgeOfHinge(z, m, f.Kappa*f.Band())
		return edge + f.Band(), edge, order
	default:
		t = f.RootOfSquares(z, m)
		return t, t - f.Band(), order
	}
}

// Slope returns the derivative of t for scores that change at the rates delta. t, edge and order are those of
// Threshold. At a corner it is one of the subgradients.
func (f *Form) Slope(z, m, delta []float64, t, edge float64, order []int32) float64 {
	var total, mass float64
	switch f.Kind {
	case TopMean:
		left := f.Kappa
		for _, i := range order {
			used := min(left, m[i])
			total += float64(used * delta[i])
			mass += used
			if left -= used; left <= 0 {
				break
			}
		}
	case HingeQuantile:
		for i, v := range z {
			if v > edge {
				total += float64(m[i] * delta[i])
				mass += m[i]
			}
		}
	default:
		for i, v := range z {
			if u := 1 + float64(f.Beta*(v-t)); u > 0 {
				total += float64(float64(m[i]*u) * delta[i])
				mass += float64(m[i] * u)
			}
		}
	}
	return total / mass
}

// meanOfTop is the mean of the largest scores of total mass kappa.
func (f *Form) meanOfTop(z, m []float64, order []int32) (t, edge float64, _ []int32) {
	order = order[:0]
	// Only scores above the bound can be among the top mass kappa. A cheap bound saves most of the sort.
	bound := lowerBoundOfTop(z, m, f.Kappa)
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
	// Take scores from the top until the mass kappa is used up, the last row in part.
	left, total := f.Kappa, 0.0
	for _, i := range order {
		used := min(left, m[i])
		total += float64(used * z[i])
		left -= used
		edge = z[i]
		if left <= 0 {
			break
		}
	}
	return total / (f.Kappa - max(left, 0)), edge, order // left > 0: fewer rows than kappa
}

// bisections is the number of halvings of the range of scores. 12 leave one part in 4,096 of the range, so
// that few scores besides the top mass are sorted. Chosen by hand; it decides only the speed.
const bisections = 12

// lowerBoundOfTop returns a score above which at least the mass kappa lies, by bisection of the range.
func lowerBoundOfTop(z, m []float64, kappa float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range z {
		lo, hi = min(lo, v), max(hi, v)
	}
	for range bisections {
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

const (
	// rootNoise is the relative size of a Newton step that rounding swallows: below half a unit in the last
	// place.
	rootNoise = 1e-16
	// rootSteps ends Newton's method if rounding keeps it alive.
	rootSteps = 200
)

// edgeOfHinge solves sum m_j max(0, z_j - s) = c for s. The left side is convex and falling, so Newton's
// method from the left is monotone and ends after finitely many steps.
func edgeOfHinge(z, m []float64, c float64) float64 {
	var mass, total float64
	for i, v := range z {
		mass += m[i]
		total += float64(m[i] * v)
	}
	s := (total - c) / mass // the root if all rows were in the band: a lower bound by Jensen's inequality
	for range rootSteps {
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
		if !(step > rootNoise*math.Abs(s)) {
			return s + step
		}
		s += step
	}
	return s
}

// RootOfSquares solves sum m_j max(0, 1 + beta (z_j - t))^2 = kappa for t, the quantile of the squared hinge.
// It starts from the root if all rows had the mean score, which is a lower bound by Jensen's inequality.
func (f *Form) RootOfSquares(z, m []float64) float64 {
	kappa, beta := f.Kappa, f.Beta
	var mass, total float64
	for i, v := range z {
		mass += m[i]
		total += float64(m[i] * v)
	}
	t := total/mass + (1-math.Sqrt(kappa/mass))/beta
	for range rootSteps {
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
		if !(step > rootNoise*math.Abs(t)) {
			return t + step
		}
		t += step
	}
	return t
}
