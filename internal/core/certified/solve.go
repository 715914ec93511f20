package certified

import (
	"context"
	"math"
	"slices"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/restricted"
	"toptau/method"
)

// solver is a solve in progress: its parts find a start, evaluate F, search lines and descend on the smoothed problem. It
// solves the problem restricted to the rows held until the bounds meet.
type solver struct {
	*state
	eval    *evaluator
	line    lineSearch
	descent *descent
	start   *starter

	solution *Point    // the last solution of a restricted problem
	norm     NormProof // for lambda = 0: how short the best point is
	lastGap  float64   // difference of the bounds at the last scan
}

const (
	// innerOfGap and innerOfTarget are the tolerance of the inner solves, as parts of the difference of the
	// bounds and of the target. A tolerance relative to the restricted problem's own value made no progress
	// at first, while few rows are held. On nine hard instances .3, .1, .03 and .003 of the gap took 81, 71,
	// 64 and 58 scans with 592, 554, 625 and 864 Newton systems.
	innerOfGap    = .1
	innerOfTarget = .2

	// wideInner is the tolerance on wide data, as a part of the bound, before the bounds are close. On gisette .2 takes 7 to 17 % less work
	// than .05 with three problems.
	wideInner = .2

	// tightening divides the tolerance of the inner solves after a round that brought no row; after
	// roundsWithNoRow such rounds the solve ends.
	tightening      = 100
	roundsWithNoRow = 3
)

// formOn returns the form of a problem on a source's data.
func formOn(source Source, p method.Problem) (form.Form, error) {
	bound, err := p.Rule().Bind(source.Shape().Population)
	if err != nil {
		return form.Form{}, err
	}
	return form.Bind(p, bound)
}

// newSolver returns a solver that counts passes from here on.
func newSolver(ctx context.Context, source Source, f form.Form, opt Options) *solver {
	s := &state{ctx: ctx, source: source, opt: opt, problem: problem{form: f}}
	s.passesBefore, s.readsBefore = source.Readings()
	eval := &evaluator{state: s}
	line, descent := lineSearch{s, eval}, &descent{state: s, eval: eval}
	start := &starter{state: s, eval: eval, line: line, descent: descent}
	return &solver{state: s, eval: eval, line: line, descent: descent, start: start, lastGap: math.Inf(1)}
}

// result returns the best point and bounds so far.
func (s *solver) result() Result {
	passes, reads := s.source.Readings()
	r := Result{
		W: slices.Clone(s.best.at.W), Threshold: s.best.t, Objective: s.upper, LowerBound: s.lower, AtZero: s.atZero,
		Passes: passes - s.passesBefore, RowReads: reads - s.readsBefore, Iterations: s.systems, Rounds: s.rounds,
		Norm: s.norm, requestedGap: s.opt.gap(),
	}
	if s.pop != nil {
		r.WorkingSet = s.pop.N
		rows := max(1, s.shape.Population.Rows+s.shape.Positives.Rows)
		r.RowReads += s.pop.Visits / float64(rows)
		r.P, r.GroupsP = s.pos.multipliers(s.dual.p)
		r.A, r.GroupsA = s.pop.multipliers(s.dual.a)
	}
	if s.form.Lambda == 0 {
		r.BallRadius = s.radius
	}
	return r
}

// solve finds a start and improves it. An error of the context ends it early; the solver then has the best
// point and bounds so far.
func (s *solver) solve() error {
	if err := s.start.chooseStart(); err != nil {
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
		if s.wide { // F is far above the bound until the last rounds, so that the gap is no measure
			tolerance = math.Max(math.Min(wideInner*s.lower, innerOfGap*(s.upper-s.lower)), innerOfTarget*s.target()) * tighter
		}
		w := s.solveRestricted(tolerance)
		s.report()
		if s.done() {
			return nil
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if s.useGroups && isZero(w) && tolerance > innerOfTarget*s.target() {
			// The scores at w = 0 are all equal and show no rows to add.
			tighter /= tightening
			continue
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

// solveRestricted solves the problem on the rows held and the groups, and returns the point to look at next.
func (s *solver) solveRestricted(tolerance float64) (w []float64) {
	s.withGroups(func() {
		var attempts []restricted.Result
		w, attempts = s.solveOnRows(s.form, tolerance)
		for k := range attempts {
			s.acceptBound(&attempts[k])
		}
	})
	return w
}

// pointAt returns the point of a solution of the restricted problem. It may be the best point, if that is
// optimal on the rows held, w = 0, where a cold start begins, or the last solution. Then its scores may be
// kept.
func (s *solver) pointAt(w []float64) *Point {
	for _, p := range []*Point{s.best.at, s.zero, s.solution} {
		if p != nil && slices.Equal(w, p.W) {
			return p
		}
	}
	s.solution = newPoint(w)
	return s.solution
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
	points, err := s.eval.evaluateForViolators(to)
	if err != nil {
		return 0, err
	}
	from, upper := s.best.at, s.upper
	if err := s.addPoint(points[0]); err != nil {
		return 0, err
	}
	// A source that keeps scores has those of every point of the line.
	next, err := s.line.searchLine(from, points[0], upper)
	if err != nil {
		return 0, err
	}
	if next != nil {
		if points, err = s.eval.evaluateForViolators(next); err != nil {
			return 0, err
		}
		if s.limits.scan > 0 {
			s.accept(points[0])
		} else if err := s.addPoint(points[0]); err != nil {
			return 0, err
		}
	}
	return s.rowsHeld() - before, nil
}

// addPoint keeps a point if it is the best so far, and adds the rows that matter there.
func (s *solver) addPoint(e evaluation) error {
	s.accept(e)
	s.useGroups = s.limits.scan == 0 && (s.useGroups || e.above > s.limits.held)
	if s.limits.scan > 0 {
		return s.eval.addOverlooked(e)
	}
	if !s.useGroups {
		s.addViolators(e)
	}
	return s.eval.addNearRows(e)
}
