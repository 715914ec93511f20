package threshold

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"toptau/internal/core/detmath"
	"toptau/surrogate"
)

// Random populations and rules for the property tests.

// sample is a population with scores.
type sample struct {
	z, m []float64 // m nil: all 1
}

func (x sample) population() Population { return NewPopulation(len(x.z), x.m) }

// scale returns the size of the scores, for tolerances.
func (x sample) scale() float64 {
	s := 1.0
	for _, z := range x.z {
		s = max(s, math.Abs(z))
	}
	return s
}

func (x sample) dot(a []float64) float64 {
	var total detmath.Sum
	for j, aj := range a {
		total.Add(aj * x.z[j])
	}
	return total.Value()
}

// drawScore draws a score: on a grid with many ties, anywhere, or with heavy tails.
func drawScore(t *rapid.T, kind int) float64 {
	switch kind {
	case 0:
		return float64(rapid.IntRange(-3, 3).Draw(t, "z")) / 2
	case 1:
		return rapid.Float64Range(-5, 5).Draw(t, "z")
	default:
		sign := []float64{-1, 1}[rapid.IntRange(0, 1).Draw(t, "sign")]
		return sign * math.Pow(10, rapid.Float64Range(-6, 4).Draw(t, "magnitude"))
	}
}

func drawScores(t *rapid.T, n int) []float64 {
	kind := rapid.IntRange(0, 2).Draw(t, "scores")
	z := make([]float64, n)
	for j := range z {
		z[j] = drawScore(t, kind)
	}
	return z
}

func drawWeights(t *rapid.T, n int) []float64 {
	kind := rapid.IntRange(0, 2).Draw(t, "weights")
	if kind == 0 {
		return nil
	}
	m := make([]float64, n)
	for j := range m {
		if m[j] = float64(rapid.IntRange(1, 5).Draw(t, "m")); kind == 2 {
			m[j] *= rapid.Float64Range(0.1, 3).Draw(t, "part")
		}
	}
	return m
}

func drawSample(t *rapid.T) sample {
	n := rapid.IntRange(1, 60).Draw(t, "n")
	return sample{drawScores(t, n), drawWeights(t, n)}
}

func drawRate(t *rapid.T) Rate {
	r, err := RateOf(float64(rapid.IntRange(1, 999).Draw(t, "tau")) / 1000)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func drawBeta(t *rapid.T) float64 {
	return math.Pow(10, float64(rapid.IntRange(-4, 3).Draw(t, "log beta")))
}

var losses = []surrogate.Surrogate{surrogate.Hinge, surrogate.SquaredHinge, surrogate.Logistic}

// drawRule draws any of the four rules, bound to the sample.
func drawRule(t *rapid.T, x sample, convexOnly bool) (Rule, Threshold) {
	var rule Rule
	switch kind := rapid.IntRange(0, 5).Draw(t, "rule"); kind {
	case 0:
		rule = TopCount{K: rapid.IntRange(1, max(1, int(x.population().Mass))).Draw(t, "k")}
		if x.population().Mass < 1 {
			rule = TopMean{Tau: drawRate(t)}
		}
	case 1:
		rule = TopMean{Tau: drawRate(t)}
	case 2:
		rule = Quantile{Tau: drawRate(t)}
		if convexOnly {
			rule = TopMean{Tau: drawRate(t)}
		}
	default:
		rule = SurrogateQuantile{Tau: drawRate(t), Beta: drawBeta(t), Surrogate: losses[kind-3]}
	}
	return rule, bind(t, rule, x)
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func bind(t fataler, rule Rule, x sample) Threshold {
	t.Helper()
	bound, err := rule.Bind(x.population())
	if err != nil {
		t.Fatalf("%+v: %v", rule, err)
	}
	return bound
}

// offset returns the size of what a rule adds to the scores: 1/beta for a surrogate quantile.
func offset(rule Rule, x sample) float64 {
	if q, ok := rule.(SurrogateQuantile); ok {
		return x.population().Mass / x.population().MinWeight / q.Beta
	}
	return 0
}

// at returns t and the dense a.
func at(bound Threshold, x sample) (*Support, []float64) {
	s := new(Support)
	bound.At(x.z, x.m, s)
	a := make([]float64, len(x.z))
	for i, j := range s.Rows {
		a[j] = s.A[i]
	}
	return s, a
}

func value(bound Threshold, x sample) float64 {
	s, _ := at(bound, x)
	return s.T
}

// near fails the test unless got and want agree to 1e-12 of the scale.
func near(t *rapid.T, what string, got, want, scale float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*(1+scale)) {
		t.Fatalf("%s: got %v, want %v (difference %g, scale %g)", what, got, want, got-want, scale)
	}
}

func describe(rule Rule) string {
	if q, ok := rule.(SurrogateQuantile); ok {
		return fmt.Sprintf("%s quantile, tau %v, beta %v", q.Surrogate.Name(), q.Tau, q.Beta)
	}
	return fmt.Sprintf("%T%+v", rule, rule)
}
