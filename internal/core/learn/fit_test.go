package learn

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
	"toptau/method"
)

// The gradient of F vanishes at the result. It is computed here row by row.
func TestOptimalityConditions(t *testing.T) {
	rows, y, weights := cloud(400, 5, 20, true)
	x := dense(t, rows, y, weights)
	for _, loss := range []Loss{Logistic, SquaredHinge} {
		for _, lambda := range []float64{1, 1e-3, 0} {
			r := fit(t, x, Options{Loss: loss, Lambda: lambda, ClassWeights: ClassWeights{Positive: 2}})
			if !r.Converged || r.Gradient > 1e-8 {
				t.Errorf("%v, lambda %v: %+v", loss, lambda, r)
			}
			g, mass, value := make([]float64, 6), 0.0, 0.0
			for i, row := range rows {
				m, sign := weights[i], 1.0
				if y[i] {
					m, sign = 2*m, -1
				}
				s := sign * (optim.Dot(row, r.W) + r.Intercept)
				slope := 2 * max(0, 1+s)
				value += m * max(0, 1+s) * max(0, 1+s)
				if loss == Logistic {
					slope = 1 / (1 + math.Exp(-s))
					value += m * (math.Log1p(math.Exp(s)) - max(0, 1+s)*max(0, 1+s))
				}
				mass += m
				for j, v := range row {
					g[j] += m * sign * slope * v
				}
				g[5] += m * sign * slope
			}
			for j := range g {
				g[j] /= mass
				if j < 5 {
					g[j] += lambda * r.W[j]
				}
				if math.Abs(g[j]) > 1e-8 {
					t.Errorf("%v, lambda %v: gradient %v", loss, lambda, g)
				}
			}
			if want := value/mass + lambda/2*optim.Dot(r.W, r.W); !close(r.Objective, want, 1e-12) || !close(r.Loss, value/mass, 1e-12) {
				t.Errorf("%v, lambda %v: F = %v, want %v", loss, lambda, r.Objective, want)
			}
		}
	}
}

// The bound is below the minimum at every point, and meets it at the end.
func TestLowerBound(t *testing.T) {
	rows, y, weights := cloud(300, 5, 21, true)
	x := dense(t, rows, y, weights)
	for _, loss := range []Loss{Logistic, SquaredHinge} {
		for _, lambda := range []float64{1, 1e-2, 1e-4} {
			best := fit(t, x, Options{Loss: loss, Lambda: lambda})
			if gap := best.Objective - best.LowerBound; gap < -1e-14 || gap > 1e-8*best.Objective {
				t.Errorf("%v, lambda %v: gap %v", loss, lambda, gap)
			}
			for steps := 1; steps < 4; steps++ {
				if r := fit(t, x, Options{Loss: loss, Lambda: lambda, Steps: steps}); r.LowerBound > best.Objective+1e-14 {
					t.Errorf("%v, lambda %v, %d steps: bound %v above %v", loss, lambda, steps, r.LowerBound, best.Objective)
				}
			}
		}
	}
}

// A row of weight 3 counts as three rows, and class weights multiply row weights.
func TestWeightsAreRepeatedRows(t *testing.T) {
	rows, y, _ := cloud(120, 3, 22, false)
	var repeated [][]float64
	var repeatedY []bool
	var weights, classed []float64
	for i := range rows {
		m := 1 + i%4
		weights = append(weights, float64(m))
		for range m {
			repeated, repeatedY = append(repeated, rows[i]), append(repeatedY, y[i])
		}
		classed = append(classed, 1)
		if y[i] {
			classed[i] = 5
		}
	}
	one, many := dense(t, rows, y, weights), dense(t, repeated, repeatedY, nil)
	for _, loss := range []Loss{Logistic, SquaredHinge} {
		o := Options{Loss: loss, Lambda: 1e-3}
		sameFit(t, "repeated rows", fit(t, one, o), fit(t, many, o))
		plain := o
		plain.ClassWeights.Positive = 5
		sameFit(t, "class weights", fit(t, dense(t, rows, y, classed), o), fit(t, dense(t, rows, y, nil), plain))
	}
	anchor := fit(t, one, Options{Lambda: 1e-3}).W
	for _, population := range []method.Population{method.Negatives, method.AllRows} {
		o := RampOptions{Anchor: anchor, Population: population, Steps: 200}
		a, b := ramp1(t, one, o), ramp1(t, many, o)
		if !close(a.AtAnchor, b.AtAnchor, 1e-9) || !close(a.Objective, b.Objective, 1e-7) {
			t.Errorf("ramp on %v: %v, %v; %v, %v", population, a.AtAnchor, b.AtAnchor, a.Objective, b.Objective)
		}
	}
}

