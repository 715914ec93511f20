package tune

import (
	"toptau/diag"
	"toptau/method"
	"toptau/metric"
	"toptau/surrogate"
	"toptau/threshold"
)

// The paper's grids (equation beta1), in its order.
var (
	paperBetas   = []float64{0.0001, 0.001, 0.01, 0.1, 1, 10}
	paperLambdas = []float64{0, 0.00001, 0.0001, 0.001, 0.01, 0.1}
	paperKs      = []int{1, 3, 5, 10, 15, 20}
)

// paperLambda is the paper's lambda where another hyperparameter varies.
const paperLambda = 0.001

// Grid returns the six points that the paper tries for a method: beta for Pat&Mat and Pat&Mat-NP and k for
// TopPushK, both with lambda = 0.001, and lambda for the others. Methods without a tau ignore it. The
// surrogate "" is the hinge.
func Grid(m method.Method, tau threshold.Rate, s surrogate.Name) []method.Problem {
	base := method.Problem{Lambda: paperLambda, Surrogate: s}
	if m.UsesTau {
		base.Tau = tau
	}
	var grid []method.Problem
	switch {
	case m.UsesBeta:
		for _, beta := range paperBetas {
			p := base
			p.Beta = beta
			grid = append(grid, p)
		}
	case m.UsesK:
		for _, k := range paperKs {
			p := base
			p.K = k
			grid = append(grid, p)
		}
	default:
		for _, lambda := range paperLambdas {
			p := base
			p.Lambda = lambda
			grid = append(grid, p)
		}
	}
	return grid
}

// methodProblems returns a method's grid with the goal's tau. A method that needs a rate and a goal without
// one are a usage error.
func methodProblems(m method.Method, g metric.Goal, s surrogate.Name) ([]method.Problem, error) {
	tau := g.Tau()
	if m.UsesTau && tau.IsZero() {
		return nil, &diag.Error{Kind: diag.Usage, Param: "method", Found: string(m.Name), Expected: "a goal with a rate",
			Hint: m.Title + " takes its tau from the goal"}
	}
	grid := Grid(m, tau, s)
	for i := range grid {
		var err error
		if grid[i], err = m.With(grid[i]); err != nil {
			return nil, err
		}
	}
	return grid, nil
}
