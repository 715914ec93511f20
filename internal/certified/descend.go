package certified

import (
	"math"
	"slices"

	"toptau/internal/certified/linalg"
	"toptau/internal/certified/smoothed"
)

// smoothedPoint is the smoothed problem at a point, with the true one there.
type smoothedPoint struct {
	*smoothed.Evaluation
	evaluation
	positives, population []Group   // the pieces of the smoothed hinges, as groups with linear multipliers
	p, a                  []float64 // their sums
}

// The widths are relative to F(0), which is about the size of the scores' range that matters. These numbers
// were chosen by hand on simulated data of up to 5 million rows; they decide the speed, since every bound
// holds for any width.
const (
	firstWidth = .05   // a good part of the rows is on a smoothed corner
	leastWidth = 1e-10 // below it the smoothed problem is the true one up to rounding
	mostWidth  = 10    // above it widening does not help

	// curvatureRows is the number of sampled rows of a class for the second derivative. The error of a
	// sampled Hessian falls with its root.
	curvatureRows = 20_000

	// tieParts is the part of a sample that rows with one score may be. Chosen by hand.
	tieParts = 20

	// levelCuts is the number of bins in which the level is guessed, and levelScans the number of questions that
	// improve it, which cost no pass if the source keeps scores. A level that is not exact costs only speed.
	levelCuts  = 256
	levelScans = 8

	// rowsPerColumn is the number of rows on smoothed corners, for each column, below which their second
	// derivative means nothing. The start must have twice as many.
	rowsPerColumn = 4

	// binsOfWidth is the number of bins in the width of a smoothed hinge from which a level is taken from them. Chosen by hand.
	binsOfWidth = 16

	descentSteps = 60 // at most
	patience     = 4  // steps within which the gap or the residual must halve
	// or the value must fall by leastFall of the gap
	leastFall = 1e-2
	// leastNarrowed is the number of times rowsPerColumn that must be left on corners for narrower hinges to be worth their passes,
	// if the rows on corners can be held instead. Chosen by hand.
	leastNarrowed = 4
	// gapOfRows is the gap of the decrease below which a restricted problem is solved rather than hinges widened.
	gapOfRows = .5
)

// How the width changes. Where the residual of the gradient is below the part of the gap that is due to the
// width, that part must shrink. It falls with the square of the width, so a width factor of the root of what
// is wanted over what there is would do. A quarter of the target is aimed at, and the factor is kept in a
// range in which Newton's method still converges.
//
// Newton's method that stalls is too far from the smoothed minimum, and gets wider hinges. Without that,
// detectors (2 million rows, TopMean-NP 1 %) needed 300 systems of the restricted problem.
const (
	widening           = 3
	stalledWidening    = 10
	mostWidenings      = 2
	gapOfWidth         = .25
	narrowest, widest  = .1, .5
	sufficientDecrease = 1e-4  // Armijo's constant (Nocedal and Wright, 3.1)
	valueNoise         = 1e-12 // relative rounding error of a value
	slopeRisen         = .5    // part of the slope that may be left (Wolfe's second constant)
	shortening         = .3    // of the bracket of a step that did not lower the value
	mostShortenings    = 10
)

// descend minimises the smoothed problem by Newton's method, and narrows the hinges as far as the gap needs.
// It ends when the solve is done, when steps bring little, or when too few rows are on smoothed corners. It
// returns the last point.
func (s *solver) descend(from start) (start, error) {
	now, err := s.widen(&from)
	if err != nil {
		return from, err
	}
	gaps, residuals, widened := []float64{math.Inf(1)}, []float64{math.Inf(1)}, 0
	var values []float64 // of the smoothed problem, with the present width
	for range descentSteps {
		from.at = now.evaluation.at
		residual, ofWidth := s.acceptSmoothed(now)
		gaps = append(gaps, s.upper-s.lower)
		residuals, values = append(residuals, residual), append(values, now.Value)
		if s.report(); s.done() || s.limitReached() || now.Smooth() < rowsPerColumn*len(now.W) {
			return from, nil
		}
		// Rows on corners that are few enough can be held, once the bounds mean something.
		holdable := now.Smooth() <= s.limits.near && s.upper-s.lower < gapOfRows*(s.atZero-s.lower)
		if hasStalled(gaps) && (holdable || hasStalled(residuals) && !(fallOf(values) > leastFall*(s.upper-s.lower))) {
			// Else it is too far from the smoothed minimum for hinges this narrow.
			if holdable || !(residual > ofWidth) || widened == mostWidenings {
				return from, nil
			}
			widened++
			from.width *= stalledWidening
			gaps, residuals, values = gaps[:1], residuals[:1], nil
			if now, err = s.evaluateSmoothed(from.at, from.width); err != nil {
				return from, err
			}
			continue
		}
		// Narrow the hinges when the width costs the bound more than the gradient does.
		width := from.width
		if residual < ofWidth {
			factor := math.Max(narrowest, math.Min(widest, math.Sqrt(gapOfWidth*s.target()/ofWidth)))
			if !s.shape.KeepsScores && holdable && float64(now.Smooth())*factor < float64(leastNarrowed*rowsPerColumn*len(now.W)) {
				return from, nil
			}
			width = math.Max(leastWidth*s.atZero, width*factor)
		}
		if width < from.width {
			residuals, values = residuals[:1], nil
		}
		before := now
		if now, err = s.stepSmoothed(now, &from.width, width); err != nil || now == before {
			return from, err
		}
	}
	return from, nil
}

