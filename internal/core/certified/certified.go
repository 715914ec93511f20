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
// A solver (solve.go, with shorten.go for lambda = 0) has parts with state of their own. They share the problem, the
// bounds and the rows held (state.go, problem.go, bounds.go, workingset.go, heldrows.go). The starter (start.go) finds
// the first point. The evaluator (evaluate.go, nearrows.go) asks the source for sums and rows. The line search is in
// line.go and ray.go. The descent on the smoothed problem is in descend.go, with stepwise.go and atonce.go for its
// questions; steplength.go and expect.go save passes.
//
// The files, from the outside in: batch.go (several problems), certified.go, zero.go (is w = 0 optimal), sample.go, the
// solver, result.go (results and proofs), and the data: evaluation.go and histogram.go (what answers prove), source.go
// (the questions), blocks.go and merge.go (parts of a source), asked.go (a source for a proof), and a matrix in memory:
// memory.go, scores.go, bins.go, members.go, reader.go.
package certified

import (
	"context"
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/objective"
	"toptau/method"
)

// Possible returns nil if Solve can solve a problem, else an error with the reason.
func Possible(p method.Problem) error {
	_, err := form.Of(p)
	return err
}

// WideColumns is the number of columns above which Wide problems are solved by the products of their rows. The systems of columns cost
// the cube of it.
const WideColumns = 2000

// Wide reports whether a problem on wide data can be solved by the products of the rows that matter. With Pat&Mat and TopMean the
// positives are rows of the population too, so that most rows matter. The squared quantile took too many steps.
func Wide(p method.Problem) bool {
	f, err := form.Of(p)
	return err == nil && f.Kind != form.SquaredQuantile && p.Lambda > 0 && p.Definition().Population == method.Negatives
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
	s.strict = opt.MaxPasses > 0
	s.wide = Wide(o.Problem()) && o.Dim() > WideColumns
	if small := thinned(o.Matrix()); small != nil {
		var visits float64
		small = representative(small, o.Problem().Definition().Population, source.Shape())
		s.start.from, visits = startFromSample(ctx, o.Problem(), small, &f, source.Shape())
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
	s.strict = opt.MaxPasses > 0
	shape := source.Shape()
	if x := opt.Sample; x != nil {
		population := p.Definition().Population
		opt.Sample = representative(x, population, shape)
		if !shape.KeepsScores && x.Positives.Rows() > 0 && x.Negatives.Rows() > 0 {
			s.start.sample = NewMemory(opt.Sample, population)
			s.eval.expected = newExpectation(opt.Sample, population, f, shape)
		}
	}
	if opt.Start != nil {
		s.start.from = &start{at: newPoint(opt.Start)}
	} else if opt.Sample != nil {
		s.start.from, _ = startFromSample(ctx, p, opt.Sample, &f, shape)
	}
	switch {
	case s.start.from != nil:
	case worthSmoothing(&f, shape):
		if err := s.start.startWide(); err != nil && !endsEarly(err) {
			return Result{}, err
		}
	}
	r, err := s.run()
	if err == nil {
		err = s.eval.narrow()
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
		if r.Norm.Bound, err = normBoundAt(o, at, objective.Norm(r.W), &r.Norm); err != nil {
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
