package certified

import (
	"context"
	"errors"
	"math"
	"slices"

	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/method"
)

// Chain solves related problems on one matrix, each from where the last one ended: its point, its multipliers and the
// rows held, which serve any K, tau, beta, lambda and loss. Results do not depend on the chain beyond their gap. Go from
// large to small lambda and beta and from small to large K and tau. The zero value is ready; one goroutine at a time.
type Chain struct {
	x      *matrix.Matrix
	read   reader    // of x
	states [2]*state // by population
}

// state is what a solve leaves to the next one.
type state struct {
	source   *Memory
	pos, pop *workingSet
	w        []float64
	p, a     dualValues
	theta    float64
	kappa    float64
	squared  bool
	means    [2][]float64
	rounded  *rounded // of the lower bound; nil: p and a
	last     start
}

// Solve is Solve, started from the last problem with the same population. Result.Passes counts the readings of this
// problem alone.
func (c *Chain) Solve(ctx context.Context, o *objective.Objective, opt Options) (Result, error) {
	r, err := c.solve(ctx, o, opt)
	if err != nil {
		return r, err
	}
	return certifyResult(o, r, direct{c.x})
}

// solve is Solve without the certificate apart from the solver.
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
		*slot = &state{source: newMemory(c.x, c.read, population)}
	}
	f, err := formOf(o.Problem(), o.Threshold().Kappa())
	if err != nil {
		return Result{}, err
	}
	f.rule = o.Threshold()
	from := *slot
	s := &session{ctx: ctx, source: from.source, f: f, opt: opt, from: from}
	s.passesBefore, s.visitsBefore = from.source.Readings()
	s.start = from.startOf(ctx, o, f)
	if err = s.solve(); err == nil {
		err = s.shorten()
	}
	cancelled := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if err != nil && !cancelled {
		return Result{}, err
	}
	r := s.result()
	r.Cancelled = cancelled
	if s.pop != nil {
		s.leave(from)
	}
	return r, nil
}

// startOf returns where a problem begins that is large enough for a sample: at the last point where only lambda has changed,
// else at the sample's solution or, for a first problem, along it.
func (from *state) startOf(ctx context.Context, o *objective.Objective, f form) *start {
	if from.pop != nil && !worthRounding(o) {
		return nil
	}
	if r := from.rounded; r != nil && from.last.width > 0 && r.f.kind == f.kind && r.f.squared == f.squared && r.f.kappa == f.kappa && r.f.beta == f.beta {
		warm := from.last
		warm.width = math.Max(warm.width, warmWidth*f.atZero(from.source.shape[1].Mass))
		return &warm
	}
	first, visits := startFromSample(ctx, o)
	from.source.visits += visits
	if from.pop != nil && first != nil && first.width == 0 {
		return nil
	}
	return first
}

// leave keeps what the next problem can use.
func (s *session) leave(to *state) {
	to.pos, to.pop = s.pos, s.pop
	to.w, to.theta, to.kappa, to.squared = slices.Clone(s.best.w), s.theta, s.f.kappa, s.f.squared
	if len(s.p.values) > 0 {
		to.p, to.a = s.p, s.a
	}
	to.rounded, to.last = s.rounded, s.last
}

// adopt takes over the last problem's rows and what its multipliers say: rows may only be missing, never wrong.
func (s *session) adopt() {
	if s.from == nil || s.from.pop == nil {
		return
	}
	s.pos, s.pop = s.from.pos, s.from.pop
	s.heldBefore = s.pop.visits
	if s.from.rounded == nil {
		s.reuseDual(s.from)
	} else if r := s.from.rounded.of(s.f); r != nil {
		s.offerBound(r)
	}
}

// resume takes over the last problem's rows and point. It reports false when there is nothing to take over.
func (s *session) resume() (bool, error) {
	from := s.from
	if from == nil || from.pop == nil {
		return false, nil
	}
	s.adopt()
	s.limit()
	if isZero(from.w) {
		return false, nil
	}
	points, err := s.along(make([]float64, s.shape.Cols), from.w, []float64{.3, .6, 1.5, 3}, s.rowsWanted())
	if err != nil {
		return false, err
	}
	for _, e := range points {
		s.accept(e)
	}
	for k, e := range points {
		if !s.crowded {
			s.take(e)
		}
		if err := s.widen(e, k == len(points)-1); err != nil {
			return false, err
		}
	}
	return true, nil
}

func isZero(w []float64) bool {
	for _, v := range w {
		if v != 0 {
			return false
		}
	}
	return true
}

// reuseDual evaluates the last problem's dual point for this one.
func (s *session) reuseDual(from *state) {
	if from.theta > 0 {
		s.theta = from.theta * from.kappa / s.f.kappa
	}
	if len(from.p.values) == 0 || from.squared != s.f.squared {
		return
	}
	s.pos.groups, s.pop.groups = from.p.groups, from.a.groups
	s.pos.withGroups(func() {
		s.pop.withGroups(func() {
			v := newRestricted(s.f, s.pos.rows, s.pop.rows, s.shape.Positives.Mass)
			copy(v.w, from.w)
			v.offerDual(from.p.padded(s.pos), from.a.padded(s.pop), s.theta)
			if v.best.p != nil {
				s.keep(&v)
			}
		})
	})
}

// padded spreads the values over the entries as they are now; entries that came later get 0.
func (v dualValues) padded(set *workingSet) []float64 {
	out := make([]float64, set.n)
	copy(out, v.values[:v.entries])
	copy(out[set.n-len(v.groups):], v.values[v.entries:])
	return out
}
