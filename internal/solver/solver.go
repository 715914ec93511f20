// Package solver minimises an objective by steps along its gradient: the scheme of the paper's experiments. It knows
// neither surrogates nor thresholds, only values, gradients and a projection.
//
// Steps go through the minibatches in order, again and again: step k uses minibatch k mod their number, its threshold, its
// losses, its gradient. What is reported is always measured on the full data.
//
// Two arithmetics. Steps on an *objective.Objective use the fast one (lockstep.Evaluator: float32 scores), for one run as
// for a grid of runs that share each reading of the data (AdamGrid, SGDGrid): a run has the same bytes alone and in a
// grid, for any number of threads and any processor. The values of Last, Best, AtZero and of the start come from the exact
// one, (*objective.Objective).At; those of the trace in between, and of Progress, from the fast one. The steps on any
// other Objective, and those on a matrix that keeps float64 values, use At.
package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"toptau/diag"
	"toptau/internal/objective"
)

// Objective is what a solver sees. *objective.Objective is one.
type Objective interface {
	Dim() int                             // number of weights
	At(w, grad []float64) objective.Value // value and, unless grad is nil, gradient at w
	Project(w []float64)                  // onto the feasible set, in place
	Rows() int                            // rows of data
	Visits() int64                        // row visits of all evaluations so far
}

// Start says where the iterations begin.
type Start int

const (
	Zero   Start = iota // w = 0
	Random              // uniform in [-1, 1], from the seed, then projected
)

// The paper's settings.
const (
	DefaultIterations = 1000
	DefaultStep       = 0.01
)

// Options are settings whose zero values are the paper's.
type Options struct {
	Iterations int     // steps; 0: 1000
	Step       float64 // step size; 0: 0.01
	Start      Start
	Seed       uint64 // of a random start

	// Progress, unless nil, is called after every step, on the solver's goroutine.
	Progress func(Progress)
	// TraceEvery is the number of steps between two points of the trace; 0: 1 on the full data, a tenth of the iterations
	// with minibatches, where every point costs an evaluation of the full objective.
	TraceEvery int
}

// Progress is where a run stands. Value is the newest one: of the full objective, or of the step's minibatch.
type Progress struct {
	Iteration, Of int
	Value         objective.Value
	Minibatch     bool // Value is that of a minibatch
}

// Iterate is a point with its value on the full data.
type Iterate struct {
	W []float64
	objective.Value
	Iteration int // steps that led here; 0 is the start
}

// TracePoint is the value on the full data after some steps.
type TracePoint struct {
	Iteration int
	objective.Value
}

// Result is a finished or cancelled run. All values are those of the full objective; those of the trace between the start
// and the last point are from the fast arithmetic and may differ from the exact ones in the seventh digit.
type Result struct {
	Last       Iterate         // after the last step
	Best       Iterate         // the lowest F among the points of the trace (by the trace's F) and the last; the earliest on a tie
	AtZero     objective.Value // at w = 0
	Trace      []TracePoint    // the start, every TraceEvery-th point, and the last, ascending
	Iterations int             // steps taken
	Cancelled  bool            // the context ended the run; the result is what it had by then
	Passes     int             // evaluations of as many rows as the full data has, rounded up
	RowReads   float64         // all row visits, for thresholds, losses and gradients, over the number of rows
}

// NoBetterThanZero reports whether the run ended at a point that is no better than w = 0.
func (r *Result) NoBetterThanZero() bool { return r.Last.F >= r.AtZero.F }

// update moves w along the gradient g; step counts from 1.
type update func(w, g []float64, step int)

// run is the state of one minimisation.
type run struct {
	full    Objective
	batches []Objective // nil: full batch
	options Options
	update  update
	w, g    []float64
	value   objective.Value // of the newest evaluation
	fast    bool            // values of steps are approximate
	result  Result
	scored  int64 // rows read for scores
	before  int64 // visits of all objectives before the run
	err     error // the run is over
}

