package certified

import (
	"math"
	"slices"

	"toptau/internal/core/certified/smoothed"
)

const (
	// tieParts is the part of a sample that rows with one score may be. Chosen by hand.
	tieParts = 20

	// levelCuts is the number of bins in which the level is guessed, and levelScans the number of questions that
	// improve it, which cost no pass if the source keeps scores. A level that is not exact costs only speed.
	levelCuts  = 256
	levelScans = 8

	// binsOfWidth is the number of bins in the width of a smoothed hinge from which a level is taken from them. Chosen by hand.
	binsOfWidth = 16
)

// findLevel sets the threshold of the smoothed problem, and returns rows near its corner. Rows that share a score with many others
// have a sample of their own, or they would crowd out the others.
func (d *descent) findLevel(e *smoothedPoint) ([]smoothed.Row, error) {
	at, width := e.evaluation.at, e.Hinge.Width
	level, err := d.level(e)
	if err != nil {
		return nil, err
	}
	request := e.pieces(e.Hinge, level)
	request.Moments = true
	band := Want{Low: level - width, High: level + width, Order: Spread, Limit: curvatureRows}
	if e.Hinge.Square {
		band.Low, band.High = level, math.Inf(1)
	}
	ties, err := d.tiesIn(e, &band)
	if err != nil {
		return nil, err
	}
	answers, err := d.eval.ask(Query{At: at, Population: request}, Query{At: at, Population: Request{Want: without(band, ties)}},
		Query{At: at, Population: Request{Want: only(band, ties)}})
	if err != nil {
		return nil, err
	}
	e.setLevel(level, e.Hinge.Pieces(), &sumsBetween{level, 1, request.Groups, nil, cellsOf(&answers[0].Population, 1)})
	return append(sampleOf(&answers[1].Population), sampleOf(&answers[2].Population)...), nil
}

// findLoss sets the loss of the smoothed problem, and returns rows near its corner.
func (d *descent) findLoss(e *smoothedPoint) ([]smoothed.Row, error) {
	at, width, corner := e.evaluation.at, e.Loss.Width, 1+e.Top
	request := Request{Cuts: []float64{math.Inf(-1)}, Inside: true, Origin: corner, Moments: true}
	for k := range e.Loss.Ends() {
		request.Cuts = append(request.Cuts, corner-e.Loss.Ends()[len(e.Loss.Ends())-1-k])
	}
	request.Groups = request.Cuts
	near := Want{Low: corner - width, High: corner + width, Order: Spread, Limit: curvatureRows}
	if e.Loss.Square {
		near.Low = math.Inf(-1)
	}
	answers, err := d.eval.ask(Query{At: at, Positives: request}, Query{At: at, Positives: Request{Want: []Want{near}}})
	if err != nil {
		return nil, err
	}
	ends := slices.Clone(request.Groups)
	slices.Reverse(ends)
	e.setLoss(e.Loss.Pieces(), &sumsBetween{corner, -1, ends, nil, cellsOf(&answers[0].Positives, -1)})
	return sampleOf(&answers[1].Positives), nil
}

// tiesIn returns the scores in the interval of a Want that very many rows share: they would fill a sample.
func (d *descent) tiesIn(e *smoothedPoint, want *Want) (ties []float64, err error) {
	if d.shape.Population.Rows < curvatureRows {
		return nil, nil
	}
	if !d.shape.KeepsScores {
		// Bins that are at hand show most ties; finer ones would cost passes.
	} else if err := d.eval.divide(&e.evaluation, true, interval{want.Low, want.High}, d.shape.Population.Rows/tieParts); err != nil {
		return nil, err
	}
	for _, b := range e.pop {
		if b.Low == b.High && b.Low >= want.Low && b.Low <= want.High && b.Rows > curvatureRows/tieParts {
			ties = append(ties, b.Low)
		}
	}
	return ties, nil
}

// only returns Wants for the ties of an interval, which share its limit.
func only(all Want, ties []float64) (list []Want) {
	for _, tie := range ties {
		part := all
		part.Low, part.High, part.Limit = tie, tie, max(1, all.Limit/len(ties))
		list = append(list, part)
	}
	return list
}

// level returns the level of the smoothed threshold.
func (d *descent) level(e *smoothedPoint) (float64, error) {
	at := e.evaluation.at
	switch {
	case d.shape.KeepsScores:
	case e.Hinge.Square:
		return e.squaredLevel(), nil
	case e.pop.finestAt(e.edge) < float64(e.Hinge.Width/binsOfWidth):
		return e.levelFrom(e.pop), nil // a guess, where an exact one would cost passes
	}
	zone := Bin{Low: e.edge - e.Hinge.Width, High: e.edge + e.Hinge.Width}
	request := Request{Inside: true}
	if zone.Low < zone.High {
		request.Cuts = zone.cutsInside(levelCuts)
	}
	if e.Hinge.Square {
		request.Cuts = nil
		for _, b := range e.pop {
			request.Cuts = append(request.Cuts, b.Low)
		}
	}
	request.Cuts = append(request.Cuts, math.Inf(1)) // rows below do not matter
	answers, err := d.eval.ask(Query{At: at, Population: request})
	if err != nil {
		return 0, err
	}
	level := e.levelFrom(newHistogram(answers[0].Population.Bins))
	scans := levelScans
	if !d.shape.KeepsScores {
		scans = 0
	}
	for range scans {
		request := e.pieces(e.Hinge, level)
		request.Groups = nil
		if answers, err = d.eval.ask(Query{At: at, Population: request}); err != nil {
			return 0, err
		}
		better, good := e.RefineLevel(level, cellsOf(&answers[0].Population, 1))
		if good {
			break
		}
		level = better
	}
	return level, nil
}
