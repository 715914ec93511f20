package calibrate

import (
	"slices"

	"toptau/internal/binomial"
	"toptau/method"
	"toptau/threshold"
)

// Sorted are calibration scores in ascending order, for several thresholds from the same scores. It does not
// change and is safe for concurrent use.
//
// Each certified threshold holds with its own confidence, and only for a rate that was chosen without a look at
// these scores.
type Sorted struct {
	z          []float64
	population method.Population
}

// Sort returns the scores of a population in ascending order, in new memory. No scores and a NaN are errors.
func Sort(scores []float64, p method.Population) (*Sorted, error) {
	z, err := sorted(scores, p)
	if err != nil {
		return nil, err
	}
	return &Sorted{z, p}, nil
}

// Len returns the number of scores.
func (s *Sorted) Len() int { return len(s.z) }

// Above returns the number of scores above a threshold.
func (s *Sorted) Above(t float64) int {
	first, _ := slices.BinarySearchFunc(s.z, t, func(z, t float64) int {
		if z > t {
			return 1
		}
		return -1
	})
	return len(s.z) - first
}

// Plain returns what the function Plain does.
func (s *Sorted) Plain(alpha threshold.Rate) (t float64, g Guarantee, err error) {
	if alpha.IsZero() {
		return 0, Guarantee{}, unset("alpha")
	}
	t, g = plainOrder(s.z, alpha, s.population)
	return t, g, nil
}

// Certified returns what NeymanPearson does for negatives, and TopFraction for all rows.
func (s *Sorted) Certified(alpha, delta threshold.Rate) (t float64, g Guarantee, err error) {
	needed, err := Needed(alpha, delta)
	if err != nil {
		return 0, Guarantee{}, err
	}
	above := -1 // calibration scores that may lie above the threshold
	if len(s.z) >= needed {
		above = mostAbove(len(s.z), alpha, delta)
		t, g = orderStatistic(s.z, len(s.z)-above, kindOf(s.population))
		g.Certified = true
	} else {
		t, g = plainOrder(s.z, alpha, s.population)
		above = len(s.z) - g.Order
		err = tooFew(len(s.z), needed, alpha, delta, s.population)
	}
	g.Rate, g.Delta, g.Needed = alpha, delta, needed
	g.Bound = binomial.AtMost(len(s.z), above, alpha.Float64())
	return t, g, err
}
