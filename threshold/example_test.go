package threshold_test

import (
	"fmt"

	"toptau/surrogate"
	"toptau/threshold"
)

// The three kinds of rule on the same scores: each is at least as high as the next.
func Example() {
	scores := []float64{1, 5, 2, 4, 3, 0, 0, 0, 0, 0}
	tau := threshold.MustRate("20%")
	for _, rule := range []threshold.Rule{
		threshold.SurrogateQuantile{Tau: tau, Beta: 1, Surrogate: surrogate.Hinge},
		threshold.TopMean{Tau: tau},
		threshold.Quantile{Tau: tau},
	} {
		bound, err := rule.Bind(threshold.NewPopulation(len(scores), nil))
		if err != nil {
			fmt.Println(err)
			return
		}
		var s threshold.Support
		bound.At(scores, nil, &s)
		fmt.Printf("t = %.2f, gradient on rows %v with weights %.2f\n", s.T, s.Rows, s.A)
	}
	// Output:
	// t = 4.50, gradient on rows [1 3] with weights [0.50 0.50]
	// t = 4.50, gradient on rows [1 3] with weights [0.50 0.50]
	// t = 4.00, gradient on rows [3] with weights [1.00]
}

// A rate counts exactly what was written; floating point does not.
func ExampleRate() {
	r := threshold.MustRate("7%")
	hundred := 100.0
	fmt.Println(r.Ceil(100), hundred*0.07)
	_, err := threshold.ParseRate("1")
	fmt.Println(err)
	// Output:
	// 7 7.000000000000001
	// rate "1", expected a rate between 0 and 1 such as 0.1% or 0.001 (did you mean 1%?)
}
