package method_test

import (
	"fmt"

	"toptau/method"
	"toptau/threshold"
)

// A method and its hyperparameters make a problem; what is missing is said in words.
func ExampleMethod_With() {
	m, err := method.ByName("Pat&Mat-NP")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = m.With(method.Hyperparameters{Tau: threshold.MustRate("0.1%"), Lambda: 0.001})
	fmt.Println(err)

	p, err := m.With(method.Hyperparameters{Tau: threshold.MustRate("0.1%"), Lambda: 0.001, Beta: 1})
	fmt.Println(p.Method.Title, p.Method.Population, p.Method.Criterion, p.Hyperparameters.Surrogate.Name(), err)
	// Output:
	// no --beta for method patmat-np, expected a finite number above 0 (for example --beta 1)
	// Pat&Mat-NP negatives positives@np hinge <nil>
}
