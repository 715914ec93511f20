package solver

import (
	"context"

	"toptau/internal/lockstep"
	"toptau/internal/objective"
)

// Task is one run of a grid: a method with its hyperparameters on data that all tasks share.
type Task struct {
	Full     *objective.Objective   // its own
	Batches  []*objective.Objective // nil: full batches; the same matrices in the same order for all tasks
	Progress func(Progress)         // unless nil, called after every step of this task
}

// Outcome is what Adam or SGD returns for one task.
type Outcome struct {
	Result Result
	Err    error
}

// grid advances all tasks in lockstep: each step reads the data once for all of them. The outcome of a task is that of the
// single run, byte for byte. Options.Progress is not used. A matrix that keeps float64 values is read by one task after the
// other, in the exact arithmetic.
func grid(ctx context.Context, tasks []Task, o Options, updates func(dim int, step float64) update) []Outcome {
	out := make([]Outcome, len(tasks))
	if err := o.validate(); err != nil {
		for i := range out {
			out[i].Err = err
		}
		return out
	}
	runs := make([]*run, len(tasks))
	for i, t := range tasks {
		o.Progress = t.Progress
		runs[i] = newRun(t.Full, Batches(t.Batches), o, updates)
	}
	e := oneByOne
	if len(tasks) > 0 && lockstep.Supports(tasks[0].Full.Matrix()) {
		e = together(runs)
	}
	minimise(ctx, runs, e)
	for i, r := range runs {
		out[i] = Outcome{r.result, r.err}
	}
	return out
}

// single is a grid of one task. Objectives of other kinds than ours are evaluated by their own At.
func single(ctx context.Context, full Objective, batches []Objective, o Options,
	updates func(dim int, step float64) update) (Result, error) {
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	r := newRun(full, batches, o, updates)
	e := oneByOne
	if ours(full, batches) {
		e = together([]*run{r})
	}
	minimise(ctx, []*run{r}, e)
	return r.result, r.err
}

// ours reports whether the objectives can be evaluated in the fast arithmetic.
func ours(full Objective, batches []Objective) bool {
	o, ok := full.(*objective.Objective)
	ok = ok && lockstep.Supports(o.Matrix())
	for _, b := range batches {
		_, batch := b.(*objective.Objective)
		ok = ok && batch
	}
	return ok
}

// together evaluates runs on our objectives in the fast arithmetic, with shared readings.
func together(runs []*run) evaluator {
	place := make(map[*run]int, len(runs))
	for i, r := range runs {
		r.fast = true
		place[r] = i
	}
	steps := lockstep.New(len(runs))
	traces := lockstep.New(len(runs)) // the full data between minibatches has thresholds of its own
	points := make([]lockstep.Point, 0, len(runs))
	at := func(live []*run, batch int, gradient bool) {
		points = points[:0]
		for _, r := range live {
			o := r.full
			if batch >= 0 {
				o = r.batches[batch]
			}
			p := lockstep.Point{Objective: o.(*objective.Objective), Run: place[r], W: r.w}
			if gradient {
				p.Grad = r.g
			}
			r.scored += int64(o.Rows())
			points = append(points, p)
		}
		if gradient {
			steps.Evaluate(points)
		} else {
			traces.Evaluate(points)
		}
		for i, r := range live {
			r.value = points[i].Value
		}
	}
	return evaluator{at, func() {
		steps.Release()
		traces.Release()
	}}
}
