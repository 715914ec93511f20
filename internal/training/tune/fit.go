package tune

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/internal/core/parallel"
	"toptau/method"
)

// Fit is the solution of one problem.
type Fit struct {
	W                []float64
	At               objective.Value // objective, threshold and loss at W on all training rows
	AtZero           objective.Value // the same at w = 0
	NoBetterThanZero bool            // At.F >= AtZero.F
	Kappa            float64         // K as used on the training population; M tau, which need not be whole, for surrogate quantiles
	Iterations       int
	Passes           int               // full passes over the training rows
	RowReads         float64           // rows read over the number of training rows
	Certified        *certified.Result // nil: the solver has no certificate
	Bound            *float64          // a lower bound of the objective; nil: unknown
	Solver           string            // "newton", "lbfgs", "certified", "adam"; set by Search only
	Seconds          float64
}

// Watch receives the results of Paper.Fit and of learners. Both functions must be safe for concurrent use and must not be
// nil.
type Watch struct {
	// Fitted is called once for each problem that was fitted or that cannot be fitted. In the second case err is
	// the reason and Fit is empty. It is not called for a problem that was interrupted.
	Fitted func(problem int, f Fit, err error)
	// Progress reports the share of a problem's work that is done.
	Progress func(problem int, share float64)
}

// Lockstep advances several runs of a first-order method on shared passes over the data, as optim.AdamGrid and
// optim.SGDGrid do.
type Lockstep func(ctx context.Context, tasks []optim.Task, o optim.StepOptions) []optim.Outcome

// Paper is the scheme of the paper's experiments. The zero value is ADAM from w = 0 with full batches. The paper prints the
// number of iterations; the step is ours.
type Paper struct {
	Grid        Lockstep          // nil: optim.AdamGrid
	Options     optim.StepOptions // zero values: 1,000 iterations, step 0.01, w = 0; Progress is overwritten
	Minibatches int               // 0 or 1: full batches
	Stratified  bool              // stratified minibatches instead of plain random ones
	Best        bool              // the answer is that of optim.StepResult.Answer; false: the last iterate, as in the paper
	Held        []bool            // by problem: its steps hold the threshold (objective.HoldThreshold) and are exact; nil: none
}

// Fit fits problems on one matrix. They share the packed minibatches and each pass over the data. The result
// of a problem does not depend on the other problems. Small data is fitted by as many groups of problems at a
// time as there are processors. Fit returns early when the context ends; its error concerns all problems.
func (s Paper) Fit(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
	batches, err := s.minibatches(x, problems)
	if err != nil {
		return err
	}
	if s.Grid == nil {
		s.Grid = optim.AdamGrid
	}
	s.Options.Exact = s.Options.Exact || slices.Contains(s.Held, true)
	runs := bindProblems(x, batches, problems, w)
	for i, r := range runs {
		runs[i].best = s.Best
		if s.Held != nil && s.Held[r.problem] {
			r.holdThreshold()
		}
	}
	size, atOnce := s.groupSize(x, len(runs))
	groups := (len(runs) + size - 1) / size
	fitGroup := func(k int) {
		if ctx.Err() == nil {
			s.fitGroup(ctx, runs[k*size:min((k+1)*size, len(runs))], w)
		}
	}
	if atOnce > 1 {
		parallel.For(groups, fitGroup)
		return nil
	}
	for k := range groups {
		fitGroup(k)
	}
	return nil
}

// gridRun is a problem bound to the data.
type gridRun struct {
	problem int
	full    *objective.Objective
	batches []*objective.Objective
	best    bool // Paper.Best
}

// holdThreshold makes all gradients of a run treat the threshold as a constant.
func (r gridRun) holdThreshold() {
	r.full.HoldThreshold()
	for _, b := range r.batches {
		b.HoldThreshold()
	}
}

// bindProblems reports the problems that cannot be fitted and returns the others.
func bindProblems(x *matrix.Matrix, batches []*matrix.Matrix, problems []method.Problem, w Watch) []gridRun {
	var runs []gridRun
	for i, p := range problems {
		run, err := bindProblem(x, batches, p)
		if err != nil {
			w.Fitted(i, Fit{}, err)
			continue
		}
		run.problem = i
		runs = append(runs, run)
	}
	return runs
}

