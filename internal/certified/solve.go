package certified

import (
	"context"
	"math"

	"toptau/internal/certified/form"
	"toptau/threshold"
)

// Options are the settings of a solve. The zero value means the defaults.
type Options struct {
	Gap       float64        // gap of the decrease at which to stop; 0: 1e-6
	MaxPasses int            // passes over the population after which to stop; 0: no limit
	Progress  func(Progress) // called after every round; nil: not
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
	visitsBefore    float64 // reads of rows held before this solve
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

	from     *chainState       // left by an earlier problem; nil: nothing
	start    *start            // where to start; nil: along the difference of the means
	last     start             // where the descent on the smoothed problem ended; width 0: there was none
	enough   func() bool       // a further reason to stop; nil: none
	solution *Point            // the last solution of a restricted problem
	lastGap  float64           // difference of the bounds at the last scan
	support  threshold.Support // scratch
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

// solve runs the outer loop: solve the restricted problem, evaluate F at its solution and near it, add the
// rows that it overlooked. An error of the context ends it early; the solver then has the best point and
// bounds so far.
func (s *solver) solve() error {
	if err := s.chooseStart(); err != nil {
		return err
	}
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
		if s.passesUsed() {
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

// passesUsed reports whether the solve has made all passes that it may.
func (s *solver) passesUsed() bool {
	passes, _ := s.source.Readings()
	return s.opt.MaxPasses > 0 && passes-s.passesBefore >= s.opt.MaxPasses
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
	points, err := s.evaluateAlong(s.best.at, to, scanFractions, s.rowLimit())
	if err != nil {
		return 0, err
	}
	for _, e := range points {
		s.accept(e)
		s.crowded = s.crowded || e.above > s.limits.held
	}
	if err := s.addRowsAt(points); err != nil {
		return 0, err
	}
	return s.rowsHeld() - before, nil
}
