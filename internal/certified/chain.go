package certified

import (
	"context"
	"errors"
	"math"

	"toptau/internal/certified/form"
	"toptau/internal/certified/restricted"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/method"
)

// Chain solves related problems on one matrix, each from where the last one ended: its point, its multipliers
// and the rows held, which serve any K, tau, beta, lambda and loss. Results depend on the chain only within
// their gap. Go from large to small lambda and beta and from small to large K and tau. The zero value is
// ready to use, by one goroutine at a time.
type Chain struct {
	x      *matrix.Matrix
	read   reader         // of x
	states [2]*chainState // of the negatives as population, of all rows
}

// chainState is what a solve leaves to the next one.
type chainState struct {
	source   *Memory
	zero     *Point
	means    *classMeans
	pos, pop *heldRows // nil: no solve has got that far
	best     *Point
	dual     heldDual
	theta    float64
	kappa    float64
	smooth   *smoothedPoint // of the lower bound; nil: dual
	last     start
}

// Solve is Solve, started from the last problem with the same population. Result.Passes counts the passes of
// this problem alone.
func (c *Chain) Solve(ctx context.Context, o *objective.Objective, opt Options) (Result, error) {
	r, err := c.solve(ctx, o, opt)
	if err != nil {
		return r, err
	}
	return certifyResult(o, r, direct{c.x})
}

// solve is Solve without the recomputed certificate.
func (c *Chain) solve(ctx context.Context, o *objective.Objective, opt Options) (Result, error) {
	if c.x != o.Matrix() {
		*c = Chain{x: o.Matrix(), read: direct{o.Matrix()}}
	}
	population := o.Problem().Definition().Population
	slot := &c.states[0]
	if population == method.AllRows {
		slot = &c.states[1]
	}
	if *slot == nil {
		*slot = &chainState{source: newMemory(c.x, c.read, population)}
	}
	f, err := form.Bind(o.Problem(), o.Threshold())
	if err != nil {
		return Result{}, err
	}
	from := *slot
	s := newSolver(ctx, from.source, f, opt)
	s.from, s.start = from, from.startOf(ctx, o, f)
	r, err := s.run()
	if err == nil && s.pop != nil {
		s.leave(from)
	}
	return r, err
}

// run solves the problem. A cancelled context is not an error.
func (s *solver) run() (Result, error) {
	err := s.solve()
	if err == nil {
		err = s.shorten()
	}
	if err != nil && !isCancelled(err) {
		return Result{}, err
	}
	r := s.result()
	r.Cancelled = err != nil
	return r, nil
}

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// startOf returns the start of a problem that is large enough for a sample; nil: a smaller problem. It is the
// last point if only lambda has changed, else the sample's solution or, for a first problem, the ray through
// that.
func (from *chainState) startOf(ctx context.Context, o *objective.Objective, f form.Form) *start {
	if from.pop != nil && !worthSmoothing(o) {
		return nil
	}
	if from.smooth != nil && from.last.width > 0 {
		g := from.smooth.Form
		if g.Kind == f.Kind && g.Squared == f.Squared && g.Kappa == f.Kappa && g.Beta == f.Beta {
			warm := from.last
			warm.width = math.Max(warm.width, warmWidth*f.AtZero(from.source.shape[1].Mass))
			return &warm
		}
	}
	first, visits := startFromSample(ctx, o)
	from.source.visits += visits
	if from.pop != nil && first != nil && first.width == 0 {
		return nil
	}
	return first
}

// leave keeps what the next problem can use.
func (s *solver) leave(to *chainState) {
	to.pos, to.pop = s.pos, s.pop
	to.best, to.theta, to.kappa = s.best.at, s.theta, s.form.Kappa
	if len(s.dual.p.values) > 0 {
		to.dual = s.dual
	}
	to.smooth, to.last = s.smooth, s.last
}

// adopt takes over the last problem's rows and its multipliers. Rows may only be missing, never wrong.
func (s *solver) adopt() {
	if s.from == nil || s.from.pop == nil {
		return
	}
	s.pos, s.pop = s.from.pos, s.from.pop
	s.visitsBefore = s.pop.Visits
	if s.from.smooth == nil {
		s.reuseDual(s.from)
	} else if e := s.from.smooth.For(s.form); e != nil {
		s.acceptSmoothBound(&smoothedPoint{e, s.from.smooth.at})
	}
}

// resume takes over the last problem's rows and point. It reports false if there are none, or if the point is
// w = 0, where all scores are equal.
func (s *solver) resume() (bool, error) {
	from := s.from
	if from == nil || from.pop == nil {
		return false, nil
	}
	s.adopt()
	s.setLimits()
	if isZero(from.best.W) {
		return false, nil
	}
	points, err := s.evaluateAlong(s.zero, from.best, resumeFractions, s.rowLimit())
	if err != nil {
		return false, err
	}
	for _, e := range points {
		s.accept(e)
	}
	if err := s.addRowsAt(points); err != nil {
		return false, err
	}
	return true, nil
}

// reuseDual evaluates the last problem's dual point for this one.
func (s *solver) reuseDual(from *chainState) {
	if from.theta > 0 {
		s.theta = from.theta * from.kappa / s.form.Kappa
	}
	if len(from.dual.p.values) == 0 || from.dual.squared != s.form.Squared {
		return
	}
	s.pos.groups, s.pop.groups = from.dual.p.groups, from.dual.a.groups
	s.withGroups(func() {
		r, ok := restricted.Bound(s.restrictedProblem(s.form), from.best.W, from.dual.p.padded(s.pos), from.dual.a.padded(s.pop), s.theta)
		if ok {
			s.acceptBound(&r)
		}
	})
}
