package objective

import (
	"math"

	"toptau/internal/kernel"
	"toptau/internal/matrix"
	"toptau/surrogate"
	"toptau/threshold"
)

// bulk is the rows of a threshold where they are many and all rows from some score up, with equal weights: those of the
// surrogate quantile of the hinge. No list of them is needed.
type bulk struct {
	is    bool
	least float64 // the lowest of their scores
	a     float64
	g     []float64 // sum of the rows
	matrix.Response
}

// gather takes the rows of the support, if they are a bulk, and reports whether they are.
func (c *bulk) gather(o *Objective, s *space) bool {
	rule, ok := o.problem.Rule.(threshold.SurrogateQuantile)
	c.is = ok && rule.Surrogate == surrogate.Hinge && o.weights == nil && 4*len(s.support.Rows) > o.population.Rows
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

// begin prepares for the passes of a point.
func (c *bulk) begin(p *Point) {
	if !c.is || p.Grad == nil {
		return
	}
	c.g = resize(c.g, len(p.Grad))
	clear(c.g)
	below := math.Nextafter32(float32(c.least), float32(math.Inf(-1)))
	c.Hinge = kernel.Hinge{Sign: 1, Shift: -float64(below), V: 1}
}

// finish adds rest times the gradient of the threshold to that of the point.
func (c *bulk) finish(p *Point, rest float64) {
	if !c.is || p.Grad == nil {
		return
	}
	for j, g := range c.g {
		p.Grad[j] += float64(float64(rest*c.a) * g)
	}
}
