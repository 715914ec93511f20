package trees

import "toptau/internal/core/detmath"

// WeightAt returns the weight of a row; nil weights are all 1.
func WeightAt(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// UnitWeights returns weights of mean 1.
func UnitWeights(weights []float64) []float64 {
	if weights == nil {
		return nil
	}
	var total detmath.Sum
	for _, w := range weights {
		total.Add(w)
	}
	scaled := make([]float64, len(weights))
	for i, w := range weights {
		scaled[i] = w / total.Value() * float64(len(weights))
	}
	return scaled
}

// PositiveFraction returns the fraction of the mass that is positive.
func PositiveFraction(positive []bool, weights []float64) float64 {
	var c counts
	for i, p := range positive {
		c.add(p, WeightAt(weights, i))
	}
	return c.positive / c.mass
}

// ValueMass is a value and the mass of the rows that have it.
type ValueMass struct{ X, Mass float64 }

// Tally returns the distinct values of a sorted list, each with the number of its elements.
func Tally(x []float64) []ValueMass {
	var list []ValueMass
	for first := 0; first < len(x); {
		end := first + 1
		for end < len(x) && x[end] == x[first] {
			end++
		}
		list = append(list, ValueMass{x[first] + 0, float64(end - first)}) // no negative zero
		first = end
	}
	return list
}
