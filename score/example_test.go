package score_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"toptau/internal/tests/trial"
	"toptau/schema"
	"toptau/score"
)

// Open reads and scores rows one by one. With Best the stream yields only the rows with the highest scores: a work list.
func ExampleOpen() {
	today := strings.NewReader("host,bytes,errors\nalpha,1,2\nbeta,2,9\ngamma,1,7\ndelta,3,1\n")
	options := score.Options{Format: schema.Format{ID: []string{"host"}}, Best: 2}
	stream, err := score.Open(context.Background(), trial.FewConnections(), today, options)
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
	columns, err := score.Explain(context.Background(), trial.FewConnections(), today, score.ExplainOptions{})
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
