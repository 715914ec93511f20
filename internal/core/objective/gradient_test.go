package objective

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

func unit(r *rand.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// problemOf is a method with hyperparameters for a few dozen rows.
func problemOf(t testing.TB, m method.Method, l surrogate.Surrogate, lambda float64) method.Problem {
	t.Helper()
	h := method.Problem{Lambda: lambda, Surrogate: l.Name()}
	if m.UsesTau {
		h.Tau = threshold.MustRate("15%")
	}
	if m.UsesBeta {
		h.Beta = 0.7
	}
	if m.UsesK {
		h.K = 3
	}
	p, err := m.With(h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// forEveryMethod runs a test for all methods and surrogates.
func forEveryMethod(t *testing.T, test func(t *testing.T, m method.Method, l surrogate.Surrogate)) {
	for _, m := range method.All() {
		for _, name := range surrogate.Names() {
			l, err := surrogate.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(string(m.Name)+"/"+string(name), func(t *testing.T) { test(t, m, l) })
		}
	}
}

// randomRows are rows of two overlapping classes; about a third of the values are zero. The weights are fractions, or
// whole numbers.
func randomRows(seed uint64, rows, cols int, whole bool) (x [][]float64, y []bool, weights []float64) {
	r := rand.New(rand.NewPCG(seed, 17))
	for i := range rows {
		positive := i%3 == 0
		row := make([]float64, cols)
		for j := range row {
			if unit(r) < 0.7 {
				row[j] = 4*unit(r) - 2
				if positive {
					row[j] += 0.5
				}
			}
		}
		weight := 0.25 + 2*unit(r)
		if whole {
			weight = 1 + math.Floor(3*unit(r))
		}
		x, y, weights = append(x, row), append(y, positive), append(weights, weight)
	}
	return x, y, weights
}

func randomPoint(r *rand.Rand, dim int) []float64 {
	w := make([]float64, dim)
	for j := range w {
		w[j] = 2*unit(r) - 1
	}
	return w
}

// slope is the difference quotient of F at w along u, with the threshold of w where the objective holds it. smooth is false
// when two step sizes disagree, as they do across a kink.
func slope(o *Objective, w, u []float64) (value float64, smooth bool) {
	t := o.At(w, nil).T
	quotient := func(h float64) float64 {
		move := func(h float64) float64 {
			to := make([]float64, len(w))
			for j := range w {
				to[j] = w[j] + h*u[j]
			}
			if !o.held {
				return o.At(to, nil).F
			}
			o.computeScores(to)
			o.support.T = t
			positives := o.x.Positives.Rows()
			return o.value(to, o.meanLoss(o.z[:positives], o.positives, -1), o.negativeLoss(o.z[positives:])).F
		}
		return (move(h) - move(-h)) / (2 * h)
	}
	const h = 1e-5
	wide, narrow := quotient(h), quotient(h/3)
	return narrow, math.Abs(wide-narrow) < 1e-6*max(1, math.Abs(narrow))
}

func TestNumericGradient(t *testing.T) {
	forEveryMethod(t, func(t *testing.T, m method.Method, l surrogate.Surrogate) {
		for name, kind := range layouts {
			for _, weighted := range []bool{false, true} {
				x, y, weights := randomRows(1, 60, 5, false)
				if !weighted {
					weights = nil
				}
				o, err := New(problemOf(t, m, l, 0.1), pack(t, x, y, weights, kind))
				if err != nil {
					t.Fatal(err)
				}
				checkSlopes(t, fmt.Sprintf("%s, weighted: %v", name, weighted), o)
				o.HoldThreshold()
				checkSlopes(t, fmt.Sprintf("%s, weighted: %v, threshold held", name, weighted), o)
			}
		}
	})
}

func checkSlopes(t *testing.T, what string, o *Objective) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	grad := make([]float64, o.Dim())
	const tries = 20
	kinks := 0
	for range tries {
		w, u := randomPoint(r, o.Dim()), randomPoint(r, o.Dim())
		o.At(w, grad)
		want, smooth := slope(o, w, u)
		if !smooth {
			kinks++
			continue
		}
		got := sum(len(u), func(j int) float64 { return grad[j] * u[j] })
		if !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
			t.Errorf("%s: the slope is %v, the gradient says %v", what, want, got)
		}
	}
	if kinks > tries/4 {
		t.Errorf("%s: %d of %d points were on a kink", what, kinks, tries)
	}
}

func TestDenseAndSparseHaveTheSameBits(t *testing.T) {
	forEveryMethod(t, func(t *testing.T, m method.Method, l surrogate.Surrogate) {
		x, y, weights := randomRows(2, 80, 6, false)
		w := randomPoint(rand.New(rand.NewPCG(1, 1)), 6)
		var want []float64
		for _, kind := range []matrix.BlockKind{matrix.Dense, matrix.Sparse} {
			o, err := New(problemOf(t, m, l, 0.1), pack(t, x, y, weights, kind))
			if err != nil {
				t.Fatal(err)
			}
			grad := make([]float64, o.Dim())
			v := o.At(w, grad)
			got := append(grad, v.F, v.T, v.Loss)
			if want == nil {
				want = got
			}
			for j := range got {
				if math.Float64bits(got[j]) != math.Float64bits(want[j]) {
					t.Errorf("%v, dense %v", got[j], want[j])
				}
			}
		}
	})
}

func TestWeightTwoIsTwoRows(t *testing.T) {
	forEveryMethod(t, func(t *testing.T, m method.Method, l surrogate.Surrogate) {
		x, y, weights := randomRows(3, 70, 4, true)
		var repeatedX [][]float64
		var repeatedY []bool
		for i, row := range x {
			for range int(weights[i]) {
				repeatedX, repeatedY = append(repeatedX, row), append(repeatedY, y[i])
			}
		}
		p := problemOf(t, m, l, 0.1)
		weighted, err := New(p, pack(t, x, y, weights, matrix.Dense))
		if err != nil {
			t.Fatal(err)
		}
		repeated, err := New(p, pack(t, repeatedX, repeatedY, nil, matrix.Dense))
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(6, 6))
		g1, g2 := make([]float64, 4), make([]float64, 4)
		for range 10 {
			w := randomPoint(r, 4)
			v1, v2 := weighted.At(w, g1), repeated.At(w, g2)
			near(t, "t", v1.T, v2.T)
			near(t, "loss", v1.Loss, v2.Loss)
			near(t, "F", v1.F, v2.F)
			nearAll(t, "gradient", g1, g2)
		}
	})
}

