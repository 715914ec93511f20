package objective

import "math"

// trail is what a run remembers of its thresholds: where the next one's rows are to be looked for. Its guesses cost time
// when they are bad and never change what is found.
type trail struct {
	edge   float64 // of the newest threshold
	margin float64 // how far below it the next edge is expected at most
	known  int     // edges seen, up to 2
	guess  float32 // at the point at hand: what a sample says
	most   bool    // most rows had a part in the newest threshold: a floor does not pay
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

// keepsAll reports whether there is no floor worth having.
func (t *trail) keepsAll() bool { return t.most || math.IsInf(float64(t.floor()), -1) }

// add notes the edge of a threshold, and whether most of the population's rows have a part in it.
func (t *trail) add(edge float64, most bool) {
	t.most = most
	switch change := math.Abs(edge - t.edge); {
	case edge-edge != 0: // infinite: all rows matter
		*t = trail{guess: t.guess, most: most}
		return
	case t.known == 0:
		t.known = 1
	default:
		t.known = 2
		t.margin = max(trailDecay*t.margin, trailWidth*change)
	}
	t.edge = edge
}
