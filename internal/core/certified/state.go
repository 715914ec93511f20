package certified

import (
	"context"
	"errors"
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/restricted"
	"toptau/internal/core/matrix"
)

// Options are the settings of a solve. The zero value means the defaults.
type Options struct {
	Gap        float64        // gap of the decrease at which to stop; 0: 1e-6
	MaxPasses  int            // passes over the population, those for the final F included; 0: no limit
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

// effort counts what a solve costs.
type effort struct {
	rounds, systems int
	passesBefore    int     // passes over the source before this solve
	readsBefore     float64 // row reads of the source before this solve
}

// state is what the parts of a solve share: the problem, the rows held, and the best point and bound so far.
type state struct {
	ctx    context.Context
	source Source
	opt    Options
	problem
	bounds
	workingSet
	effort

	enough func() bool // a further reason to stop; nil: none
	strict bool        // no question may exceed Options.MaxPasses; else a round is finished
}

const (
	// doneMargin is the part of the target at which the solver stops. The certificate is recomputed apart
	// from the solver, and the rest allows for its rounding.
	doneMargin = .95

	// minTarget is the smallest target, as a part of gap F(0): where F(0) is all but optimal the possible
	// decrease is rounding.
	minTarget = 1e-3
)

// startAtZero makes w = 0 the best point. F(0) must be a candidate: on w8a, TopPush, the upper bound stayed
// at 9.5 without it.
func (s *state) startAtZero() {
	s.shape = s.source.Shape()
	s.zero = newPoint(make([]float64, s.shape.Cols))
	s.best.at = s.zero
	s.best.t, s.best.edge, _ = s.form.Threshold([]float64{0}, []float64{s.shape.Population.Mass}, nil)
	s.atZero = s.form.Loss(1 + s.best.t)
	s.upper, s.lower = s.atZero, 0
}

// target returns the difference of the bounds at which the solve is done.
func (s *state) target() float64 {
	return math.Max(s.opt.gap()*(s.atZero-math.Max(s.lower, 0)), minTarget*s.opt.gap()*s.atZero)
}

func (s *state) done() bool {
	return s.upper-s.lower <= doneMargin*s.target() || s.enough != nil && s.enough()
}

// endedByDescent reports whether the solve ended with the descent on the smoothed problem: the dual point holds no rows, or there is none
// because 0 is bound enough, and no rows are held.
func (s *state) endedByDescent() bool {
	return s.dual.p.entries == 0 && (len(s.dual.p.groups) > 0 || s.rowsHeld() == 0)
}

// limitReached reports whether the solve has made all passes or solved all Newton systems that it may.
func (s *state) limitReached() bool {
	return s.opt.MaxPasses > 0 && s.passesLeft() <= 0 || s.opt.MaxSystems > 0 && s.systems >= s.opt.MaxSystems
}

// passesLeft returns the number of passes that Options.MaxPasses leaves. A strict limit keeps one for the final F.
func (s *state) passesLeft() int {
	passes, _ := s.source.Readings()
	left := s.opt.MaxPasses - (passes - s.passesBefore)
	if s.strict {
		left--
	}
	return left
}

// errPasses ends a solve before a pass that Options.MaxPasses does not allow.
var errPasses = errors.New("no passes left")

// endsEarly reports whether an error ends a solve with the best point and bounds so far.
func endsEarly(err error) bool { return isCancelled(err) || errors.Is(err, errPasses) }

func (s *state) report() {
	if s.opt.Progress == nil {
		return
	}
	passes, _ := s.source.Readings()
	s.opt.Progress(Progress{Round: s.rounds, Passes: passes, Systems: s.systems, Upper: s.upper, Lower: s.lower,
		AtZero: s.atZero, WorkingSet: s.pop.N})
}

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// accept keeps a point if it is the best so far. A point must beat w = 0 by more than rounding: where w = 0 is optimal, all points
// near it, and some that are very long, are as good up to rounding.
func (s *state) accept(e evaluation) {
	if e.f < s.upper && (!isZero(s.best.at.W) || s.beats(e.f, e.t, s.upper)) {
		s.upper, s.best = e.f, e
	}
}

// acceptBound keeps the dual point of a restricted problem if its bound is the best so far. The rows must be
// those of the solve, groups included.
func (s *state) acceptBound(r *restricted.Result) {
	s.systems += r.Systems
	if r.Theta > 0 {
		s.theta = r.Theta
	}
	if r.Bound > s.lower {
		s.lower = r.Bound
		if s.wholeMean() {
			r.A = append(r.A[:0], s.pop.Weight...)
			s.form.Repair(r.A, s.pop.Weight)
		}
		s.setDual(heldDual{s.pos.snapshot(r.P), s.pop.snapshot(r.A), s.form.Squared})
		s.radius, s.length = r.Radius, r.Length
	}
}

// shrinkBall moves the bound for lambda = 0 to the ball of the best point, if that is smaller. The points of the solves on the
// way can be very long, where a restricted problem has no minimum or w = 0 is an optimum among others. A smaller ball has a better
// bound, and one that rounding moves less.
func (s *state) shrinkBall() {
	if s.form.Lambda > 0 {
		return
	}
	if radius := s.form.Ball(s.best.at.W); radius < s.radius {
		s.lower += float64((s.radius - radius) * s.length)
		s.radius = radius
	}
}

// restrictedProblem returns the problem of a form on the rows held.
func (s *state) restrictedProblem(f form.Form) restricted.Problem {
	return restricted.Problem{Form: f, Positives: s.pos.Rows, Population: s.pop.Rows, Mass: s.shape.Positives.Mass, Unit: s.weightUnit()}
}

// largeRows is the number of rows above which a warm start is centred further from the corner, and w = 0 is proven by the descent as far
// as that goes. Chosen by hand.
const largeRows = 500_000

// isLarge reports whether a problem has more than largeRows rows.
func (s *state) isLarge() bool { return s.shape.Positives.Rows+s.shape.Population.Rows > largeRows }

// solveOnRows solves the restricted problem of a form.
func (s *state) solveOnRows(f form.Form, tolerance float64) (w []float64, attempts []restricted.Result) {
	p := s.restrictedProblem(f)
	whole := s.wholeMean()
	if whole {
		p.Kappa, p.Population = .5, s.pop.mean() // a cap of 2 on the only a_j, which is 1
	}
	reusable := len(s.pos.groups)+len(s.pop.groups) == 0 && !whole
	from := restricted.Start{W: s.best.at.W, Theta: s.theta, Upper: s.upper, Lower: s.lower,
		Large: s.isLarge()}
	return s.inner.Solve(p, from, tolerance, reusable, func() bool { return s.ctx.Err() != nil })
}

// valueHeld returns F on the rows held and the groups, a lower bound of F.
func (s *state) valueHeld(w []float64) (value float64) {
	s.withGroups(func() {
		z, positives := make([]float64, s.pop.N), make([]float64, s.pos.N)
		s.pop.Times(w, z)
		s.pos.Times(w, positives)
		t, _, _ := s.form.Threshold(z, s.pop.Weight, nil)
		value = s.form.MeanLoss(t, positives, s.pos.Weight, s.shape.Positives.Mass)
	})
	return value
}

// allPositivesHeld reports whether the solver can compute every loss itself.
func (s *state) allPositivesHeld() bool {
	return s.pos != nil && len(s.pos.ids) == s.shape.Positives.Rows
}
