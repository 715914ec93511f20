package simulate_test

import (
	"math"
	"slices"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/simulate"
	"toptau/method"
	"toptau/threshold"
)

// The objectives at w1 = (0,0) and w2 = (1,0) are those of the paper's Table "example", with the corrections:
// Grill at w2 is 1.5 - 2 tau (1 - tau), TopPushK takes the mean of the k largest negatives, and for beta >
// tau Pat&Mat's threshold at w2 is 1 + 1/beta - 2 sqrt(tau/beta).
func TestExampleObjectives(t *testing.T) {
	d, err := simulate.New(simulate.Options{Kind: "example", Rows: 200_001, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var x [][]float64
	var y []bool
	d.Each(func(_ int, row *simulate.Row) bool {
		x, y = append(x, slices.Clone(row.Values)), append(y, row.Positive)
		return true
	})
	m, err := matrix.FromDense(x, y, nil, matrix.Float64)
	if err != nil {
		t.Fatal(err)
	}
	const tau, k = 0.05, 5
	rate := threshold.MustRate("5%")
	const small, large = 0.02, 0.2 // beta below and above tau
	above := 1 + 1/large - 2*math.Sqrt(tau/large)
	for _, c := range []struct {
		method         string
		parameters     method.Problem
		t1, f1, t2, f2 float64
	}{
		{"toppush", method.Problem{}, 0, 1, 2, 2.5},
		{"toppushk", method.Problem{K: k}, 0, 1, 2.0 / k, 0.5 + 2.0/k},
		{"grill", method.Problem{Tau: rate}, 0, 2, 1 - 2*tau, 1.5 - 2*tau*(1-tau)},
		{"patmat", method.Problem{Tau: rate, Beta: small}, (1 - tau) / small, 1 + (1-tau)/small, (1 - tau) / small,
			0.5 + (1-tau)/small},
		{"patmat", method.Problem{Tau: rate, Beta: large}, (1 - tau) / large, 1 + (1-tau)/large, above, 0.5 + above},
		{"topmean", method.Problem{Tau: rate}, 0, 1, 1 - tau, 1.5 - tau},
	} {
		how, err := method.ByName(c.method)
		if err != nil {
			t.Fatal(err)
		}
		problem, err := how.With(c.parameters)
		if err != nil {
			t.Fatal(err)
		}
		o, err := objective.New(problem, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []struct {
			w    []float64
			t, f float64
		}{{[]float64{0, 0}, c.t1, c.f1}, {[]float64{1, 0}, c.t2, c.f2}} {
			got := o.At(at.w, nil)
			// 100,000 rows of each class: standard errors of about 0.002.
			if math.Abs(got.T-at.t) > 0.01 || math.Abs(got.F-at.f) > 0.01 {
				t.Errorf("%s at %v: t = %v, F = %v, want %v and %v", c.method, at.w, got.T, got.F, at.t, at.f)
			}
		}
	}
}
