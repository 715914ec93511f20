package certified

import (
	"math"
	"slices"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/certified/smoothed"
	"toptau/internal/core/matrix"
	"toptau/method"
)

// expectation tells where the edge of a point is expected before a source is asked, from the scores of a sample. It saves questions to
// sources where each of them costs a pass: the cuts of the first one are already fine where it matters. Answers are bounds whatever
// was expected.
type expectation struct {
	population, positives classSample
	form                  form.Form // with the sample's mass on top
	unit                  float64   // the mean weight of a row

	known         bool // a point was answered:
	last, sampled corners
}

// classSample is the rows of a class in the sample.
type classSample struct {
	parts []*matrix.ClassRows
	m     []float64 // weights
	z     []float64 // scratch: scores
}

// corners are where the hinges of a point have theirs: the edge of the threshold's band, and the threshold.
type corners struct{ edge, t float64 }

// zone is where the corner of a hinge is expected among the scores of a class.
type zone struct {
	centre, reach, width float64   // of the smoothed hinge: it is at most reach from the centre
	noise                float64   // how far the true one may be from the centre
	cuts                 []float64 // for the true one, and over all scores
}

const (
	// knotsOfWidth is the number of knots in the width of a hinge, and maxKnots that in a zone. With minKnots in a width, hinges
	// between knots cost the bound about an eighth more than smooth ones: the part is 2/minKnots^2.
	knotsOfWidth = 32
	minKnots     = 4
	maxKnots     = 256
)

// knots returns scores between which the corner is expected.
func (z zone) knots() []float64 {
	reach := z.reach + float64(z.width/2)
	count := math.Ceil(2 * reach / z.width * knotsOfWidth)
	near := Bin{Low: z.centre - reach, High: z.centre + reach}
	return near.cutsInside(int(math.Min(maxKnots, count)))
}

// request asks for the sums over the intervals between ends, which are knots and an infinite one.
func (z zone) request(ends []float64) Request {
	finite := slices.DeleteFunc(slices.Clone(ends), func(x float64) bool { return math.IsInf(x, 0) })
	return Request{Groups: ends, Moments: true, Origin: z.centre, Cuts: ascending(append(finite, z.cuts...))}
}

// rowsWanted requests rows of the zone, for the second derivative.
func (z zone) rowsWanted(h smoothed.Hinge, sign float64) Want {
	w := Want{Low: z.centre - z.width, High: z.centre + z.width, Order: Spread, Limit: curvatureRows}
	switch {
	case h.Square && sign > 0: // it is not smoothed
		w.Low, w.High = z.centre-z.noise, math.Inf(1)
	case h.Square:
		w.Low, w.High = math.Inf(-1), z.centre+z.noise
	}
	return w
}

// edgeDeviations is the error of a sample's edge that is allowed for, in standard deviations. edgeOfStep is the part of the change of the
// sample's edge from one point to the next that the change on all rows may differ by. Chosen by hand.
const (
	edgeDeviations = 3
	edgeOfStep     = .2
)

// newExpectation returns the expectation for a population from a sample.
func newExpectation(x *matrix.Matrix, population method.Population, f form.Form, shape Shape) *expectation {
	e := &expectation{population: newClassSample(x.Negatives), positives: newClassSample(x.Positives), form: f}
	if population == method.AllRows {
		e.population = newClassSample(x.Negatives, x.Positives)
	}
	mass := linalg.Sum(e.population.m)
	if mass == 0 {
		return nil
	}
	e.form.Kappa *= mass / shape.Population.Mass
	e.unit = shape.Population.Mass / float64(shape.Population.Rows)
	return e
}

func newClassSample(parts ...*matrix.ClassRows) (c classSample) {
	for _, part := range parts {
		if part.Rows() == 0 {
			continue
		}
		c.parts = append(c.parts, part)
		for i := range part.Rows() {
			m := 1.0
			if w := part.Weights(); w != nil {
				m = w[i]
			}
			c.m = append(c.m, m)
		}
	}
	c.z = make([]float64, len(c.m))
	return c
}

// score computes the scores at w.
func (c *classSample) score(w []float64) {
	first := 0
	for _, part := range c.parts {
		part.Scores(w, c.z[first:first+part.Rows()])
		first += part.Rows()
	}
}

// cuts returns scores that divide the rows of the sample into about count parts of equal size, and as many that divide those from a
// score on. A score that a whole part has is an interval of its own.
func (c *classSample) cuts(from float64, count int) (list []float64) {
	z := slices.Sorted(slices.Values(c.z))
	above, _ := slices.BinarySearch(z, from)
	for _, part := range [][]float64{z, z[above:]} {
		for k := range min(count, len(part)) {
			x := part[len(part)*k/count]
			if n := len(list); n > 0 && list[n-1] == x {
				x = math.Nextafter(x, math.Inf(1))
			}
			list = append(list, x)
		}
	}
	return list
}

