package threshold

import (
	"math"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/surrogate"
)

func TestNewPopulation(t *testing.T) {
	for _, c := range []struct {
		rows    int
		weights []float64
		want    Population
	}{
		{3, nil, Population{Rows: 3, Mass: 3, MinWeight: 1, Whole: true}},
		{3, []float64{2, 1, 4}, Population{Rows: 3, Mass: 7, MinWeight: 1, Whole: true}},
		{3, []float64{2, 0, 4}, Population{Rows: 3, Mass: 6, MinWeight: 2, Whole: true}},
		{3, []float64{0.5, 0.25, 4}, Population{Rows: 3, Mass: 4.75, MinWeight: 0.25}},
		{10, []float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}, Population{Rows: 10, Mass: 1, MinWeight: .1}},
	} {
		if got := NewPopulation(c.rows, c.weights); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.weights, got, c.want)
		}
	}
}

// The mass on top is whole for whole weights, and real otherwise and in a surrogate quantile.
func TestKappa(t *testing.T) {
	rows := func(n int) Population { return NewPopulation(n, nil) }
	tenths := NewPopulation(5, []float64{0.1, 0.2, 0.3, 0.4, 0.5})
	hinge := func(tau string) Rule { return SurrogateQuantile{MustRate(tau), 1, surrogate.Hinge} }
	for _, c := range []struct {
		rule Rule
		p    Population
		want float64
	}{
		{TopCount{3}, rows(5), 3},
		{TopCount{5}, NewPopulation(2, []float64{2, 3}), 5},
		{TopMean{MustRate("0.07")}, rows(100), 7},
		{TopMean{MustRate("0.07")}, rows(101), 8},
		{TopMean{MustRate("0.01")}, rows(5), 1},
		{TopMean{MustRate("0.07")}, NewPopulation(2, []float64{60, 40}), 7},
		{TopMean{MustRate("0.5")}, tenths, 0.75},
		{TopMean{MustRate("0.01")}, tenths, 0.1},
		{Quantile{MustRate("0.29")}, rows(100), 29},
		{Quantile{MustRate("0.5")}, tenths, 0.75},
		{hinge("0.07"), rows(100), 7},
		{hinge("0.07"), rows(101), 7.07},
		{hinge("0.01"), rows(5), 0.05},
	} {
		bound, err := c.rule.Bind(c.p)
		if err != nil {
			t.Errorf("%+v: %v", c.rule, err)
		} else if got := bound.Kappa(); got != c.want {
			t.Errorf("%+v on %+v: kappa = %v, want %v", c.rule, c.p, got, c.want)
		}
	}
}

func TestCap(t *testing.T) {
	for _, c := range []struct {
		rule    Rule
		m, want float64
	}{
		{TopCount{4}, 1, 0.25},
		{TopCount{4}, 3, 0.75},
		{TopCount{4}, 9, 1},
		{Quantile{MustRate("0.4")}, 1, 1},
		{SurrogateQuantile{MustRate("0.4"), 1, surrogate.Logistic}, 1, 1},
	} {
		bound, err := c.rule.Bind(NewPopulation(10, nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := bound.Cap(c.m); got != c.want {
			t.Errorf("%+v: Cap(%v) = %v, want %v", c.rule, c.m, got, c.want)
		}
	}
}

// flat is 1 + max(0, s), which never falls below 1: no fraction of it can be tau.
type flat struct{ surrogate.Surrogate }

func (flat) Name() surrogate.Name { return "flat" }
func (flat) Conjugate(p float64) float64 {
	if p < 0 || p > 1 {
		return math.Inf(1)
	}
	return -1
}

func TestBindErrors(t *testing.T) {
	tau, rows := MustRate("0.1"), NewPopulation(3, nil)
	hinge := surrogate.Hinge
	for _, c := range []struct {
		rule Rule
		p    Population
		kind diag.Kind
		text string
	}{
		{TopCount{4}, rows, diag.Data, "a population of 3 rows, expected at least k = 4 (use a smaller k)"},
		{TopCount{4}, NewPopulation(2, []float64{1, 2}), diag.Data,
			"a population of 2 rows, total weight 3, expected at least k = 4"},
		{TopCount{0}, rows, diag.Usage, "k 0, expected a whole number of at least 1"},
		{TopCount{1}, Population{}, diag.Data, "a population of 0 rows"},
		{TopMean{}, rows, diag.Usage, "missing tau, expected a rate between 0 and 1"},
		{TopMean{tau}, Population{}, diag.Data, "a population of 0 rows"},
		{Quantile{}, rows, diag.Usage, "missing tau"},
		{Quantile{tau}, NewPopulation(2, []float64{0, 0}), diag.Data,
			"a population of 2 rows, total weight 0, expected at least one row"},
		{Quantile{tau}, NewPopulation(2, []float64{1e308, 1e308}), diag.Data, "a population of 2 rows, total weight +Inf"},
		{SurrogateQuantile{Beta: 1, Surrogate: hinge}, rows, diag.Usage, "missing tau"},
		{SurrogateQuantile{tau, 0, hinge}, rows, diag.Usage, "beta 0, expected a finite number above 0"},
		{SurrogateQuantile{tau, -1, hinge}, rows, diag.Usage, "beta -1"},
		{SurrogateQuantile{tau, math.NaN(), hinge}, rows, diag.Usage, "beta NaN"},
		{SurrogateQuantile{tau, math.Inf(1), hinge}, rows, diag.Usage, "beta +Inf"},
		{SurrogateQuantile{Tau: tau, Beta: 1}, rows, diag.Usage, "missing surrogate"},
		{SurrogateQuantile{tau, 1, flat{}}, rows, diag.Usage, "surrogate flat, which never falls below 1"},
		{SurrogateQuantile{tau, 1, hinge}, Population{}, diag.Data, "a population of 0 rows"},
	} {
		bound, err := c.rule.Bind(c.p)
		f := diag.Of(err)
		if f == nil || f.Kind != c.kind || bound != nil {
			t.Errorf("%+v: %v, %v", c.rule, bound, err)
		} else if !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v, want %s", c.rule, err, c.text)
		}
	}
}
