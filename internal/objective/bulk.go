package objective

import (
	"math"

	"toptau/internal/kernel"
	"toptau/surrogate"
	"toptau/threshold"
)

// bulk is the rows of a threshold where they are many and all rows from some score up, with equal weights: those of the
// surrogate quantile of the hinge. No list of them is needed where all scores are kept.
type bulk struct {
	is    bool
	least float64 // the lowest of their scores
	a     float64
}

// gather takes the rows of the support, if they are a bulk, and reports whether they are.
func (c *bulk) gather(o *Objective, s *space) bool {
	rule, ok := o.problem.Rule().(threshold.SurrogateQuantile)
	c.is = ok && s.all && rule.Surrogate == surrogate.Hinge && o.weights == nil && o.many(len(s.support.Rows))
	if !c.is {
		return false
	}
	least := math.Inf(1)
	for _, at := range s.support.Rows {
		if z := s.z[at]; z < least {
			least = z
		}
	}
	c.a, c.least = s.support.A[0], least
	return true
}

// coefficients turns scores into v for the rows of the bulk, whose number it returns, and into 0 for others.
func (c *bulk) coefficients(z []float32, v float32) int {
	below := math.Nextafter32(float32(c.least), float32(math.Inf(-1)))
	_, rows := sweepHinge(kernel.Hinge{Sign: 1, Shift: -float64(below), V: v}, z)
	return rows
}
