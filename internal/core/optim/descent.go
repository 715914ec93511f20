package optim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"toptau/diag"
	"toptau/internal/core/objective"
	"toptau/internal/core/parallel"
)

// The methods of fixed steps, ADAM and SGD, share the loop of this file. Step k uses minibatch (k-1) mod
// their number: its threshold, its losses, its gradient. All reported values are those of the full data.
//
// There are two arithmetics. Steps on an *objective.Objective use the fast one, with float32 scores, unless
// StepOptions.Exact is set. A run has the same bytes alone and in a grid, for any number of threads and on any
// processor. The values of Last, Best, AtZero and of the start come from the exact one,
// (*objective.Objective).At. Values of the trace in between, and of StepProgress, come from the fast one. Exact
// steps, steps on any other Objective, and on a matrix that keeps float64 values, use At alone.

// Objective is an objective of these methods. *objective.Objective is one.
type Objective interface {
	Dim() int                             // number of weights
	At(w, grad []float64) objective.Value // value and, unless grad is nil, gradient at w
	Project(w []float64)                  // onto the feasible set, in place
	Rows() int                            // rows of data
	Visits() int64                        // rows read by all evaluations so far
}

// Start is where a run starts.
type Start int

const (
	Zero   Start = iota // w = 0
	Random              // uniform in [-1, 1], from the seed, then projected
)

// These separate the random start and its change from other uses of a seed: "start" and "jitter" in ASCII.
const (
	startStream  = 0x7374617274
	jitterStream = 0x6a6974746572
)

// lastBit is the unit in the last place of a number between 1 and 2.
const lastBit = 0x1p-52

// The number of iterations is the paper's. It does not print its step size; 0.01 is ours.
const (
	DefaultIterations = 1000
	DefaultStep       = 0.01
)

// StepOptions are the settings of ADAM and SGD. Zero values mean the defaults.
type StepOptions struct {
	Iterations int     // steps; 0: 1000
	Step       float64 // step size; 0: 0.01
	Start      Start
	Seed       uint64 // of a random start
	Exact      bool   // float64 in a fixed order of sums, for the steps too; it costs more on large data

	// Jitter changes the last bits of the start: it is the seed of numbers in [-2^-52, 2^-52] that are added to
	// the weights. 0: none. Runs whose results depend on it depend on rounding.
	Jitter uint64

	// Progress is called after every step, on the caller's goroutine; nil: not.
	Progress func(StepProgress)
	// TraceEvery is the number of steps between two points of the trace. 0 means 1 on the full data, and a
	// tenth of the iterations with minibatches, where every point costs an evaluation of the full objective.
	TraceEvery int
}

// StepProgress is the state of a run. Value is the latest one, of the full objective or of the step's
// minibatch.
type StepProgress struct {
	Iteration, Of int
	Value         objective.Value
	Minibatch     bool // Value is of a minibatch
}

// Iterate is a point with its value on the full data.
type Iterate struct {
	W []float64
	objective.Value
	Iteration int // number of steps; 0: the start
}

// TracePoint is the value on the full data after some steps.
type TracePoint struct {
	Iteration int
	objective.Value
}

// StepResult is a finished or cancelled run. All values are of the full objective. Values of the trace
// between the start and the last point come from the fast arithmetic and may differ from the exact ones in
// the seventh digit.
type StepResult struct {
	Last       Iterate         // after the last step
	Best       Iterate         // the point of the trace with the lowest F in the trace; the earliest on a tie
	AtZero     objective.Value // at w = 0
	Trace      []TracePoint    // the start, every TraceEvery-th point, and the last, ascending
	Iterations int             // steps taken
	Cancelled  bool            // the context ended the run early
	Passes     int             // rows scored, over the number of rows, rounded up
	RowReads   float64         // rows read for thresholds, losses and gradients, over the number of rows
}

// Answer returns the best point, or w = 0 where that is no worse. The second result is false for w = 0. That no step was better does not
// show that w = 0 is optimal.
func (r *StepResult) Answer() (Iterate, bool) {
	if r.Best.F < r.AtZero.F {
		return r.Best, true
	}
	return Iterate{W: make([]float64, len(r.Last.W)), Value: r.AtZero}, false
}

// update moves w along the gradient g; step counts from 1.
type update func(w, g []float64, step int)