func bindProblem(x *matrix.Matrix, batches []*matrix.Matrix, p method.Problem) (gridRun, error) {
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

// Limits of a group. What its runs keep of the rows takes at most a quarter of the matrix, or groupBytes. A
// pass over up to smallBytes runs on one thread, so each processor gets a group. A pass over up to tinyBytes
// takes less time than the rest of a step, so each problem is a group: an interruption then keeps the
// problems that are finished. The limits were chosen by hand for caches of about 2 MB a processor.
const (
	maxRuns    = 32
	minRuns    = 8
	groupBytes = 256 << 20
	smallBytes = 2 << 20
	tinyBytes  = 256 << 10
)

// groupSize returns the number of problems in a group and the number of groups at a time, which is 1 or the
// number of processors.
func (s Paper) groupSize(x *matrix.Matrix, runs int) (size, atOnce int) {
	pass := x.Bytes() / int64(max(s.Minibatches, 1))
	processors := runtime.GOMAXPROCS(0)
	if pass <= tinyBytes {
		return 1, processors
	}
	if pass <= smallBytes && processors > 1 {
		return max(1, min(maxRuns, (runs+processors-1)/processors)), processors
	}
	const kept = 16 // bytes of scores and coefficients for a positive row and run
	budget := max(x.Bytes()/4, groupBytes) / (kept * int64(x.Positives.Rows()))
	return max(minRuns, min(maxRuns, int(budget))), 1
}

// fitGroup fits some problems in lockstep. The time of the shared passes is divided equally between them.
func (s Paper) fitGroup(ctx context.Context, runs []gridRun, w Watch) {
	start := time.Now()
	tasks := make([]optim.Task, len(runs))
	for k, r := range runs {
		tasks[k] = optim.Task{Full: r.full, Batches: r.batches, Progress: func(p optim.StepProgress) {
			w.Progress(r.problem, float64(p.Iteration)/float64(p.Of))
		}}
	}
	outcomes := s.Grid(ctx, tasks, s.Options)
	seconds := time.Since(start).Seconds() / float64(len(runs))
	for k, r := range runs {
		r.report(ctx, outcomes[k].Result, outcomes[k].Err, seconds, w)
	}
}

// report reports the result of a solver unless the context ended it.
func (r gridRun) report(ctx context.Context, res optim.StepResult, err error, seconds float64, w Watch) {
	at := res.Last
	if r.best && err == nil {
		at, _ = res.Answer()
	}
	switch {
	case res.Cancelled || ctx.Err() != nil && err != nil:
	case err != nil:
		w.Fitted(r.problem, Fit{}, err)
	default:
		w.Fitted(r.problem, Fit{
			W: at.W, At: at.Value, AtZero: res.AtZero, NoBetterThanZero: at.F >= res.AtZero.F,
			Kappa: r.full.Threshold().Kappa(), Iterations: res.Iterations, Passes: res.Passes, RowReads: res.RowReads,
			Seconds: seconds,
		}, nil)
	}
}

// minibatches packs the rows of each minibatch once for all problems: they depend only on the matrix and the
// seed.
func (s Paper) minibatches(x *matrix.Matrix, problems []method.Problem) ([]*matrix.Matrix, error) {
	if s.Minibatches == 0 || s.Minibatches == 1 {
		return nil, nil
	}
	var first error
	for _, p := range problems {
		full, err := objective.New(p, x)
		if err != nil {
			continue // bindProblems reports it
		}
		parts, err := full.Minibatches(s.Minibatches, s.Options.Seed, s.Stratified)
		if err != nil {
			if first == nil {
				first = err
			}
			continue // another problem may need fewer rows per minibatch
		}
		batches := make([]*matrix.Matrix, len(parts))
		for b, part := range parts {
			batches[b] = part.Matrix()
		}
		return batches, nil
	}
	return nil, first
}
