package optim

import (
	"context"

	"toptau/internal/core/lockstep"
	"toptau/internal/core/objective"
)

// Task is one run of a grid: a problem on data that all tasks share.
type Task struct {
	Full     *objective.Objective   // of this task alone
	Batches  []*objective.Objective // on the same matrices in the same order for all tasks; nil: full batches
	Progress func(StepProgress)     // called after every step of this task; nil: not
}

// Outcome is the result of Adam or SGD for one task.
type Outcome struct {
	Result StepResult
	Err    error
}

// runGrid advances all tasks in lockstep: each step reads the data once for all of them. The outcome of a
// task has the bytes of the single run. StepOptions.Progress is not used. In the exact arithmetic, which a matrix that
// keeps float64 values implies, each task reads the data on its own.
func runGrid(ctx context.Context, tasks []Task, o StepOptions, updates func(dim int, step float64) update) []Outcome {
	out := make([]Outcome, len(tasks))
	if err := o.check(); err != nil {
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
	e := exactly
	if !o.Exact && len(tasks) > 0 && lockstep.Supports(tasks[0].Full.Matrix()) {
		e = inLockstep(runs)
	}
	minimise(ctx, runs, e)
	for i, r := range runs {
		out[i] = Outcome{r.result, r.err}
	}
	return out
}

// runSingle runs one task. Objectives other than *objective.Objective are evaluated by their own At.
func runSingle(ctx context.Context, full Objective, batches []Objective, o StepOptions,
	updates func(dim int, step float64) update) (StepResult, error) {
	if err := o.check(); err != nil {
		return StepResult{}, err
	}
	r := newRun(full, batches, o, updates)
	e := exactly
	if !o.Exact && fastAll(full, batches) {
		e = inLockstep([]*run{r})
	}
	minimise(ctx, []*run{r}, e)
	return r.result, r.err
}

// fastAll reports whether all objectives can be evaluated in the fast arithmetic.
func fastAll(full Objective, batches []Objective) bool {
	o, ok := full.(*objective.Objective)
	ok = ok && lockstep.Supports(o.Matrix())
	for _, b := range batches {
		_, batch := b.(*objective.Objective)
		ok = ok && batch
	}
	return ok
}

// inLockstep evaluates runs in the fast arithmetic, with shared passes.
func inLockstep(runs []*run) evaluator {
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
