package learn

import (
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
	"toptau/method"
	"toptau/threshold"
)

func randomVector(d int, seed uint64) []float64 {
	random := rand.NewPCG(seed, 2)
	x := make([]float64, d)
	for j := range x {
		x[j] = 2*float64(random.Uint64()>>11)/(1<<53) - 1
	}
	return x
}

// checkGradient compares the gradient at x, the slope along p and a step along p with differences of values.
func checkGradient(t *testing.T, name string, f optim.Function, x, p []float64) {
	t.Helper()
	const h = 1e-6
	d := f.Dim()
	g, other := make([]float64, d), make([]float64, d)
	at := func(alpha float64) float64 {
		y := make([]float64, d)
		for j := range y {
			y[j] = x[j] + alpha*p[j]
		}
		return f.Move(y, other)
	}
	for _, alpha := range []float64{0, 0.3} {
		numeric := (at(alpha+h) - at(alpha-h)) / (2 * h)
		moved := at(alpha)
		want := append([]float64(nil), other...)
		f.Move(x, g)
		f.Aim(p)
		value, slope := f.Along(alpha)
		if !close(value, moved, 1e-13) {
			t.Errorf("%s: along %v, moved %v", name, value, moved)
		}
		if !close(slope, numeric, 1e-7) || !close(slope, optim.Dot(want, p), 1e-12) {
			t.Errorf("%s at %v: slope %v, gradient times direction %v, numeric %v", name, alpha, slope, optim.Dot(want, p), numeric)
		}
		value = f.Advance(alpha, g)
		if !close(value, moved, 1e-13) {
			t.Errorf("%s: advanced %v, moved %v", name, value, moved)
		}
		for j := range g {
			if !close(g[j], want[j], 1e-12) {
				t.Errorf("%s: gradient %d is %v after a step, %v afresh", name, j, g[j], want[j])
			}
		}
	}
	// Each partial derivative.
	f.Move(x, g)
	for j := range x {
		y := append([]float64(nil), x...)
		y[j] = x[j] + h
		up := f.Move(y, other)
		y[j] = x[j] - h
		if numeric := (up - f.Move(y, other)) / (2 * h); !close(g[j], numeric, 1e-7) {
			t.Errorf("%s: derivative %d is %v, numeric %v", name, j, g[j], numeric)
		}
	}
}

func TestBaselineGradients(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		rows, y, weights := cloud(150, 4, 3, weighted)
		x := dense(t, rows, y, weights)
		for _, loss := range []Loss{Logistic, SquaredHinge} {
			f := newPointwise(x, loss, 0.3, ClassWeights{Positive: 3, Negative: 0.5})
			at, p := randomVector(5, 4), randomVector(5, 5)
			checkGradient(t, loss.String(), f, at, p)

			g, before, product := make([]float64, 5), make([]float64, 5), make([]float64, 5)
			f.Move(at, g)
			f.Product(p, product)
			const h = 1e-6
			move := func(alpha float64, g []float64) {
				z := make([]float64, 5)
				for j := range z {
					z[j] = at[j] + alpha*p[j]
				}
				f.Move(z, g)
			}
			move(h, g)
			move(-h, before)
			for j := range g {
				if numeric := (g[j] - before[j]) / (2 * h); !close(product[j], numeric, 1e-6) {
					t.Errorf("%v: Hessian product %d is %v, numeric %v", loss, j, product[j], numeric)
				}
			}
		}
	}
}

// With all rows in the sample the preconditioner is the inverse of the Hessian.
func TestPreconditionerIsTheInverse(t *testing.T) {
	rows, y, weights := cloud(300, 6, 6, true)
	f := newPointwise(dense(t, rows, y, weights), Logistic, 0.01, ClassWeights{})
	at, s := randomVector(7, 7), randomVector(7, 8)
	product, back := make([]float64, 7), make([]float64, 7)
	f.Move(at, make([]float64, 7))
	f.Product(s, product)
	f.Factor(0)
	f.Precondition(product, back)
	for j := range s {
		if !close(back[j], s[j], 1e-7) {
			t.Errorf("P H s = %v, s = %v", back, s)
			break
		}
	}
}

func TestRampGradients(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		rows, y, weights := cloud(200, 4, 9, weighted)
		x := dense(t, rows, y, weights)
		for _, population := range []method.Population{method.Negatives, method.AllRows} {
			o := RampOptions{Anchor: randomVector(4, 10), Lambda: 0.2, Population: population,
				Taus: []threshold.Rate{threshold.MustRate("1%"), threshold.MustRate("7%"), threshold.MustRate("30%")}}
			f, err := newRamp(x, o.withDefaults())
			if err != nil {
				t.Fatal(err)
			}
			checkGradient(t, "ramp on "+population.String(), f, randomVector(4, 11), randomVector(4, 12))
		}
	}
}

// The value of the ramp is that of its definition, row by row.
func TestRampValue(t *testing.T) {
	rows, y, weights := cloud(200, 4, 9, true)
	x := dense(t, rows, y, weights)
	o := RampOptions{Anchor: randomVector(4, 10), Lambda: 0.2, Population: method.Negatives, Width: 0.5,
		Taus: []threshold.Rate{threshold.MustRate("1%"), threshold.MustRate("20%")}}
	f, err := newRamp(x, o.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	w := randomVector(4, 11)
	got := f.Move(w, make([]float64, 4))
	want := 0.0
	for j := range w {
		want += 0.2 / 2 * (w[j] - o.Anchor[j]) * (w[j] - o.Anchor[j])
	}
	scores := func(p *matrix.ClassRows) []float64 { z := make([]float64, p.Rows()); p.Scores(w, z); return z }
	for k := range o.Taus {
		// t by bisection.
		low, high := -100.0, 100.0
		z, m := scores(x.Negatives), x.Negatives.Weights()
		mass := 0.0
		for _, v := range m {
			mass += v
		}
		for range 200 {
			middle, count := (low+high)/2, 0.0
			for i := range z {
				u := min(max((z[i]-middle)/(math.Sqrt(7.0/3)*math.Pi*0.5), -1), 1)
				count += m[i] * (0.5 + 15.0/16*(u-2*u*u*u/3+u*u*u*u*u/5))
			}
			if count > o.Taus[k].Float64()*mass {
				low = middle
			} else {
				high = middle
			}
		}
		miss, total := 0.0, 0.0
		for i, v := range scores(x.Positives) {
			miss += x.Positives.Weights()[i] / (1 + math.Exp(-(low-v)/0.5))
			total += x.Positives.Weights()[i]
		}
		want += miss / total / 2
		if !close(f.misses[k], miss/total, 1e-6) || !close(f.support[k].T, low, 1e-6) {
			t.Errorf("tau %v: t %v, misses %v; want %v, %v", o.Taus[k], f.support[k].T, f.misses[k], low, miss/total)
		}
	}
	if !close(got, want, 1e-6) {
		t.Errorf("F = %v, want %v", got, want)
	}
}
