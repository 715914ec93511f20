package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
)

// dense packs rows in float64.
func dense(t testing.TB, x [][]float64, y []bool, weights []float64) *matrix.Matrix {
	t.Helper()
	m, err := matrix.FromDense(x, y, weights, matrix.Float64)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fit(t testing.TB, x *matrix.Matrix, o Options) Result {
	t.Helper()
	r, err := Fit(context.Background(), x, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func close(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*(1+math.Abs(b)) }

// cloud returns overlapping classes: n rows, with the positives moved by 1 along the first columns.
func cloud(n, d int, seed uint64, weighted bool) (x [][]float64, y []bool, weights []float64) {
	random := rand.NewPCG(seed, 1)
	unit := func() float64 { return float64(random.Uint64()>>11) / (1 << 53) }
	for i := range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = 4*unit() - 2
			if i%3 == 0 && j < 2 {
				row[j]++
			}
		}
		x, y = append(x, row), append(y, i%3 == 0)
		if weighted {
			weights = append(weights, 0.25+2*unit())
		}
	}
	return x, y, weights
}

// One binary column without a penalty is a table of counts. The weight is its log odds ratio, and the
// intercept the log odds of its first row.
func TestLogisticOfATable(t *testing.T) {
	counts := map[float64][2]float64{0: {30, 10}, 1: {12, 48}} // negatives, positives
	var x [][]float64
	var y []bool
	var weights []float64
	for v, c := range counts {
		x, y, weights = append(x, []float64{v}, []float64{v}), append(y, false, true), append(weights, c[0], c[1])
	}
	r := fit(t, dense(t, x, y, weights), Options{})
	if !r.Converged || !close(r.W[0], math.Log(4)-math.Log(1.0/3), 1e-8) || !close(r.Intercept, math.Log(1.0/3), 1e-8) {
		t.Errorf("%+v", r)
	}
}

// Two rows at 1 and -1: by symmetry b = 0. Squared hinge: (1-w)^2 + lambda/2 w^2 is least at w =
// 2/(2+lambda). Logistic: lambda w = 1/(1 + e^w).
func TestTwoRows(t *testing.T) {
	x := dense(t, [][]float64{{1}, {-1}}, []bool{true, false}, nil)
	for _, lambda := range []float64{1e-3, 0.1, 10} {
		r := fit(t, x, Options{Loss: SquaredHinge, Lambda: lambda})
		w := 2 / (2 + lambda)
		if !r.Converged || !close(r.W[0], w, 1e-9) || !close(r.Intercept, 0, 1e-9) ||
			!close(r.Objective, (1-w)*(1-w)+lambda/2*w*w, 1e-12) {
			t.Errorf("lambda %v: %+v", lambda, r)
		}
		r = fit(t, x, Options{Lambda: lambda})
		if !r.Converged || !close(lambda*r.W[0], 1/(1+math.Exp(r.W[0])), 1e-9) || !close(r.Intercept, 0, 1e-9) {
			t.Errorf("lambda %v: %+v", lambda, r)
		}
	}
}

// A column with equal class means has no use: w = 0, and the intercept is the log odds, also with class
// weights.
func TestNothingToLearn(t *testing.T) {
	x := dense(t, [][]float64{{1}, {-1}, {1}, {-1}, {2}, {-2}}, []bool{true, true, false, false, false, false}, nil)
	r := fit(t, x, Options{Lambda: 0.1})
	if !r.Converged || r.W[0] != 0 || !close(r.Intercept, math.Log(0.5), 1e-12) {
		t.Errorf("%+v", r)
	}
	r = fit(t, x, Options{Lambda: 0.1, ClassWeights: balanced(x)})
	if !r.Converged || r.W[0] != 0 || !close(r.Intercept, 0, 1e-12) {
		t.Errorf("%+v", r)
	}
}

// With separable classes a penalty keeps the fit finite. Without one the logistic loss has no minimum, and
// the run ends with NoMinimum.
func TestSeparable(t *testing.T) {
	separable := dense(t, [][]float64{{2, 1}, {3, -1}, {-1, 1}, {-2, -1}}, []bool{true, true, false, false}, nil)
	// One row of each class at the same place, the others apart: no direction separates all, but one falls
	// without end.
	quasi := dense(t, [][]float64{{0, 0}, {3, 0}, {0, 0}, {-2, 0}, {0, 1}, {0, -1}, {0, 1}, {0, -1}},
		[]bool{true, true, false, false, true, true, false, false}, nil)
	for name, x := range map[string]*matrix.Matrix{"separable": separable, "quasi": quasi} {
		r := fit(t, x, Options{Lambda: 1e-6})
		if !r.Converged || !(smallNorm(r.W) < 1e3) {
			t.Errorf("%s, penalised: %+v", name, r)
		}
		r = fit(t, x, Options{})
		if r.Reason != optim.NoMinimum || r.Converged || !(smallNorm(r.W) < 1e3) {
			t.Errorf("%s: %v %+v", name, r.Reason, r)
		}
		r = fit(t, x, Options{Loss: SquaredHinge})
		if !r.Converged {
			t.Errorf("%s, squared hinge: %v %+v", name, r.Reason, r)
		}
	}
}

func smallNorm(w []float64) float64 { return math.Sqrt(optim.Dot(w, w)) }

func TestOptionsAreChecked(t *testing.T) {
	x := dense(t, [][]float64{{1}, {-1}}, []bool{true, false}, nil)
	for _, o := range []Options{
		{Lambda: -1}, {Lambda: math.NaN()}, {Lambda: math.Inf(1)}, {Loss: 7}, {Steps: -1}, {Tolerance: math.NaN()},
		{ClassWeights: ClassWeights{Positive: -1}}, {ClassWeights: ClassWeights{Negative: math.Inf(1)}},
	} {
		if _, err := Fit(context.Background(), x, o); diag.Of(err) == nil || diag.Of(err).Kind != diag.Usage {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := Fit(context.Background(), x, Options{Start: &Result{W: make([]float64, 2)}}); err == nil {
		t.Error("a start of another length was taken")
	}
	if _, err := Path(context.Background(), x, Options{}, []float64{1, -1}); err == nil {
		t.Error("a negative lambda was taken")
	}
	for _, o := range []RampOptions{{Lambda: -1}, {Width: -1}, {Steps: -1}, {Anchor: []float64{1, 2}}, {Tolerance: -1}} {
		if o.Anchor == nil {
			o.Anchor = []float64{1}
		}
		if _, err := Ramp(context.Background(), x, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
