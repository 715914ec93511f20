package certified

import (
	"math"
	"slices"

	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/certified/smoothed"
)

// descent minimises the smoothed problem.
type descent struct {
	*state
	eval *evaluator
	last start      // where the descent ended; width 0: there was none
	end  evaluation // of that point; at nil: there was none
}

// The widths are relative to F(0), which is about the size of the scores' range that matters. These numbers
// were chosen by hand on simulated data of up to 5 million rows; they decide the speed, since every bound
// holds for any width.
const (
	firstWidth = .05   // a good part of the rows is on a smoothed corner
	minWidth   = 1e-10 // below it the smoothed problem is the true one up to rounding
	maxWidth   = 10    // above it widening does not help

	// rowsPerColumn is the number of rows on smoothed corners, for each column, below which their second
	// derivative means nothing. The start must have twice as many.
	rowsPerColumn = 4

	descentSteps = 60 // at most
	patience     = 4  // steps within which the gap or the residual must halve
	// or the value must fall by minFall of the gap
	minFall = 1e-2
	// minNarrowed is the number of times rowsPerColumn that must be left on corners for narrower hinges to be worth their passes,
	// if the rows on corners can be held instead. Chosen by hand.
	minNarrowed = 4
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
	maxWidenings       = 2
	gapOfWidth         = .25
	narrowest, widest  = .1, .5
	sufficientDecrease = 1e-4  // Armijo's constant (Nocedal and Wright, 3.1)
	valueNoise         = 1e-12 // relative rounding error of a value
	slopeRisen         = .5    // part of the slope that may be left (Wolfe's second constant)
	shortening         = .3    // of the bracket of a step that did not lower the value
	maxShortenings     = 10
)

// descend minimises the smoothed problem by Newton's method, and narrows the hinges as far as the gap needs.
// It ends when the solve is done, when steps bring little, or when too few rows are on smoothed corners. It
// returns the last point.
func (d *descent) descend(from start) (start, error) {
	now, err := d.widen(&from)
	if err != nil {
		return from, err
	}
	gaps, residuals, widened := []float64{math.Inf(1)}, []float64{math.Inf(1)}, 0
	var values []float64 // of the smoothed problem, with the present width
	for range descentSteps {
		from.at, d.end = now.evaluation.at, now.evaluation
		residual, ofWidth := d.acceptSmoothed(now)
		gaps = append(gaps, d.upper-d.lower)
		residuals, values = append(residuals, residual), append(values, now.Value)
		if d.report(); d.done() || d.limitReached() || now.Smooth() < rowsPerColumn*len(now.W) {
			return from, nil
		}
		if d.zeroSeemsOptimal() && d.rowsAreCheaper(gaps) {
			return from, nil
		}
		// Rows on corners that are few enough can be held, once the bounds mean something.
		holdable := now.Smooth() <= d.limits.near && d.upper-d.lower < gapOfRows*(d.atZero-d.lower)
		if hasStalled(gaps) && (holdable || hasStalled(residuals) && !(decrease(values) > minFall*(d.upper-d.lower))) {
			// Else it is too far from the smoothed minimum for hinges this narrow.
			if holdable || !(residual > ofWidth) || widened == maxWidenings {
				return from, nil
			}
			widened++
			from.width *= stalledWidening
			gaps, residuals, values = gaps[:1], residuals[:1], nil
			if now, err = d.evaluateSmoothed(from.at, from.width); err != nil {
				return from, err
			}
			continue
		}
		// Narrow the hinges when the width costs the bound more than the gradient does.
		width := from.width
		if residual < ofWidth {
			factor := math.Max(narrowest, math.Min(widest, math.Sqrt(gapOfWidth*d.target()/ofWidth)))
			if !d.shape.KeepsScores && holdable && float64(now.Smooth())*factor < float64(minNarrowed*rowsPerColumn*len(now.W)) {
				return from, nil
			}
			width = math.Max(minWidth*d.atZero, width*factor)
		}
		if width < from.width {
			residuals, values = residuals[:1], nil
		}
		before := now
		if now, err = d.stepSmoothed(now, &from.width, width); err != nil || now == before {
			return from, err
		}
	}
	return from, nil
}

// zeroSeemsOptimal reports whether no point was better than w = 0. Wider hinges are then of no use: near 0 a
// point and a width that grow together have the same multipliers.
func (d *descent) zeroSeemsOptimal() bool { return isZero(d.best.at.W) }

// rowsAreCheaper reports whether a problem on rows is to close the gap if w = 0 seems optimal. Some thousand rows near the corner can move
// a mean to that of the positives, and the hinges need not become narrow. In a large problem it takes tens of thousands, so the descent goes
// on as far as it can; but not where each step costs a reading of a file or a database. TopMean-NP 1 % on 2 million rows of generate hepmass
// takes 8 systems and 12 row reads; with rows from half of F(0) on it took 42 and 22.
func (d *descent) rowsAreCheaper(gaps []float64) bool {
	descends := d.isLarge() && d.shape.KeepsScores
	return hasStalled(gaps) || !descends && d.upper-d.lower < gapOfRows*d.atZero
}