// evaluator computes with the data for the runs.
type evaluator struct {
	// at sets the values of the runs at their points, and their gradients if asked to, on a minibatch or, with batch -1, on the
	// full data.
	at      func(runs []*run, batch int, gradient bool)
	release func() // gives scratch space back when the steps are done
}

// minimise is the loop that all solvers share. Runs take each step together; a run that fails drops out.
func minimise(ctx context.Context, runs []*run, e evaluator) {
	if len(runs) == 0 {
		return
	}
	iterations, batches := runs[0].options.Iterations, len(runs[0].batches)
	live := apart(runs, (*run).begin)
	for k := 1; k <= iterations && len(live) > 0; k++ {
		if ctx.Err() != nil {
			for _, r := range live {
				r.result.Cancelled = true
			}
			break
		}
		batch := -1
		if batches > 0 {
			batch = (k - 1) % batches
		}
		e.at(live, batch, true)
		live = going(live, func(r *run) error { return r.step(k) })
		if batches > 0 && live != nil && k < iterations && live[0].traced(k) {
			e.at(live, -1, false)
			live = going(live, func(r *run) error { return r.record(k, r.value) })
		}
		for _, r := range live {
			r.progress(k)
		}
	}
	e.release()
	apart(live, (*run).end)
}

// going calls f for each run and returns those that go on.
func going(runs []*run, f func(r *run) error) []*run {
	var live []*run
	for _, r := range runs {
		if r.err = f(r); r.err == nil {
			live = append(live, r)
		}
	}
	return live
}

// apart is going for what each run does on its own, some of them at the same time.
func apart(runs []*run, f func(r *run) error) []*run {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(len(runs), runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(runs); i = int(next.Add(1)) - 1 {
				runs[i].err = f(runs[i])
			}
		})
	}
	group.Wait()
	return going(runs, func(r *run) error { return r.err })
}

// oneByOne evaluates runs on any objective.
var oneByOne = evaluator{at: one, release: func() {}}

func one(runs []*run, batch int, gradient bool) {
	for _, r := range runs {
		o, g := r.full, r.g
		if batch >= 0 {
			o = r.batches[batch]
		}
		if !gradient {
			g = nil
		}
		r.value = r.exact(o, g)
	}
}

// validate is the border at which options are checked.
func (o Options) validate() error {
	switch {
	case o.Iterations < 0:
		return usage("--iterations %v", o.Iterations, "a number of at least 1")
	case !(o.Step >= 0) || math.IsInf(o.Step, 1):
		return usage("--step %v", o.Step, "a finite number above 0")
	case o.TraceEvery < 0:
		return usage("a trace point every %v steps", o.TraceEvery, "at least 1")
	case o.Start != Zero && o.Start != Random:
		return usage("--start %v", o.Start, "zero or random")
	}
	return nil
}

func usage(found string, value any, expected string) error {
	return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf(found, value), Expected: expected}
}

func newRun(full Objective, batches []Objective, o Options, updates func(dim int, step float64) update) *run {
	if o.Step == 0 {
		o.Step = DefaultStep
	}
	if o.Iterations == 0 {
		o.Iterations = DefaultIterations
	}
	if o.TraceEvery == 0 {
		o.TraceEvery = 1
		if len(batches) > 0 {
			o.TraceEvery = max(1, o.Iterations/10)
		}
	}
	r := &run{full: full, batches: batches, options: o, update: updates(full.Dim(), o.Step)}
	r.w, r.g = make([]float64, full.Dim()), make([]float64, full.Dim())
	r.before = r.visits()
	return r
}

func (r *run) visits() int64 {
	total := r.full.Visits()
	for _, b := range r.batches {
		total += b.Visits()
	}
	return total
}

// begin evaluates w = 0 and the start.
func (r *run) begin() error {
	r.result.AtZero = r.exact(r.full, nil)
	if r.options.Start == Random {
		random := rand.NewPCG(r.options.Seed, 0x7374617274)
		for j := range r.w {
			unit := float64(float64(random.Uint64()>>11) / (1 << 53))
			r.w[j] = float64(2*unit) - 1
		}
	}
	r.full.Project(r.w)
	value := r.result.AtZero
	if r.options.Start == Random {
		value = r.exact(r.full, nil)
	}
	return r.record(0, value)
}