func sameFit(t *testing.T, name string, a, b Result) {
	t.Helper()
	same := close(a.Objective, b.Objective, 1e-12) && close(a.Intercept, b.Intercept, 1e-6)
	for j := range a.W {
		same = same && close(a.W[j], b.W[j], 1e-6)
	}
	if !same {
		t.Errorf("%s: %+v and %+v", name, a, b)
	}
}

func ramp1(t testing.TB, x *matrix.Matrix, o RampOptions) RampResult {
	t.Helper()
	r, err := Ramp(context.Background(), x, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// One-hot values stored as panels, compressed rows and codes give the same bits.
func TestStoragesAgree(t *testing.T) {
	const groups, levels, n = 3, 5, 700
	var matrices []*matrix.Matrix
	coded := make([]matrix.Group, groups)
	for k := range coded {
		coded[k].Levels = levels
	}
	for _, spec := range []matrix.BlockSpec{
		{Kind: matrix.Dense, Cols: groups * levels}, {Kind: matrix.Sparse, Cols: groups * levels}, matrix.CodedSpec(coded),
	} {
		b := matrix.NewBuilder(matrix.Layout{spec}, matrix.Float32)
		for i := range n {
			var row []float64
			var cols []uint32
			var values []float64
			full := make([]float64, groups*levels)
			for k := range groups {
				col := k*levels + (i*(7+k)+i/11)%levels
				full[col] = 1
				cols, values = append(cols, uint32(col)), append(values, 1)
			}
			if spec.Kind == matrix.Dense {
				row, cols, values = full, nil, nil
			}
			b.Add((i*i)%7 < 2, row, cols, values, 1+float64(i%3), i)
		}
		x, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		matrices = append(matrices, x)
	}
	for _, loss := range []Loss{Logistic, SquaredHinge} {
		want := fit(t, matrices[0], Options{Loss: loss, Lambda: 1e-4})
		if !want.Converged {
			t.Errorf("%v: %+v", loss, want)
		}
		ramp := ramp1(t, matrices[0], RampOptions{Anchor: want.W})
		for _, x := range matrices[1:] {
			if r := fit(t, x, Options{Loss: loss, Lambda: 1e-4}); !slices.Equal(r.W, want.W) || r.Intercept != want.Intercept {
				t.Errorf("%v: %+v, want %+v", loss, r, want)
			}
			if r := ramp1(t, x, RampOptions{Anchor: want.W}); !slices.Equal(r.W, ramp.W) {
				t.Errorf("ramp: %+v, want %+v", r, ramp)
			}
		}
	}
}

// The result has the same bits for any number of threads. The data is large enough for everything to run in
// parallel.
func TestThreadsDoNotMatter(t *testing.T) {
	rows, y, weights := cloud(30_000, 30, 23, true)
	x, err := matrix.FromDense(rows, y, weights, matrix.Float64)
	if err != nil {
		t.Fatal(err)
	}
	var fits []Result
	var ramps []RampResult
	for _, threads := range []int{1, 4} {
		before := runtime.GOMAXPROCS(threads)
		for _, loss := range []Loss{Logistic, SquaredHinge} {
			fits = append(fits, fit(t, x, Options{Loss: loss, Lambda: 1e-3, Tolerance: 1e-4}))
		}
		ramps = append(ramps, ramp1(t, x, RampOptions{Anchor: fits[0].W, Steps: 2}))
		runtime.GOMAXPROCS(before)
	}
	for k, r := range fits[2:] {
		if want := fits[k%2]; !slices.Equal(r.W, want.W) || r.Intercept != want.Intercept || r.Objective != want.Objective ||
			r.LowerBound != want.LowerBound || r.Passes != want.Passes {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	for _, r := range ramps[1:] {
		if !slices.Equal(r.W, ramps[0].W) || r.Objective != ramps[0].Objective {
			t.Errorf("ramp: %v, want %v", r.Objective, ramps[0].Objective)
		}
	}
}

// A path has the results of single fits, in fewer passes.
func TestPath(t *testing.T) {
	rows, y, _ := cloud(2000, 12, 24, false)
	x := dense(t, rows, y, nil)
	lambdas := []float64{1e-1, 1e-2, 1e-3, 1e-4, 1e-5}
	path, err := Path(context.Background(), x, Options{}, lambdas)
	if err != nil || len(path) != len(lambdas) {
		t.Fatal(len(path), err)
	}
	warm, cold := 0, 0
	for k, lambda := range lambdas {
		single := fit(t, x, Options{Lambda: lambda})
		sameFit(t, "path", path[k], single)
		if !path[k].Converged {
			t.Errorf("lambda %v: %+v", lambda, path[k])
		}
		warm, cold = warm+path[k].Steps, cold+single.Steps
	}
	if warm >= cold {
		t.Errorf("%d steps warm, %d cold", warm, cold)
	}
}

// Cancelled runs return their last point.
func TestCancelled(t *testing.T) {
	rows, y, _ := cloud(500, 4, 25, false)
	x := dense(t, rows, y, nil)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Fit(ctx, x, Options{Lambda: 1e-3, Progress: func(p optim.Progress) {
		if p.Step == 2 {
			cancel()
		}
	}})
	if err != nil || r.Reason != optim.Cancelled || r.Converged || r.Steps != 2 || !(r.Objective < math.Ln2) {
		t.Errorf("%v %+v", err, r)
	}
	path, err := Path(ctx, x, Options{}, []float64{1, 0.1})
	if err != nil || len(path) != 1 || path[0].Reason != optim.Cancelled {
		t.Errorf("%v %+v", err, path)
	}
	top, err := Ramp(ctx, x, RampOptions{Anchor: r.W})
	if err != nil || top.Reason != optim.Cancelled || !slices.Equal(top.W, r.W) {
		t.Errorf("%v %+v", err, top)
	}
}

// With too many columns for a factor, the preconditioner is the diagonal, on sparse rows with more columns
// than rows.
func TestManyColumns(t *testing.T) {
	const d, n = 700, 200
	b := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Sparse, Cols: d}}, matrix.Float32)
	for i := range n {
		var cols []uint32
		var values []float64
		for j := i % 13; j < d; j += 13 + i%5 {
			cols, values = append(cols, uint32(j)), append(values, 1+float64((i+j)%3))
		}
		b.Add((i*i+i)%5 == 2, nil, cols, values, 1, i)
	}
	x, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, loss := range []Loss{Logistic, SquaredHinge} {
		r := fit(t, x, Options{Loss: loss, Lambda: 0.1})
		if gap := r.Objective - r.LowerBound; !r.Converged || gap > 1e-8*r.Objective {
			t.Errorf("%v: gap %v, %+v", loss, gap, r.Reason)
		}
	}
}

// The ramp descends from any anchor.
func TestRampIsNeverWorseThanItsAnchor(t *testing.T) {
	rows, y, weights := cloud(400, 6, 26, true)
	x := dense(t, rows, y, weights)
	lr := fit(t, x, Options{Lambda: 1e-3}).W
	far := slices.Clone(lr)
	for j := range far {
		far[j] *= 1e6
	}
	for name, anchor := range map[string][]float64{
		"logistic": lr, "zero": make([]float64, 6), "random": randomVector(6, 27), "far": far,
	} {
		for _, population := range []method.Population{method.Negatives, method.AllRows} {
			last := math.Inf(1)
			r := ramp1(t, x, RampOptions{Anchor: anchor, Population: population, Progress: func(p optim.Progress) {
				if p.Value > last*(1+1e-11) {
					t.Errorf("%s: step %d rises from %v to %v", name, p.Step, last, p.Value)
				}
				last = p.Value
			}})
			if !(r.Objective <= r.AtAnchor) || len(r.Thresholds) != 3 {
				t.Errorf("%s: %+v", name, r)
			}
			if name == "logistic" && !(r.Objective < r.AtAnchor) {
				t.Errorf("no descent from the anchor: %+v", r)
			}
		}
	}
}
