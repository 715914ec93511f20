package threshold

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"toptau/surrogate"
)

// tinyCase holds the fields of internal/tests/reference/tiny_cases.json that this package needs. Numbers are exact
// rationals.
type tinyCase struct {
	ID     string   `json:"id"`
	Method string   `json:"method"`
	Labels []int    `json:"y"`
	Scores []string `json:"scores"`
	Params struct {
		Tau  string `json:"tau"`
		Beta string `json:"beta"`
		K    string `json:"k"`
	} `json:"params"`
	K    int      `json:"K_used"`
	T    string   `json:"t"`
	TOpt string   `json:"t_opt"`
	A    []string `json:"dual_beta_population"` // times the sum of the positives' weights
	P    []string `json:"dual_alpha_positives"`
}

func readTinyCases(t *testing.T) []tinyCase {
	t.Helper()
	text, err := os.ReadFile("../internal/tests/reference/tiny_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []tinyCase `json:"cases"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 76 {
		t.Fatalf("%d cases, want 76", len(file.Cases))
	}
	return file.Cases
}

func rational(t *testing.T, text string) float64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is not a rational", text)
	}
	f, _ := r.Float64()
	return f
}

// rule returns the case's rule, and whether its population is the negatives.
func (c tinyCase) rule(t *testing.T) (rule Rule, negatives bool) {
	t.Helper()
	tau := func() Rate { return MustRate(c.Params.Tau) }
	quantile := func() Rule {
		return SurrogateQuantile{tau(), rational(t, c.Params.Beta), surrogate.Hinge}
	}
	switch c.Method {
	case "TopPush":
		return TopCount{1}, true
	case "TopPushK":
		return TopCount{int(rational(t, c.Params.K))}, true
	case "Grill":
		return Quantile{tau()}, false
	case "Pat&Mat":
		return quantile(), false
	case "TopMean":
		return TopMean{tau()}, false
	case "Grill-NP":
		return Quantile{tau()}, true
	case "Pat&Mat-NP":
		return quantile(), true
	case "TopMean-NP":
		return TopMean{tau()}, true
	}
	t.Fatalf("%s: method %q", c.ID, c.Method)
	return nil, false
}

func (c tinyCase) population(t *testing.T, negatives bool) sample {
	var x sample
	for i, text := range c.Scores {
		if !negatives || c.Labels[i] == 0 {
			x.z = append(x.z, rational(t, text))
		}
	}
	return x
}

// All thresholds of the reference cases, and in the optimal ones the dual weights: these maximise a'z - r(a),
// so they give the same t.
func TestTinyCases(t *testing.T) {
	for _, c := range readTinyCases(t) {
		rule, negatives := c.rule(t)
		x := c.population(t, negatives)
		bound := bind(t, rule, x)
		want := rational(t, c.T+c.TOpt) // one of the two is empty
		if got := value(bound, x); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %s: t = %v, want %v", c.ID, describe(rule), got, want)
		}
		if c.K > 0 && bound.Kappa() != float64(c.K) {
			t.Errorf("%s: %s: kappa = %v, want %d", c.ID, describe(rule), bound.Kappa(), c.K)
		}
		if c.A == nil {
			continue
		}
		a, total := make([]float64, len(x.z)), 0.0
		for j := range a {
			a[j] = rational(t, c.A[j])
			total += a[j]
		}
		if total == 0 {
			continue
		}
		for j := range a {
			a[j] /= total
			if a[j] > bound.Cap(1)*(1+1e-12) {
				t.Errorf("%s: optimal weight %v above the cap %v", c.ID, a[j], bound.Cap(1))
			}
		}
		if got := x.dot(a) - bound.Regulariser(a, nil); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %s: a'z - r(a) = %v at the optimal dual, want %v", c.ID, describe(rule), got, want)
		}
	}
}
