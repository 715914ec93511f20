package certified

import (
	"errors"
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/restricted"
	"toptau/internal/core/objective"
)

// run solves the problem. A cancelled context is not an error.
func (s *solver) run() (Result, error) {
	err := s.solve()
	if err == nil {
		err = s.shorten()
	}
	if err != nil && !endsEarly(err) {
		return Result{}, err
	}
	s.shrinkBall()
	r := s.result()
	r.Cancelled = isCancelled(err)
	return r, nil
}

const (
	// maxExcess is the part of the target that a shorter point may use. It is above doneMargin, so that
	// there is always something to use, and leaves the rest to rounding.
	maxExcess = .98
	// minExcess is the part of the target from which the first lambda is computed, if less is left.
	minExcess = .1
	// normLoss is the part of |w|^2 that the bound may lose: the ratio of |w| to it is then at most 1.005.
	normLoss = .01
	// firstPenalty is the smallest lambda |w|^2 that is tried first, in units of solver.minPenalty.
	firstPenalty = 4
	// trialTolerance is the accuracy of the first solve with a lambda, as a part of the excess.
	trialTolerance = .05
	// lambdaFall divides lambda if its solution is worse than allowed. minRaise and maxRaise are the factors
	// between which lambda is raised: with few rows held a solution may be far too short. Most problems need one
	// or two lambdas. Chosen by hand.
	lambdaFall         = 3
	minRaise, maxRaise = 10, 1e6
	lambdaTrials       = 20
	// The bound is left as it is after shortenPasses passes, or after shortenSystems Newton systems or as many as
	// the problem took. Most problems need one or two passes and 20 systems.
	shortenPasses  = 10
	shortenSystems = 200
)

// shorten replaces the best point of a problem with lambda = 0 by the shortest one that is as good up to the
// requested gap, and proves how short it is.
//
// Without a penalty many points may be optimal, and where columns are collinear up to the rounding of storage
// they go on for 1e5 and more. The minimiser of F + lambda/2 |w|^2 is the shortest point of all that are as
// good as itself, and is never longer than a minimiser of F. If F is polyhedral and lambda small enough, it
// minimises F too. Its loss is at most lambda/2 |w*|^2 for a minimiser w* of F, so the first lambda is the one
// that would lose what the gap leaves, for the length of the best point or for form.Form.Reach. The lower
// bound of the problem with lambda bounds the norm; see NormProof. That of the problem itself stays.
func (s *solver) shorten() error {
	if s.form.Lambda > 0 || s.pop == nil || isZero(s.best.at.W) || !s.done() {
		return nil
	}
	allowed := s.lower + float64(maxExcess*s.target())
	excess := math.Max(allowed-s.upper, float64(minExcess*s.target()))
	reach := s.form.Reach()
	penalty := math.Max(2*excess, firstPenalty*s.minPenalty()) // lambda |w|^2
	lambda := penalty / math.Min(float64(reach*reach), square(s.best.at.W))
	tooLarge := math.Inf(1) // the smallest lambda that was
	maxPasses, maxSystems := s.limitsOfShortening()
	for range lambdaTrials {
		passes, _ := s.source.Readings()
		if passes >= maxPasses || s.systems >= maxSystems {
			return nil
		}
		a := s.withLambda(lambda)
		a.opt.MaxPasses, a.opt.MaxSystems = maxPasses-passes, maxSystems-s.systems
		var err error
		w, small, larger := s.best.at.W, true, 0.0
		if !s.endedByDescent() {
			w = a.solveRestricted(trialTolerance * excess)
			small = s.valueHeld(w) <= allowed // as far as the rows held show it
			larger = penalty / square(w)
		}
		raise := small && larger > minRaise*lambda && larger < math.Min(tooLarge, maxRaise*lambda)
		if small && !raise {
			a.opt.Gap = normLoss / 2 * math.Max(lambda*square(w), s.minPenalty()) / (a.atZero - s.lower)
			a.enough = a.normIsTight
			if err = a.improveFrom(s); errors.Is(err, errPasses) {
				err = nil
			}
		}
		s.systems += a.systems
		s.rounds += a.rounds
		switch {
		case err != nil:
			return err
		case raise:
			// The point is much shorter than was assumed. A larger lambda leaves more to rounding.
			lambda = larger
			continue
		case s.acceptShort(a, allowed) && small:
			return nil
		}
		a.setDual(heldDual{}) // lets go of the scores that describe its groups
		tooLarge = lambda
		if lambda /= lambdaFall; larger > 0 {
			lambda = math.Min(lambda, larger)
		}
	}
	return nil
}

