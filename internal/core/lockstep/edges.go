package lockstep

import "math"

// edgePredictor predicts, from a run's last thresholds, above which score the rows of the next one lie. A threshold's edge is
// the lowest score that has a part in it.
type edgePredictor struct {
	edge        float64 // of the last threshold
	margin      float64 // how far below it the next edge is expected at most
	known       int     // edges seen, up to 2
	sampleFloor float32 // at the present point: the estimate from a sample
	maxRows     bool    // most rows had a part in the last threshold: a floor does not pay
}

// The margin follows the largest recent change of the edge. The three numbers were chosen by hand: nearly always one pass
// over the population is enough with them (TestOneReadingIsEnough).
const (
	edgeWidth = 2    // margin over change
	edgeDecay = 0.9  // of the margin, in each step
	edgeSlack = 1e-6 // of the edge itself, for edges that do not change
)

// floor returns a score above which all rows that matter probably lie, or -Inf without an estimate.
func (p *edgePredictor) floor() float32 {
	if p.known < 2 {
		return p.sampleFloor
	}
	return max(p.sampleFloor, float32(p.edge-p.margin-float64(edgeSlack*math.Abs(p.edge))))
}

// keepsAll reports whether there is no floor that pays.
func (p *edgePredictor) keepsAll() bool { return p.maxRows || math.IsInf(float64(p.floor()), -1) }

// add records the edge of a threshold and whether most rows of the population have a part in it.
func (p *edgePredictor) add(edge float64, maxRows bool) {
	p.maxRows = maxRows
	switch change := math.Abs(edge - p.edge); {
	case edge-edge != 0: // infinite: all rows matter
		*p = edgePredictor{sampleFloor: p.sampleFloor, maxRows: maxRows}
		return
	case p.known == 0:
		p.known = 1
	default:
		p.known = 2
		p.margin = max(edgeDecay*p.margin, edgeWidth*change)
	}
	p.edge = edge
}
