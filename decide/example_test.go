package decide_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/threshold"
)

// Threshold certifies an operating point on held-out rows. Too few rows give a threshold without a guarantee and an error that
// matches ErrNoGuarantee.
func ExampleThreshold() {
	ctx := context.Background()
	problem := method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("1%"), Beta: 0.1, Lambda: 0.001}
	fitted, err := certify.Fit(ctx, trial.Connections(4_000, 4), problem, certify.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	options := decide.Options{Name: "certified", Delta: threshold.MustRate("5%")}
	for _, rows := range []int{200, 2_000} {
		c, err := decide.Threshold(ctx, trial.Connections(rows, 7), dataset.Entry{Model: fitted.Model}, toptau.MaxFPR("1%"), options)
		if err != nil && !errors.Is(err, diag.ErrNoGuarantee) {
			log.Fatal(err)
		}
		fmt.Printf("%d rows: threshold %.2f, certified %v\n", rows, c.Result.Threshold, c.Result.Certified)
		if err == nil {
			m, err := fitted.Model.WithPoint(c.Point)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("operating points:", m.Points()[0].Name, m.Points()[1].Name)
		}
	}
	// Output:
	// 200 rows: threshold 9.86, certified false
	// 2000 rows: threshold 10.95, certified true
	// operating points: training certified
}
