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

// Scores of any program need no columns and no model: a day of 1,000 scored flows, 20 of them attacks. "At most 0.5 % false alarms":
// which fraction of the attacks do we catch?
func ExampleEvaluate_scores() {
	var day dataset.Rows
	var scores []float64
	for i := range 20 {
		day.Positive, scores = append(day.Positive, true), append(scores, 1.3-float64(i)/30)
	}
	for j := range 980 {
		day.Positive, scores = append(day.Positive, false), append(scores, float64(j)/1000)
	}
	data, err := day.Data()
	if err != nil {
		log.Fatal(err)
	}
	evaluation, err := measure.Evaluate(context.Background(), data, []dataset.Entry{{Scores: scores}}, measure.Options{Goal: toptau.MaxFPR("0.5%"), Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	found := evaluation.Goal.Value
	fmt.Printf("%s: %v of %v above %v, %v of at most %v negatives\n",
		found.Criterion, found.Numerator, found.Denominator, found.Threshold, found.Admitted, found.Budget)
	fmt.Printf("%.2f, %.0f %% interval %.2f to %.2f (%s)\n",
		found.Rate, 100*found.Interval.Confidence, found.Interval.Low, found.Interval.High, found.Interval.Kind)
	// Output:
	// positives@np(0.005): 10 of 20 above 0.975, 4 of at most 4 negatives
	// 0.50, 95 % interval 0.27 to 0.73 (bootstrap of both classes)
}
