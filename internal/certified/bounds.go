package certified

import (
	"math"

	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
	"toptau/internal/certified/restricted"
)

// bounds are the best point and the best lower bound so far, with the dual point that proves it.
type bounds struct {
	best         evaluation
	upper, lower float64 // F(best), and the lower bound
	radius       float64 // for lambda = 0: of the ball that the bound holds in
	length       float64 // for lambda = 0: |v| of the dual point, by which the bound falls for each unit of the radius

	// The dual point, on rows that were held and groups. theta is for the next start; see restricted.Result.
	dual  heldDual
	theta float64
}

// heldDual is a dual point on rows that were held and groups.
type heldDual struct {
	p, a    heldVector
	squared bool // p is that of the squared loss, which has no caps
}

// setDual replaces the dual point.
func (b *bounds) setDual(d heldDual) {
	pin(d.p.groups, 1)
	pin(d.a.groups, 1)
	pin(b.dual.p.groups, -1)
	pin(b.dual.a.groups, -1)
	b.dual = d
}

// shrinkBall moves the bound for lambda = 0 to the ball of the best point, if that is smaller. The points of the solves on the
// way can be very long, where a restricted problem has no minimum or w = 0 is an optimum among others. A smaller ball has a better
// bound, and one that rounding moves less.
func (s *solver) shrinkBall() {
	if s.form.Lambda > 0 {
		return
	}
	if radius := s.form.Ball(s.best.at.W); radius < s.radius {
		s.lower += float64((s.radius - radius) * s.length)
		s.radius = radius
	}
}

// valueRounding is the relative rounding error of F, and of the scores or their squares that it is computed from.
const valueRounding = 1e-14

// beats reports whether F = f, computed from scores of about the given size, is below another value by more than rounding. Sums of
// squared losses are formed from sums of squared scores.
func (p *problem) beats(value, size, other float64) bool {
	if p.form.Squared {
		size *= size
	}
	return value < other-float64(valueRounding*(other+math.Abs(size)))
}

// accept keeps a point if it is the best so far. A point must beat w = 0 by more than rounding: where w = 0 is optimal, all points
// near it, and some that are very long, are as good up to rounding.
func (s *solver) accept(e evaluation) {
	if e.f < s.upper && (!isZero(s.best.at.W) || s.beats(e.f, e.t, s.upper)) {
		s.upper, s.best = e.f, e
	}
}

// acceptBound keeps the dual point of a restricted problem if its bound is the best so far. The rows must be
// those of the solve, groups included.
func (s *solver) acceptBound(r *restricted.Result) {
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

// acceptSmoothBound keeps the multipliers of the smoothed problem if their bound is the best so far. It
// returns the bound.
func (s *solver) acceptSmoothBound(e *smoothedPoint) float64 {
	radius := s.form.Ball(e.W)
	bound, scale := e.Bound(radius)
	if bound > s.lower {
		s.lower, s.radius, s.length = bound, radius, e.Residual(1)
		s.theta = scale * e.P / e.LargestA()
		p := make([]float64, len(e.p))
		linalg.Axpy(scale, e.p, p)
		s.setDual(heldDual{heldVector{values: p, groups: e.positives}, heldVector{values: e.a, groups: e.population},
			s.form.Squared})
	}
	return bound
}

// wholeMean reports whether the threshold is the mean of the whole population. Then a = m/M is the only
// choice, and the restricted problem has no interior. It gets the mean of the rows as its only row, with a
// cap that is never reached.
func (s *solver) wholeMean() bool {
	return s.form.Kind == form.TopMean && s.shape.Population.Mass <= s.form.Kappa*(1+massNoise)
}

// massNoise is the relative rounding error of a mass.
const massNoise = 1e-12

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

// restrictedProblem returns the problem of a form on the rows held.
func (s *solver) restrictedProblem(f form.Form) restricted.Problem {
	return restricted.Problem{Form: f, Positives: s.pos.Rows, Population: s.pop.Rows, Mass: s.shape.Positives.Mass}
}

// solveOnRows solves the restricted problem of a form.
func (s *solver) solveOnRows(f form.Form, tolerance float64) (w []float64, attempts []restricted.Result) {
	p := s.restrictedProblem(f)
	whole := s.wholeMean()
	if whole {
		p.Kappa, p.Population = .5, s.pop.mean() // a cap of 2 on the only a_j, which is 1
	}
	reusable := len(s.pos.groups)+len(s.pop.groups) == 0 && !whole
	from := restricted.Start{W: s.best.at.W, Theta: s.theta, Upper: s.upper, Lower: s.lower}
	return s.inner.Solve(p, from, tolerance, reusable, func() bool { return s.ctx.Err() != nil })
}