// run is the state of one minimisation.
type run struct {
	full    Objective
	batches []Objective // nil: full batch
	options StepOptions
	update  update
	w, g    []float64
	value   objective.Value      // of the latest evaluation
	fast    bool                 // values of steps are approximate
	latest  *objective.Objective // has the scratch space of an exact run
	result  StepResult
	scored  int64 // rows read for scores
	before  int64 // rows read by all objectives before the run
	err     error // why the run ended early
}

// evaluator evaluates the objectives of several runs.
type evaluator struct {
	// at sets the values of the runs at their points, and with gradient their gradients, on a minibatch or,
	// for batch -1, on the full data.
	at      func(runs []*run, batch int, gradient bool)
	release func() // frees scratch when all steps are taken
}

// minimise is the loop of all methods. All runs take a step before any takes the next. A run that fails drops
// out.
func minimise(ctx context.Context, runs []*run, e evaluator) {
	if len(runs) == 0 {
		return
	}
	iterations, batches := runs[0].options.Iterations, len(runs[0].batches)
	live := runEach(runs, (*run).evaluateStart)
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
		live = keepGoing(live, func(r *run) error { return r.takeStep(k) })
		if batches > 0 && live != nil && k < iterations && live[0].traced(k) {
			e.at(live, -1, false)
			live = keepGoing(live, func(r *run) error { return r.recordPoint(k, r.value) })
		}
		for _, r := range live {
			r.reportProgress(k)
		}
	}
	e.release()
	runEach(live, (*run).finish)
}

// keepGoing calls f for each run and returns the runs without an error.
func keepGoing(runs []*run, f func(r *run) error) []*run {
	var live []*run
	for _, r := range runs {
		if r.err = f(r); r.err == nil {
			live = append(live, r)
		}
	}
	return live
}

// runEach is keepGoing with several runs at the same time. f must use its own run only.
func runEach(runs []*run, f func(r *run) error) []*run {
	parallel.For(len(runs), func(i int) { runs[i].err = f(runs[i]) })
	return keepGoing(runs, func(r *run) error { return r.err })
}

// exactly evaluates each run by At. Several runs are evaluated at the same time: each uses objectives of its own.
var exactly = evaluator{at: evaluateEach, release: func() {}}

func evaluateEach(runs []*run, batch int, gradient bool) {
	parallel.For(len(runs), func(i int) {
		r := runs[i]
		o, g := r.full, r.g
		if batch >= 0 {
			o = r.batches[batch]
		}
		if !gradient {
			g = nil
		}
		r.value = r.evaluateExactly(o, g)
	})
}

// check refuses options that are out of range.
func (o StepOptions) check() error {
	switch {
	case o.Iterations < 0:
		return badOption("iterations", o.Iterations, "a number of at least 1")
	case !(o.Step >= 0) || math.IsInf(o.Step, 1):
		return badOption("step", o.Step, "a finite number above 0")
	case o.TraceEvery < 0:
		return badOption("trace-every", o.TraceEvery, "a number of at least 1")
	case o.Start != Zero && o.Start != Random:
		return badOption("start", o.Start, "zero or random")
	}
	return nil
}

func badOption(param string, value any, expected string) error {
	return &diag.Error{Kind: diag.Usage, Param: param, Found: fmt.Sprint(value), Expected: expected}
}

