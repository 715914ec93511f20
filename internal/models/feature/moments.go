package feature

import (
	"cmp"
	"math"
	"slices"

	"toptau/internal/core/detmath"
	"toptau/internal/core/kernel"
)

// moments are the mean and the population standard deviation of values with row weights m:
//
//	mean = sum m_i x_i / sum m_i,   sd^2 = sum m_i (x_i - mean)^2 / sum m_i
//
// computed in two passes with compensated sums in the order of the values. constant is true if all values are
// equal. Then sd is exactly 0, which the formula misses because of rounding.
type moments struct {
	mean, sd float64
	constant bool
}

// momentsOf returns the moments of finite values. nil weights are all 1; values of weight 0 do not count.
func momentsOf(x, weights []float64) moments {
	low, high := extent(x, weights)
	if low >= high {
		return moments{mean: low, constant: true}
	}
	u := unit(max(math.Abs(low), math.Abs(high)))
	mass := massOfAll(x, weights)
	mean := firstMoment(x, weights, u) / mass
	sd := math.Sqrt(secondMoment(x, weights, u, mean)/mass) / u
	return moments{mean: mean / u, sd: sd, constant: sd == 0} // only subnormal numbers can give 0 here
}

// extent returns the range of the values whose weight is not 0.
func extent(x, weights []float64) (low, high float64) {
	if weights == nil {
		low, high, _ = kernel.Extent(x)
		return low, high
	}
	low, high = math.Inf(1), math.Inf(-1)
	for i, v := range x {
		if (v < low || v > high) && weights[i] > 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// firstMoment returns sum m_i u x_i.
func firstMoment(x, weights []float64, u float64) float64 {
	var s detmath.Sum
	if weights == nil {
		for _, v := range x {
			s = s.Plus(float64(u * v))
		}
		return s.Value()
	}
	for i, m := range weights {
		s = s.Plus(float64(m * float64(u*x[i])))
	}
	return s.Value()
}

// secondMoment returns sum m_i (u x_i - mean)^2.
func secondMoment(x, weights []float64, u, mean float64) float64 {
	var s detmath.Sum
	if weights == nil {
		for _, v := range x {
			d := float64(u*v) - mean
			s = s.Plus(float64(d * d))
		}
		return s.Value()
	}
	for i, m := range weights {
		d := float64(u*x[i]) - mean
		s = s.Plus(float64(m * float64(d*d)))
	}
	return s.Value()
}

// massOfAll returns the sum of the weights of x.
func massOfAll(x, weights []float64) float64 {
	if weights == nil {
		return float64(len(x))
	}
	var mass detmath.Sum
	for _, m := range weights {
		mass.Add(m)
	}
	return mass.Value()
}

// medianOf returns the weighted median: the smallest value up to which at least half of the mass lies. If
// exactly half lies up to it, the median is the mean of it and the next value. -0 counts as 0.
func medianOf(x, weights []float64) float64 {
	if weights == nil {
		return plainMedian(x)
	}
	order := make([]int, 0, len(x))
	var mass detmath.Sum
	for i, m := range weights {
		if m > 0 {
			order = append(order, i)
			mass.Add(m)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(x[a], x[b]), a-b) })
	half := mass.Value() / 2
	var below detmath.Sum
	for k, i := range order {
		below.Add(weights[i])
		switch reached := below.Value(); {
		case reached == half && k+1 < len(order):
			return float64(x[i]/2) + float64(x[order[k+1]]/2)
		case reached >= half:
			return x[i]
		}
	}
	return math.NaN()
}

// plainMedian is medianOf without weights.
func plainMedian(x []float64) float64 {
	keys := make([]uint64, len(x))
	for i, v := range x {
		keys[i] = detmath.OrderKey(v)
	}
	slices.Sort(keys)
	n := len(keys)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return detmath.OfOrderKey(keys[n/2])
	}
	return float64(detmath.OfOrderKey(keys[n/2-1])/2) + float64(detmath.OfOrderKey(keys[n/2])/2)
}

// unit returns a power of two u with |x| u <= 1 for all |x| <= largest. Multiplying by it is exact, so
// moments computed on u x are those of x, and neither their sums overflow nor their squares vanish.
func unit(largest float64) float64 {
	if largest == 0 {
		return 1
	}
	_, e := math.Frexp(largest)
	return math.Ldexp(1, min(-e, 1000)) // 2^1000 is enough for the smallest subnormal: its square does not underflow
}
