package threshold

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"toptau/internal/core/detmath"
	"toptau/surrogate"
)

// The weights a are non-negative, below the cap and sum to 1, on ascending rows, none of them below the edge.
func TestWeightsAreFeasible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule, bound := drawRule(t, x, false)
		s, _ := at(bound, x)
		var total detmath.Sum
		for i, j := range s.Rows {
			if i > 0 && s.Rows[i-1] >= j {
				t.Fatalf("%s: rows %v do not ascend", describe(rule), s.Rows)
			}
			a := s.A[i]
			if !(a > 0) || a > bound.Cap(weightOf(x.m, int(j)))*(1+1e-12) {
				t.Fatalf("%s: a = %v for weight %v, cap %v", describe(rule), a, weightOf(x.m, int(j)),
					bound.Cap(weightOf(x.m, int(j))))
			}
			if x.z[j] < s.Edge {
				t.Fatalf("%s: row at %v below the edge %v", describe(rule), x.z[j], s.Edge)
			}
			total.Add(a)
		}
		near(t, describe(rule)+": sum of a", total.Value(), 1, 0)
	})
}

// t = a'z - r(a) at the returned a, and t >= a'z - r(a) for any feasible a.
func TestThresholdIsTheMaximumOfItsDual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule, bound := drawRule(t, x, true)
		s, a := at(bound, x)
		scale := x.scale() + offset(rule, x)
		r := bound.Regulariser(a, x.m)
		near(t, describe(rule)+": a'z - r(a)", x.dot(a)-r, s.T, scale)

		other := feasible(t, bound, x)
		r = bound.Regulariser(other, x.m)
		if lower := x.dot(other) - r; lower > s.T+1e-12*(scale+math.Abs(r)) {
			t.Fatalf("%s: a feasible a gives %v, above t = %v", describe(rule), lower, s.T)
		}
	})
}

// feasible draws a feasible a: a mixture of those that the rule returns for other scores or, for rules
// without a cap, any distribution.
func feasible(t *rapid.T, bound Threshold, x sample) []float64 {
	a := make([]float64, len(x.z))
	parts := rapid.IntRange(1, 3).Draw(t, "parts")
	for range parts {
		_, b := at(bound, sample{drawScores(t, len(x.z)), x.m})
		for j := range a {
			a[j] += b[j] / float64(parts)
		}
	}
	if bound.Cap(1e-9) == 1 && rapid.Bool().Draw(t, "any") {
		total := 0.0
		for j := range a {
			a[j] = float64(rapid.IntRange(0, 5).Draw(t, "a"))
			total += a[j]
		}
		if total == 0 {
			a[0], total = 1, 1
		}
		for j := range a {
			a[j] /= total
		}
	}
	return a
}

// Rows with a = 0 may be left out of r(a).
func TestRegulariserIgnoresRowsWithoutWeight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule, bound := drawRule(t, x, true)
		s, a := at(bound, x)
		var m []float64
		if x.m != nil {
			for _, j := range s.Rows {
				m = append(m, x.m[j])
			}
		}
		short, long := bound.Regulariser(s.A, m), bound.Regulariser(a, x.m)
		near(t, describe(rule), short, long, math.Abs(long)+offset(rule, x))
	})
}

// The closed forms of the two hinges agree with the general minimisation over u.
func TestRegulariserClosedForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule := SurrogateQuantile{drawRate(t), drawBeta(t), losses[rapid.IntRange(0, 1).Draw(t, "loss")]}
		bound := bind(t, rule, x)
		a := feasible(t, bound, x)
		base := surrogateQuantile{bound.Kappa(), rule.Beta}
		got := rootQuantile{base, rule.Surrogate}.Regulariser(a, x.m)
		want := bound.Regulariser(a, x.m)
		near(t, describe(rule), got, want, math.Abs(want)+offset(rule, x))
	})
}