func newRun(full Objective, batches []Objective, o StepOptions, updates func(dim int, step float64) update) *run {
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

// visits returns the rows read by all objectives of the run.
func (r *run) visits() int64 {
	total := r.full.Visits()
	for _, b := range r.batches {
		total += b.Visits()
	}
	return total
}

// evaluateStart evaluates w = 0 and the start.
func (r *run) evaluateStart() error {
	r.result.AtZero = r.evaluateExactly(r.full, nil)
	if r.options.Start == Random {
		addUniform(r.w, 1, rand.NewPCG(r.options.Seed, startStream))
	}
	if r.options.Jitter != 0 {
		addUniform(r.w, lastBit, rand.NewPCG(r.options.Jitter, jitterStream))
	}
	r.full.Project(r.w)
	value := r.result.AtZero
	if r.options.Start == Random || r.options.Jitter != 0 {
		value = r.evaluateExactly(r.full, nil)
	}
	return r.recordPoint(0, value)
}

// addUniform adds numbers in [-size, size) to w.
func addUniform(w []float64, size float64, random *rand.PCG) {
	for j := range w {
		unit := float64(float64(random.Uint64()>>11) / (1 << 53))
		w[j] += float64(size * (float64(2*unit) - 1))
	}
}

// evaluateExactly calls At at the current w and counts the rows.
func (r *run) evaluateExactly(o Objective, g []float64) objective.Value {
	r.scored += int64(o.Rows())
	ours, known := o.(*objective.Objective)
	// The space of the full data between minibatches, and of fast runs, is rarely needed, and there may be many runs.
	rare := r.fast || len(r.batches) > 0 && o == r.full
	if known && !rare {
		if r.latest != nil && r.latest != ours {
			ours.TakeScratch(r.latest)
		}
		r.latest = ours
	}
	v := o.At(r.w, g)
	if known && rare {
		ours.Release()
	}
	return v
}

// takeStep takes step k, from the value and gradient before it.
func (r *run) takeStep(k int) error {
	if err := checkFinite(k-1, r.value, r.g); err != nil {
		return err
	}
	if len(r.batches) == 0 && k > 1 && r.traced(k-1) {
		if err := r.recordPoint(k-1, r.value); err != nil {
			return err
		}
	}
	r.update(r.w, r.g, k)
	r.full.Project(r.w)
	r.result.Iterations = k
	return nil
}

func (r *run) reportProgress(k int) {
	if r.options.Progress != nil {
		r.options.Progress(StepProgress{k, r.options.Iterations, r.value, len(r.batches) > 0})
	}
}

// traced reports whether the point after step k belongs to the trace.
func (r *run) traced(k int) bool { return k%r.options.TraceEvery == 0 }

// finish evaluates the last and the best point and sets the counts.
func (r *run) finish() error {
	var err error
	k, newest := r.result.Iterations, &r.result.Trace[len(r.result.Trace)-1]
	switch {
	case k > 0 && newest.Iteration < k:
		err = r.recordLast(k, r.evaluateExactly(r.full, nil))
	case k > 0 && r.fast:
		newest.Value = r.evaluateExactly(r.full, nil)
		err = r.recordLast(k, newest.Value)
	}
	last := r.result.Trace[len(r.result.Trace)-1]
	r.result.Last = Iterate{W: append([]float64(nil), r.w...), Value: last.Value, Iteration: last.Iteration}
	rows := float64(max(r.full.Rows(), 1))
	r.result.Passes = int(math.Ceil(float64(r.scored) / rows))
	r.result.RowReads = float64(r.visits()-r.before) / rows
	return err
}

// recordLast records the exact value v after the last step k, and replaces the value of the best point by its
// exact value.
func (r *run) recordLast(k int, v objective.Value) error {
	best := &r.result.Best
	if r.fast && best.Iteration > 0 && best.Iteration < k {
		w := r.w
		r.w = best.W
		best.Value = r.evaluateExactly(r.full, nil)
		r.w = w
	}
	if newest := r.result.Trace[len(r.result.Trace)-1]; newest.Iteration < k {
		return r.recordPoint(k, v)
	}
	if best.Iteration == k {
		best.Value = v
	} else if v.F < best.F {
		r.setBest(k, v)
	}
	return checkFinite(k, v, r.w)
}

// recordPoint adds the current w, with its value on the full data, to the trace.
func (r *run) recordPoint(k int, v objective.Value) error {
	if err := checkFinite(k, v, r.w); err != nil {
		return err
	}
	r.result.Trace = append(r.result.Trace, TracePoint{k, v})
	if k == 0 || v.F < r.result.Best.F {
		r.setBest(k, v)
	}
	return nil
}

// setBest makes the current w the best one.
func (r *run) setBest(k int, v objective.Value) {
	r.result.Best.W = append(r.result.Best.W[:0], r.w...)
	r.result.Best.Value, r.result.Best.Iteration = v, k
}

// checkFinite returns an error if a value or an element of x is not finite.
func checkFinite(k int, v objective.Value, x []float64) error {
	bad := v.F-v.F != 0
	for _, xj := range x {
		bad = bad || xj-xj != 0
	}
	if !bad {
		return nil
	}
	return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("the objective is not finite after %d steps", k),
		Expected: "finite values", Fixes: []diag.Fix{{Param: "scale", Value: "standard"}}, Hint: "or a smaller step"}
}

// Batches converts a list of minibatches.
func Batches(batches []*objective.Objective) []Objective {
	out := make([]Objective, len(batches))
	for b, o := range batches {
		out[b] = o
	}
	return out
}
