package optim

import (
	"context"
	"math"
)

// The constants of ADAM (Kingma and Ba, 2015, algorithm 1), which the paper uses.
const (
	adamDecay1  = 0.9   // of the mean of gradients
	adamDecay2  = 0.999 // of the mean of their squares
	adamEpsilon = 1e-8
)

// Constants returns the constants of ADAM and the paper's settings, by name. Results that were stored with others are of
// another algorithm.
func Constants() map[string]float64 {
	return map[string]float64{"decay 1": adamDecay1, "decay 2": adamDecay2, "epsilon": adamEpsilon,
		"iterations": DefaultIterations, "step": DefaultStep}
}

// Adam minimises by the ADAM steps of the paper's experiments. With the gradient g at w, step k is
//
//	m = 0.9 m + 0.1 g,  s = 0.999 s + 0.001 g^2,
//	w = w - step * (m / (1 - 0.9^k)) / (sqrt(s / (1 - 0.999^k)) + 1e-8),
//
// followed by the projection. batches nil or empty means the full batch. It is a subgradient method without a
// line search. The last point can be worse than the best one, and neither has a bound. With a projection it
// need not converge to the minimum, even of a convex objective, because its steps are not gradient steps.
//
// If ctx is cancelled, the run ends after the current step, without an error. A run whose values overflow is
// a usage error.
func Adam(ctx context.Context, full Objective, batches []Objective, o StepOptions) (StepResult, error) {
	return runSingle(ctx, full, batches, o, newAdam)
}

// AdamGrid runs Adam for several tasks on the same data.
func AdamGrid(ctx context.Context, tasks []Task, o StepOptions) []Outcome {
	return runGrid(ctx, tasks, o, newAdam)
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
