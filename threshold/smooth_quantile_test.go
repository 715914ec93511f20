package threshold

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"toptau/diag"
	"toptau/internal/core/detmath"
)

// Cases worked by hand.
func TestSmoothQuantileByHand(t *testing.T) {
	cases := []struct {
		name  string
		z, m  []float64
		tau   string
		width float64
		t     float64
		a     []float64
	}{
		{"one row, half of it", []float64{3}, nil, "0.5", 2, 3, []float64{1}},
		{"two rows, symmetric", []float64{-1, 1}, nil, "0.5", 2, 0, []float64{0.5, 0.5}},
		{"half of the second row", []float64{0, 10, 20}, nil, "1/2", 1, 10, []float64{0, 1, 0}},
		{"a gap wider than the edge", []float64{0, 10}, nil, "0.5", 1, 5, []float64{0.5, 0.5}},
		{"a gap with ties at its ends", []float64{7, 0, 0, 7}, nil, "0.5", 1, 3.5, []float64{0.25, 0.25, 0.25, 0.25}},
		{"all tied", []float64{4, 4, 4, 4}, nil, "0.5", 3, 4, []float64{0.25, 0.25, 0.25, 0.25}},
		{"weights", []float64{0, 10, 20}, []float64{1, 2, 1}, "1/2", 1, 10, []float64{0, 1, 0}},
	}
	for _, c := range cases {
		var s Support
		bound, err := SmoothQuantile{Tau: MustRate(c.tau), Width: c.width}.Bind(NewPopulation(len(c.z), c.m))
		if err != nil {
			t.Fatal(err)
		}
		bound.At(c.z, c.m, &s)
		if math.Abs(s.T-c.t) > 1e-13*(1+math.Abs(c.t)) {
			t.Errorf("%s: t = %v, want %v", c.name, s.T, c.t)
		}
		a := make([]float64, len(c.z))
		for k, j := range s.Rows {
			a[j] = s.A[k]
		}
		for j := range a {
			if math.Abs(a[j]-c.a[j]) > 1e-12 {
				t.Errorf("%s: a = %v, want %v", c.name, a, c.a)
				break
			}
		}
	}
}

// count returns the sum that defines the smooth quantile.
func (x sample) count(at, width float64) float64 {
	var total detmath.Sum
	for j, z := range x.z {
		share, _ := softEdge((z - at) / width)
		total.Add(weightOf(x.m, j) * share)
	}
	return total.Value()
}

func drawWidth(t *rapid.T) float64 {
	return math.Pow(10, rapid.Float64Range(-3, 2).Draw(t, "log width"))
}

// t solves its equation, lies within Width of the quantile, and a is a distribution on ascending rows from
// the edge up.
func TestSmoothQuantileSolvesItsEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, tau, width := drawSample(t), drawRate(t), drawWidth(t)
		bound := bind(t, SmoothQuantile{Tau: tau, Width: width}, x)
		var s Support
		bound.At(x.z, x.m, &s)
		mass := x.population().Mass
		kappa := tau.Times(mass)
		// t is known to a few bits of itself, so the count is only known between the counts a little to both
		// sides.
		step := 1e-13*math.Abs(s.T) + 1e-12*width
		low, high := x.count(s.T+step, width), x.count(s.T-step, width)
		if kappa < low-1e-11*mass || kappa > high+1e-11*mass {
			t.Fatalf("at t = %v the count is between %v and %v, want %v", s.T, low, high, kappa)
		}
		gap := s.Edge < s.T-width // t is the middle of a gap
		if e := topEdge(x.z, x.m, kappa, new(Support)); !gap && math.Abs(s.T-e) > width*(1+1e-12)+1e-12*math.Abs(e) {
			t.Fatalf("t = %v, the quantile is %v, width %v", s.T, e, width)
		}
		var total detmath.Sum
		for k, j := range s.Rows {
			if k > 0 && s.Rows[k-1] >= j || !(s.A[k] > 0) || x.z[j] < s.Edge {
				t.Fatalf("row %d of score %v has a = %v; edge %v, rows %v", j, x.z[j], s.A[k], s.Edge, s.Rows)
			}
			total.Add(s.A[k])
		}
		if math.Abs(total.Value()-1) > 1e-12 {
			t.Fatalf("a sums to %v", total.Value())
		}
	})
}