// widen evaluates the start, with hinges wide enough for a second derivative.
func (s *solver) widen(from *start) (*smoothedPoint, error) {
	for {
		e, err := s.evaluateSmoothed(from.at, from.width)
		if err != nil {
			return nil, err
		}
		if e.Smooth() >= 2*rowsPerColumn*len(e.W) || from.width > mostWidth*s.atZero {
			return e, nil
		}
		from.width *= widening
	}
}

// evaluateSmoothed evaluates the problem at a point, and the same with every hinge smoothed over a width.
func (s *solver) evaluateSmoothed(at *Point, width float64) (*smoothedPoint, error) {
	if s.expected != nil {
		if e, err := s.evaluateAtOnce(at, width); e != nil || err != nil {
			return e, err
		}
	}
	points, err := s.evaluate(0, at)
	if err != nil {
		return nil, err
	}
	e := &smoothedPoint{evaluation: points[0], Evaluation: smoothed.New(s.form, at.W, width, s.shape.Positives.Mass)}
	// The threshold, then the loss, whose corner depends on it.
	population, err := s.askLevel(e)
	if err != nil {
		return nil, err
	}
	positives, err := s.askLoss(e)
	if err != nil {
		return nil, err
	}
	e.SetSamples(positives, population)
	return e, nil
}

// askLevel sets the threshold of the smoothed problem, and returns rows near its corner. Rows that share a score with many others
// have a sample of their own, or they would crowd out the others.
func (s *solver) askLevel(e *smoothedPoint) ([]smoothed.Row, error) {
	at, width := e.evaluation.at, e.Hinge.Width
	level, err := s.level(e)
	if err != nil {
		return nil, err
	}
	request := e.pieces(e.Hinge, level)
	request.Moments = true
	band := Want{Low: level - width, High: level + width, Order: Spread, Limit: curvatureRows}
	if e.Hinge.Square {
		band.Low, band.High = level, math.Inf(1)
	}
	ties, err := s.tiesIn(e, &band)
	if err != nil {
		return nil, err
	}
	answers, err := s.ask(Query{At: at, Population: request}, Query{At: at, Population: Request{Want: without(band, ties)}},
		Query{At: at, Population: Request{Want: only(band, ties)}})
	if err != nil {
		return nil, err
	}
	e.setLevel(level, e.Hinge.Pieces(), &sumsBetween{level, 1, request.Groups, nil, cellsOf(&answers[0].Population, 1)})
	return append(sampleOf(&answers[1].Population), sampleOf(&answers[2].Population)...), nil
}

// askLoss sets the loss of the smoothed problem, and returns rows near its corner.
func (s *solver) askLoss(e *smoothedPoint) ([]smoothed.Row, error) {
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
	answers, err := s.ask(Query{At: at, Positives: request}, Query{At: at, Positives: Request{Want: []Want{near}}})
	if err != nil {
		return nil, err
	}
	ends := slices.Clone(request.Groups)
	slices.Reverse(ends)
	e.setLoss(e.Loss.Pieces(), &sumsBetween{corner, -1, ends, nil, cellsOf(&answers[0].Positives, -1)})
	return sampleOf(&answers[1].Positives), nil
}

