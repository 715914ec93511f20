package objective

import "math"

// trail is what a run remembers of its thresholds: where the next one's rows are to be looked for. Its guesses cost time
// when they are bad and never change what is found.
type trail struct {
	edge   float64 // of the newest threshold
	margin float64 // how far below it the next edge is expected at most
	known  int     // edges seen, up to 2
	guess  float32 // at the point at hand: what a sample says
}

// The margin follows the largest recent change of the edge: twice as wide, and narrower by a tenth in every step.
const (
	trailWidth = 2
	trailDecay = 0.9
	trailSlack = 1e-6 // of the edge itself, for edges that do not change
)

// floor is a score above which all rows that matter probably lie; -Inf while there is no telling.
func (t *trail) floor() float32 {
	if t.known < 2 {
		return t.guess
	}
	return max(t.guess, float32(t.edge-t.margin-float64(trailSlack*math.Abs(t.edge))))
}

// add notes the edge of a threshold.
func (t *trail) add(edge float64) {
	switch change := math.Abs(edge - t.edge); {
	case edge-edge != 0: // infinite: all rows matter
		*t = trail{guess: t.guess}
		return
	case t.known == 0:
		t.known = 1
	default:
		t.known = 2
		t.margin = max(trailDecay*t.margin, trailWidth*change)
	}
	t.edge = edge
}
