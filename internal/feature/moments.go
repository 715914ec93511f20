package feature

import (
	"cmp"
	"math"
	"slices"

	"toptau/internal/kernel"
)

// moments are the mean and the population standard deviation of some values with row weights m:
//
//	mean = sum m_i x_i / sum m_i,   sd^2 = sum m_i (x_i - mean)^2 / sum m_i
//
// computed in two passes with compensated sums in the order of the values. constant reports that all values are equal;
// then sd is exactly 0, which rounding would hide from the formula.
type moments struct {
	mean, sd float64
	constant bool
}

// momentsOf takes weights nil as all 1. Values of weight 0 do not count. x must be finite.
func momentsOf(x, weights []float64) moments {
	low, high := extent(x, weights)
	if low >= high {
		return moments{mean: low, constant: true}
	}
	u := unit(max(math.Abs(low), math.Abs(high)))
	mass := massOfAll(x, weights)
	mean := firstMoment(x, weights, u) / mass
	sd := math.Sqrt(secondMoment(x, weights, u, mean)/mass) / u
	return moments{mean: mean / u, sd: sd, constant: sd == 0} // only the smallest numbers of all can end at 0 here
}

// extent is the range of the values whose weight is not 0.
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

// firstMoment is sum m_i u x_i.
func firstMoment(x, weights []float64, u float64) float64 {
	var s sum
	if weights == nil {
		for _, v := range x {
			s = s.plus(float64(u * v))
		}
		return s.value()
	}
	for i, m := range weights {
		s = s.plus(float64(m * float64(u*x[i])))
	}
	return s.value()
}

// secondMoment is sum m_i (u x_i - mean)^2.
func secondMoment(x, weights []float64, u, mean float64) float64 {
	var s sum
	if weights == nil {
		for _, v := range x {
			d := float64(u*v) - mean
			s = s.plus(float64(d * d))
		}
		return s.value()
	}
	for i, m := range weights {
		d := float64(u*x[i]) - mean
		s = s.plus(float64(m * float64(d*d)))
	}
	return s.value()
}

// massOfAll is the sum of the weights of x.
func massOfAll(x, weights []float64) float64 {
	if weights == nil {
		return float64(len(x))
	}
	var mass sum
	for _, m := range weights {
		mass.add(m)
	}
	return mass.value()
}

func weightAt(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// medianOf is the weighted median: the value at which half of the mass is reached, and the mean of that value and the
// next one where exactly half lies on each side.
func medianOf(x, weights []float64) float64 {
	order := make([]int, 0, len(x))
	var mass sum
	for i := range x {
		if m := weightAt(weights, i); m > 0 {
			order = append(order, i)
			mass.add(m)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(x[a], x[b]), a-b) })
	half := mass.value() / 2
	var below sum
	for k, i := range order {
		below.add(weightAt(weights, i))
		switch reached := below.value(); {
		case reached == half && k+1 < len(order):
			return float64(x[i]/2) + float64(x[order[k+1]]/2)
		case reached >= half:
			return x[i]
		}
	}
	return math.NaN()
}
