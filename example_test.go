package toptau_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// "We can look at 50 alerts a day", of about 5,000 connections a day: the goal is a budget of alerts. Train finds the method,
// its settings and the threshold.
func ExampleTrain() {
	trained, err := toptau.Train(context.Background(), trial.Connections(8_000, 1), toptau.Alerts(50, 5000), toptau.TrainOptions{
		Encoding: []schema.Encoding{schema.Raw, schema.Scorecard}, TestFraction: threshold.MustRate("25%")})
	if err != nil {
		log.Fatal(err)
	}
	r := trained.Result
	fmt.Println(r.Goal)
	test := r.TestDecisions // on a quarter of the rows, which took no part in the choice; their budget is 20 alerts
	fmt.Printf("%d connections, %d of them attacks\n", r.Test.Rows, r.Test.Positives)
	fmt.Printf("%v alerts, %v of them attacks\n", test.TruePositives+test.FalsePositives, test.TruePositives)
	// Output:
	// as many positives as possible in 50 alerts per 5,000 rows (1 %)
	// 2000 connections, 40 of them attacks
	// 19 alerts, 13 of them attacks
}

// "At most 0.1 % false alarms": the budget is a fraction of the negatives. Without Delta the threshold keeps the budget on
// average and has no guarantee. The test part shows what it does to other rows, with an exact interval.
func ExampleTrain_falseAlarms() {
	trained, err := toptau.Train(context.Background(), trial.Connections(20_000, 2), toptau.MaxFPR("0.1%"), toptau.TrainOptions{
		Method: []method.Name{method.PatMatNP}, Encoding: []schema.Encoding{schema.Raw}, TestFraction: threshold.MustRate("25%")})
	if err != nil {
		log.Fatal(err)
	}
	test := trained.Result.TestDecisions
	alarms := test.FalsePositiveRate
	fmt.Printf("false alarms: %v of %v, between %.2f %% and %.2f %%\n", alarms.Numerator, alarms.Denominator,
		100*alarms.Interval.Low, 100*alarms.Interval.High)
	fmt.Printf("found: %v of %v attacks\n", test.TruePositiveRate.Numerator, test.TruePositiveRate.Denominator)
	fmt.Println("guaranteed:", trained.Result.Certified)
	// Output:
	// false alarms: 3 of 4900, between 0.01 % and 0.18 %
	// found: 28 of 100 attacks
	// guaranteed: false
}

// A saved model scores one record, whose values are text.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "toptau")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	table := "errors,service,attack\n9,ftp,yes\n8,http,yes\n3,ftp,no\n2,http,no\n1,http,no\n"
	ctx, format := context.Background(), schema.Format{Label: "attack", Positive: []string{"yes"}}
	data, err := dataset.ReadFrom(ctx, strings.NewReader(table), format)
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := certify.Fit(ctx, data, method.Problem{Method: method.TopPush, Lambda: 0.1}, certify.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "model.json")
	if err := fitted.Model.Save(path); err != nil {
		log.Fatal(err)
	}

	m, err := model.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, record := range []map[string]string{
		{"errors": "7", "service": "ftp"},
		{"errors": "0", "service": "ftp"},
	} {
		score, err := m.Score(record)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s errors: score %.2f, alarm %v\n", record["errors"], score, m.Points()[0].Decide(score, ""))
	}
	_, err = m.Score(map[string]string{"errors": "many", "service": "ftp"})
	fmt.Println(err)
	// Output:
	// 7 errors: score 0.32, alarm true
	// 0 errors: score -0.85, alarm false
	// column "errors": "many", expected a number
}