// limitsOfShortening returns the passes of the source and the systems of the solve at which shorten ends.
func (s *solver) limitsOfShortening() (passes, systems int) {
	passes, _ = s.source.Readings()
	passes, systems = passes+shortenPasses, s.systems+max(shortenSystems, s.systems)
	if s.opt.MaxPasses > 0 {
		passes = min(passes, s.passesBefore+s.opt.MaxPasses)
	}
	if s.opt.MaxSystems > 0 {
		systems = min(systems, s.opt.MaxSystems)
	}
	return passes, systems
}

// minPenalty returns the smallest lambda |w|^2 that proves something. Rounding moves D and F by about 1e-12
// F(0), and the regulariser of a hinge quantile, which is kappa times a largest a_j/m_j, by 1e-14 kappa F(0), with kappa in rows; see
// docs/reference/certificate.md. Verify refuses a bound that rounding may move by more than 1 %.
func (s *solver) minPenalty() float64 {
	least := 5e-10
	if s.form.Kind == form.HingeQuantile {
		least += float64(2e-12 * s.rowsOnTop())
	}
	return least * s.atZero
}

// improveFrom improves a problem with lambda > 0. If a descent on the smoothed problem ended the solve with
// lambda = 0, it goes on. Squared losses have no use for rows after that: groups of rows bound them too
// loosely.
func (s *solver) improveFrom(zero *solver) error {
	if !zero.endedByDescent() {
		return s.improve()
	}
	from := zero.descent.last
	from.at = zero.best.at
	var err error
	if s.descent.last, err = s.descent.descend(from); err != nil || s.done() || s.form.Squared {
		return err
	}
	if err := s.eval.addNearRows(s.best); err != nil {
		return err
	}
	return s.improve()
}

// normIsTight reports whether the bounds of a problem with lambda > 0 prove |w|^2 up to normLoss.
func (s *solver) normIsTight() bool {
	return 2*(s.upper-s.lower) <= float64(normLoss*s.form.Lambda*square(s.best.at.W))
}

// withLambda returns a solver of the problem with another lambda. It starts from the best point and the dual
// point of this solve, and shares its rows.
func (s *solver) withLambda(lambda float64) *solver {
	f := s.form
	f.Lambda = lambda
	a := newSolver(s.ctx, s.source, f, Options{})
	a.strict, a.unit = s.strict, s.unit
	if s.opt.Progress != nil {
		a.opt.Progress = func(Progress) { s.report() } // the bounds of this solve, which stay
	}
	a.startAtZero()
	a.workingSet = s.workingSet
	e := s.best
	e.f += float64(lambda / 2 * square(e.at.W))
	a.accept(e)
	if s.endedByDescent() {
		return a
	}
	// The groups of the dual point may overlap with rows held since, so they serve only that.
	positives, population := a.pos.groups, a.pop.groups
	a.pos.groups, a.pop.groups = s.dual.p.groups, s.dual.a.groups
	a.withGroups(func() {
		p, q := s.dual.p.padded(s.pos), s.dual.a.padded(s.pop)
		if r, ok := restricted.Bound(a.restrictedProblem(f), s.best.at.W, p, q, s.theta); ok {
			a.acceptBound(&r)
		}
	})
	a.pos.groups, a.pop.groups = positives, population
	return a
}

// acceptShort takes over the best point of a problem with lambda, and its proof, if that point is as good as
// allowed.
func (s *solver) acceptShort(a *solver, allowed float64) bool {
	e := a.best
	e.f -= float64(a.form.Lambda / 2 * square(e.at.W))
	if e.f > allowed || isZero(e.at.W) {
		return false
	}
	s.upper, s.best, s.norm = e.f, e, NormProof{}
	if a.form.Lambda*square(e.at.W) >= s.minPenalty() {
		r := a.result()
		s.norm = NormProof{Lambda: a.form.Lambda, P: r.P, A: r.A, GroupsP: r.GroupsP, GroupsA: r.GroupsA,
			Bound: normBound(a.lower, s.upper, a.form.Lambda, objective.Norm(e.at.W))}
	}
	return true
}
