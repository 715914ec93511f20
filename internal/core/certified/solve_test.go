package certified

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
)

// clouds returns two overlapping classes with the given numbers of rows.
func clouds(seed uint64, pos, neg, d int, shift float64) dataset {
	r := rand.New(rand.NewPCG(seed, 7))
	var out dataset
	for i := range pos + neg {
		x := make([]float64, d)
		for j := range x {
			for range 4 {
				x[j] += float64(r.Uint64()>>11)/(1<<53) - .5
			}
			if i < pos {
				x[j] += shift / float64(1+j)
			}
		}
		out.x = append(out.x, x)
		out.y = append(out.y, i < pos)
	}
	return out
}

type named struct {
	name string
	h    method.Problem
}

// everyMethod lists the six methods with both losses.
func everyMethod(lambda float64) (list []named) {
	for _, squared := range []bool{false, true} {
		list = append(list,
			named{"toppush", hyper(lambda, "", 0, 0, squared)},
			named{"toppushk", hyper(lambda, "", 0, 5, squared)},
			named{"topmean", hyper(lambda, "0.3", 0, 0, squared)},
			named{"topmean-np", hyper(lambda, "0.05", 0, 0, squared)},
			named{"patmat", hyper(lambda, "0.1", .5, 0, squared)},
			named{"patmat-np", hyper(lambda, "0.02", 1, 0, squared)},
			named{"patmat-np", hyper(lambda, "0.02", 1e-3, 0, squared)},
			named{"patmat", hyper(lambda, "0.3", 10, 0, squared)})
	}
	return list
}

func label(n named) string {
	s := "hinge"
	if n.h.Surrogate != "" {
		s = string(n.h.Surrogate)
	}
	return fmt.Sprintf("%s %s tau %v beta %g lambda %g", n.name, s, n.h.Tau, n.h.Beta, n.h.Lambda)
}

func TestEveryMethodConverges(t *testing.T) {
	if testing.Short() {
		t.Skip("solves many problems")
	}
	x := clouds(1, 50, 500, 5, .8).matrix(t, matrix.Float32)
	for _, lambda := range []float64{.1, 1e-3, 1e-6, 0} {
		for _, n := range everyMethod(lambda) {
			o := bind(t, newProblem(t, n.name, n.h), x)
			solveAndProbe(t, label(n), o)
		}
	}
}

