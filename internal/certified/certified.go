// Package certified finds the global optimum of the six convex methods and proves it: an upper bound F(w), computed
// exactly on all rows, and a lower bound D(p, a) of a feasible dual point, computed apart from the solver.
//
// The method is a working set with an interior-point solver inside. The threshold depends on few rows of the
// population, the best ones; a problem restricted to any rows is a lower bound for the whole, since its dual points are
// dual points of the whole. So the solver holds the positives and some rows of the population, solves the problem on
// them, reads all scores at the solution once, takes the rows that the solution overlooked, and repeats until the two
// bounds meet. docs/certificate.md has the mathematics.
package certified

import (
	"context"
	"errors"
	"fmt"
	"math"

	"toptau/internal/objective"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Result is a solve's outcome, whether it converged or not: the bounds hold in any case.
type Result struct {
	W            []float64
	Threshold    float64 // t(W)
	Objective    float64 // F(W), from one more reading than the solver's own
	LowerBound   float64 // D(P, A) <= F(w) for all w; for lambda = 0 for all |w| <= BallRadius
	BallRadius   float64 // 0 when lambda > 0
	AtZero       float64 // F(0)
	P, A         Sparse  // the dual point: p over the positives, a over the population
	Passes       int     // readings of the population
	RowReads     float64 // visits to rows, inner work included, over the number of rows
	Iterations   int     // Newton systems
	Rounds       int     // solves of a restricted problem
	WorkingSet   int     // distinct rows of the population held at the end
	Converged    bool
	Cancelled    bool
	Zero         Verdict // whether w = 0 is a global minimiser, as far as the bounds show it
	gapOfRequest float64
}

// RelativeGap is (F - D)/max(F, 0.01).
func (r *Result) RelativeGap() float64 {
	return math.Max(0, r.Objective-r.LowerBound) / math.Max(r.Objective, .01)
}

// GapOfDecrease is (F - D)/(F(0) - D), the share of the possible decrease that may be missing; false where w = 0 is
// optimal and there is nothing to decrease.
func (r *Result) GapOfDecrease() (float64, bool) {
	if r.Zero == ZeroIsOptimal || !(r.AtZero > r.LowerBound) {
		return 0, false
	}
	return math.Max(0, r.Objective-r.LowerBound) / (r.AtZero - r.LowerBound), true
}

// Possible reports whether Solve can solve a problem; the error says why not.
func Possible(p method.Problem) error {
	_, err := formOf(p, 0)
	return err
}

// formOf reads the problem's form.
func formOf(p method.Problem, kappa float64) (form, error) {
	f := form{kappa: kappa, lambda: p.Lambda}
	if !p.Definition().Convex {
		return f, fmt.Errorf("certified: %s is not convex: no certificate exists", p.Definition().Title)
	}
	switch p.Loss() {
	case surrogate.Hinge:
	case surrogate.SquaredHinge:
		f.squared = true
	default:
		return f, fmt.Errorf("certified: the %s surrogate has no certified solver", p.Surrogate)
	}
	switch r := p.Rule().(type) {
	case threshold.TopCount, threshold.TopMean:
		f.kind = topMean
	case threshold.SurrogateQuantile:
		f.kind, f.beta = hingeQuantile, r.Beta
		if r.Surrogate != nil && r.Surrogate == surrogate.SquaredHinge {
			f.kind = squaredQuantile
		}
	default:
		return f, fmt.Errorf("certified: no dual is known for the threshold of %s", p.Definition().Title)
	}
	return f, nil
}

// Solve minimises the objective to the gap asked for, or as far as it gets. It fails when the method has no certificate.
// A cancelled context is not an error: the result has the best point and its bounds so far, and Cancelled is set.
func Solve(ctx context.Context, o *objective.Objective, opt Options) (Result, error) {
	return solveWith(ctx, o, opt, direct{o.Matrix()})
}

// solveWith is Solve by way of a reader.
func solveWith(ctx context.Context, o *objective.Objective, opt Options, read reader) (Result, error) {
	r, err := (&Chain{x: o.Matrix(), read: read}).solve(ctx, o, opt)
	if err != nil {
		return r, err
	}
	return certifyResult(o, r, read) // the chain's memory is free by now
}

// SolveSource is Solve for data that are seen through a source only. Both bounds are exact: F is evaluated on all rows by
// the source, and D on the rows and groups that its multipliers touch.
func SolveSource(ctx context.Context, source Source, p method.Problem, opt Options) (Result, error) {
	bound, err := p.Rule().Bind(source.Shape().Population)
	if err != nil {
		return Result{}, err
	}
	f, err := formOf(p, bound.Kappa())
	if err != nil {
		return Result{}, err
	}
	f.rule = bound
	s := &session{ctx: ctx, source: source, f: f, opt: opt}
	s.passesBefore, s.visitsBefore = source.Readings()
	if err = s.solve(); err == nil {
		err = s.shorten()
	}
	cancelled := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if err != nil && !cancelled {
		return Result{}, err
	}
	r := s.result()
	r.Cancelled = cancelled
	r.Zero = zeroInBounds(f, &r)
	r.judge()
	return r, nil
}

// result collects what the session knows, before the certificate is computed apart from it.
func (s *session) result() Result {
	passes, visits := s.source.Readings()
	r := Result{W: s.best.w, AtZero: s.atZero, Objective: s.upper, LowerBound: s.lower, Threshold: s.best.t,
		Passes: passes - s.passesBefore, RowReads: visits - s.visitsBefore, Iterations: s.systems, Rounds: s.rounds, gapOfRequest: s.opt.gap()}
	if s.pop != nil {
		r.WorkingSet = s.pop.n
		r.RowReads += (s.pop.visits - s.heldBefore) / float64(max(1, s.shape.Population.Rows+s.shape.Positives.Rows))
		r.P, r.A = s.pos.lift(s.p), s.pop.lift(s.a)
	}
	if s.rounded != nil {
		r.P, r.A = s.source.(rounder).dual(s.rounded, s.scale)
	}
	if s.f.lambda == 0 {
		r.BallRadius = s.radius
	}
	return r
}

// certifyResult replaces both bounds by those recomputed from (w, p, a) and the data.
func certifyResult(o *objective.Objective, r Result, read reader) (Result, error) {
	if r.W == nil {
		r.W = make([]float64, o.Dim())
	}
	z := make([]float64, o.Matrix().Rows())
	read.scores([]scored{{r.W, z}})
	at := o.AtScores(r.W, z)
	if o.Problem().Lambda == 0 { // the ball of an earlier point, about a thousand times as long as that
		r.BallRadius = math.Max(r.BallRadius, 2*objective.Norm(r.W))
	}
	bounds, err := boundsAt(o, at, r.P, r.A, r.BallRadius)
	if err != nil {
		return r, err
	}
	r.Objective, r.LowerBound, r.Threshold, r.AtZero = bounds.Upper, bounds.Lower, bounds.Threshold, bounds.AtZero
	r.Passes++ // the reading that computes F(w) apart
	if err := decideZero(o, &r, read); err != nil {
		return r, err
	}
	r.judge()
	return r, nil
}

// judge decides whether the solve has converged.
func (r *Result) judge() {
	share, some := r.GapOfDecrease()
	r.Converged = some && share <= r.gapOfRequest || r.Objective-r.LowerBound <= 1e-3*r.gapOfRequest*r.AtZero ||
		r.Zero == ZeroIsOptimal && r.RelativeGap() <= r.gapOfRequest
}

// Bounds are both ends of a certificate.
type Bounds struct {
	Upper, Lower float64 // F(w), D(p, a)
	Threshold    float64 // t(w)
	AtZero       float64 // F(0)
	Norm         float64 // |w|

	UpperError, LowerError float64 // bounds on the rounding errors of both; Verify only
}

// Verify computes F(w) and D(p, a) from the data alone, apart from the solver's arithmetic, with bounds on their rounding
// errors. An infeasible (p, a) is an error that names the constraint, and so is a number that is not finite. With lambda = 0
// the lower bound holds for all weights of norm at most radius.
func Verify(o *objective.Objective, w []float64, p, a Sparse, radius float64) (Bounds, error) {
	f, err := formOf(o.Problem(), o.Threshold().Kappa())
	if err != nil {
		return Bounds{}, err
	}
	fullP, fullA, err := expandBoth(o, p, a)
	if err != nil {
		return Bounds{}, err
	}
	e, err := o.Enclose(w, fullP, fullA, radius)
	if err != nil {
		return Bounds{}, err
	}
	return Bounds{Upper: e.F, UpperError: e.FError, Lower: e.D, LowerError: e.DError, Threshold: e.T,
		AtZero: f.atZero(o.Population().Mass), Norm: e.Norm}, nil
}

// boundsAt computes the bounds of a solve, for a point at which the objective is known.
func boundsAt(o *objective.Objective, at objective.Value, p, a Sparse, radius float64) (Bounds, error) {
	f, err := formOf(o.Problem(), o.Threshold().Kappa())
	if err != nil {
		return Bounds{}, err
	}
	b := Bounds{Upper: at.F, Threshold: at.T, AtZero: f.atZero(o.Population().Mass)}
	if len(p.Rows) == 0 {
		return b, nil // no loss is negative, so 0 is a bound
	}
	fullP, fullA, err := expandBoth(o, p, a)
	if err != nil {
		return b, err
	}
	var dual objective.Dual
	if o.Problem().Lambda == 0 {
		dual, err = o.DualInBall(fullP, fullA, radius)
	} else {
		dual, err = o.Dual(fullP, fullA)
	}
	if err != nil {
		return b, err
	}
	b.Lower = math.Max(0, dual.D)
	return b, nil
}

// expandBoth returns p and a with all their elements.
func expandBoth(o *objective.Objective, p, a Sparse) (fullP, fullA []float64, err error) {
	if fullP, err = p.expand(o.Matrix().Positives.Rows(), "p"); err != nil {
		return nil, nil, err
	}
	fullA, err = a.expand(o.Population().Rows, "a")
	return fullP, fullA, err
}
