package certified

import (
	"math"
	"slices"

	"toptau/internal/certified/form"
	"toptau/internal/certified/smoothed"
	"toptau/internal/matrix"
	"toptau/method"
)

// expectation tells where the edge of a point is expected before a source is asked, from the scores of a sample. It saves questions to
// sources where each of them costs a pass: the cuts of the first one are already fine where it matters. Answers are bounds whatever
// was expected.
type expectation struct {
	parts []*matrix.ClassRows // of the population
	z, m  []float64           // scratch: scores, and weights
	form  form.Form           // with the sample's mass on top

	known         bool // a point was answered:
	last, sampled corners
}

// corners are where the hinges of a point have theirs: the edge of the threshold's band, and the threshold.
type corners struct{ edge, t float64 }

// edgeDeviations is the error of a sample's edge that is allowed for, in standard deviations. edgeOfStep is the part of the change of the
// sample's edge from one point to the next that the change on all rows may differ by. Chosen by hand.
const (
	edgeDeviations = 3
	edgeOfStep     = .2
)

// newExpectation returns the expectation for a population from a sample.
func newExpectation(x *matrix.Matrix, population method.Population, f form.Form, shape Shape) *expectation {
	e := &expectation{parts: []*matrix.ClassRows{x.Negatives}, form: f}
	if population == method.AllRows {
		e.parts = append(e.parts, x.Positives)
	}
	mass := 0.0
	for _, part := range e.parts {
		for i := range part.Rows() {
			m := 1.0
			if w := part.Weights(); w != nil {
				m = w[i]
			}
			e.m, mass = append(e.m, m), mass+m
		}
	}
	e.z = make([]float64, len(e.m))
	if mass == 0 {
		return nil
	}
	e.form.Kappa *= mass / shape.Population.Mass
	return e
}

// onSample is what the sample tells about a point.
type onSample struct {
	corners
	noise     float64 // of the edge
	low, high float64 // the lowest and the highest score
}

// at scores the sample.
func (e *expectation) at(w []float64) (o onSample) {
	first := 0
	for _, part := range e.parts {
		part.Scores(w, e.z[first:first+part.Rows()])
		first += part.Rows()
	}
	thresholdOf := func(kappa float64) (c corners) {
		f := e.form
		f.Kappa = math.Max(math.Min(1, e.form.Kappa), math.Min(kappa, float64(len(e.z))))
		c.t, c.edge, _ = f.Threshold(e.z, e.m, nil)
		return c
	}
	k := e.form.Kappa
	spread := float64(edgeDeviations * math.Sqrt(math.Max(1, k)))
	o.corners = thresholdOf(k)
	o.noise = math.Max(thresholdOf(k-spread).edge-o.edge, o.edge-thresholdOf(k+spread).edge)
	o.low, o.high = slices.Min(e.z), slices.Max(e.z)
	return o
}

// on returns what to expect on all rows, with the error, of a number that is now on the sample. before and was are those of the last
// point on the sample and on all rows: the numbers of neighbouring points change by about as much on all rows as on the sample.
func (e *expectation) on(now, before, was, noise float64) (expected, off float64) {
	step := now - before
	if byStep := math.Abs(step) * edgeOfStep; e.known && byStep < noise {
		return was + step, byStep
	}
	return now, noise
}

// cuts returns about count cuts: most of them where the edge is expected, the others over all scores.
func (e *expectation) cuts(w []float64, count int) []float64 {
	o := e.at(w)
	if !(o.high > o.low) || !isFinite(o.edge) {
		return nil
	}
	centre, noise := e.on(o.edge, e.sampled.edge, e.last.edge, o.noise)
	reach := noise
	if !(reach > 0) {
		reach = 1e-6 * (o.high - o.low)
	}
	near := Bin{Low: centre - reach, High: centre + reach}
	far := Bin{Low: o.low, High: o.high}
	cuts := append(near.cutsInside(count-count/4), far.cutsInside(count/4)...)
	return ascending(cuts)
}

// The threshold's error is that of the edge times thresholdNoise: about what it is for scores whose tail falls exponentially. The
// corner of a smoothed hinge is looked for leastReach widths around where it is expected, or more. Chosen by hand.
const (
	thresholdNoise = 1.5
	leastReach     = .5
)

// zones returns where the corners of the hinges of both classes are expected, smoothed over a width, and the range of the sample's
// scores.
func (e *expectation) zones(w []float64, width float64) (positives, population zone, all Bin) {
	o := e.at(w)
	edge, noise := e.on(o.edge, e.sampled.edge, e.last.edge, o.noise)
	level := smoothed.New(e.form, w, width, 1).GuessLevel(o.edge, e.z, e.m)
	t, noiseOfT := e.on(o.t, e.sampled.t, e.last.t, thresholdNoise*o.noise)
	least := float64(leastReach * width)
	population = zone{centre: edge + (level - o.edge), reach: math.Max(noise, least), width: width, corner: edge, off: noise}
	positives = zone{centre: 1 + t, reach: math.Max(noiseOfT, least), width: width, corner: 1 + t, off: noiseOfT}
	return positives, population, Bin{Low: o.low, High: o.high}
}

// learn keeps the corners of a point that was answered.
func (e *expectation) learn(w []float64, found corners) {
	e.sampled, e.last, e.known = e.at(w).corners, found, true
}
