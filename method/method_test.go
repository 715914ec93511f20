package method

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/surrogate"
	"toptau/threshold"
)

// The paper's Table methods, row by row: definition, criterion, hyperparameters, convex, robust. Its column
// of hyperparameters leaves out tau, which belongs to the criterion; here it is named where the definition
// has one.
func TestTableOfThePaper(t *testing.T) {
	const yes, no = true, false
	for i, row := range []struct {
		title, equation string
		population      Population
		criterion       Criterion
		hyperparameters string
		convex, robust  bool
		falsePositives  bool // and with them the unit ball: the two Grill methods
	}{
		{"TopPush", "problem_toppush", Negatives, AtTop, "lambda", yes, no, no},
		{"TopPushK", "problem_toppushk", Negatives, AtTop, "k lambda", yes, no, no},
		{"Grill", "problem_grill", AllRows, AtQuantile, "lambda tau", no, yes, yes},
		{"Pat&Mat", "problem_patmat", AllRows, AtQuantile, "beta lambda tau", yes, yes, no},
		{"TopMean", "problem_topmeank", AllRows, AtQuantile, "lambda tau", yes, no, no},
		{"Grill-NP", "problem_grill_np", Negatives, AtNP, "lambda tau", no, yes, yes},
		{"Pat&Mat-NP", "problem_patmat_np", Negatives, AtNP, "beta lambda tau", yes, yes, no},
		{"TopMean-NP", "problem_topmeank_np", Negatives, AtNP, "lambda tau", yes, no, no},
	} {
		m := All()[i]
		var uses []string
		if m.UsesBeta {
			uses = append(uses, "beta")
		}
		if m.UsesK {
			uses = append(uses, "k")
		}
		uses = append(uses, "lambda")
		if m.UsesTau {
			uses = append(uses, "tau")
		}
		if m.Title != row.title || m.Equation != row.equation || m.Population != row.population ||
			m.Criterion != row.criterion || strings.Join(uses, " ") != row.hyperparameters ||
			m.Convex != row.convex || m.CanCollapse == row.robust ||
			m.FalsePositives != row.falsePositives || m.Ball != row.falsePositives {
			t.Errorf("%+v\ndiffers from the paper's %+v", m, row)
		}
	}
	if len(All()) != 8 {
		t.Errorf("%d methods", len(All()))
	}
}

// valid returns hyperparameters that fit a method.
func valid(m Method) Problem {
	h := Problem{Lambda: 0.01}
	if m.UsesTau {
		h.Tau = threshold.MustRate("1%")
	}
	if m.UsesBeta {
		h.Beta = 0.5
	}
	if m.UsesK {
		h.K = 5
	}
	return h
}

func TestRules(t *testing.T) {
	tau := threshold.MustRate("1%")
	patmat := threshold.SurrogateQuantile{Tau: tau, Beta: 0.5, Surrogate: surrogate.Hinge}
	for name, want := range map[string]threshold.Rule{
		"toppush":    threshold.TopCount{K: 1},
		"toppushk":   threshold.TopCount{K: 5},
		"grill":      threshold.Quantile{Tau: tau},
		"patmat":     patmat,
		"topmean":    threshold.TopMean{Tau: tau},
		"grill-np":   threshold.Quantile{Tau: tau},
		"patmat-np":  patmat,
		"topmean-np": threshold.TopMean{Tau: tau},
	} {
		m, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.With(valid(m))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p.Rule(), want) {
			t.Errorf("%s: rule %+v, want %+v", name, p.Rule(), want)
		}
		if p.Rule().Convex() != m.Convex {
			t.Errorf("%s: convex %v, its rule %v", name, m.Convex, p.Rule().Convex())
		}
		if p.Definition() != m || p.Loss() != surrogate.Hinge {
			t.Errorf("%s: problem %+v", name, p)
		}
	}
}

