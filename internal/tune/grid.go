package tune

import (
	"fmt"

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

// paperLambda is lambda where another hyperparameter varies.
const paperLambda = 0.001

// Grid returns the six points that the paper tries for a method: beta for Pat&Mat and Pat&Mat-NP and k for TopPushK, with
// lambda = 0.001, and lambda for the others. tau is for the methods that use it, and the surrogate "" is the hinge.
func Grid(m method.Method, tau threshold.Rate, s surrogate.Name) []method.Problem {
	base := method.Problem{Lambda: paperLambda, Surrogate: s}
	if m.UsesTau {
		base.Tau = tau
	}
	var grid []method.Problem
	switch {
	case m.UsesBeta:
		for _, beta := range paperBetas {
			h := base
			h.Beta = beta
			grid = append(grid, h)
		}
	case m.UsesK:
		for _, k := range paperKs {
			h := base
			h.K = k
			grid = append(grid, h)
		}
	default:
		for _, lambda := range paperLambdas {
			h := base
			h.Lambda = lambda
			grid = append(grid, h)
		}
	}
	return grid
}

// Candidates returns the methods that optimise what the goal measures, in the paper's order: TopPush and TopPushK above
// every negative, Grill, Pat&Mat and TopMean in the top of all rows, and their Neyman-Pearson variants under a false
// positive rate.
func Candidates(g metric.Goal) []method.Method {
	var fitting []method.Method
	for _, m := range method.All() {
		if g.Fits(m) {
			fitting = append(fitting, m)
		}
	}
	return fitting
}

// Problems returns the points of all methods' grids for a goal, method by method. The error is a usage error: a method
// that needs a rate for a goal that has none, or one that is listed twice.
func Problems(methods []method.Method, g metric.Goal, s surrogate.Name) ([]method.Problem, error) {
	tau := g.Tau()
	var problems []method.Problem
	seen := make(map[method.Name]bool)
	for _, m := range methods {
		if seen[m.Name] {
			return nil, &diag.Error{Kind: diag.Usage, Param: "method", Found: string(m.Name) + " twice", Expected: "each method once"}
		}
		seen[m.Name] = true
		if m.UsesTau && tau.IsZero() {
			return nil, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("method %s for the goal %s", m.Name, g),
				Expected: "a goal with a rate", Hint: m.Title + " takes its tau from the goal"}
		}
		for _, h := range Grid(m, tau, s) {
			p, err := m.With(h)
			if err != nil {
				return nil, err
			}
			problems = append(problems, p)
		}
	}
	if len(problems) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Found: "no method", Expected: "a method at least"}
	}
	return problems, nil
}

// smoother orders points of one method that are equal otherwise: the larger lambda, then the larger k, then the smaller
// beta comes first. It is negative when a is the smoother one.
func smoother(a, b method.Problem) int {
	switch {
	case a.Lambda != b.Lambda:
		return sign(a.Lambda > b.Lambda)
	case a.K != b.K:
		return sign(a.K > b.K)
	case a.Beta != b.Beta:
		return sign(a.Beta < b.Beta)
	}
	return 0
}

func sign(first bool) int {
	if first {
		return -1
	}
	return 1
}
