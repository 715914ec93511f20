package certified

import (
	"context"
	"math"

	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
)

// smoother is a source that can evaluate the smoothed problem. Problems on other sources are solved without
// it.
type smoother interface {
	// evaluateSmoothed evaluates F at a point, and the same with every hinge smoothed over a width.
	evaluateSmoothed(ctx context.Context, f form.Form, at *Point, width float64) (*smoothedPoint, error)
	// differentiate adds the derivatives. The second one comes from at most limit rows of each class.
	differentiate(ctx context.Context, e *smoothedPoint, limit int) error
	// between returns the point from + alpha (to - from), with its scores.
	between(from, to *Point, alpha float64) *Point
	// multipliers returns those of the smoothed problem, p times a scale.
	multipliers(e *smoothedPoint, scale float64) (p, a Sparse)
}

// The widths are relative to F(0), which is about the size of the scores' range that matters. These numbers
// were chosen by hand on simulated data of up to 5 million rows; they decide the speed, since every bound
// holds for any width.
const (
	firstWidth = .05   // of a first problem: a good part of the rows is on a smoothed corner
	warmWidth  = .005  // of a problem after another one
	leastWidth = 1e-10 // below it the smoothed problem is the true one up to rounding
	mostWidth  = 10    // above it widening does not help

	// curvatureRows is the number of sampled rows of a class for the second derivative. The error of a
	// sampled Hessian falls with its root.
	curvatureRows = 20_000
	// rowsPerColumn is the number of rows on smoothed corners, for each column, below which their second
	// derivative means nothing. The start must have twice as many.
	rowsPerColumn = 4

	descentSteps = 30 // at most
	patience     = 4  // steps within which the gap must halve
)

// How the width changes. Where the residual of the gradient is below the part of the gap that is due to the
// width, that part must shrink. It falls with the square of the width, so a width factor of the root of what
// is wanted over what there is would do. A quarter of the target is aimed at, and the factor is kept in a
// range in which Newton's method still converges.
const (
	widening           = 3
	gapOfWidth         = .25
	narrowest, widest  = .1, .5
	sufficientDecrease = 1e-4  // Armijo's constant (Nocedal and Wright, 3.1)
	valueNoise         = 1e-12 // relative rounding error of a value
	shortening         = .3    // of a step that did not decrease the value
	mostShortenings    = 10
)

// descend minimises the smoothed problem by Newton's method, and narrows the hinges as far as the gap needs.
// It ends when the solve is done, when steps bring little, or when too few rows are on smoothed corners. It
// returns the last point.
func (s *solver) descend(source smoother, from start) (start, error) {
	now, err := s.widen(source, &from)
	if err != nil {
		return from, err
	}
	gaps := []float64{math.Inf(1)}
	for range descentSteps {
		from.at = now.at
		residual, ofWidth := s.acceptSmoothed(now)
		gaps = append(gaps, s.upper-s.lower)
		if s.report(); s.done() || hasStalled(gaps) || s.passesUsed() || now.Smooth() < rowsPerColumn*len(now.W) {
			return from, nil
		}
		// Narrow the hinges when the width costs the bound more than the gradient does.
		width := from.width
		if residual < ofWidth {
			factor := math.Max(narrowest, math.Min(widest, math.Sqrt(gapOfWidth*s.target()/ofWidth)))
			width = math.Max(leastWidth*s.atZero, width*factor)
		}
		before := now
		if now, err = s.stepSmoothed(source, now, &from.width, width); err != nil || now == before {
			return from, err
		}
		if err := source.differentiate(s.ctx, now, curvatureRows); err != nil {
			return from, err
		}
	}
	return from, nil
}

// widen evaluates the start, with hinges wide enough for a second derivative.
func (s *solver) widen(source smoother, from *start) (*smoothedPoint, error) {
	for {
		e, err := source.evaluateSmoothed(s.ctx, s.form, from.at, from.width)
		if err != nil {
			return nil, err
		}
		if err = source.differentiate(s.ctx, e, curvatureRows); err != nil {
			return nil, err
		}
		if e.Smooth() >= 2*rowsPerColumn*len(e.W) || from.width > mostWidth*s.atZero {
			return e, nil
		}
		from.width *= widening
	}
}

// hasStalled reports whether the last steps have not halved the gap.
func hasStalled(gaps []float64) bool {
	last := len(gaps) - 1
	return last >= patience && gaps[last] > gaps[last-patience]/2
}

// acceptSmoothed keeps the point and its bound if they are the best so far. It returns the two parts of the
// gap below the best value: what the gradient costs, and the rest, which is due to the width.
func (s *solver) acceptSmoothed(e *smoothedPoint) (residual, ofWidth float64) {
	s.rounds++
	s.accept(evaluation{at: e.at, f: e.Exact, t: e.T, edge: e.Edge, above: e.Above})
	bound := s.acceptSmoothBound(e)
	residual = e.Residual(s.form.Ball(e.W))
	return residual, s.upper - bound - residual
}

// stepSmoothed takes one Newton step, shortened until the smoothed value falls, and evaluates the new point
// with hinges of a new width, which it sets. Narrower hinges have smaller values, so a fall with them is no
// weaker a condition. It returns the old point if no step helps.
func (s *solver) stepSmoothed(source smoother, now *smoothedPoint, width *float64,
	narrower float64) (*smoothedPoint, error) {
	step := now.NewtonStep(s.pos.Shift)
	s.systems++
	// fall is the largest change of the value that the step may make: a decrease, up to rounding.
	fall := float64(sufficientDecrease*linalg.Dot(now.Gradient(), step)) + float64(valueNoise*math.Abs(now.Value))
	w := append([]float64(nil), now.W...)
	linalg.Axpy(1, step, w)
	if s.upper == s.atZero && narrower < *width {
		// Where w = 0 is optimal, nothing but the width sets a scale: the smoothed minimiser shrinks with it.
		fall = math.Abs(fall)
		for j := range w {
			w[j] *= narrower / *width
		}
	}
	to := newPoint(w)
	for range mostShortenings {
		next, err := source.evaluateSmoothed(s.ctx, s.form, to, narrower)
		if err != nil {
			return nil, err
		}
		if next.Value <= now.Value+fall {
			*width = narrower
			return next, nil
		}
		to, narrower = source.between(now.at, to, shortening), *width
	}
	return now, nil
}
