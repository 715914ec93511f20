package tune

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"toptau/internal/certified"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/optim"
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
	Bound            *float64          // of the objective from below; nil: none is known
	Solver           string            // "newton", "lbfgs", "certified", "adam"; set by Search alone
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

// Solver is one run of a first-order method, as optim.Adam and optim.SGD.
type Solver func(ctx context.Context, full optim.Objective, batches []optim.Objective,
	o optim.StepOptions) (optim.StepResult, error)

// Lockstep advances several runs of a first-order method on shared readings of the data, as optim.AdamGrid and
// optim.SGDGrid.
type Lockstep func(ctx context.Context, tasks []optim.Task, o optim.StepOptions) []optim.Outcome

// Paper is the scheme of the paper's experiments. The zero value is ADAM from w = 0 with full batches.
type Paper struct {
	Grid        Lockstep       // nil: optim.AdamGrid, unless there is a Solver
	Solver      Solver         // where there is no Grid: fits the problems one by one
	Options     optim.StepOptions // zero values: 1,000 iterations, step 0.01, w = 0; Progress is overwritten
	Minibatches int            // 0 or 1: full batches
	Stratified  bool           // stratified minibatches instead of plain random ones
}

// Fit is a Fitter. The problems share the matrix and the packed minibatches, and with a Grid each reading of them. Small
// data is fitted by as many groups of problems at once as there are processors.
func (s Paper) Fit(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
	batches, err := s.minibatches(x, problems)
	if err != nil {
		return err
	}
	if s.Grid == nil && s.Solver == nil {
		s.Grid = optim.AdamGrid
	}
	runs := s.bind(x, batches, problems, w)
	if s.Grid == nil {
		s.eachAlone(ctx, runs, w)
		return nil
	}
	size, atOnce := s.groupSize(x, len(runs))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for ctx.Err() == nil {
				end := int(next.Add(int64(size)))
				first := end - size
				if first >= len(runs) {
					return
				}
				s.group(ctx, runs[first:min(end, len(runs))], w)
			}
		})
	}
	workers.Wait()
	return nil
}

// gridRun is a problem bound to the data.
type gridRun struct {
	problem int
	full    *objective.Objective
	batches []*objective.Objective
}

// bind reports the problems that cannot be fitted and returns the others.
func (s Paper) bind(x *matrix.Matrix, batches []*matrix.Matrix, problems []method.Problem, w Watch) []gridRun {
	var runs []gridRun
	for i, p := range problems {
		run, err := bindOne(x, batches, p)
		if err != nil {
			w.Fitted(i, Fit{}, err)
			continue
		}
		run.problem = i
		runs = append(runs, run)
	}
	return runs
}

func bindOne(x *matrix.Matrix, batches []*matrix.Matrix, p method.Problem) (gridRun, error) {
	full, err := objective.New(p, x)
	if err != nil {
		return gridRun{}, err
	}
	run := gridRun{full: full}
	for b, batch := range batches {
		part, err := objective.New(p, batch)
		if err != nil {
			return gridRun{}, fmt.Errorf("minibatch %d of %d: %w", b+1, len(batches), err)
		}
		run.batches = append(run.batches, part)
	}
	return run, nil
}

// Limits of a group: what its runs keep of the rows takes at most a quarter of the matrix, or groupBytes. Data of up to
// smallBytes, a reading of which runs on one thread, is given to one group for each processor. Data of up to tinyBytes
// takes less time to read than the rest of a step: there, who interrupts the runs keeps those that are finished.
const (
	mostRuns   = 32
	leastRuns  = 8
	groupBytes = 256 << 20
	smallBytes = 2 << 20
	tinyBytes  = 256 << 10
)

// groupSize returns the number of problems in a group, and of groups at the same time.
func (s Paper) groupSize(x *matrix.Matrix, runs int) (size, atOnce int) {
	reading := x.Bytes() / int64(max(s.Minibatches, 1))
	processors := runtime.GOMAXPROCS(0)
	if reading <= tinyBytes {
		return 1, min(processors, max(runs, 1))
	}
	if reading <= smallBytes && processors > 1 {
		return max(1, min(mostRuns, (runs+processors-1)/processors)), processors
	}
	const kept = 16 // bytes of scores and coefficients for a positive row and run
	budget := max(x.Bytes()/4, groupBytes) / (kept * int64(x.Positives.Rows()))
	return max(leastRuns, min(mostRuns, int(budget))), 1
}

// group fits some problems in lockstep.
func (s Paper) group(ctx context.Context, runs []gridRun, w Watch) {
	start := time.Now()
	tasks := make([]optim.Task, len(runs))
	for k, r := range runs {
		tasks[k] = optim.Task{Full: r.full, Batches: r.batches, Progress: func(p optim.StepProgress) {
			w.Progress(r.problem, float64(p.Iteration)/float64(p.Of))
		}}
	}
	outcomes := s.Grid(ctx, tasks, s.Options)
	seconds := time.Since(start).Seconds() / float64(len(runs)) // of the shared readings, each has its part
	for k, r := range runs {
		r.report(ctx, outcomes[k].Result, outcomes[k].Err, seconds, w)
	}
}

// eachAlone fits the problems one by one, as many at once as there are processors.
func (s Paper) eachAlone(ctx context.Context, runs []gridRun, w Watch) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(runs)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= len(runs) {
					return
				}
				r, start, o := runs[k], time.Now(), s.Options
				o.Progress = func(p optim.StepProgress) { w.Progress(r.problem, float64(p.Iteration)/float64(p.Of)) }
				res, err := s.Solver(ctx, r.full, optim.Batches(r.batches), o)
				r.report(ctx, res, err, time.Since(start).Seconds(), w)
			}
		})
	}
	workers.Wait()
}

// report hands on what a solver found, unless the context ended it.
func (r gridRun) report(ctx context.Context, res optim.StepResult, err error, seconds float64, w Watch) {
	switch {
	case res.Cancelled || ctx.Err() != nil && err != nil:
	case err != nil:
		w.Fitted(r.problem, Fit{}, err)
	default:
		w.Fitted(r.problem, Fit{
			W: res.Last.W, At: res.Last.Value, AtZero: res.AtZero, NoBetterThanZero: res.NoBetterThanZero(),
			Kappa: r.full.Threshold().Kappa(), Iterations: res.Iterations, Passes: res.Passes, RowReads: res.RowReads,
			Seconds: seconds,
		}, nil)
	}
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
