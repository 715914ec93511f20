package model_test

import (
	"fmt"

	"toptau/model"
)

// A record is scored by column name; what the model does not know is ignored.
func ExampleModel_Score() {
	m, err := model.Load("testdata/plain.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	score, err := m.Score(map[string]string{"bytes": "9000", "service": "http", "zero": "0", "id": "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	alert, _ := m.Point("default")
	fmt.Printf("%.3f above %v: %v\n", score, alert.Threshold, alert.Decide(score, ""))
	// Output: 1340.770 above 0.1: true
}

// A record may come from a struct: its JSON has the names of the columns.
func ExampleRecord() {
	m, err := model.Load("testdata/plain.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	type flow struct {
		Bytes   int     `json:"bytes"`
		Service *string `json:"service"` // nil: missing
		Zero    float64 `json:"zero"`
	}
	record, err := model.Record(flow{Bytes: 9000})
	if err != nil {
		fmt.Println(err)
		return
	}
	score, err := m.Score(record)
	fmt.Printf("%.3f %v\n", score, err)
	// Output: 1341.145 <nil>
}

// An explanation says what every column adds.
func ExampleModel_Explain() {
	m, err := model.Load("testdata/plain.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := m.Explain(map[string]string{"bytes": "6", "service": "NA", "zero": "0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range e.Reasons {
		fmt.Printf("%-16s %6.3f\n", r.Column, r.Adds)
	}
	fmt.Printf("%-16s %6.3f\n%-16s %6.3f\n", "offset", e.Offset, "score", e.Score)
	// Output:
	// service           0.500
	// bytes             0.149
	// offset           -0.250
	// score             0.399
}