// solveAndProbe solves a problem, which must converge, and probes the solution.
func solveAndProbe(t *testing.T, name string, o *objective.Objective) {
	t.Helper()
	r, err := Solve(context.Background(), o, Options{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if !r.Converged {
		t.Errorf("%s: %s", name, describe(r))
	}
	probe(t, name, o, r)
}

// probe looks for a point below the lower bound, near the solution and far from it.
func probe(t *testing.T, name string, o *objective.Objective, r Result) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	w := make([]float64, o.Dim())
	for k := range 60 {
		scale := math.Pow(10, float64(k%6)-5)
		for j := range w {
			w[j] = r.W[j] + scale*(float64(random.Uint64()>>11)/(1<<52)-1)
		}
		if f := o.At(w, nil).F; f < r.LowerBound*(1-1e-12) {
			t.Errorf("%s: F = %.15g below the bound %.15g", name, f, r.LowerBound)
		}
	}
}

// TestWeightsAreMultiplicities compares whole weights with repeated rows.
func TestWeightsAreMultiplicities(t *testing.T) {
	d := clouds(2, 25, 200, 3, .7)
	random := rand.New(rand.NewPCG(5, 6))
	weights := make([]float64, len(d.x))
	var repeated dataset
	for i := range weights {
		m := 1 + random.IntN(4)
		weights[i] = float64(m)
		for range m {
			repeated.x = append(repeated.x, d.x[i])
			repeated.y = append(repeated.y, d.y[i])
		}
	}
	weighted, err := matrix.FromDense(d.x, d.y, weights, matrix.Float64)
	if err != nil {
		t.Fatal(err)
	}
	plain := repeated.matrix(t, matrix.Float64)
	for _, lambda := range []float64{.01, 0} {
		for _, n := range everyMethod(lambda) {
			p := newProblem(t, n.name, n.h)
			a, err := Solve(context.Background(), bind(t, p, weighted), Options{Gap: 1e-8})
			if err != nil {
				t.Fatal(err)
			}
			b, err := Solve(context.Background(), bind(t, p, plain), Options{Gap: 1e-8})
			if err != nil {
				t.Fatal(err)
			}
			if !a.Converged || !b.Converged || math.Abs(a.Objective-b.Objective) > 2e-8*a.AtZero ||
				a.LowerBound > b.Objective*(1+1e-12) || b.LowerBound > a.Objective*(1+1e-12) {
				t.Errorf("%s:\n  weighted %s\n  repeated %s", label(n), describe(a), describe(b))
			}
		}
	}
}

// TestRealWeights has weights over six powers of ten that are not whole numbers.
func TestRealWeights(t *testing.T) {
	d := clouds(3, 40, 500, 4, .7)
	random := rand.New(rand.NewPCG(8, 9))
	weights := make([]float64, len(d.x))
	for i := range weights {
		weights[i] = math.Pow(10, 3*float64(random.Uint64()>>11)/(1<<52)-3)
	}
	x, err := matrix.FromDense(d.x, d.y, weights, matrix.Float64)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range everyMethod(1e-3) {
		if n.name == "toppush" || n.name == "toppushk" {
			continue // a count of rows is not a mass
		}
		o := bind(t, newProblem(t, n.name, n.h), x)
		solveAndProbe(t, label(n), o)
	}
}

// TestThreadsDoNotMatter compares all bits of a result.
func TestThreadsDoNotMatter(t *testing.T) {
	x := clouds(4, 200, 2000, 50, .5).matrix(t, matrix.Float32)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, n := range []named{{"topmean-np", hyper(1e-3, "0.05", 0, 0, false)}, {"patmat", hyper(1e-3, "0.05", 1, 0, true)}} {
		var first Result
		for k, threads := range []int{1, 5} {
			runtime.GOMAXPROCS(threads)
			r, err := Solve(context.Background(), bind(t, newProblem(t, n.name, n.h), x), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				first = r
				continue
			}
			if !slices.Equal(r.W, first.W) || !slices.Equal(r.P.Values, first.P.Values) || !slices.Equal(r.A.Values, first.A.Values) ||
				r.LowerBound != first.LowerBound || r.Objective != first.Objective || r.Iterations != first.Iterations {
				t.Errorf("%s: %d threads give another result", label(n), threads)
			}
		}
	}
}

// TestSmallestPopulations has a population of a single row, and one where K is the whole population.
func TestSmallestPopulations(t *testing.T) {
	x := [][]float64{{1, 0}, {0, 1}, {2, 2}, {0, 0}, {.5, .1}}
	one := dataset{x, []bool{true, true, true, true, false}}.matrix(t, matrix.Float64)
	two := dataset{x, []bool{true, true, true, false, false}}.matrix(t, matrix.Float64)
	for _, m := range []*matrix.Matrix{one, two} {
		for _, n := range []named{{"toppush", hyper(.1, "", 0, 0, false)}, {"topmean-np", hyper(.1, "0.99", 0, 0, false)},
			{"topmean", hyper(.1, "0.99", 0, 0, true)}, {"patmat-np", hyper(.1, "0.99", 1, 0, false)}, {"patmat", hyper(.1, "0.9", 1, 0, true)}} {
			o := bind(t, newProblem(t, n.name, n.h), m)
			solveAndProbe(t, label(n), o)
		}
	}
}

// TestCancelled stops a solve at its second round.
func TestCancelled(t *testing.T) {
	x := clouds(5, 100, 5000, 10, .5).matrix(t, matrix.Float32)
	ctx, cancel := context.WithCancel(context.Background())
	o := bind(t, newProblem(t, "toppush", hyper(1e-4, "", 0, 0, false)), x)
	r, err := Solve(ctx, o, Options{Gap: 1e-12, Progress: func(p Progress) {
		if p.Round == 2 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Cancelled || r.Objective > r.AtZero || r.LowerBound > r.Objective || r.LowerBound <= 0 {
		t.Errorf("cancelled %v: %s", r.Cancelled, describe(r))
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if r, err = Solve(ctx, o, Options{}); err != nil || !r.Cancelled || r.Objective != r.AtZero {
		t.Errorf("cancelled before it began: %v %s", err, describe(r))
	}
}
