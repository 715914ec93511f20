package toptau_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"toptau"
	"toptau/threshold"
)

// connections simulates n connections of a network, one in fifty of them an attack: attacks make more errors and reach
// more hosts. Sums of uniform numbers stand in for measurements.
func connections(n int, seed uint64) (rows [][]float64, attack []bool) {
	uniform := func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
	for i := range n {
		bytes := uniform() + uniform() + uniform()
		errors := uniform() + uniform() + uniform()
		hosts := uniform() + uniform() + uniform()
		if i%50 == 0 {
			errors, hosts = errors+0.5+uniform(), hosts+uniform()
		}
		rows = append(rows, []float64{bytes, errors, hosts})
		attack = append(attack, i%50 == 0)
	}
	return rows, attack
}

// "We can look at 50 alerts a day", of about 5,000 connections a day: the goal is a budget of alerts, and Train finds the
// method, its settings and the threshold.
func Example_alertsADay() {
	rows, attack := connections(8_000, 1)
	data, err := toptau.FromRows([]string{"bytes", "errors", "hosts"}, rows, attack)
	if err != nil {
		log.Fatal(err)
	}
	goal := toptau.Alerts(50, 5000)
	trained, err := toptau.Train(context.Background(), data, goal,
		toptau.TrainOptions{Features: []string{"raw", "scorecard"}, TestShare: threshold.MustRate("25%")})
	if err != nil {
		log.Fatal(err)
	}
	r := trained.Report
	fmt.Println(r.Goal)
	test := r.AtThreshold // on a quarter of the rows, which took no part in the choice; its budget is 20 alerts
	fmt.Printf("%d connections, %d of them attacks\n", r.Test.Rows, r.Test.Positives)
	fmt.Printf("%v alerts, %v of them attacks\n", test.TruePositives+test.FalsePositives, test.TruePositives)
	// Output:
	// as many positives as possible in 50 alerts per 5,000 rows (1 %)
	// 2000 connections, 40 of them attacks
	// 17 alerts, 13 of them attacks
}

// "At most 0.1 % false alarms": the budget is a share of the negatives. The threshold that Train returns keeps it on the
// rows that it was chosen on and is not a guarantee; what it does to other rows comes with an exact interval.
func Example_falseAlarms() {
	rows, attack := connections(20_000, 2)
	data, err := toptau.FromRows([]string{"bytes", "errors", "hosts"}, rows, attack)
	if err != nil {
		log.Fatal(err)
	}
	goal := toptau.MaxFPR("0.1%")
	trained, err := toptau.Train(context.Background(), data, goal,
		toptau.TrainOptions{Methods: []string{"patmat-np"}, Features: []string{"raw"}, TestShare: threshold.MustRate("25%")})
	if err != nil {
		log.Fatal(err)
	}
	test := trained.Report.AtThreshold
	alarms := test.FalsePositiveRate
	fmt.Printf("false alarms: %v of %v, between %.2f %% and %.2f %%\n", alarms.Numerator, alarms.Denominator,
		100*alarms.Interval.Low, 100*alarms.Interval.High)
	fmt.Printf("found: %v of %v attacks\n", test.TruePositiveRate.Numerator, test.TruePositiveRate.Denominator)
	fmt.Println("guaranteed:", trained.Report.Certified)
	// Output:
	// false alarms: 1 of 4900, between 0.00 % and 0.11 %
	// found: 27 of 100 attacks
	// guaranteed: false
}

// One method with given hyperparameters, and the evidence that its report holds: how good the objective is and how good
// it can be.
func ExampleFit() {
	rows, attack := connections(2_000, 3)
	data, err := toptau.FromRows([]string{"bytes", "errors", "hosts"}, rows, attack)
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := toptau.Fit(context.Background(), data,
		toptau.FitOptions{Method: "patmat-np", Tau: "1%", Beta: 0.1, Lambda: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	r := fitted.Report
	fmt.Printf("%s on %d rows, %d positive\n", r.Method, r.N, r.NPos)
	fmt.Printf("objective %.3f, at w = 0 %.3f\n", r.Objective, r.ObjectiveAtZero)
	fmt.Printf("no model can be below %.3f\n", *r.LowerBound)
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

// A model that was saved scores one record, given as text, without a file.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "toptau")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	train, path := filepath.Join(dir, "train.csv"), filepath.Join(dir, "model.json")
	table := "errors,service,attack\n9,ftp,yes\n8,http,yes\n3,ftp,no\n2,http,no\n1,http,no\n"
	if err := os.WriteFile(train, []byte(table), 0o644); err != nil {
		log.Fatal(err)
	}
	data, err := toptau.Read(train, toptau.Format{Label: "attack", Positive: []string{"yes"}})
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := toptau.Fit(context.Background(), data, toptau.FitOptions{Method: "toppush", Lambda: 0.1})
	if err != nil {
		log.Fatal(err)
	}
	if err := fitted.Model.Save(path); err != nil {
		log.Fatal(err)
	}

	m, err := toptau.Load(path)
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

// The rows of a file are scored as they are read; with Best only the highest ones are kept: a work list.
func ExampleScore() {
	dir, err := os.MkdirTemp("", "toptau")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	data, err := toptau.FromRows([]string{"bytes", "errors"},
		[][]float64{{1, 9}, {2, 8}, {2, 2}, {1, 1}, {3, 3}}, []bool{true, true, false, false, false})
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := toptau.Fit(context.Background(), data, toptau.FitOptions{Method: "toppush", Lambda: 0.1})
	if err != nil {
		log.Fatal(err)
	}
	today := filepath.Join(dir, "today.csv")
	table := "host,bytes,errors\nalpha,1,2\nbeta,2,9\ngamma,1,7\ndelta,3,1\n"
	if err := os.WriteFile(today, []byte(table), 0o644); err != nil {
		log.Fatal(err)
	}
	options := toptau.ScoreOptions{Format: toptau.Format{ID: []string{"host"}}, Best: 2}
	_, err = toptau.Score(context.Background(), fitted.Model, today, options,
		func(*toptau.Scoring) error { return nil },
		func(row *toptau.Scored) error {
			fmt.Println(row.ID[0], row.Decisions[0])
			return nil
		})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// beta true
	// gamma true
}

// What a model finds within a budget on labelled rows that it has not seen: the criterion takes its threshold from these
// rows, and the interval is a bootstrap of both classes.
func ExampleEvaluate() {
	names := []string{"bytes", "errors", "hosts"}
	rows, attack := connections(4_000, 4)
	train, err := toptau.FromRows(names, rows, attack)
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := toptau.Fit(context.Background(), train,
		toptau.FitOptions{Method: "patmat", Tau: "1%", Beta: 0.1, Lambda: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	rows, attack = connections(4_000, 5)
	next, err := toptau.FromRows(names, rows, attack)
	if err != nil {
		log.Fatal(err)
	}
	evaluation, err := toptau.Evaluate(context.Background(), next, []toptau.Entry{{Model: fitted.Model}}, toptau.EvaluateOptions{
		Goal: toptau.Top("1%"),
	})
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
