// Package certified finds the global optimum of the six convex methods and proves it. The proof is an upper
// bound F(w), computed on all rows, and a lower bound D(p, a) of a feasible dual point. Both are recomputed
// from the data, apart from the solver. docs/reference/certificate.md has the mathematics.
//
// The method is a working set. The threshold depends on few rows of the population, those with the highest
// scores. A problem restricted to any rows gives a lower bound of the whole, since its dual points are dual
// points of the whole. So the solver holds the positives and some rows of the population. It solves the
// problem on them (package restricted), computes all scores at the solution in one pass, adds the rows that
// the solution overlooked, and repeats until the bounds meet. With millions of rows it first descends on a
// smoothed problem (package smoothed), which needs no rows one by one.
//
// The files, from the outside in: certified.go (results and proofs), batch.go (several problems), zero.go (is w
// = 0 optimal), solve.go (the outer loop) with begin.go, evaluate.go, line.go, bounds.go, workingset.go, descend.go
// and shorten.go, for sources where each question costs a pass expect.go, atonce.go and steplength.go, and the data: source.go (the questions), histogram.go (what their answers prove), merge.go (parts
// of a source), asked.go (a source for a proof), and a matrix in memory: memory.go, scores.go,
// bins.go, members.go, reader.go.
package certified

import (
	"context"
	"errors"
	"math"
	"slices"

	"toptau/internal/certified/form"
	"toptau/internal/objective"
	"toptau/method"
)

// Result is the outcome of a solve. The bounds hold whether it converged or not.
type Result struct {
	W                []float64
	Threshold        float64      // t(W)
	Objective        float64      // F(W), from a pass of its own
	LowerBound       float64      // D(P, A) <= F(w) for all w; if lambda = 0, for all |w| <= BallRadius
	BallRadius       float64      // 0 if lambda > 0
	AtZero           float64      // F(0)
	P, A             Sparse       // the dual point: p of the positives, a of the population
	GroupsP, GroupsA []GroupValue // more of it: multipliers of groups of rows; from SolveSource only
	Passes           int          // passes over the population
	RowReads         float64      // rows read, inner work included, over the number of rows
	Iterations       int          // Newton systems solved
	Rounds           int          // restricted problems solved, and steps on the smoothed problem
	WorkingSet       int          // distinct rows of the population held at the end
	Converged        bool         // the bounds meet within Options.Gap
	Cancelled        bool         // the context ended the solve
	Zero             Verdict      // whether w = 0 is a global minimiser, as far as the bounds show it
	Norm             NormProof    // for lambda = 0: how short W is; zero: no proof
	requestedGap     float64
}

// leastScale is the F below which the relative gap is measured against a fixed number: on separable data F
// tends to 0, and a ratio to it means nothing.
const leastScale = .01

// RelativeGap returns (F - D)/max(F, 0.01).
func (r *Result) RelativeGap() float64 {
	return math.Max(0, r.Objective-r.LowerBound) / math.Max(r.Objective, leastScale)
}

// GapOfDecrease returns (F - D)/(F(0) - D), the fraction of the possible decrease that may be missing. It
// returns false if w = 0 is optimal: nothing can decrease.
func (r *Result) GapOfDecrease() (float64, bool) {
	if r.Zero == ZeroIsOptimal || !(r.AtZero > r.LowerBound) {
		return 0, false
	}
	return math.Max(0, r.Objective-r.LowerBound) / (r.AtZero - r.LowerBound), true
}

// Possible returns nil if Solve can solve a problem, else an error with the reason.
func Possible(p method.Problem) error {
	_, err := form.Of(p)
	return err
}

// Solve minimises the objective to Options.Gap, or as far as it gets. It fails if the method has no
// certificate. A cancelled context is not an error: the result then has the best point and bounds so far, and
// Cancelled is set.
func Solve(ctx context.Context, o *objective.Objective, opt Options) (Result, error) {
	return solveWith(ctx, o, opt, direct{o.Matrix()})
}

// solveWith is Solve with a reader for the data.
func solveWith(ctx context.Context, o *objective.Objective, opt Options, read reader) (Result, error) {
	r, err := solveUncertified(ctx, o, opt, read)
	if err != nil {
		return r, err
	}
	return certifyResult(o, r, read) // the solver's memory is free here
}

// solveUncertified is solveWith without the recomputed certificate. A large problem starts from a sample.
func solveUncertified(ctx context.Context, o *objective.Objective, opt Options, read reader) (Result, error) {
	f, err := form.Bind(o.Problem(), o.Threshold())
	if err != nil {
		return Result{}, err
	}
	source := newMemory(o.Matrix(), read, o.Problem().Definition().Population)
	s := newSolver(ctx, source, f, opt)
	if small := thinned(o.Matrix()); small != nil {
		var visits float64
		small = representative(small, o.Problem().Definition().Population, source.Shape())
		s.start, visits = startFromSample(ctx, o.Problem(), small, &f, source.Shape())
		source.visits += visits
	}
	r, err := s.run()
	if err != nil {
		return r, err
	}
	// Members of groups get multipliers of their own.
	before := source.passes
	r.P, r.A = source.ofRows(r.P, r.A, r.GroupsP, r.GroupsA)
	r.Norm.P, r.Norm.A = source.ofRows(r.Norm.P, r.Norm.A, r.Norm.GroupsP, r.Norm.GroupsA)
	r.GroupsP, r.GroupsA, r.Norm.GroupsP, r.Norm.GroupsA = nil, nil, nil, nil
	r.Passes += source.passes - before
	return r, nil
}

