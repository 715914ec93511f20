package paper

import (
	"context"
	"slices"

	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
)

// walk is an objective that records the points at which it is evaluated. Its coordinates are relative to a
// start, so a solver that starts at zero begins there.
type walk struct {
	*objective.Objective
	start  []float64
	points [][]float64
}

func newWalk(o *objective.Objective, start []float64) *walk { return &walk{Objective: o, start: start} }

// descend runs steps of ADAM. Afterwards points contains the iterates.
func (w *walk) descend(ctx context.Context, steps int) error {
	if _, err := optim.Adam(ctx, w, nil, optim.StepOptions{Iterations: steps}); err != nil {
		return err
	}
	return ctx.Err()
}

// At evaluates the objective at start + step.
func (w *walk) At(step, grad []float64) objective.Value {
	at := w.from(step)
	w.points = append(w.points, at)
	return w.Objective.At(at, grad)
}

// Project projects start + step.
func (w *walk) Project(step []float64) {
	at := w.from(step)
	w.Objective.Project(at)
	for j := range step {
		step[j] = at[j] - w.start[j]
	}
}

// from returns start + step.
func (w *walk) from(step []float64) []float64 {
	at := slices.Clone(w.start)
	for j := range at {
		at[j] += step[j]
	}
	return at
}
