package certified

import (
	"math"
	"slices"

	"toptau/internal/certified/form"
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

	width float64 // of the smoothed hinges of the next question; 0: none

	known            bool    // a point was answered:
	edge, sampleEdge float64 // its edge, and that on the sample
}

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

// at returns the edge on the sample, with its error, and the lowest and the highest score.
func (e *expectation) at(w []float64) (edge, noise, low, high float64) {
	first := 0
	for _, part := range e.parts {
		part.Scores(w, e.z[first:first+part.Rows()])
		first += part.Rows()
	}
	edgeOf := func(kappa float64) float64 {
		f := e.form
		f.Kappa = math.Max(math.Min(1, e.form.Kappa), math.Min(kappa, float64(len(e.z))))
		_, edge, _ := f.Threshold(e.z, e.m, nil)
		return edge
	}
	k := e.form.Kappa
	spread := float64(edgeDeviations * math.Sqrt(math.Max(1, k)))
	edge = edgeOf(k)
	return edge, math.Max(edgeOf(k-spread)-edge, edge-edgeOf(k+spread)), slices.Min(e.z), slices.Max(e.z)
}

// cuts returns about count cuts: most of them where the edge is expected, the others over all scores.
func (e *expectation) cuts(w []float64, count int) []float64 {
	edge, noise, low, high := e.at(w)
	if !(high > low) || !isFinite(edge) {
		return nil
	}
	centre := edge
	if e.known {
		// The edges of neighbouring points change by about as much on all rows as on the sample.
		step := edge - e.sampleEdge
		if byStep := math.Abs(step) * edgeOfStep; byStep < noise {
			centre, noise = e.edge+step, byStep
		}
	}
	reach := math.Max(noise, 2*e.width)
	if !(reach > 0) {
		reach = 1e-6 * (high - low)
	}
	near := Bin{Low: centre - reach, High: centre + reach}
	far := Bin{Low: low, High: high}
	cuts := append(near.cutsInside(count-count/4), far.cutsInside(count/4)...)
	return ascending(cuts)
}

// learn keeps the edge of a point that was answered.
func (e *expectation) learn(w []float64, edge float64) {
	e.sampleEdge, _, _, _ = e.at(w)
	e.edge, e.known = edge, true
}