// An n of several blocks of the sums and several stripes of the matrix.
func TestSameBytesForAnyThreads(t *testing.T) {
	x, y, _ := randomRows(4, 60000, 40, false)
	data, err := matrix.FromDense(x, y, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	w := randomPoint(rand.New(rand.NewPCG(7, 7)), 40)
	for _, name := range []string{"grill", "patmat", "topmean-np"} {
		m, _ := method.ByName(name)
		var want []float64
		for _, threads := range []int{1, 2, 8} {
			before := runtime.GOMAXPROCS(threads)
			o, err := New(problemOf(t, m, surrogate.Logistic, 0.1), data)
			if err != nil {
				t.Fatal(err)
			}
			grad := make([]float64, o.Dim())
			v := o.At(w, grad)
			runtime.GOMAXPROCS(before)
			got := append(grad, v.F, v.T)
			if want == nil {
				want = got
			}
			for j := range got {
				if got[j] != want[j] {
					t.Fatalf("%s: %v on %d threads, %v on 1", name, got[j], threads, want[j])
				}
			}
		}
	}
}

func TestProject(t *testing.T) {
	x, y, _ := randomRows(5, 30, 2, false)
	data := pack(t, x, y, nil, matrix.Dense)
	for _, m := range method.All() {
		o, err := New(problemOf(t, m, surrogate.Hinge, 0), data)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range [][]float64{{3, 4}, {0.3, 0.4}, {0, 0}, {3e200, 4e200}} {
			got := append([]float64(nil), w...)
			o.Project(got)
			want := append([]float64(nil), w...)
			if norm := math.Hypot(w[0], w[1]); m.Ball && norm > 1 {
				want[0], want[1] = w[0]/norm, w[1]/norm
			}
			nearAll(t, string(m.Name), got, want)
		}
	}
}

func TestVisits(t *testing.T) {
	x, y, _ := randomRows(6, 90, 3, false) // 30 positives, 60 negatives
	m, _ := method.ByName("toppush")
	o, err := New(problemOf(t, m, surrogate.Logistic, 0), pack(t, x, y, nil, matrix.Dense))
	if err != nil {
		t.Fatal(err)
	}
	w := []float64{1, 2, 3}
	o.At(w, nil)
	if o.Visits() != 90 {
		t.Errorf("%d row visits for a value, want 90", o.Visits())
	}
	o.At(w, make([]float64, 3))
	if o.Visits() != 90+90+30+1 { // all scores, the positives, the highest negative
		t.Errorf("%d row visits with a gradient, want 121 more", o.Visits())
	}
}

func TestSumIsAccurate(t *testing.T) {
	for _, n := range []int{0, 1, sumBlock - 1, sumBlock, sumBlock + 1, 3*sumBlock + 5, 1 << 20} {
		got := sum(n, func(i int) float64 { return 0.1 })
		if want := 0.1 * float64(n); math.Abs(got-want) > 1e-14*want {
			t.Errorf("%d times 0.1 is %v", n, got)
		}
	}
	whole := sum(100000, func(i int) float64 { return float64(i) })
	if whole != 100000*99999/2 {
		t.Errorf("a sum of whole numbers is not exact: %v", whole)
	}
}
