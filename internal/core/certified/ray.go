package certified

import (
	"math"

	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/detmath"
)

// The grid of a search on a ray from 0: factors of a point whose scores have standard deviation 1. Chosen by
// hand; the search then narrows the best one.
const (
	rayDecades    = 6  // on each side of 1
	raySteps      = 5  // a decade
	rayNarrowings = 24 // by the golden ratio: to a part in 1e5 of a step
)

// evaluateRay returns the best point on the ray from 0 through another one, found from the scores at that one:
// scores on a ray are multiples of each other. It evaluates F there.
func (ls *lineSearch) evaluateRay(through *Point, limit int) (evaluation, error) {
	points, err := ls.eval.evaluate(0, through)
	if err != nil {
		return evaluation{}, err
	}
	best := pointBetween(ls.zero, through, ls.bestOnRay(&points[0]))
	if points, err = ls.eval.evaluate(limit, best); err != nil {
		return evaluation{}, err
	}
	return points[0], nil
}

// bestOnRay returns the factor of a point at which the upper bound of F is smallest.
func (ls *lineSearch) bestOnRay(e *evaluation) float64 {
	var mass, mean, square float64
	for _, b := range e.pop {
		mass, mean, square = mass+b.Mass, mean+b.Score, square+b.Square
	}
	mean /= mass
	spread := math.Sqrt(math.Max(0, square/mass-float64(mean*mean)))
	if !(spread > 0) || math.IsInf(spread, 1) {
		return 1
	}
	var z, weights, scaled []float64 // of the positives, if all are held
	if ls.allPositivesHeld() {
		z, scaled, weights = make([]float64, ls.pos.N), make([]float64, ls.pos.N), ls.pos.Weight
		ls.pos.scores(e.at.W, z)
	}
	half := ls.form.Lambda / 2 * linalg.Dot(e.at.W, e.at.W)
	var bins histogram
	value := func(alpha float64) float64 {
		bins = e.pop.scaled(alpha, bins)
		t := bins.threshold(&ls.form).high
		var loss float64
		if z != nil {
			for i, v := range z {
				scaled[i] = alpha * v
			}
			loss = ls.form.MeanLoss(t, scaled, weights, 1)
		} else {
			bins = e.pos.scaled(alpha, bins)
			_, loss, _ = bins.loss(ls.form.Squared, t, t)
		}
		return loss/ls.shape.Positives.Mass + float64(alpha*alpha*half)
	}
	// The grid, in logarithms. Where all long points are as good, rounding must not choose the longest.
	step := math.Ln10 / raySteps
	at := func(x float64) float64 { return value(detmath.Exp(x) / spread) }
	first, best := ls.atZero, -rayDecades*step
	for k := -rayDecades * raySteps; k <= rayDecades*raySteps; k++ {
		if v := at(float64(k) * step); ls.beats(v, detmath.Exp(float64(k)*step), first) {
			first, best = v, float64(k)*step
		}
	}
	// Golden section between the neighbours.
	const golden = .6180339887498949
	lo, hi := best-step, best+step
	a, b := hi-float64(golden*(hi-lo)), lo+float64(golden*(hi-lo))
	fa, fb := at(a), at(b)
	for range rayNarrowings {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - float64(golden*(hi-lo))
			fa = at(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + float64(golden*(hi-lo))
			fb = at(b)
		}
	}
	if fa <= fb {
		return detmath.Exp(a) / spread
	}
	return detmath.Exp(b) / spread
}
