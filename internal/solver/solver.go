// Package solver minimises an objective by steps along its gradient: the scheme of the paper's experiments. It knows
// neither surrogates nor thresholds, only values, gradients and a projection.
//
// Steps go through the minibatches in order, again and again: step k uses minibatch k mod their number, its threshold, its
// losses, its gradient. What is reported is always measured on the full data.
package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"toptau/internal/fault"
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

// Result is a finished or cancelled run. All values are those of the full objective.
type Result struct {
	Last       Iterate         // after the last step
	Best       Iterate         // the lowest F among the points of the trace and the last; the earliest one on a tie
	AtZero     objective.Value // at w = 0
	Trace      []TracePoint    // the start, every TraceEvery-th point, and the last, ascending
	Iterations int             // steps taken
	Cancelled  bool            // the context ended the run; the result is what it had by then
	Passes     int             // readings of as many rows as the full data has, for scores, rounded up
	RowReads   float64         // all row visits, for scores and gradients, over the number of rows
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
	result  Result
	scored  int64 // rows read for scores
	before  int64 // visits of all objectives before the run
}

// minimise is the loop that all solvers share.
func minimise(ctx context.Context, full Objective, batches []Objective, o Options, u update) (Result, error) {
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	r := newRun(full, batches, o, u)
	if err := r.begin(); err != nil {
		return r.result, err
	}
	for k := 1; k <= r.options.Iterations; k++ {
		if ctx.Err() != nil {
			r.result.Cancelled = true
			break
		}
		if err := r.step(k); err != nil {
			return r.result, err
		}
	}
	err := r.end()
	return r.result, err
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
	return &fault.Error{Kind: fault.Usage, Found: fmt.Sprintf(found, value), Expected: expected}
}

func newRun(full Objective, batches []Objective, o Options, u update) *run {
	if o.Iterations == 0 {
		o.Iterations = DefaultIterations
	}
	if o.TraceEvery == 0 {
		o.TraceEvery = 1
		if len(batches) > 0 {
			o.TraceEvery = max(1, o.Iterations/10)
		}
	}
	r := &run{full: full, batches: batches, options: o, update: u}
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
	r.result.AtZero = r.evaluate(r.full, nil)
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
		value = r.evaluate(r.full, nil)
	}
	return r.record(0, value)
}

// evaluate is At at the current w, counted.
func (r *run) evaluate(o Objective, g []float64) objective.Value {
	r.scored += int64(o.Rows())
	return o.At(r.w, g)
}

// step takes step k, and reports the value that it measured on the way: the one before the step.
func (r *run) step(k int) error {
	part := r.full
	if len(r.batches) > 0 {
		part = r.batches[(k-1)%len(r.batches)]
	}
	value := r.evaluate(part, r.g)
	if err := finite(k-1, value, r.g); err != nil {
		return err
	}
	if len(r.batches) == 0 && k > 1 && r.traced(k-1) {
		if err := r.record(k-1, value); err != nil {
			return err
		}
	}
	r.update(r.w, r.g, k)
	r.full.Project(r.w)
	r.result.Iterations = k
	if len(r.batches) > 0 && r.traced(k) && k < r.options.Iterations {
		if err := r.record(k, r.evaluate(r.full, nil)); err != nil {
			return err
		}
	}
	if r.options.Progress != nil {
		r.options.Progress(Progress{k, r.options.Iterations, value, len(r.batches) > 0})
	}
	return nil
}

func (r *run) traced(k int) bool { return k%r.options.TraceEvery == 0 }

// end evaluates the last point and closes the counts.
func (r *run) end() error {
	var err error
	if k := r.result.Iterations; k > 0 && r.result.Trace[len(r.result.Trace)-1].Iteration < k {
		err = r.record(k, r.evaluate(r.full, nil))
	}
	last := r.result.Trace[len(r.result.Trace)-1]
	r.result.Last = Iterate{W: append([]float64(nil), r.w...), Value: last.Value, Iteration: last.Iteration}
	rows := float64(max(r.full.Rows(), 1))
	r.result.Passes = int(math.Ceil(float64(r.scored) / rows))
	r.result.RowReads = float64(r.visits()-r.before) / rows
	return err
}

// record adds the current w, with its value on the full data, to the trace.
func (r *run) record(k int, v objective.Value) error {
	if err := finite(k, v, r.w); err != nil {
		return err
	}
	r.result.Trace = append(r.result.Trace, TracePoint{k, v})
	if k == 0 || v.F < r.result.Best.F {
		r.result.Best.W = append(r.result.Best.W[:0], r.w...)
		r.result.Best.Value, r.result.Best.Iteration = v, k
	}
	return nil
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
	return &fault.Error{Kind: fault.Usage, Found: fmt.Sprintf("the objective is not finite after %d steps", k),
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
