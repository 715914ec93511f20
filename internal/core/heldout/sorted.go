package heldout

import (
	"cmp"
	"math"
	"slices"

	"toptau/diag"
	"toptau/method"
)

// Sorted are the scores of a population of calibration rows in ascending order, for several thresholds from the same
// scores (see For). It does not change and is safe for concurrent use.
type Sorted struct {
	z             []float64 // nil: they are elsewhere
	weights       []float64 // of z; nil: all 1
	mass, squares float64   // sums of the weights and of their squares
	n             int
	orders        func(orders []int) ([]float64, error)
	count         func(t float64) (above, equal int, err error) // numbers of scores
	population    method.Population
}

// Sort returns the scores of a population in ascending order, in new memory. nil weights are all 1; scores with the
// weight 0 are left out. A NaN is an error.
func Sort(scores, weights []float64, p method.Population) (*Sorted, error) {
	s := &Sorted{population: p}
	if weights == nil {
		s.z = slices.Clone(scores)
		slices.Sort(s.z)
	} else {
		s.addWeighted(scores, weights)
	}
	for i, z := range scores {
		if z != z {
			return nil, notANumber(i)
		}
	}
	s.n = len(s.z)
	s.orders = func(orders []int) ([]float64, error) {
		list := make([]float64, len(orders))
		for i, k := range orders {
			list[i] = s.z[k-1]
		}
		return list, nil
	}
	s.count = func(t float64) (above, equal int, err error) {
		above = s.Above(t)
		return above, s.Above(justBelow(t)) - above, nil
	}
	return s, nil
}

// addWeighted adds scores with their weights. Of equal scores, the one of the later row comes first.
func (s *Sorted) addWeighted(scores, weights []float64) {
	var order []int
	for i, w := range weights {
		if w > 0 {
			order = append(order, i)
			s.mass += w
			s.squares += float64(w * w)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[a], scores[b]), cmp.Compare(b, a)) })
	s.weights = []float64{}
	for _, i := range order {
		s.z, s.weights = append(s.z, scores[i]), append(s.weights, weights[i])
	}
}

// Ordered returns n scores of a population that are not in memory. orders returns the scores of some orders: for k the
// k-th smallest. count returns the numbers of scores above and equal to one of them. Thresholds are those that Sort gives for the same
// scores.
func Ordered(n int, p method.Population, orders func(orders []int) ([]float64, error), count func(t float64) (above, equal int, err error)) *Sorted {
	return &Sorted{n: n, population: p, orders: orders, count: count}
}

// Above returns the number of scores in memory above a threshold.
func (s *Sorted) Above(t float64) int {
	first, _ := slices.BinarySearchFunc(s.z, t, func(z, t float64) int {
		if z > t {
			return 1
		}
		return -1
	})
	return len(s.z) - first
}

// Nearest returns the threshold in memory that is exceeded by a fraction of the scores as close to rate as their ties allow.
func (s *Sorted) Nearest(rate float64) float64 {
	mass := s.mass
	if s.weights == nil {
		mass = float64(s.n)
	}
	best, least, above := s.z[s.n-1], rate, 0.0
	for i := s.n - 1; i >= 0; i-- {
		if s.weights == nil {
			above++
		} else {
			above += s.weights[i]
		}
		if i > 0 && s.z[i-1] == s.z[i] {
			continue
		}
		away := math.Abs(above/mass - rate)
		if away >= least {
			break
		}
		best, least = justBelow(s.z[i]), away
	}
	return best
}

// check returns an error if there are no scores.
func (s *Sorted) check() error {
	if s.n > 0 {
		return nil
	}
	return &diag.Error{Kind: diag.Data, Found: "no calibration scores",
		Expected: "scores of " + rowsOf(s.population) + " that were used for nothing else"}
}
