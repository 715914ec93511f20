package certified

import (
	"context"
	"math"

	"toptau/internal/certified/form"
	"toptau/internal/matrix"
)

// Options are the settings of a solve. The zero value means the defaults.
type Options struct {
	Gap        float64        // gap of the decrease at which to stop; 0: 1e-6
	MaxPasses  int            // passes over the population after which to stop; 0: no limit
	MaxSystems int            // Newton systems after which to stop, at the end of a round; 0: no limit
	Progress   func(Progress) // called after every round; nil: not
	Start      []float64      // SolveSource: a direction to start in; nil: the difference of the class means
	Sample     *matrix.Matrix // SolveSource: some rows of each class, whose solution is a start; nil: none
}

// Progress is the state of a solve.
type Progress struct {
	Round, Passes int
	Systems       int // Newton systems so far
	Upper, Lower  float64
	AtZero        float64
	WorkingSet    int
}

func (o Options) gap() float64 {
	if o.Gap > 0 {
		return o.Gap
	}
	return 1e-6
}

// problem is the problem of a solve, with facts about its data that cost no pass.
type problem struct {
	form   form.Form
	shape  Shape
	atZero float64 // F(0)
	zero   *Point  // w = 0
}

// effort counts what a solve costs.
type effort struct {
	rounds, systems int
	passesBefore    int     // passes over the source before this solve
	readsBefore     float64 // row reads of the source before this solve
}

// solver is a solve in progress.
type solver struct {
	ctx    context.Context
	source Source
	opt    Options
	problem
	bounds
	workingSet
	effort

	start    *start      // where to start; nil: along the difference of the means
	last     start       // where the descent on the smoothed problem ended; width 0: there was none
	precise  bool        // bound F up to rounding
	claims   bool        // bound F as narrowly as a certificate claims it
	enough   func() bool // a further reason to stop; nil: none
	solution *Point      // the last solution of a restricted problem
	norm     NormProof   // for lambda = 0: how short the best point is
	lastGap  float64     // difference of the bounds at the last scan
	scratch  []float64   // scores of the rows held

	// sample stands for the source where a question would cost a pass and the answer only chooses where to start; nil: there is none.
	sample   *Memory
	expected *expectation // of the scores at the next point; nil: nothing but what is held

	lastEdge, lastTop float64 // of the last evaluation: the edge, and the highest score
}

const (
	// doneMargin is the part of the target at which the solver stops. The certificate is recomputed apart
	// from the solver, and the rest allows for its rounding.
	doneMargin = .95

	// innerOfGap and innerOfTarget are the tolerance of the inner solves, as parts of the difference of the
	// bounds and of the target. A tolerance relative to the restricted problem's own value made no progress
	// at first, while few rows are held. On nine hard instances .3, .1, .03 and .003 of the gap took 81, 71,
	// 64 and 58 scans with 592, 554, 625 and 864 Newton systems.
	innerOfGap    = .1
	innerOfTarget = .2

	// tightening divides the tolerance of the inner solves after a round that brought no row; after
	// roundsWithNoRow such rounds the solve ends.
	tightening      = 100
	roundsWithNoRow = 3

	// leastTarget is the smallest target, as a part of gap F(0): where F(0) is all but optimal the possible
	// decrease is rounding.
	leastTarget = 1e-3
)

// target returns the difference of the bounds at which the solve is done.
func (s *solver) target() float64 {
	return math.Max(s.opt.gap()*(s.atZero-math.Max(s.lower, 0)), leastTarget*s.opt.gap()*s.atZero)
}

func (s *solver) done() bool {
	return s.upper-s.lower <= doneMargin*s.target() || s.enough != nil && s.enough()
}

// solve finds a start and improves it. An error of the context ends it early; the solver then has the best
// point and bounds so far.
func (s *solver) solve() error {
	if err := s.chooseStart(); err != nil {
		return err
	}
	return s.improve()
}

// improve runs the outer loop: solve the restricted problem, evaluate F at its solution and near it, add the
// rows that it overlooked.
func (s *solver) improve() error {
	tighter, stalled := 1.0, 0
	for !s.done() {
		s.rounds++
		tolerance := math.Max(innerOfGap*(s.upper-s.lower), innerOfTarget*s.target()) * tighter
		w := s.solveRestricted(tolerance)
		s.report()
		if s.done() {
			return nil
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		added, err := s.scan(s.pointAt(w))
		if err != nil {
			return err
		}
		if s.limitReached() {
			return nil
		}
		if added == 0 {
			tighter /= tightening
			if stalled++; stalled > roundsWithNoRow {
				return nil
			}
		}
	}
	return nil
}

// limitReached reports whether the solve has made all passes or solved all Newton systems that it may.
func (s *solver) limitReached() bool {
	passes, _ := s.source.Readings()
	return s.opt.MaxPasses > 0 && passes-s.passesBefore >= s.opt.MaxPasses ||
		s.opt.MaxSystems > 0 && s.systems >= s.opt.MaxSystems
}

func (s *solver) report() {
	if s.opt.Progress == nil {
		return
	}
	passes, _ := s.source.Readings()
	s.opt.Progress(Progress{Round: s.rounds, Passes: passes, Systems: s.systems, Upper: s.upper, Lower: s.lower,
		AtZero: s.atZero, WorkingSet: s.pop.N})
}

// slowRound is the ratio of successive gaps above which a round counts as slow: the number of near rows is
// then doubled.
const slowRound = .5

// scan evaluates F at the inner solver's point and between it and the best one, and adds rows at both. It
// returns the number of rows added.
func (s *solver) scan(to *Point) (int, error) {
	before := s.rowsHeld()
	gap := s.upper - s.lower
	if gap > slowRound*s.lastGap {
		s.limits.near = min(2*s.limits.near, s.limits.held)
	}
	s.lastGap = gap
	points, err := s.evaluateForViolators(to)
	if err != nil {
		return 0, err
	}
	from, upper := s.best.at, s.upper
	if err := s.addPoint(points[0]); err != nil {
		return 0, err
	}
	// A source that keeps scores has those of every point of the line.
	next, err := s.searchLine(from, points[0], upper)
	if err != nil {
		return 0, err
	}
	if next != nil {
		if points, err = s.evaluateForViolators(next); err != nil {
			return 0, err
		}
		if err := s.addPoint(points[0]); err != nil {
			return 0, err
		}
	}
	return s.rowsHeld() - before, nil
}

// addPoint keeps a point if it is the best so far, and adds the rows that matter there.
func (s *solver) addPoint(e evaluation) error {
	s.accept(e)
	s.crowded = s.crowded || e.above > s.limits.held
	if !s.crowded {
		s.addViolators(e)
	}
	return s.addNearRows(e)
}

// searchLine returns the point on the ray from one point through another at which F seems smallest; nil: it is one
// of the two, or evaluating it would cost a pass. upper is F at the first.
func (s *solver) searchLine(from *Point, to evaluation, upper float64) (next *Point, err error) {
	if !s.shape.KeepsScores {
		return nil, nil
	}
	var alpha float64
	switch {
	case isZero(from.W):
		alpha = s.bestOnRay(&to)
	case s.crowded:
		if alpha, err = s.bestByTrial(from, to.at, upper, to.f); err != nil {
			return nil, err
		}
	default:
		alpha = s.bestOnHeld(from, to.at, lineSlack*(math.Min(s.upper, to.f)-s.lower))
	}
	if alpha == 0 || alpha == 1 {
		return nil, nil
	}
	return pointBetween(from, to.at, alpha), nil
}