// Lemma thresholds1 and the definitions: surrogate quantile >= mean of the largest >= quantile.
func TestOrderOfTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		tau := drawRate(t)
		mean := value(bind(t, TopMean{tau}, x), x)
		if q := value(bind(t, Quantile{tau}, x), x); q > mean+1e-12*x.scale() {
			t.Fatalf("quantile %v above the mean of the largest %v", q, mean)
		}
		for _, l := range losses {
			rule := SurrogateQuantile{tau, drawBeta(t), l}
			if q := value(bind(t, rule, x), x); q < mean-1e-12*(x.scale()+offset(rule, x)) {
				t.Fatalf("%s: %v below the mean of the largest %v", describe(rule), q, mean)
			}
		}
	})
}

// The full arrows of Figure thresholds between means: a larger k or tau gives a smaller threshold. TopPush >=
// TopPushK >= TopMean-NP needs k <= K.
func TestThresholdsFallWithTheMassOnTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		x.m = nil
		tau := drawRate(t)
		big := tau.Ceil(len(x.z))
		k := rapid.IntRange(1, big).Draw(t, "k")
		push := value(bind(t, TopCount{1}, x), x)
		pushK := value(bind(t, TopCount{k}, x), x)
		mean := value(bind(t, TopMean{tau}, x), x)
		if push != slices.Max(x.z) {
			t.Fatalf("k = 1: %v, largest score %v", push, slices.Max(x.z))
		}
		if slack := 1e-12 * x.scale(); pushK > push+slack || mean > pushK+slack {
			t.Fatalf("k = 1: %v, k = %d: %v, K = %d: %v do not fall", push, k, pushK, big, mean)
		}
	})
}

// t(z; tau) falls with tau.
func TestThresholdsFallWithTau(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		low, high := drawRate(t), drawRate(t)
		if low.Float64() > high.Float64() {
			low, high = high, low
		}
		beta := drawBeta(t)
		for _, pair := range [][2]Rule{
			{TopMean{low}, TopMean{high}},
			{Quantile{low}, Quantile{high}},
			{SurrogateQuantile{low, beta, losses[0]}, SurrogateQuantile{high, beta, losses[0]}},
			{SurrogateQuantile{low, beta, losses[1]}, SurrogateQuantile{high, beta, losses[1]}},
			{SurrogateQuantile{low, beta, losses[2]}, SurrogateQuantile{high, beta, losses[2]}},
		} {
			a, b := value(bind(t, pair[0], x), x), value(bind(t, pair[1], x), x)
			if b > a+1e-12*(x.scale()+offset(pair[0], x)) {
				t.Fatalf("%s: %v; %s: %v", describe(pair[0]), a, describe(pair[1]), b)
			}
		}
	})
}

// t(z + c) = t(z) + c.
func TestThresholdMovesWithTheScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule, bound := drawRule(t, x, false)
		c := rapid.Float64Range(-100, 100).Draw(t, "c")
		moved := sample{slices.Clone(x.z), x.m}
		for j := range moved.z {
			moved.z[j] += c
		}
		near(t, describe(rule), value(bound, moved), value(bound, x)+c, moved.scale()+x.scale()+offset(rule, x))
	})
}

// t(c z) = c t(z) for c > 0; a surrogate quantile needs beta/c instead of beta.
func TestThresholdIsHomogeneous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule, bound := drawRule(t, x, false)
		c := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "log c"))
		stretched := sample{slices.Clone(x.z), x.m}
		for j := range stretched.z {
			stretched.z[j] *= c
		}
		want := c * value(bound, x)
		if q, ok := rule.(SurrogateQuantile); ok {
			q.Beta /= c
			bound = bind(t, q, x)
		}
		near(t, describe(rule), value(bound, stretched), want, c*(x.scale()+offset(rule, x)))
	})
}

// The order of the rows does not matter.
func TestThresholdIgnoresTheOrderOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule, bound := drawRule(t, x, false)
		order := rapid.Permutation(indices(len(x.z))).Draw(t, "order")
		y := sample{z: make([]float64, len(x.z))}
		if x.m != nil {
			y.m = make([]float64, len(x.z))
		}
		for j, i := range order {
			y.z[j] = x.z[i]
			if x.m != nil {
				y.m[j] = x.m[i]
			}
		}
		near(t, describe(rule), value(bound, y), value(bound, x), x.scale()+offset(rule, x))
	})
}