// exact is At at the current w, counted.
func (r *run) exact(o Objective, g []float64) objective.Value {
	r.scored += int64(o.Rows())
	v := o.At(r.w, g)
	if ours, ok := o.(*objective.Objective); ok && r.fast {
		ours.Release() // it is rarely needed, and there may be many runs
	}
	return v
}

// step takes step k, from the value and gradient before it.
func (r *run) step(k int) error {
	if err := finite(k-1, r.value, r.g); err != nil {
		return err
	}
	if len(r.batches) == 0 && k > 1 && r.traced(k-1) {
		if err := r.record(k-1, r.value); err != nil {
			return err
		}
	}
	r.update(r.w, r.g, k)
	r.full.Project(r.w)
	r.result.Iterations = k
	return nil
}

func (r *run) progress(k int) {
	if r.options.Progress != nil {
		r.options.Progress(Progress{k, r.options.Iterations, r.value, len(r.batches) > 0})
	}
}

func (r *run) traced(k int) bool { return k%r.options.TraceEvery == 0 }

// end evaluates the last and the best point and closes the counts.
func (r *run) end() error {
	var err error
	k, newest := r.result.Iterations, &r.result.Trace[len(r.result.Trace)-1]
	switch {
	case k > 0 && newest.Iteration < k:
		err = r.settle(k, r.exact(r.full, nil))
	case k > 0 && r.fast:
		newest.Value = r.exact(r.full, nil)
		err = r.settle(k, newest.Value)
	}
	last := r.result.Trace[len(r.result.Trace)-1]
	r.result.Last = Iterate{W: append([]float64(nil), r.w...), Value: last.Value, Iteration: last.Iteration}
	rows := float64(max(r.full.Rows(), 1))
	r.result.Passes = int(math.Ceil(float64(r.scored) / rows))
	r.result.RowReads = float64(r.visits()-r.before) / rows
	return err
}

// settle notes the exact value after the last step k, and replaces the best one's by its exact value.
func (r *run) settle(k int, v objective.Value) error {
	best := &r.result.Best
	if r.fast && best.Iteration > 0 && best.Iteration < k {
		w := r.w
		r.w = best.W
		best.Value = r.exact(r.full, nil)
		r.w = w
	}
	if newest := r.result.Trace[len(r.result.Trace)-1]; newest.Iteration < k {
		return r.record(k, v)
	}
	if best.Iteration == k {
		best.Value = v
	} else if v.F < best.F {
		r.note(k, v)
	}
	return finite(k, v, r.w)
}

// record adds the current w, with its value on the full data, to the trace.
func (r *run) record(k int, v objective.Value) error {
	if err := finite(k, v, r.w); err != nil {
		return err
	}
	r.result.Trace = append(r.result.Trace, TracePoint{k, v})
	if k == 0 || v.F < r.result.Best.F {
		r.note(k, v)
	}
	return nil
}

// note makes the current w the best one.
func (r *run) note(k int, v objective.Value) {
	r.result.Best.W = append(r.result.Best.W[:0], r.w...)
	r.result.Best.Value, r.result.Best.Iteration = v, k
}

// finite refuses a run that has left the range of numbers.
func finite(k int, v objective.Value, x []float64) error {
	bad := v.F-v.F != 0
	for _, xj := range x {
		bad = bad || xj-xj != 0
	}
	if !bad {
		return nil
	}
	return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("the objective is not finite after %d steps", k),
		Expected: "a run that converges", Hint: "a smaller --step, or scaled columns (--scale standard)"}
}

// Batches lists minibatches as a solver takes them.
func Batches(batches []*objective.Objective) []Objective {
	out := make([]Objective, len(batches))
	for b, o := range batches {
		out[b] = o
	}
	return out
}
