package paper

import (
	"context"
	"fmt"
	"math"

	"toptau/internal/app/report"
	"toptau/internal/core/certified"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/internal/core/text"
	"toptau/method"
)

// "The methods converge within seconds on datasets with 5 million training samples" is about a run, not a
// step. This follows ADAM on training data of the shape of Hepmass: the objective on all rows during the
// 1,000 iterations, and the certified optimum of the same problem.

// convergenceSet is the column of the table of times whose data are used.
const convergenceSet = "Hepmass"

// convergenceMethods are those of the table of times and Pat&Mat-NP, which the paper recommends and which
// cannot collapse.
var convergenceMethods = []string{"toppushk", "grill", "patmat", "patmat-np", "topmean"}

// traceSteps is the number of iterations between two values of the objective. Each costs a pass that the
// paper's scheme does not need, so they are few.
const traceSteps = 50

// withinOptimum is the fraction of the possible decrease within which a run counts as converged.
const withinOptimum = 0.01

// convergenceGap is the gap of the certified optimum: a hundredth of withinOptimum.
const convergenceGap = withinOptimum / 100

// Convergence contains the runs of convergenceMethods.
type Convergence struct {
	Key     string           `json:"key"`
	Rows    int              `json:"rows"`
	Columns int              `json:"columns"`
	Batches int              `json:"minibatches"`
	Threads int              `json:"threads"`
	Runs    []ConvergenceRun `json:"runs"`              // by method
	Seconds []float64        `json:"seconds_iteration"` // by method
}

// ConvergenceRun is the objective on all rows during a run of ADAM.
type ConvergenceRun struct {
	AtZero float64
	Steps  []int     // iterations before each value
	Values []float64 // of the objective on all rows
	Bound  *float64  `json:",omitempty"` // proven lower bound; nil for a method that is not convex
	Zero   bool      `json:",omitempty"` // w = 0 is optimal, with a proof
}

// followConvergence runs ADAM for an objective, and the certified solver if it is convex.
func followConvergence(ctx context.Context, o *objective.Objective, parts []*objective.Objective) (ConvergenceRun, error) {
	if !o.Problem().Definition().Convex { // as the entry in the tables
		for _, part := range append(parts, o) {
			part.HoldThreshold()
		}
	}
	res, err := optim.Adam(ctx, o, optim.Batches(parts), optim.StepOptions{TraceEvery: traceSteps, Exact: true})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return ConvergenceRun{}, err
	}
	run := ConvergenceRun{AtZero: res.AtZero.F}
	for _, at := range res.Trace {
		run.Steps, run.Values = append(run.Steps, at.Iteration), append(run.Values, at.F)
	}
	if o.Problem().Definition().Convex {
		err = run.prove(ctx, o)
	}
	return run, err
}

// prove adds the lower bound: F(0) if w = 0 is optimal, otherwise that of the certified solver.
func (r *ConvergenceRun) prove(ctx context.Context, o *objective.Objective) error {
	zero, err := certified.IsZeroOptimal(ctx, o, certified.Options{})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	bound := r.AtZero
	if r.Zero = zero.Verdict == certified.ZeroIsOptimal; !r.Zero {
		best, err := certified.Solve(ctx, o, certified.Options{Gap: convergenceGap, MaxSystems: certifiedSystems})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		bound = best.LowerBound
	}
	r.Bound = &bound
	return nil
}

// missing returns the fraction of the possible decrease that a value misses, NaN if there is nothing to gain
// or no bound.
func (r *ConvergenceRun) missing(f float64) float64 {
	if r.Bound == nil || r.Zero {
		return math.NaN()
	}
	return (f - *r.Bound) / (r.AtZero - *r.Bound)
}

// converged returns the number of iterations after which all values are within the fraction of the optimum,
// and false if the last one is not.
func (r *ConvergenceRun) converged() (int, bool) {
	at, found := 0, false
	for i := len(r.Values) - 1; i >= 0; i-- {
		if m := r.missing(r.Values[i]); !(m <= withinOptimum) {
			break
		}
		at, found = r.Steps[i], true
	}
	return at, found
}

// valueAfter returns the objective after a number of iterations.
func (r *ConvergenceRun) valueAfter(steps int) float64 {
	for i, s := range r.Steps {
		if s >= steps {
			return r.Values[i]
		}
	}
	return r.Values[len(r.Values)-1]
}

// convergenceTable returns the table and a summary.
func convergenceTable(c *Convergence) (report.Table, string, error) {
	t := report.Table{Caption: fmt.Sprintf("Convergence of ADAM on training data of the shape of Hepmass: the "+
		"objective on all %s rows, %s of %s rows.", text.Count(c.Rows), batchesText(c.Batches), text.Count(c.Rows/c.Batches)),
		Header: []string{"method", "F(0)", "100 iterations", "300", "1,000", "lower bound", "decrease missed at " +
			"the end",
			fmt.Sprintf("within %g %% of the decrease after", 100*withinOptimum), "seconds for 1,000 iterations"},
		Numbers: []int{1, 2, 3, 4, 5, 6, 7, 8}}
	within, convex, atZero, slowest := 0, 0, 0, 0.0
	for i := range c.Runs {
		r := &c.Runs[i]
		m, err := method.ByName(convergenceMethods[i])
		if err != nil {
			return t, "", err
		}
		seconds := c.Seconds[i]
		slowest = max(slowest, float64(seconds*optim.DefaultIterations))
		row := []string{m.Title, sixDigits(r.AtZero)}
		for _, steps := range []int{100, 300, 1000} {
			row = append(row, sixDigits(r.valueAfter(steps)))
		}
		switch steps, ok := r.converged(); {
		case r.Bound == nil:
			row = append(row, "unknown", "-", "-")
		case r.Zero:
			atZero++
			row = append(row, "w = 0", "-", "it ends above F(0)")
		case ok:
			convex++
			within++
			row = append(row, sixDigits(*r.Bound), text.Percent(r.missing(r.Values[len(r.Values)-1])),
				fmt.Sprintf("%s iterations, %s s", text.Count(steps), secondsText(float64(steps)*seconds)))
		default:
			convex++
			row = append(row, sixDigits(*r.Bound), text.Percent(r.missing(r.Values[len(r.Values)-1])), "not in 1,000 iterations")
		}
		t.Rows = append(t.Rows, append(row, secondsText(float64(seconds*optim.DefaultIterations))))
	}
	return t, fmt.Sprintf("\"The methods converge within seconds on datasets with 5 million training "+
		"samples\": 1,000 iterations take at most %s s here (%s rows). Of the convex methods in the table, %d "+
		"have w = 0 as optimum, so their runs end above it; of the others, %s come within %g %% of the possible "+
		"decrease.", secondsText(slowest), text.Count(c.Rows), atZero,
		countOf(within, convex), 100*withinOptimum), nil
}

// secondsText writes seconds with two digits.
func secondsText(s float64) string { return fmt.Sprintf("%.2g", s) }
