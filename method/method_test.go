package method

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"toptau/internal/fault"
	"toptau/surrogate"
	"toptau/threshold"
)

// The paper's Table methods, row by row: definition, criterion, hyperparameters, convex, robust. Its column of
// hyperparameters leaves out tau, which belongs to the criterion; here it is named where the definition has one.
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
func valid(m Method) Hyperparameters {
	h := Hyperparameters{Lambda: 0.01}
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
		if !reflect.DeepEqual(p.Rule, want) {
			t.Errorf("%s: rule %+v, want %+v", name, p.Rule, want)
		}
		if p.Rule.Convex() != m.Convex {
			t.Errorf("%s: convex %v, its rule %v", name, m.Convex, p.Rule.Convex())
		}
		if p.Method != m || p.Hyperparameters.Surrogate != surrogate.Hinge {
			t.Errorf("%s: problem %+v", name, p)
		}
	}
}

// The surrogate of the objective is that of the surrogate quantile too.
func TestSurrogateReachesTheRule(t *testing.T) {
	m, _ := ByName("patmat")
	h := valid(m)
	h.Surrogate = surrogate.Logistic
	p, err := m.With(h)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Rule.(threshold.SurrogateQuantile).Surrogate; got != surrogate.Logistic {
		t.Errorf("the rule has %s", got.Name())
	}
}

func TestByName(t *testing.T) {
	for _, m := range All() {
		for _, name := range []string{m.Name, m.Title, strings.ToUpper(m.Name), strings.ToLower(m.Title)} {
			if got, err := ByName(name); err != nil || got != m {
				t.Errorf("ByName(%q) = %v, %v", name, got.Name, err)
			}
		}
	}
	for _, name := range []string{"", "top", "toppush "} {
		_, err := ByName(name)
		if f := fault.Of(err); f == nil || f.Kind != fault.Usage {
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
		h      Hyperparameters
		want   string
	}{
		{"toppush", Hyperparameters{Lambda: -1}, "--lambda -1, expected a finite number of at least 0"},
		{"toppush", Hyperparameters{Lambda: inf}, "--lambda +Inf, expected a finite number of at least 0"},
		{"toppush", Hyperparameters{Lambda: nan}, "--lambda NaN, expected a finite number of at least 0"},
		{"toppush", Hyperparameters{K: 5}, "--k 5, expected no --k for method toppush (leave out --k, or use --method toppushk)"},
		{"toppush", Hyperparameters{Tau: tau}, "--tau 0.001, expected no --tau for method toppush (leave out --tau)"},
		{"toppush", Hyperparameters{Beta: 1}, "--beta 1, expected no --beta for method toppush (leave out --beta)"},
		{"toppushk", Hyperparameters{}, "no --k for method toppushk, expected a whole number of at least 1 (for example --k 5)"},
		{"toppushk", Hyperparameters{K: -2}, "--k -2, expected a whole number of at least 1"},
		{"toppushk", Hyperparameters{K: 3, Beta: nan}, "--beta NaN, expected no --beta for method toppushk (leave out --beta)"},
		{"grill", Hyperparameters{}, "no --tau for method grill, expected a rate between 0 and 1 (for example --tau 1%)"},
		{"patmat", Hyperparameters{Beta: 1}, "no --tau for method patmat, expected a rate between 0 and 1 (for example --tau 1%)"},
		{"patmat", Hyperparameters{Tau: tau},
			"no --beta for method patmat, expected a finite number above 0 (for example --beta 1)"},
		{"patmat", Hyperparameters{Tau: tau, Beta: -1}, "--beta -1, expected a finite number above 0"},
		{"patmat-np", Hyperparameters{Tau: tau, Beta: inf}, "--beta +Inf, expected a finite number above 0"},
		{"patmat-np", Hyperparameters{Tau: tau, Beta: nan}, "--beta NaN, expected a finite number above 0"},
		{"patmat", Hyperparameters{Tau: tau, Beta: 1, K: 5}, "--k 5, expected no --k for method patmat (leave out --k)"},
		{"topmean", Hyperparameters{Tau: tau, Beta: 1}, "--beta 1, expected no --beta for method topmean (leave out --beta)"},
	} {
		m, err := ByName(c.method)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.With(c.h)
		if f := fault.Of(err); f == nil || f.Kind != fault.Usage {
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
