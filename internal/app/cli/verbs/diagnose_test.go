package verbs

import (
	"strings"
	"testing"

	"toptau/method"
	"toptau/result"
	"toptau/threshold"
)

// The conclusions of a diagnosis are sentences, and settings of a method with one answer share a line.
func TestDiagnosisInWords(t *testing.T) {
	yes, no := true, false
	verdict := func(name method.Name, tau string, zero *bool) result.MethodVerdict {
		v := result.MethodVerdict{Problem: method.Problem{Method: name}, ZeroIsOptimal: zero, Evidence: "because"}
		if tau != "" {
			v.Tau = threshold.MustRate(tau)
		}
		return v
	}
	d := &result.Diagnosis{Separable: &no, Methods: []result.MethodVerdict{verdict("toppush", "", &yes), verdict("topmean", "1%", &yes),
		verdict("topmean", "5%", &no), verdict("patmat", "1%", &no), verdict("patmat", "5%", &no), verdict("grill", "1%", nil)},
		Budgets: []result.BudgetVerdict{{Tau: "0.01", Enough: true}, {Tau: "0.001"}}}
	words := strings.Join(diagnosisWords(d), "\n")
	for _, want := range []string{"No linear score puts", "fit can rank these rows with topmean tau 0.05; patmat tau 0.01, 0.05.",
		"It cannot with toppush; topmean tau 0.01: ", "Nothing is proven about grill tau 0.01.", "enough negatives for a guarantee (--delta) at a budget of 0.01.",
		"too few negatives for a guarantee at 0.001."} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, words)
		}
	}
	d.Separable, d.Methods, d.Budgets = nil, nil, nil
	if words := strings.Join(diagnosisWords(d), "\n"); !strings.Contains(words, "was not decided") || strings.Contains(words, "guarantee") {
		t.Error(words)
	}
}
