package certified

import (
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/certified/smoothed"
)

// lineModel is the smoothed problem along a step on some rows: those near the corners of the point, and the rest of a sample. Where each
// point costs a pass, it tells how far to go before a source is asked.
type lineModel struct {
	form                  form.Form
	mass                  float64 // of the positives
	positives, population lineRows
	penalty               [2]float64 // its slope at the point, and the change of that along the step
	onCorners             int        // rows of the sample that have a corner at the point
}

// lineRows is rows of a class: their scores at the point, their change along the step, and their weights.
type lineRows struct{ z, v, m []float64 }

// newLineModel returns the model of a step from a point whose rows near the corners are given.
func newLineModel(p *problem, sample *expectation, now *smoothedPoint, positives, population []smoothed.Row, step []float64) *lineModel {
	l := &lineModel{form: p.form, mass: p.shape.Positives.Mass}
	l.onCorners = l.population.add(population, &sample.population, now.W, step, func(z float64) bool {
		return now.Hinge.Curvature(z-now.Level) > 0
	}, p.shape.Population.Mass)
	l.onCorners += l.positives.add(positives, &sample.positives, now.W, step, func(z float64) bool {
		return now.Loss.Curvature(1+now.Top-z) > 0
	}, p.shape.Positives.Mass)
	l.penalty = [2]float64{p.form.Lambda * linalg.Dot(now.W, step), p.form.Lambda * square(step)}
	return l
}

// add adds a class: rows with a corner, of a number of all rows, and the rows of the sample without. It returns the number of rows of
// the sample with one.
func (r *lineRows) add(near []smoothed.Row, sample *classSample, w, step []float64, onCorner func(z float64) bool, mass float64) (with int) {
	x := make([]float64, len(w))
	left := mass
	for _, row := range near {
		row.Features(x)
		r.z, r.v, r.m = append(r.z, row.Score), append(r.v, linalg.Dot(x, step)), append(r.m, row.Stands*row.Weight)
		left -= float64(row.Stands * row.Weight)
	}
	first := len(r.z)
	sample.score(step)
	v := append([]float64(nil), sample.z...)
	sample.score(w)
	others := 0.0
	for i, z := range sample.z {
		if onCorner(z) {
			with++
			continue
		}
		r.z, r.v, r.m = append(r.z, z), append(r.v, v[i]), append(r.m, sample.m[i])
		others += sample.m[i]
	}
	for i := first; i < len(r.m); i++ {
		r.m[i] *= math.Max(left, 0) / others
	}
	return with
}

// at returns the scores at a part of the step.
func (r *lineRows) at(alpha float64) []float64 {
	z := make([]float64, len(r.z))
	for i := range z {
		z[i] = r.z[i] + float64(alpha*r.v[i])
	}
	return z
}

// cells sums the rows over the pieces of a hinge. The only feature of a row is its change along the step.
func (r *lineRows) cells(z []float64, h smoothed.Hinge, corner, sign float64) []smoothed.Cell {
	ends := h.Ends()
	cells := make([]smoothed.Cell, len(ends))
	for k := range cells {
		cells[k].Features, cells[k].Moment = make([]float64, 1), make([]float64, 1)
	}
	for i, score := range z {
		d := sign * (score - corner)
		k := len(ends) - 1
		for k >= 0 && d < ends[k] {
			k--
		}
		if k < 0 {
			continue
		}
		c, m := &cells[k], r.m[i]
		c.Mass += m
		c.Score += float64(m * d)
		c.Square += float64(m * d * d)
		c.Features[0] += float64(m * r.v[i])
		c.Moment[0] += float64(m * d * r.v[i])
	}
	return cells
}

// slope returns the slope of the value at a part of the step, for a width.
func (l *lineModel) slope(alpha, width float64) float64 {
	f := l.form
	f.Lambda = 0
	e := smoothed.New(f, []float64{alpha}, width, l.mass)
	z := l.population.at(alpha)
	_, edge, _ := f.Threshold(z, l.population.m, nil)
	level := edge
	if !e.Hinge.Square {
		level = e.GuessLevel(edge, z, l.population.m)
	}
	e.SetLevel(level, l.population.cells(z, e.Hinge, level, 1), e.Hinge.Pieces())
	e.SetLoss(l.positives.cells(l.positives.at(alpha), e.Loss, 1+e.Top, -1), e.Loss.Pieces())
	return e.Gradient()[0] + l.penalty[0] + float64(alpha*l.penalty[1])
}

// cornersPerColumn is the number of rows of the sample on corners, for each column, from which the model is believed before a full step
// was tried: rows that come onto a corner are those of the sample. With 79 and 28 columns it was right, with 15 it was not.
const cornersPerColumn = 2

// believed reports whether a step to hinges of a width need not be tried in full first.
func (l *lineModel) believed(width, narrower float64, columns int) bool {
	return float64(l.onCorners)*narrower >= width*float64(cornersPerColumn*columns)
}

// A step is full unless the slope at its end is more than overshoot times that at the point, with the other sign. Else it ends where
// the value is smallest, to lengthNoise of the length, but is at least minLength. Chosen by hand.
const (
	overshoot   = .5
	lengthNoise = .1
	minLength   = 1e-3
)

// stepLength returns the part of a step at which to look. The slope at the point is known, with the width there. The model is as far
// off everywhere as there.
func (l *lineModel) stepLength(slope, width, narrower float64) float64 {
	off := slope - l.slope(0, width)
	if l.slope(1, narrower)+off <= overshoot*math.Abs(slope) {
		return 1
	}
	low, high := minLength, 1.0
	for high > low*(1+lengthNoise) {
		if middle := math.Sqrt(low * high); l.slope(middle, narrower)+off > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}
