package certify_test

import (
	"context"
	"fmt"
	"log"

	"toptau"
	"toptau/certify"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/threshold"
)

// One method with given hyperparameters. The result contains the objective and a proven lower bound on it.
func ExampleFit() {
	problem := method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("1%"), Beta: 0.1, Lambda: 0.001}
	fitted, err := certify.Fit(context.Background(), trial.Connections(2_000, 3), problem, certify.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	r := fitted.Result
	fmt.Printf("%s on %d rows, %d positive\n", r.Method, r.Rows, r.Positives)
	fmt.Printf("objective %.3f, at w = 0 %.3f\n", r.Objective, r.AtZero)
	fmt.Printf("no model can be below %.3f\n", *r.Lower)
	for name, w := range fitted.Model.Weights() {
		fmt.Printf("%8s %+.2f\n", name, w)
	}
	// Output:
	// patmat-np on 2000 rows, 40 positive
	// objective 7.891, at w = 0 10.900
	// no model can be below 7.891
	//    bytes -0.47
	//   errors +5.67
	//    hosts +2.44
}

// Verify computes both bounds of a fit again, from the data, the model and the certificate alone.
func ExampleVerify() {
	ctx, data := context.Background(), trial.Connections(2_000, 3)
	fitted, err := certify.Fit(ctx, data, method.Problem{Method: method.PatMat, Tau: threshold.MustRate("5%"), Beta: 0.1, Lambda: 0.001}, certify.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	v, err := certify.Verify(ctx, fitted.Model, data, fitted.Certificate, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("holds: %v, objective %.3f, at least %.3f for every w\n", v.Holds, v.Objective, *v.Lower)

	fitted.Certificate.LowerBound = 1.1 * v.Objective // a false claim
	v, err = certify.Verify(ctx, fitted.Model, data, fitted.Certificate, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("holds:", v.Holds)
	// Output:
	// holds: true, objective 5.087, at least 5.087 for every w
	// holds: false
}

// Diagnose shows before any fit for which methods w = 0 is the optimum, so that all scores would be equal.
func ExampleDiagnose() {
	diagnosis, err := certify.Diagnose(context.Background(), trial.Connections(2_000, 6), certify.DiagnoseOptions{Goal: toptau.Top("1%")})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range diagnosis.Methods {
		if v.ZeroIsOptimal != nil {
			fmt.Println(v.Method, *v.ZeroIsOptimal)
		}
	}
	fmt.Println("separable:", *diagnosis.Separable)
	// Output:
	// toppush true
	// toppushk true
	// patmat false
	// topmean true
	// patmat-np false
	// topmean-np true
	// separable: false
}