// setLevel sets the threshold from the sums on the pieces of its hinge, and its multipliers.
func (e *smoothedPoint) setLevel(level float64, pieces []smoothed.Piece, sums *sumsBetween) {
	e.SetLevel(level, sums.cells, pieces)
	e.population, e.a = e.linear(e.Hinge, pieces, sums, 1/e.U)
}

// setLoss does the same for the loss.
func (e *smoothedPoint) setLoss(pieces []smoothed.Piece, sums *sumsBetween) {
	e.SetLoss(sums.cells, pieces)
	e.positives, e.p = e.linear(e.Loss, pieces, sums, 1/e.Mass)
}

// tiesIn returns the scores in the interval of a Want that very many rows share: they would fill a sample.
func (s *solver) tiesIn(e *smoothedPoint, want *Want) (ties []float64, err error) {
	if s.shape.Population.Rows < curvatureRows {
		return nil, nil
	}
	if !s.shape.KeepsScores {
		// Bins that are at hand show most ties; finer ones would cost passes.
	} else if err := s.divide(&e.evaluation, true, interval{want.Low, want.High}, s.shape.Population.Rows/tieParts); err != nil {
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
func (s *solver) level(e *smoothedPoint) (float64, error) {
	at := e.evaluation.at
	switch {
	case s.shape.KeepsScores:
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
	answers, err := s.ask(Query{At: at, Population: request})
	if err != nil {
		return 0, err
	}
	level := e.levelFrom(newHistogram(answers[0].Population.Bins))
	scans := levelScans
	if !s.shape.KeepsScores {
		scans = 0
	}
	for range scans {
		request := e.pieces(e.Hinge, level)
		request.Groups = nil
		if answers, err = s.ask(Query{At: at, Population: request}); err != nil {
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

// squaredLevel returns the level of a squared hinge, which has no corner to smooth, as far as the bounds show it.
func (e *smoothedPoint) squaredLevel() float64 {
	e.Off = e.f - e.fLow
	return e.edge
}

// levelFrom guesses the level from bins.
func (e *smoothedPoint) levelFrom(bins histogram) float64 {
	var scores, weights []float64
	for _, b := range bins {
		scores, weights = append(scores, b.mean()), append(weights, b.Mass)
	}
	return e.GuessLevel(e.edge, scores, weights)
}

// pieces asks for sums over the pieces of a hinge at a level.
func (e *smoothedPoint) pieces(h smoothed.Hinge, level float64) Request {
	r := Request{Inside: true, Origin: level}
	for _, end := range h.Ends() {
		r.Cuts = append(r.Cuts, level+end)
	}
	r.Cuts = append(r.Cuts, math.Inf(1))
	r.Groups = r.Cuts
	return r
}

// cellsOf returns the cells of an answer about pieces, in ascending order of z: the scores less the origin, or
// with sign -1 the origin less the scores.
func cellsOf(a *ClassAnswer, sign float64) []smoothed.Cell {
	bins := a.Bins[1 : len(a.Bins)-1]
	if sign < 0 {
		bins = slices.Clone(bins)
		slices.Reverse(bins)
	}
	cells := make([]smoothed.Cell, len(bins))
	for k, b := range bins {
		cells[k] = smoothed.Cell{Mass: b.Mass, Score: sign * b.Score, Square: b.Square}
		if len(a.Groups) == 0 {
			continue
		}
		sum := a.Groups[k]
		if sign < 0 {
			sum = a.Groups[len(bins)-1-k]
		}
		cells[k].Features, cells[k].Moment = sum.Features, sum.Moment
		if sign < 0 {
			cells[k].Moment = make([]float64, len(sum.Moment))
			linalg.Axpy(-1, sum.Moment, cells[k].Moment)
		}
	}
	return cells
}

// linear returns the pieces of a hinge as groups with the linear multipliers m scale (rate + slope z), and their sums.
func (e *smoothedPoint) linear(h smoothed.Hinge, pieces []smoothed.Piece, on *sumsBetween, scale float64) (groups []Group, values []float64) {
	for k, p := range pieces {
		c := &on.cells[k]
		value := scale * c.Slopes(p)
		if !(value > 0) {
			continue
		}
		// As one row it has the multiplier value. So its features are those of the members in proportion to their
		// multipliers, and its mass is such that the largest rate, or the sum of squares, is that of the members.
		mean := make([]float64, len(c.Features))
		c.AddGradient(p, scale/value, mean)
		mass := value / scale
		if h.Square {
			mass *= mass / c.Squares(p)
		}
		low, high := on.ends[k], on.ends[k+1]
		if on.sign < 0 {
			low, high = high, low
		}
		groups = append(groups, Group{Mass: mass, Mean: mean, At: e.evaluation.at, Low: low, High: high,
			Rate: scale * p.Rate / value, Slope: on.sign * scale * p.Slope / value, Origin: on.origin})
		values = append(values, value)
	}
	return groups, values
}

// sampleOf returns the rows of an answer to some Wants.
func sampleOf(a *ClassAnswer) (rows []smoothed.Row) {
	for k, list := range a.Rows {
		stands := float64(a.Count[k]) / math.Max(1, float64(len(list)))
		for _, r := range list {
			rows = append(rows, smoothed.Row{Score: r.Score, Weight: r.Weight, Stands: stands, Features: r.Features})
		}
	}
	return rows
}

// hasStalled reports whether the last steps have not halved the gap.
func hasStalled(gaps []float64) bool {
	last := len(gaps) - 1
	return last >= patience && gaps[last] > gaps[last-patience]/2
}

// fallOf returns by how much the last steps have lowered the value; +Inf: there were fewer.
func fallOf(values []float64) float64 {
	last := len(values) - 1
	if last < patience {
		return math.Inf(1)
	}
	return values[last-patience] - values[last]
}

// acceptSmoothed keeps the point and its bound if they are the best so far. It returns the two parts of the
// gap below the best value: what the gradient costs, and the rest, which is due to the width.
func (s *solver) acceptSmoothed(e *smoothedPoint) (residual, ofWidth float64) {
	s.rounds++
	s.accept(e.evaluation)
	bound := s.acceptSmoothBound(e)
	residual = e.Residual(s.form.Ball(e.W))
	return residual, s.upper - bound - residual
}

// stepSmoothed takes one Newton step and evaluates the new point with hinges of a new width, which it sets.
// Narrower hinges have smaller values, so a fall with them is no weaker a condition. A step that does not lower the
// value enough is shortened, by a search for a point where the slope along the step has risen (Wolfe's conditions). Very
// many rows may come onto a corner at once, and the next step must see them there. It returns the old point if no
// step helps.
func (s *solver) stepSmoothed(now *smoothedPoint, width *float64, narrower float64) (*smoothedPoint, error) {
	nearLoss, nearBand := now.Losses.Rows, now.Band.Rows
	step := now.NewtonStep(s.pos.Shift)
	s.systems++
	slope := linalg.Dot(now.Gradient(), step)
	if !isFinite(slope) {
		return now, nil // the Hessian is too ill-conditioned for a step
	}
	noise := float64(valueNoise*math.Abs(now.Value)) + now.Off
	shrink := s.upper == s.atZero && narrower < *width
	guess := shortening // where to look on a step that does not lower the value
	if s.expected != nil && !shrink {
		model := s.newLineModel(now, nearLoss, nearBand, step)
		length := model.stepLength(slope, *width, narrower)
		if model.believed(*width, narrower, len(step)) {
			slope *= length
			for j := range step {
				step[j] *= length
			}
		} else if length < 1 {
			guess = length
		}
	}
	w := slices.Clone(now.W)
	linalg.Axpy(1, step, w)
	if shrink {
		// Where w = 0 is optimal, nothing but the width sets a scale: the smoothed minimiser shrinks with it.
		for j := range w {
			w[j] *= narrower / *width
		}
	}
	full := newPoint(w)
	first, err := s.evaluateSmoothed(full, narrower)
	if err != nil {
		return nil, err
	}
	noise += first.Off
	if first.Value <= now.Value+float64(sufficientDecrease*slope)+noise || shrink && first.Value <= now.Value-slope+noise {
		*width = narrower
		return first, nil
	}
	best := now
	low, high := 0.0, 1.0
	for range mostShortenings {
		alpha := low + float64((high-low)*guess)
		guess = shortening
		next, err := s.evaluateSmoothed(pointBetween(now.evaluation.at, full, alpha), *width)
		if err != nil {
			return nil, err
		}
		if next.Value > now.Value+float64(sufficientDecrease*alpha*slope)+noise || next.Value > best.Value+noise {
			high = alpha
			continue
		}
		best, low = next, alpha
		if linalg.Dot(next.Gradient(), step) >= slopeRisen*slope {
			break
		}
	}
	return best, nil
}