// a is the numeric gradient of t.
func TestSmoothQuantileGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 40).Draw(t, "n")
		x := sample{z: make([]float64, n), m: drawWeights(t, n)}
		for j := range x.z {
			x.z[j] = rapid.Float64Range(-3, 3).Draw(t, "z")
		}
		bound := bind(t, SmoothQuantile{Tau: drawRate(t), Width: rapid.Float64Range(1, 8).Draw(t, "width")}, x)
		var s Support
		bound.At(x.z, x.m, &s)
		// Few rows at the rim of the edge make the second derivative large: leave these out.
		density := 0.0
		for j, z := range x.z {
			_, g := softEdge((z - s.T) / bound.(smoothQuantile).width)
			density += weightOf(x.m, j) * g
		}
		if density < 0.3 {
			return
		}
		direction, slope := make([]float64, n), 0.0
		for j := range direction {
			direction[j] = rapid.Float64Range(-1, 1).Draw(t, "direction")
		}
		for k, j := range s.Rows {
			slope += s.A[k] * direction[j]
		}
		const h = 1e-5
		numeric := (x.moved(bound, direction, h) - x.moved(bound, direction, -h)) / (2 * h)
		if math.Abs(numeric-slope) > 1e-6 {
			t.Fatalf("slope %v, numeric %v", slope, numeric)
		}
	})
}

// moved returns the threshold at z + h direction.
func (x sample) moved(bound Threshold, direction []float64, h float64) float64 {
	z := make([]float64, len(x.z))
	for j := range z {
		z[j] = x.z[j] + h*direction[j]
	}
	var s Support
	bound.At(z, x.m, &s)
	return s.T
}

// A row of weight 3 is three rows, and rows below the edge do not matter.
func TestSmoothQuantileWeightsAndParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		x := sample{z: drawScores(t, n), m: make([]float64, n)}
		var repeated sample
		for j := range x.m {
			x.m[j] = float64(rapid.IntRange(1, 4).Draw(t, "m"))
			for range int(x.m[j]) {
				repeated.z = append(repeated.z, x.z[j])
			}
		}
		rule := SmoothQuantile{Tau: drawRate(t), Width: drawWidth(t)}
		bound := bind(t, rule, x)
		var s, r, p Support
		bound.At(x.z, x.m, &s)
		bind(t, rule, repeated).At(repeated.z, nil, &r)
		tolerance := 1e-9 * (x.scale() + rule.Width) // the count is flat to third order at the rim
		if math.Abs(s.T-r.T) > tolerance {
			// At the end of a gap any t is a solution up to rounding.
			if math.Abs(x.count(s.T, rule.Width)-x.count(r.T, rule.Width)) > 1e-10*x.population().Mass {
				t.Fatalf("weighted %v, repeated %v", s.T, r.T)
			}
		}
		var part sample
		for j, z := range x.z {
			if z >= s.Edge {
				part.z, part.m = append(part.z, z), append(part.m, x.m[j])
			}
		}
		bound.At(part.z, part.m, &p)
		differ := math.Abs(x.count(s.T, rule.Width) - x.count(p.T, rule.Width))
		if math.Abs(s.T-p.T) > tolerance && differ > 1e-10*x.population().Mass {
			t.Fatalf("whole %v, part %v", s.T, p.T)
		}
	})
}

// Many rows use the sampled selection. Extreme scores give finite thresholds.
func TestSmoothQuantileLargeAndExtreme(t *testing.T) {
	x := sample{z: make([]float64, 100_000)}
	for j := range x.z {
		x.z[j] = float64((j*7919)%100_000) / 1000
	}
	bound := bind(t, SmoothQuantile{Tau: MustRate("1%"), Width: 0.5}, x)
	var s Support
	bound.At(x.z, nil, &s)
	if math.Abs(s.T-98.9995) > 1e-6 { // uniform scores: the soft count is that of rows above t, off the rim
		t.Errorf("t = %v", s.T)
	}
	x = sample{z: []float64{-1e300, 1e300, 1e300, 5, -7}}
	for _, width := range []float64{1e-300, 1, 1e300} {
		bind(t, SmoothQuantile{Tau: MustRate("30%"), Width: width}, x).At(x.z, nil, &s)
		if s.T-s.T != 0 || len(s.Rows) == 0 {
			t.Errorf("width %v: t = %v, rows %v", width, s.T, s.Rows)
		}
	}
}

func TestSmoothQuantileRefuses(t *testing.T) {
	for _, r := range []SmoothQuantile{
		{Width: 1}, {Tau: MustRate("1%")}, {Tau: MustRate("1%"), Width: -1}, {Tau: MustRate("1%"), Width: math.NaN()},
		{Tau: MustRate("1%"), Width: math.Inf(1)},
	} {
		if _, err := r.Bind(NewPopulation(3, nil)); diag.Of(err) == nil || diag.Of(err).Kind != diag.Usage {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := (SmoothQuantile{Tau: MustRate("1%"), Width: 1}).Bind(NewPopulation(0, nil)); diag.Of(err) == nil {
		t.Errorf("no rows: %v", err)
	}
}
