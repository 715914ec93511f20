package method_test

import (
	"fmt"

	"toptau/method"
	"toptau/threshold"
)

// A method and its hyperparameters make a problem; the error names a missing one.
func ExampleMethod_With() {
	m, err := method.ByName("Pat&Mat-NP")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = m.With(method.Problem{Tau: threshold.MustRate("0.1%"), Lambda: 0.001})
	fmt.Println(err)

	p, err := m.With(method.Problem{Tau: threshold.MustRate("0.1%"), Lambda: 0.001, Beta: 1})
	fmt.Println(p.Definition().Title, p.Definition().Population, p.Definition().Criterion, p.Surrogate, err)
	// Output:
	// missing beta, expected a finite number above 0 for method patmat-np (for example beta 1)
	// Pat&Mat-NP negatives positives@np hinge <nil>
}