func indices(n int) []int {
	order := make([]int, n)
	for j := range order {
		order[j] = j
	}
	return order
}

// A row of weight 3 is three equal rows: the same kappa, the same t, the same total a.
func TestWholeWeightsAreRepeatedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		x.m = make([]float64, len(x.z))
		var repeated sample
		var from []int
		for j := range x.m {
			x.m[j] = float64(rapid.IntRange(0, 4).Draw(t, "m"))
			if j == 0 {
				x.m[j] = 1
			}
			for range int(x.m[j]) {
				repeated.z = append(repeated.z, x.z[j])
				from = append(from, j)
			}
		}
		rule, bound := drawRule(t, x, false)
		twin := bind(t, rule, repeated)
		if bound.Kappa() != twin.Kappa() {
			t.Fatalf("%s: kappa %v and %v", describe(rule), bound.Kappa(), twin.Kappa())
		}
		s, a := at(bound, x)
		s2, a2 := at(twin, repeated)
		near(t, describe(rule), s.T, s2.T, x.scale()+offset(rule, x))
		merged := make([]float64, len(x.z))
		for i, j := range from {
			merged[j] += a2[i]
		}
		if q, ok := rule.(SurrogateQuantile); ok && q.Surrogate == surrogate.Hinge {
			return // on the kink several a are right
		}
		for j := range a {
			near(t, describe(rule)+": a", merged[j], a[j], x.scale())
		}
	})
}

// Halving all weights changes nothing if the mass on top is not rounded.
func TestOnlyRatiosOfWeightsMatterToSurrogateQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		if x.m == nil {
			x.m = fill(len(x.z), func(int) float64 { return 1 })
		}
		rule := SurrogateQuantile{drawRate(t), drawBeta(t), losses[rapid.IntRange(0, 2).Draw(t, "loss")]}
		half := sample{x.z, fill(len(x.m), func(j int) float64 { return x.m[j] / 2 })}
		near(t, describe(rule), value(bind(t, rule, half), half), value(bind(t, rule, x), x), x.scale()+offset(rule, x))
	})
}

// Convex rules are convex in z; all rules are monotone.
func TestThresholdIsConvexAndMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule, bound := drawRule(t, x, false)
		y := sample{drawScores(t, len(x.z)), x.m}
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		between := sample{make([]float64, len(x.z)), x.m}
		upper := sample{make([]float64, len(x.z)), x.m}
		for j := range x.z {
			between.z[j] = share*x.z[j] + (1-share)*y.z[j]
			upper.z[j] = max(x.z[j], y.z[j])
		}
		tx, ty := value(bound, x), value(bound, y)
		slack := 1e-12 * (x.scale() + y.scale() + offset(rule, x))
		if chord := share*tx + (1-share)*ty; rule.Convex() && value(bound, between) > chord+slack {
			t.Fatalf("%s: above its chord: %v > %v", describe(rule), value(bound, between), chord)
		}
		if value(bound, upper) < max(tx, ty)-slack {
			t.Fatalf("%s: falls when the scores rise", describe(rule))
		}
		if rule.Convex() { // a is a subgradient
			_, a := at(bound, x)
			if tangent := tx + y.dot(a) - x.dot(a); ty < tangent-slack {
				t.Fatalf("%s: %v below the tangent %v", describe(rule), ty, tangent)
			}
		}
	})
}

func TestQuantileIsNotConvex(t *testing.T) {
	rule := Quantile{MustRate("0.6")}
	bound := bind(t, rule, sample{z: []float64{0, 0, 0}})
	a := value(bound, sample{z: []float64{0, 2, 0}})
	b := value(bound, sample{z: []float64{2, 0, 0}})
	if middle := value(bound, sample{z: []float64{1, 1, 0}}); rule.Convex() || !(middle > (a+b)/2) {
		t.Errorf("t = %v and %v, between them %v: not above the chord", a, b, middle)
	}
	if !math.IsNaN(bound.Regulariser([]float64{1}, nil)) {
		t.Error("a rule that is not convex has no r(a)")
	}
}