// SolveSource is Solve for data behind a source. F is the upper end of what the source's sums prove, and D is
// evaluated on the rows and groups that its multipliers touch. Options.Sample or Options.Start saves passes.
func SolveSource(ctx context.Context, source Source, p method.Problem, opt Options) (Result, error) {
	f, err := formOn(source, p)
	if err != nil {
		return Result{}, err
	}
	s := newSolver(ctx, source, f, opt)
	shape := source.Shape()
	if x := opt.Sample; x != nil {
		population := p.Definition().Population
		opt.Sample = representative(x, population, shape)
		if !shape.KeepsScores && x.Positives.Rows() > 0 && x.Negatives.Rows() > 0 {
			s.sample = NewMemory(opt.Sample, population)
			s.expected = newExpectation(opt.Sample, population, f, shape)
		}
	}
	if opt.Start != nil {
		s.start = &start{at: newPoint(opt.Start)}
	} else if opt.Sample != nil {
		s.start, _ = startFromSample(ctx, p, opt.Sample, &f, shape)
	}
	switch {
	case s.start != nil:
	case worthSmoothing(&f, shape):
		if err := s.startWide(); err != nil && !isCancelled(err) {
			return Result{}, err
		}
	}
	r, err := s.run()
	if err == nil {
		err = s.narrow()
	}
	if err != nil {
		return Result{}, err
	}
	passes, _ := source.Readings()
	more := passes - s.passesBefore - r.Passes
	r.Passes, r.RowReads = r.Passes+more, r.RowReads+float64(more)
	r.Objective, r.Threshold = s.upper, s.best.t
	r.Zero = zeroInBounds(f, &r)
	r.setConverged()
	return r, nil
}

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
	s := &solver{ctx: ctx, source: source, opt: opt, problem: problem{form: f}}
	s.passesBefore, s.readsBefore = source.Readings()
	return s
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
	s.shrinkBall()
	r := s.result()
	r.Cancelled = err != nil
	return r, nil
}

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
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

// certifyResult replaces both bounds by those recomputed from (w, p, a) and the data.
func certifyResult(o *objective.Objective, r Result, read reader) (Result, error) {
	if r.W == nil {
		r.W = make([]float64, o.Dim())
	}
	p := &Point{W: r.W, scores: make([]float64, o.Matrix().Rows())}
	read.computeScores([]*Point{p})
	at := o.AtScores(r.W, p.scores)
	if o.Problem().Lambda == 0 { // the radius comes from an earlier point, and W must lie in the ball
		r.BallRadius = math.Max(r.BallRadius, 2*objective.Norm(r.W))
	}
	bounds, err := boundsAt(o, at, r.P, r.A, r.BallRadius)
	if err != nil {
		return r, err
	}
	r.Objective, r.LowerBound, r.Threshold, r.AtZero = bounds.Upper, bounds.Lower, bounds.Threshold, bounds.AtZero
	if r.Norm.Lambda > 0 {
		if r.Norm.Bound, err = normBoundAt(o, at, &r.Norm); err != nil {
			return r, err
		}
	}
	r.Passes++ // the pass that computes F(w)
	if err := decideZero(o, &r, read); err != nil {
		return r, err
	}
	r.setConverged()
	return r, nil
}

// setConverged decides whether the bounds meet.
func (r *Result) setConverged() {
	gap, some := r.GapOfDecrease()
	r.Converged = some && gap <= r.requestedGap || r.Objective-r.LowerBound <= leastTarget*r.requestedGap*r.AtZero ||
		r.Zero == ZeroIsOptimal && r.RelativeGap() <= r.requestedGap
}

// Bounds are the two bounds of a certificate.
type Bounds struct {
	Upper, Lower float64 // F(w), D(p, a)
	Threshold    float64 // t(w)
	AtZero       float64 // F(0)
}

// boundsAt returns the bounds at a point whose objective is known.
func boundsAt(o *objective.Objective, at objective.Value, p, a Sparse, radius float64) (Bounds, error) {
	f, err := form.Bind(o.Problem(), o.Threshold())
	if err != nil {
		return Bounds{}, err
	}
	b := Bounds{Upper: at.F, Threshold: at.T, AtZero: f.AtZero(o.Population().Mass)}
	if len(p.Rows) == 0 {
		return b, nil // no loss is negative: the bound is 0
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
