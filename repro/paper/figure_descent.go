package paper

import (
	"context"

	"toptau/internal/core/certified"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
)

// Descent is the objective during a run, against passes over the data.
type Descent struct {
	Name   string
	AtZero float64   // F(0)
	Passes []float64 // rows read, divided by the rows of the data; ascending
	Upper  []float64 // the lowest F so far for the certified solver, the newest for ADAM
	Lower  []float64 // the largest lower bound so far; nil if the solver has none
}

// Descend minimises a convex objective by ADAM from zero and by the certified solver, and returns both runs.
// batches is the number of minibatches, drawn with seed; 0 and 1 mean full batches. iterations is 1,000 by
// default, as in the paper.
func Descend(ctx context.Context, o *objective.Objective, batches, iterations int, seed uint64) ([]Descent, error) {
	adam, err := descendByAdam(ctx, o, batches, iterations, seed)
	if err != nil {
		return nil, err
	}
	proved, err := descendCertified(ctx, o)
	if err == nil {
		err = ctx.Err()
	}
	return []Descent{adam, proved}, err
}

// descendByAdam returns a run of ADAM.
func descendByAdam(ctx context.Context, o *objective.Objective, batches, iterations int, seed uint64) (Descent, error) {
	task := optim.Task{Full: o}
	perPass := 1.0
	if batches > 1 {
		parts, err := o.Minibatches(batches, seed, false)
		if err != nil {
			return Descent{}, err
		}
		task.Batches, perPass = parts, float64(batches)
	}
	if iterations == 0 {
		iterations = optim.DefaultIterations
	}
	every := 1
	if batches > 1 { // each value of the full objective costs a pass, which is not counted
		every = max(1, iterations/100)
	}
	run := optim.AdamGrid(ctx, []optim.Task{task}, optim.StepOptions{Iterations: iterations, TraceEvery: every,
		Exact: true})[0]
	d := Descent{Name: "ADAM", AtZero: run.Result.AtZero.F}
	for _, at := range run.Result.Trace {
		// the value after k steps is known after k+1 passes over a batch
		d.Passes, d.Upper = append(d.Passes, float64(at.Iteration+1)/perPass), append(d.Upper, at.F)
	}
	return d, run.Err
}

// descendCertified returns a run of the certified solver.
func descendCertified(ctx context.Context, o *objective.Objective) (Descent, error) {
	d := Descent{Name: "certified"}
	add := func(passes int, upper, lower float64) {
		if n := len(d.Passes); n > 0 {
			upper, lower = min(upper, d.Upper[n-1]), max(lower, d.Lower[n-1])
		}
		d.Passes, d.Upper, d.Lower = append(d.Passes, float64(passes)), append(d.Upper, upper), append(d.Lower, lower)
	}
	follow := func(p certified.Progress) { add(p.Passes, p.Upper, p.Lower) }
	r, err := certified.Solve(ctx, o, certified.Options{Progress: follow})
	if err != nil {
		return d, err
	}
	d.AtZero = r.AtZero
	add(r.Passes, r.Objective, r.LowerBound)
	return d, nil
}
