package measure_test

import (
	"context"
	"fmt"
	"log"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/threshold"
)

// Evaluate measures what a model finds within a budget on labelled rows that it has not seen. The criterion takes its
// threshold from these rows, and the interval is a bootstrap of both classes.
func ExampleEvaluate() {
	ctx := context.Background()
	problem := method.Problem{Method: method.PatMat, Tau: threshold.MustRate("1%"), Beta: 0.1, Lambda: 0.001}
	fitted, err := certify.Fit(ctx, trial.Connections(4_000, 4), problem, certify.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	entries := []dataset.Entry{{Model: fitted.Model}}
	evaluation, err := measure.Evaluate(ctx, trial.Connections(4_000, 5), entries, measure.Options{Goal: toptau.Top("1%")})
	if err != nil {
		log.Fatal(err)
	}
	found := evaluation.Goal.Value
	fmt.Printf("the best %v of %d rows hold %v of %v attacks\n", found.Budget, evaluation.Rows, found.Numerator, found.Denominator)
	fmt.Printf("that is %.0f %%, between %.0f %% and %.0f %% (%s)\n", 100*found.Rate, 100*found.Interval.Low,
		100*found.Interval.High, found.Interval.Kind)
	// Output:
	// the best 40 of 4000 rows hold 28 of 80 attacks
	// that is 35 %, between 25 % and 42 % (bootstrap of both classes)
}
