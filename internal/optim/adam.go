package optim

import (
	"context"
	"math"
)

// ADAM's constants (Kingma and Ba).
const (
	adamDecay1  = 0.9   // of the mean of gradients
	adamDecay2  = 0.999 // of the mean of their squares
	adamEpsilon = 1e-8
)

// Adam minimises by the ADAM steps of the paper's experiments: with the gradient g at w,
//
//	m = 0.9 m + 0.1 g,  s = 0.999 s + 0.001 g^2,
//	w = w - step * (m / (1 - 0.9^k)) / (sqrt(s / (1 - 0.999^k)) + 1e-8),
//
// and then the projection. batches nil or empty: the full batch. It is a subgradient method without a line search: the
// last point can be worse than the best, and neither comes with a bound. Its steps are no gradient steps, so with a
// projection it need not end where the objective is least, even if that is convex.
//
// Cancelling ctx ends the run after the step at hand and is not an error. A run whose values overflow is a usage error.
func Adam(ctx context.Context, full Objective, batches []Objective, o StepOptions) (StepResult, error) {
	return single(ctx, full, batches, o, newAdam)
}

// AdamGrid is Adam for several tasks on the same data.
func AdamGrid(ctx context.Context, tasks []Task, o StepOptions) []Outcome {
	return grid(ctx, tasks, o, newAdam)
}

func newAdam(dim int, step float64) update {
	a := &adam{step: step, mean: make([]float64, dim), square: make([]float64, dim), power1: 1, power2: 1}
	return a.update
}

type adam struct {
	step           float64
	mean, square   []float64
	power1, power2 float64 // 0.9^k, 0.999^k
}

func (a *adam) update(w, g []float64, _ int) {
	a.power1 = float64(a.power1 * adamDecay1)
	a.power2 = float64(a.power2 * adamDecay2)
	bias1, bias2 := 1-a.power1, 1-a.power2
	for j, gj := range g {
		a.mean[j] = float64(adamDecay1*a.mean[j]) + float64((1-adamDecay1)*gj)
		a.square[j] = float64(adamDecay2*a.square[j]) + float64((1-adamDecay2)*float64(gj*gj))
		w[j] -= float64(a.step*(a.mean[j]/bias1)) / (math.Sqrt(a.square[j]/bias2) + adamEpsilon)
	}
}
