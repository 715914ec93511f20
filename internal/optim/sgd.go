package optim

import (
	"context"
	"math"
)

// SGD minimises by plain gradient steps of falling size, w = w - step/sqrt(k) * g in step k, and then the projection.
// batches nil or empty: the full batch, which makes it the projected subgradient method. The fall of the steps is what
// its convergence on convex objectives needs; the size of a step follows the size of the gradient, so that the step size
// must suit the scale of the columns.
//
// Cancelling ctx ends the run after the step at hand and is not an error. A run whose values overflow is a usage error.
func SGD(ctx context.Context, full Objective, batches []Objective, o StepOptions) (StepResult, error) {
	return single(ctx, full, batches, o, newSGD)
}

// SGDGrid is SGD for several tasks on the same data.
func SGDGrid(ctx context.Context, tasks []Task, o StepOptions) []Outcome {
	return grid(ctx, tasks, o, newSGD)
}

func newSGD(_ int, step float64) update {
	return func(w, g []float64, k int) {
		size := step / math.Sqrt(float64(k))
		for j, gj := range g {
			w[j] -= float64(size * gj)
		}
	}
}
