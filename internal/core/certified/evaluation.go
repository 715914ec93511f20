package certified

import (
	"math"
)

// evaluation is F at a point, and rows of the population that the solver may want.
type evaluation struct {
	at       *Point
	f, fLow  float64 // bounds on F
	t, tLow  float64 // bounds on the threshold
	edge     float64 // lower edge of the threshold's band, or a little less
	above    int     // rows of the population at or above the edge, about
	rows     []Row   // the best rows that are not held
	pos, pop histogram
	posBin   int     // the bin that makes the loss uncertain, or -1
	popBin   int     // the bin that makes t uncertain, or -1
	rounding float64 // bound on the errors of the source's scores
	origin   float64 // distance from 0 of the origin of the population's sums
}

// bins returns the histogram of a class.
func (e *evaluation) bins(population bool) *histogram {
	if population {
		return &e.pop
	}
	return &e.pos
}

// roundingOfSums bounds the error of every score that matters to the threshold: its own, and its part in that of the sum of its bin,
// whose rows were added in any order.
func (e *evaluation) roundingOfSums() float64 {
	most := 0.0
	for k := len(e.pop) - 1; k >= 0 && e.pop[k].High >= e.edge; k-- {
		b := &e.pop[k]
		most = math.Max(most, float64(b.Rows+1)*0x1p-53*(math.Max(math.Abs(b.Low), math.Abs(b.High))+float64(2*e.origin)))
	}
	return e.rounding + most
}

// roundingOf bounds how much a mean loss can change if every score changes by at most some number. The threshold changes by as
// much, so each loss is taken at a place twice as far away.
func roundingOf(squared bool, loss, byScore float64) float64 {
	if squared { // the mean of (l + c)^2 is at most (sqrt(mean of l^2) + c)^2
		return float64(4*byScore*math.Sqrt(loss)) + float64(4*byScore*byScore)
	}
	return 2 * byScore
}
