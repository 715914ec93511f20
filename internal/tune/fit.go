package tune

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/solver"
	"toptau/internal/solver/certified"
	"toptau/method"
)

// Fit is what a solver found for one problem.
type Fit struct {
	W                []float64
	At               objective.Value // objective, threshold and loss at W on all training rows
	AtZero           objective.Value // the same at w = 0
	NoBetterThanZero bool            // At.F >= AtZero.F
	Kappa            float64         // K as used on the training population; the real M tau for surrogate quantiles
	Iterations       int
	Passes           int               // full readings of the training rows
	RowReads         float64           // all row visits over the number of training rows
	Certified        *certified.Result // nil: the solver has no certificate
	Seconds          float64
}

// Watch is how a Fitter reports. Both functions are safe for concurrent use and never nil.
type Watch struct {
	// Fitted is called once for each problem that was fitted or cannot be (err says why, Fit is then empty), and not
	// for a problem that was interrupted.
	Fitted func(problem int, f Fit, err error)
	// Progress says which share of a problem's work is done.
	Progress func(problem int, share float64)
}

// Fitter fits problems on one matrix. It is the seam for another solver, or for one that advances a whole grid in
// lockstep on shared passes. The result for a problem must not depend on the other problems. It returns early when the
// context is done; the error is for what concerns all problems.
type Fitter func(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error

// Solver is one run of a first-order method, as solver.Adam and solver.SGD.
type Solver func(ctx context.Context, full solver.Objective, batches []solver.Objective,
	o solver.Options) (solver.Result, error)

// Paper is the scheme of the paper's experiments. The zero value is ADAM from w = 0 with full batches.
type Paper struct {
	Solver      Solver         // nil: solver.Adam
	Options     solver.Options // zero values: 1,000 iterations, step 0.01, w = 0; Progress is overwritten
	Minibatches int            // 0 or 1: full batches
	Stratified  bool           // stratified minibatches instead of plain random ones
}

// Fit is a Fitter. It works on as many problems at once as there are processors; they share the matrix and the packed
// minibatches, so that memory grows by a few vectors over the rows for each processor.
func (s Paper) Fit(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
	if s.Solver == nil {
		s.Solver = solver.Adam
	}
	batches, err := s.minibatches(x, problems)
	if err != nil {
		return err
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(problems)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(problems) {
					return
				}
				fit, finished, err := s.one(ctx, x, batches, problems[i], func(share float64) { w.Progress(i, share) })
				if finished {
					w.Fitted(i, fit, err)
				}
			}
		})
	}
	workers.Wait()
	return nil
}

// minibatches packs the rows of each minibatch once for all problems: they depend on the matrix and the seed alone.
func (s Paper) minibatches(x *matrix.Matrix, problems []method.Problem) ([]*matrix.Matrix, error) {
	if s.Minibatches == 0 || s.Minibatches == 1 {
		return nil, nil
	}
	var first error
	for _, p := range problems {
		full, err := objective.New(p, x)
		if err != nil {
			continue // reported when it is this problem's turn
		}
		parts, err := full.Minibatches(s.Minibatches, s.Options.Seed, s.Stratified)
		if err != nil {
			if first == nil {
				first = err
			}
			continue // another problem may need less of a minibatch
		}
		batches := make([]*matrix.Matrix, len(parts))
		for b, part := range parts {
			batches[b] = part.Matrix()
		}
		return batches, nil
	}
	return nil, first
}

// one fits one problem. It is not finished when the context ended it.
func (s Paper) one(ctx context.Context, x *matrix.Matrix, batches []*matrix.Matrix, p method.Problem,
	progress func(share float64)) (f Fit, finished bool, err error) {
	start := time.Now()
	full, err := objective.New(p, x)
	if err != nil {
		return Fit{}, true, err
	}
	parts := make([]solver.Objective, len(batches))
	for b, batch := range batches {
		part, err := objective.New(p, batch)
		if err != nil {
			return Fit{}, true, fmt.Errorf("minibatch %d of %d: %w", b+1, len(batches), err)
		}
		parts[b] = part
	}
	o := s.Options
	o.Progress = func(p solver.Progress) { progress(float64(p.Iteration) / float64(p.Of)) }
	res, err := s.Solver(ctx, full, parts, o)
	if res.Cancelled || ctx.Err() != nil && err != nil {
		return Fit{}, false, nil
	}
	if err != nil {
		return Fit{}, true, err
	}
	return Fit{
		W: res.Last.W, At: res.Last.Value, AtZero: res.AtZero, NoBetterThanZero: res.NoBetterThanZero(),
		Kappa: full.Threshold().Kappa(), Iterations: res.Iterations, Passes: res.Passes, RowReads: res.RowReads,
		Seconds: time.Since(start).Seconds(),
	}, true, nil
}
