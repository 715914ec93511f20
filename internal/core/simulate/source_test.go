package simulate

import (
	"math"
	"testing"
)

// Each variate follows its distribution: Kolmogorov-Smirnov at level 0.001 on 20,000 draws.
func TestVariates(t *testing.T) {
	const draws = 20_000
	student := func(x float64) float64 { // four degrees of freedom
		u := x / math.Sqrt(4+x*x)
		return 0.5 + 0.75*(u-u*u*u/3)
	}
	erlang := func(x float64) float64 { return 1 - (1+2*x)*math.Exp(-2*x) } // shape 2, rate 2
	for name, c := range map[string]struct {
		draw func(*source) float64
		cdf  func(float64) float64
	}{
		"uniform":     {(*source).uniform, func(x float64) float64 { return x }},
		"open":        {(*source).open, func(x float64) float64 { return x }},
		"normal":      {(*source).normal, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }},
		"exponential": {(*source).exponential, func(x float64) float64 { return -math.Expm1(-x) }},
		"student":     {func(r *source) float64 { return r.tail(2) * r.normal() }, student},
		"gamma2":      {(*source).gamma2, erlang},
		"below":       {func(r *source) float64 { return float64(r.below(1<<20)) / (1 << 20) }, func(x float64) float64 { return x }},
	} {
		r := newSource(3, 9, 1)
		seen := make([]float64, draws)
		for i := range seen {
			seen[i] = c.cdf(c.draw(r))
		}
		if d := fromUniform(seen); d > 1.95/math.Sqrt(draws) {
			t.Errorf("%s: distance %v", name, d)
		}
	}
}
