package certified

import (
	"context"
	"math"
	"slices"
	"testing"

	"toptau/internal/matrix"
	"toptau/internal/objective"
)

// TestChainAgreesWithSingleSolves runs through methods, losses, lambdas, K, tau and beta in one chain.
func TestChainAgreesWithSingleSolves(t *testing.T) {
	x := clouds(11, 40, 400, 3, .8).matrix(t, matrix.Float32)
	var chain Chain
	for _, lambda := range []float64{.1, 1e-4, 0} {
		for _, n := range everyMethod(lambda) {
			p := problem(t, n.name, n.h)
			a, err := chain.Solve(context.Background(), bind(t, p, x), Options{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := Solve(context.Background(), bind(t, p, x), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !a.Converged || a.Objective > b.Objective+2e-6*b.AtZero || a.LowerBound > b.Objective*(1+1e-12) {
				t.Errorf("%s:\n  chain %s\n  alone %s", label(n), describe(a), describe(b))
			}
		}
	}
}

// TestPathIsCheap counts the readings of a path over lambda: shared rows and multipliers make later points cheaper.
func TestPathIsCheap(t *testing.T) {
	x := clouds(12, 100, 4000, 5, 1.5).matrix(t, matrix.Float32)
	var chain Chain
	var path, alone int
	for _, lambda := range []float64{.1, .01, 1e-3, 1e-4, 1e-5, 0} {
		p := problem(t, "topmean-np", hyper(lambda, "0.01", 0, 0, false))
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

// TestSolveAll solves a grid in one chain and each of its points alone.
func TestSolveAll(t *testing.T) {
	if testing.Short() {
		t.Skip("TestChainAgreesWithSingleSolves is the same in small")
	}
	x := clouds(13, 60, 900, 4, 1).matrix(t, matrix.Float32)
	var list []*objective.Objective
	for _, lambda := range []float64{1e-4, .1} {
		for _, n := range everyMethod(lambda) {
			list = append(list, bind(t, problem(t, n.name, n.h), x))
		}
	}
	seen := make([]int, len(list))
	passes, alone := 0, 0
	err := SolveAll(context.Background(), list, Options{}, func(i int, r Result) bool {
		single, err := Solve(context.Background(), list[i], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Converged || math.Abs(r.Objective-single.Objective) > 2e-6*r.AtZero {
			t.Errorf("problem %d:\n  chain %s\n  alone %s", i, describe(r), describe(single))
		}
		seen[i]++
		passes, alone = passes+r.Passes, alone+single.Passes
		return true
	})
	if err != nil || slices.Contains(seen, 0) || slices.Contains(seen, 2) || passes >= alone {
		t.Errorf("%v; solved %v; %d passes, alone %d", err, seen, passes, alone)
	}
	stops := 0
	if err := SolveAll(context.Background(), list, Options{}, func(int, Result) bool { stops++; return stops < 3 }); err != nil || stops != 3 {
		t.Errorf("stopped after %d: %v", stops, err)
	}
}
