package smoothed

import (
	"math"

	"toptau/internal/core/certified/linalg"
)

// levelSolver finds levels s of weighted scores from sums of c(z - s) and its derivatives.
type levelSolver struct {
	scores, weights []float64 // weights nil: all 1
	hinge           Hinge
}

const (
	// levelBlock is the number of scores per block of a sum. Changing it changes results in the last bits.
	levelBlock = 1 << 14
	// levelNoise is the relative size of a step that rounding swallows: a few units in the last place of a
	// float64.
	levelNoise = 1e-15
	// massNoise is the relative excess of the mass at which the level counts as found: the rounding of a sum
	// of many terms.
	massNoise = 1e-13
	// volumeSteps and massSteps end the iterations if rounding keeps them alive.
	volumeSteps = 100
	massSteps   = 60
)

// sums returns those of m c(z - s), m c'(z - s) and m c"(z - s).
func (l levelSolver) sums(s float64) (value, slope, curvature float64) {
	total := linalg.SumsOfBlocks(len(l.scores), levelBlock, 4, func(first, end int) [3]float64 {
		var value, slope, curvature float64
		for i := first; i < end; i++ {
			v, d, e := l.hinge.At(l.scores[i] - s)
			m := 1.0
			if l.weights != nil {
				m = l.weights[i]
			}
			value += float64(m * v)
			slope += float64(m * d)
			curvature += float64(m * e)
		}
		return [3]float64{value, slope, curvature}
	})
	return total[0], total[1], total[2]
}

// levelOfVolume solves sum m c(z - s) = volume, from a level that is not too high. The sum is convex and
// falling, so Newton's method stays on that side.
func (l levelSolver) levelOfVolume(s, volume float64) float64 {
	for range volumeSteps {
		value, slope, _ := l.sums(s)
		if slope == 0 {
			return s
		}
		step := (value - volume) / slope
		s += step // from the left: s stays below the root, up to rounding
		if !(step > levelNoise*math.Abs(s)) {
			return s
		}
	}
	return s
}

// levelOfMass returns about the highest level between lo and hi with sum m c'(z - s) >= mass, which lo
// fulfils. It is Newton's method with bisection whenever a step leaves the bracket: the sum is piecewise
// linear and falling, but not convex.
func (l levelSolver) levelOfMass(lo, hi, mass float64) float64 {
	s := lo + float64((hi-lo)/2)
	for range massSteps {
		_, slope, curvature := l.sums(s)
		if slope >= mass {
			lo = s
		} else {
			hi = s
		}
		if slope >= mass && slope <= mass*(1+massNoise) || !(hi-lo > levelNoise*math.Abs(s)) {
			break
		}
		if s += (slope - mass) / curvature; !(s > lo && s < hi) {
			s = lo + float64((hi-lo)/2)
		}
	}
	return lo
}
