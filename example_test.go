package toptau_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"toptau"
	"toptau/dataset"
	"toptau/diag"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// connections simulates n connections of a network. One in fifty is an attack, with more errors and more hosts. The numbers are
// sums of uniform ones.
func connections(n int, seed uint64) *dataset.Data {
	uniform := func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
	rows := dataset.Rows{Columns: []string{"bytes", "errors", "hosts"}}
	for i := range n {
		bytes := uniform() + uniform() + uniform()
		errors := uniform() + uniform() + uniform()
		hosts := uniform() + uniform() + uniform()
		if i%50 == 0 {
			errors, hosts = errors+0.5+uniform(), hosts+uniform()
		}
		rows.Numbers = append(rows.Numbers, []float64{bytes, errors, hosts})
		rows.Positive = append(rows.Positive, i%50 == 0)
	}
	data, err := rows.Data()
	if err != nil {
		log.Fatal(err)
	}
	return data
}

// "We can look at 50 alerts a day", of about 5,000 connections a day: the goal is a budget of alerts. Train finds the method,
// its settings and the threshold.
func ExampleTrain() {
	trained, err := toptau.Train(context.Background(), connections(8_000, 1), toptau.Alerts(50, 5000), toptau.TrainOptions{
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
	trained, err := toptau.Train(context.Background(), connections(20_000, 2), toptau.MaxFPR("0.1%"), toptau.TrainOptions{
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

// One method with given hyperparameters. The result contains the objective and a proven lower bound on it.
func ExampleFit() {
	problem := method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("1%"), Beta: 0.1, Lambda: 0.001}
	fitted, err := toptau.Fit(context.Background(), connections(2_000, 3), problem, toptau.FitOptions{})
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
	ctx, data := context.Background(), connections(2_000, 3)
	fitted, err := toptau.Fit(ctx, data, method.Problem{Method: method.PatMat, Tau: threshold.MustRate("5%"), Beta: 0.1, Lambda: 0.001}, toptau.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	v, err := toptau.Verify(ctx, fitted.Model, data, fitted.Certificate, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("holds: %v, objective %.3f, at least %.3f for every w\n", v.Holds, v.Objective, *v.Lower)

	fitted.Certificate.LowerBound = 1.1 * v.Objective // a false claim
	v, err = toptau.Verify(ctx, fitted.Model, data, fitted.Certificate, nil)
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
	diagnosis, err := toptau.Diagnose(context.Background(), connections(2_000, 6), toptau.DiagnoseOptions{Goal: toptau.Top("1%")})
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
	fitted, err := toptau.Fit(ctx, data, method.Problem{Method: method.TopPush, Lambda: 0.1}, toptau.FitOptions{})
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

// fewConnections fits a model to five rows.
func fewConnections() *model.Model {
	data, err := dataset.Rows{Columns: []string{"bytes", "errors"}, Numbers: [][]float64{{1, 9}, {2, 8}, {2, 2}, {1, 1}, {3, 3}},
		Positive: []bool{true, true, false, false, false}}.Data()
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := toptau.Fit(context.Background(), data, method.Problem{Method: method.TopPush, Lambda: 0.1}, toptau.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return fitted.Model
}

// Score reads and scores rows one by one. With Best the stream yields only the rows with the highest scores: a work list.
func ExampleScore() {
	today := strings.NewReader("host,bytes,errors\nalpha,1,2\nbeta,2,9\ngamma,1,7\ndelta,3,1\n")
	options := toptau.ScoreOptions{Format: schema.Format{ID: []string{"host"}}, Best: 2}
	stream, err := toptau.Score(context.Background(), fewConnections(), today, options)
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range stream.Rows() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.ID[0], row.Decisions[0])
	}
	fmt.Println(stream.Totals().Rows, "rows")
	// Output:
	// beta true
	// gamma true
	// 4 rows
}

// Explain measures how strongly each column moves the scores of some rows.
func ExampleExplain() {
	today := strings.NewReader("host,bytes,errors\nalpha,1,2\nbeta,2,9\ngamma,1,7\ndelta,3,1\n")
	columns, err := toptau.Explain(context.Background(), fewConnections(), today, toptau.ExplainOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range columns.Columns {
		fmt.Printf("%s: effect %.2f\n", c.Column, c.Effect)
	}
	// Output:
	// errors: effect 0.56
	// bytes: effect 0.14
}

// Evaluate measures what a model finds within a budget on labelled rows that it has not seen. The criterion takes its
// threshold from these rows, and the interval is a bootstrap of both classes.
func ExampleEvaluate() {
	ctx := context.Background()
	problem := method.Problem{Method: method.PatMat, Tau: threshold.MustRate("1%"), Beta: 0.1, Lambda: 0.001}
	fitted, err := toptau.Fit(ctx, connections(4_000, 4), problem, toptau.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	entries := []dataset.Entry{{Model: fitted.Model}}
	evaluation, err := toptau.Evaluate(ctx, connections(4_000, 5), entries, toptau.EvaluateOptions{Goal: toptau.Top("1%")})
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

// Threshold certifies an operating point on held-out rows. Too few rows give a threshold without a guarantee and an error that
// matches ErrNoGuarantee.
func ExampleThreshold() {
	ctx := context.Background()
	problem := method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("1%"), Beta: 0.1, Lambda: 0.001}
	fitted, err := toptau.Fit(ctx, connections(4_000, 4), problem, toptau.FitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	options := toptau.ThresholdOptions{Name: "certified", Delta: threshold.MustRate("5%")}
	for _, rows := range []int{200, 2_000} {
		c, err := toptau.Threshold(ctx, connections(rows, 7), dataset.Entry{Model: fitted.Model}, toptau.MaxFPR("1%"), options)
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
