package optim

import (
	"context"
	"math"
)

// SGD minimises by plain gradient steps of falling size, w = w - step/sqrt(k) * g in step k, followed by the
// projection. batches nil or empty means the full batch, and thus the projected subgradient method.
// Convergence on convex objectives needs the falling steps. The length of a step is proportional to the
// gradient, so the step size must suit the scale of the columns.
//
// If ctx is cancelled, the run ends after the current step, without an error. A run whose values overflow is
// a usage error.
func SGD(ctx context.Context, full Objective, batches []Objective, o StepOptions) (StepResult, error) {
	return runSingle(ctx, full, batches, o, newSGD)
}

// SGDGrid runs SGD for several tasks on the same data.
func SGDGrid(ctx context.Context, tasks []Task, o StepOptions) []Outcome {
	return runGrid(ctx, tasks, o, newSGD)
}

func newSGD(_ int, step float64) update {
	return func(w, g []float64, k int) {
		size := step / math.Sqrt(float64(k))
		for j, gj := range g {
			w[j] -= float64(size * gj)
		}
	}
}
