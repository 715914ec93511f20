package certified

import (
	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
	"toptau/internal/certified/restricted"
)

// bounds are the best point and the best lower bound so far, with the dual point that proves it.
type bounds struct {
	best         evaluation
	upper, lower float64 // F(best), and the lower bound
	radius       float64 // for lambda = 0: of the ball that the bound holds in

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

// valueRounding is the relative rounding error of F. A point must beat w = 0 by more: where w = 0 is optimal, all
// points near it are as good up to rounding.
const valueRounding = 1e-14

// accept keeps a point if it is the best so far.
func (b *bounds) accept(e evaluation) {
	upper := b.upper
	if isZero(b.best.at.W) {
		upper -= float64(valueRounding * upper)
	}
	if e.f < upper {
		b.upper, b.best = e.f, e
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
		s.radius = r.Radius
	}
}

// acceptSmoothBound keeps the multipliers of the smoothed problem if their bound is the best so far. It
// returns the bound.
func (s *solver) acceptSmoothBound(e *smoothedPoint) float64 {
	radius := s.form.Ball(e.W)
	bound, scale := e.Bound(radius)
	if bound > s.lower {
		s.lower, s.radius = bound, radius
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