// widen evaluates the start, with hinges wide enough for a second derivative.
func (d *descent) widen(from *start) (*smoothedPoint, error) {
	for {
		e, err := d.evaluateSmoothed(from.at, from.width)
		if err != nil {
			return nil, err
		}
		if e.Smooth() >= 2*rowsPerColumn*len(e.W) || from.width > maxWidth*d.atZero {
			return e, nil
		}
		from.width *= widening
	}
}

// evaluateSmoothed evaluates the problem at a point, and the same with every hinge smoothed over a width.
func (d *descent) evaluateSmoothed(at *Point, width float64) (*smoothedPoint, error) {
	if d.eval.expected != nil {
		if e, err := d.evaluateAtOnce(at, width); e != nil || err != nil {
			return e, err
		}
	}
	points, err := d.eval.evaluate(0, at)
	if err != nil {
		return nil, err
	}
	e := &smoothedPoint{evaluation: points[0], Evaluation: smoothed.New(d.form, at.W, width, d.shape.Positives.Mass)}
	// The threshold, then the loss, whose corner depends on it.
	population, err := d.findLevel(e)
	if err != nil {
		return nil, err
	}
	positives, err := d.findLoss(e)
	if err != nil {
		return nil, err
	}
	e.SetSamples(positives, population)
	return e, nil
}

// hasStalled reports whether the last steps have not halved the gap, or the residual.
func hasStalled(gaps []float64) bool {
	last := len(gaps) - 1
	return last >= patience && gaps[last] > gaps[last-patience]/2
}

// decrease returns by how much the last steps have lowered the value; +Inf: there were fewer.
func decrease(values []float64) float64 {
	last := len(values) - 1
	if last < patience {
		return math.Inf(1)
	}
	return values[last-patience] - values[last]
}

// acceptSmoothed keeps the point and its bound if they are the best so far. It returns the two parts of the
// gap below the best value: what the gradient costs, and the rest, which is due to the width.
func (d *descent) acceptSmoothed(e *smoothedPoint) (residual, ofWidth float64) {
	d.rounds++
	d.accept(e.evaluation)
	bound := d.acceptSmoothBound(e)
	residual = e.Residual(d.form.Ball(e.W))
	return residual, d.upper - bound - residual
}

// acceptSmoothBound keeps the multipliers of the smoothed problem if their bound is the best so far. It
// returns the bound.
func (d *descent) acceptSmoothBound(e *smoothedPoint) float64 {
	radius := d.form.Ball(e.W)
	bound, scale := e.Bound(radius)
	if bound > d.lower {
		d.lower, d.radius, d.length = bound, radius, e.Residual(1)
		d.theta = scale * e.P / e.LargestA()
		p := make([]float64, len(e.p))
		linalg.Axpy(scale, e.p, p)
		d.setDual(heldDual{heldVector{values: p, groups: e.positives}, heldVector{values: e.a, groups: e.population},
			d.form.Squared})
	}
	return bound
}

// stepSmoothed takes one Newton step and evaluates the new point with hinges of a new width, which it sets.
// Narrower hinges have smaller values, so a fall with them is no weaker a condition. A step that does not lower the
// value enough is shortened, by a search for a point where the slope along the step has risen (Wolfe's conditions). Very
// many rows may come onto a corner at once, and the next step must see them there. It returns the old point if no
// step helps.
func (d *descent) stepSmoothed(now *smoothedPoint, width *float64, narrower float64) (*smoothedPoint, error) {
	nearLoss, nearBand := now.Losses.Rows, now.Band.Rows
	step := now.NewtonStep(d.pos.Shift)
	d.systems++
	slope := linalg.Dot(now.Gradient(), step)
	if !isFinite(slope) {
		return now, nil // the Hessian is too ill-conditioned for a step
	}
	noise := float64(valueNoise*math.Abs(now.Value)) + now.Off
	shrink := d.upper == d.atZero && narrower < *width
	guess := shortening // where to look on a step that does not lower the value
	if d.eval.expected != nil && !shrink {
		model := newLineModel(&d.problem, d.eval.expected, now, nearLoss, nearBand, step)
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
	first, err := d.evaluateSmoothed(full, narrower)
	if err != nil {
		return nil, err
	}
	noise += first.Off
	if first.Value <= now.Value+float64(sufficientDecrease*slope)+noise || shrink && first.Value <= now.Value-slope+noise {
		*width = narrower
		return first, nil
	}
	return d.shorten(now, full, step, slope, noise, guess, *width)
}

// shorten searches the line from a point to the end of a step for a point where the value has fallen enough and the slope has risen.
// slope is that at the start, guess is where to look first, and differences within noise are none.
func (d *descent) shorten(now *smoothedPoint, full *Point, step []float64, slope, noise, guess, width float64) (*smoothedPoint, error) {
	best := now
	low, high := 0.0, 1.0
	for range maxShortenings {
		alpha := low + float64((high-low)*guess)
		guess = shortening
		next, err := d.evaluateSmoothed(pointBetween(now.evaluation.at, full, alpha), width)
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