// a is the gradient of t. Scores have no ties, and differences are much smaller than their gaps.
func TestWeightsAreTheGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(t, "n")
		order := rapid.Permutation(indices(n)).Draw(t, "order")
		x := sample{z: make([]float64, n), m: drawWeights(t, n)}
		d := make([]float64, n)
		for j, i := range order {
			x.z[j] = float64(i)/3 + rapid.Float64Range(0, 0.2).Draw(t, "z")
			d[j] = rapid.Float64Range(-1, 1).Draw(t, "d")
		}
		rule, bound := drawRule(t, x, false)
		if q, ok := rule.(SurrogateQuantile); ok {
			q.Beta = math.Pow(10, float64(rapid.IntRange(-2, 1).Draw(t, "beta")))
			rule, bound = q, bind(t, q, x)
		}
		const h = 1e-6
		s, a := at(bound, x)
		if q, ok := rule.(SurrogateQuantile); ok && q.Surrogate == surrogate.Hinge {
			for _, z := range x.z { // no kink within reach
				if math.Abs(z-(s.T-1/q.Beta)) < 10*h*float64(n) {
					return
				}
			}
		}
		move := func(step float64) float64 {
			y := sample{slices.Clone(x.z), x.m}
			for j := range y.z {
				y.z[j] += step * d[j]
			}
			return value(bound, y)
		}
		slope := 0.0
		for j := range a {
			slope += a[j] * d[j]
		}
		difference := (move(h) - move(-h)) / (2 * h)
		if math.Abs(slope-difference) > 1e-6*(1+offset(rule, x)/100) {
			t.Fatalf("%s: a'd = %v, difference %v", describe(rule), slope, difference)
		}
	})
}

// The rows at or above the edge give the same t and a as all rows. Partial scans rely on it.
func TestRowsFromTheEdgeUpAreEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule, bound := drawRule(t, x, false)
		s, a := at(bound, x)
		floor := s.Edge - rapid.SampledFrom([]float64{0, 0.3, 5}).Draw(t, "slack")
		var part sample
		var from []int
		for j, z := range x.z {
			if z >= floor {
				part.z = append(part.z, z)
				from = append(from, j)
				if x.m != nil {
					part.m = append(part.m, x.m[j])
				}
			}
		}
		s2, a2 := at(bound, part)
		near(t, describe(rule), s2.T, s.T, x.scale()+offset(rule, x))
		back := make([]float64, len(x.z))
		for i, j := range from {
			back[j] = a2[i]
		}
		q, root := rule.(SurrogateQuantile)
		root = root && q.Surrogate != surrogate.Hinge
		if !root && s2.T != s.T {
			t.Fatalf("%s: t = %v from a part, %v from all", describe(rule), s2.T, s.T)
		}
		for j := range a {
			if !root && back[j] != a[j] {
				t.Fatalf("%s: a = %v from a part, %v from all", describe(rule), back[j], a[j])
			}
			near(t, describe(rule)+": a from a part", back[j], a[j], 0)
		}
	})
}

// t solves its equation to the last digits: phi changes its sign within a few units in the last place.
func TestSurrogateQuantileSolvesItsEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSample(t)
		rule := SurrogateQuantile{drawRate(t), drawBeta(t), losses[rapid.IntRange(0, 2).Draw(t, "loss")]}
		bound := bind(t, rule, x)
		s, _ := at(bound, x)
		phi := func(u float64) float64 {
			var total detmath.Sum
			for j, z := range x.z {
				total.Add(weightOf(x.m, j) * rule.Surrogate.Value(rule.Beta*(z-u)))
			}
			return total.Value()
		}
		step := 1e-13 * (x.scale() + math.Abs(s.T) + offset(rule, x))
		if low, high := phi(s.T-step), phi(s.T+step); low < bound.Kappa() || high > bound.Kappa() {
			t.Fatalf("%s: sum %v, %v around t = %v, M tau = %v", describe(rule), low, high, s.T, bound.Kappa())
		}
	})
}