// The surrogate of the objective is that of the surrogate quantile too.
func TestSurrogateReachesTheRule(t *testing.T) {
	m, _ := ByName("patmat")
	h := valid(m)
	h.Surrogate = surrogate.Logistic.Name()
	p, err := m.With(h)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Rule().(threshold.SurrogateQuantile).Surrogate; got != surrogate.Logistic {
		t.Errorf("the rule has %s", got.Name())
	}
}

func TestByName(t *testing.T) {
	for _, m := range All() {
		for _, name := range []string{string(m.Name), m.Title, strings.ToUpper(string(m.Name)), strings.ToLower(m.Title)} {
			if got, err := ByName(name); err != nil || got != m {
				t.Errorf("ByName(%q) = %v, %v", name, got.Name, err)
			}
		}
	}
	for _, name := range []string{"", "top", "toppush "} {
		_, err := ByName(name)
		if f := diag.Of(err); f == nil || f.Kind != diag.Usage {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := ByName("svm")
	const want = `method "svm", expected one of toppush, toppushk, grill, patmat, topmean, grill-np, patmat-np, topmean-np`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestAllIsACopy(t *testing.T) {
	All()[0].Name = "changed"
	if All()[0].Name != "toppush" {
		t.Error("the table can be changed from outside")
	}
}

func TestHyperparameterErrors(t *testing.T) {
	tau := threshold.MustRate("0.1%")
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		method string
		h      Problem
		want   string
	}{
		{"toppush", Problem{Lambda: -1}, "lambda -1, expected a finite number of at least 0"},
		{"toppush", Problem{Lambda: inf}, "lambda +Inf, expected a finite number of at least 0"},
		{"toppush", Problem{Lambda: nan}, "lambda NaN, expected a finite number of at least 0"},
		{"toppush", Problem{K: 5}, "k 5, expected none: method toppush does not use it (use method toppushk; leave it out)"},
		{"toppush", Problem{Tau: tau}, "tau 0.001, expected none: method toppush does not use it (leave it out)"},
		{"toppush", Problem{Beta: 1}, "beta 1, expected none: method toppush does not use it (leave it out)"},
		{"toppushk", Problem{}, "missing k, expected a whole number of at least 1 for method toppushk (for example k 5)"},
		{"toppushk", Problem{K: -2}, "k -2, expected a whole number of at least 1"},
		{"toppushk", Problem{K: 3, Beta: nan}, "beta NaN, expected none: method toppushk does not use it (leave it out)"},
		{"grill", Problem{}, "missing tau, expected a rate between 0 and 1 for method grill (for example tau 1%)"},
		{"patmat", Problem{Beta: 1}, "missing tau, expected a rate between 0 and 1 for method patmat (for example tau 1%)"},
		{"patmat", Problem{Tau: tau},
			"missing beta, expected a finite number above 0 for method patmat (for example beta 1)"},
		{"patmat", Problem{Tau: tau, Beta: -1}, "beta -1, expected a finite number above 0"},
		{"patmat-np", Problem{Tau: tau, Beta: inf}, "beta +Inf, expected a finite number above 0"},
		{"patmat-np", Problem{Tau: tau, Beta: nan}, "beta NaN, expected a finite number above 0"},
		{"patmat", Problem{Tau: tau, Beta: 1, K: 5}, "k 5, expected none: method patmat does not use it (leave it out)"},
		{"topmean", Problem{Tau: tau, Beta: 1}, "beta 1, expected none: method topmean does not use it (leave it out)"},
	} {
		m, err := ByName(c.method)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.With(c.h)
		if f := diag.Of(err); f == nil || f.Kind != diag.Usage {
			t.Errorf("%s with %+v: %v", c.method, c.h, err)
		} else if err.Error() != c.want {
			t.Errorf("%s with %+v:\ngot  %v\nwant %s", c.method, c.h, err, c.want)
		}
	}
}

func TestStrings(t *testing.T) {
	for got, want := range map[string]string{
		AtTop.String(): "positives@top", AtQuantile.String(): "positives@quantile", AtNP.String(): "positives@np",
		AllRows.String(): "all", Negatives.String(): "negatives",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