// onSample is what the sample tells about a point.
type onSample struct {
	corners
	noise float64 // of the edge
}

// at scores the sample. It reports whether the scores are of use: finite, and not all equal.
func (e *expectation) at(w []float64) (o onSample, useful bool) {
	e.population.score(w)
	e.positives.score(w)
	z, m := e.population.z, e.population.m
	thresholdOf := func(kappa float64) (c corners) {
		f := e.form
		f.Kappa = math.Max(math.Min(e.unit, e.form.Kappa), math.Min(kappa, e.unit*float64(len(z))))
		c.t, c.edge, _ = f.Threshold(z, m, nil)
		return c
	}
	k := e.form.Kappa
	spread := float64(edgeDeviations * e.unit * math.Sqrt(math.Max(1, k/e.unit)))
	o.corners = thresholdOf(k)
	o.noise = math.Max(thresholdOf(k-spread).edge-o.edge, o.edge-thresholdOf(k+spread).edge)
	low, high := slices.Min(z), slices.Max(z)
	o.noise = math.Max(o.noise, minNoise*(high-low))
	return o, high > low && isFinite(o.edge)
}

// onAllRows returns the number to expect on all rows, with its error, where the sample has now. before and was are the numbers of the last
// point on the sample and on all rows: the numbers of neighbouring points change by about as much on all rows as on the sample.
func (e *expectation) onAllRows(now, before, was, noise float64) (expected, off float64) {
	step := now - before
	if byStep := math.Abs(step) * edgeOfStep; e.known && byStep < noise {
		return was + step, byStep
	}
	return now, noise
}

// farCuts is half the number of intervals into which a class is divided by the sample, for the ends of groups. nearCuts is that about
// a corner, and smoothedCuts is it in a question that asks for features, too. Chosen by hand.
const (
	farCuts      = 256
	nearCuts     = 3072
	smoothedCuts = 1024
)

// cuts returns cuts for both classes: most of them where the corners are expected, the others over all scores.
func (e *expectation) cuts(w []float64) (positives, population []float64) {
	o, useful := e.at(w)
	if !useful {
		return nil, nil
	}
	pos, pop := e.zonesAround(&o, nearCuts)
	return pos.cuts, pop.cuts
}

// thresholdNoise is the error of the threshold in units of that of the edge: about what it is for scores whose tail falls
// exponentially. minNoise is the smallest error, as a part of the range of the scores. Chosen by hand.
const (
	thresholdNoise = 1.5
	minNoise       = 1e-6
)

// zonesAround returns where the corners of both classes are expected on all rows: the positives' hinge has its corner at 1 + t, that of
// the population at the edge. Each zone has near cuts between its ends and others over all scores of the sample.
func (e *expectation) zonesAround(o *onSample, near int) (positives, population zone) {
	edge, edgeError := e.onAllRows(o.edge, e.sampled.edge, e.last.edge, o.noise)
	t, errorOfT := e.onAllRows(o.t, e.sampled.t, e.last.t, thresholdNoise*o.noise)
	zoneOf := func(c *classSample, corner, off float64) zone {
		ends := Bin{Low: corner - off, High: corner + off}
		return zone{centre: corner, noise: off, reach: off, cuts: ascending(append(c.cuts(corner, farCuts), ends.cutsInside(near)...))}
	}
	return zoneOf(&e.positives, 1+t, errorOfT), zoneOf(&e.population, edge, edgeError)
}

// zones is zonesAround for hinges that are smoothed over a width.
func (e *expectation) zones(w []float64, width float64) (positives, population zone, useful bool) {
	o, useful := e.at(w)
	if !useful {
		return positives, population, false
	}
	positives, population = e.zonesAround(&o, smoothedCuts)
	level := smoothed.New(e.form, w, width, 1).GuessLevel(o.edge, e.population.z, e.population.m)
	population.centre += level - o.edge
	for _, z := range []*zone{&positives, &population} {
		z.width, z.reach = width, math.Max(z.reach, minReach*width)
	}
	return positives, population, isFinite(population.centre)
}

// minReach is the number of widths around its expected place in which the corner of a smoothed hinge is looked for, or more.
// Chosen by hand.
const minReach = .5

// learn keeps the corners of a point that was answered.
func (e *expectation) learn(w []float64, found corners) {
	if o, useful := e.at(w); useful {
		e.sampled, e.last, e.known = o.corners, found, true
	}
}
