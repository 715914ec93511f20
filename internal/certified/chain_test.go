package certified

import (
	"context"
	"math"
	"testing"

	"toptau/internal/matrix"
)

// TestChainAgreesWithSingleSolves varies method, loss, lambda, K, tau and beta in one chain.
func TestChainAgreesWithSingleSolves(t *testing.T) {
	x := clouds(11, 40, 400, 3, .8).matrix(t, matrix.Float32)
	var chain Chain
	for _, lambda := range []float64{.1, 1e-4, 0} {
		for _, n := range everyMethod(lambda) {
			p := newProblem(t, n.name, n.h)
			a, err := chain.Solve(context.Background(), bind(t, p, x), Options{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := Solve(context.Background(), bind(t, p, x), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for j := range a.W {
				a.W[j] = math.NaN() // the result belongs to the caller
			}
			if !a.Converged || a.Objective > b.Objective+2e-6*b.AtZero || a.LowerBound > b.Objective*(1+1e-12) {
				t.Errorf("%s:\n  chain %s\n  alone %s", label(n), describe(a), describe(b))
			}
		}
	}
}

// TestPathIsCheap counts the passes of a path over lambda. Shared rows and multipliers make later problems
// cheaper.
func TestPathIsCheap(t *testing.T) {
	x := clouds(12, 100, 4000, 5, 1.5).matrix(t, matrix.Float32)
	var chain Chain
	var path, alone int
	for _, lambda := range []float64{.1, .01, 1e-3, 1e-4, 1e-5, 0} {
		p := newProblem(t, "topmean-np", hyper(lambda, "0.01", 0, 0, false))
		a, err := chain.Solve(context.Background(), bind(t, p, x), Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Solve(context.Background(), bind(t, p, x), Options{})
		if err != nil {
			t.Fatal(err)
		}
		path, alone = path+a.Passes, alone+b.Passes
		t.Logf("lambda %g: path %d, alone %d passes, systems %d, %d; F %.9g %.9g", lambda, a.Passes, b.Passes, a.Iterations, b.Iterations, a.Objective, b.Objective)
		if !a.Converged || !b.Converged || math.Abs(a.Objective-b.Objective) > 2e-6*a.AtZero {
			t.Errorf("lambda %g:\n  path %s\n  alone %s", lambda, describe(a), describe(b))
		}
	}
	if path >= alone {
		t.Errorf("the path took %d passes, its points alone %d", path, alone)
	}
}
