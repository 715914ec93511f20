package result

import (
	"toptau/calibrate"
	"toptau/metric"
	"toptau/threshold"
)

// Card describes a model for people who decide about its use: `card`.
type Card struct {
	Document
	Name       string      `json:"name"`       // name of the model
	Statements []Statement `json:"statements"` // what people state about the model, in the order of the card
	Inspection Inspection  `json:"inspection"` // what the file contains
	Columns    []Moved     `json:"columns"`    // columns that move the score, with the direction
	Points     []CardPoint `json:"points"`     // operating points, the default first
	Members    []string    `json:"members"`    // fits that the weights are the average of, in words
	History    []string    `json:"history"`    // changes of the operating points since training, in words
	// objective of each member with its lower bound, in words; empty: no certificate
	Certificates []string `json:"certificates"`
	// how scores become probabilities: beta or isotonic; absent: they do not
	Probability string `json:"probability,omitempty"`
	// calibration of the probabilities on rows that did not fit them
	Reliability []calibrate.Reliability `json:"reliability,omitempty"`
	Data        *CardData               `json:"data,omitempty"` // measured on other rows; absent: nothing was measured
}

// Statement is what people state about a model.
type Statement struct {
	Title string `json:"title"` // purpose, not for, ...
	Text  string `json:"text"`  // "": not stated
}

// StatementTitles are the statements that every card has, in their order. Others may follow.
func StatementTitles() []string {
	return []string{"Purpose", "Not for", "Users", "Origin of the data", "Known limits and risks",
		"Human oversight", "Contact", "Licence"}
}

// Moved is a column with the direction in which the score moves with it.
type Moved struct {
	Column string `json:"column"` // name of the column
	// rises, falls or flat are proved for all values that are not missing; mixed: it may rise and fall; category
	Direction string `json:"direction"`
}

// CardPoint is an operating point with its evidence.
type CardPoint struct {
	Name      string         `json:"name"`                // name of the point
	Goal      metric.Goal    `json:"goal"`                // what the threshold is for
	Threshold float64        `json:"threshold"`           // the decision is score > threshold
	Source    string         `json:"source"`              // which rows it comes from, in words
	Guarantee *CardGuarantee `json:"guarantee,omitempty"` // absent: no guarantee
	Segment   string         `json:"segment,omitempty"`   // column whose values have thresholds of their own
	Entity    string         `json:"entity,omitempty"`    // column that the budget counts instead of rows
}

// CardGuarantee is the evidence for a threshold.
type CardGuarantee struct {
	Certified bool           `json:"certified"`     // the calibration rows were used for nothing else and are enough
	Rate      threshold.Rate `json:"rate,omitzero"` // the rate that must not be exceeded; absent: none was set
	Delta     threshold.Rate `json:"delta"`         // probability that the guarantee fails
	Rows      int            `json:"n"`             // number of calibration rows in the population; 0: not known
	Order     int            `json:"order"`         // the threshold is the order-th smallest of their scores
	Bound     float64        `json:"bound"`         // exact tail probability; absolute-top: the bounded rate
}

// CardData is what was measured on labelled rows.
type CardData struct {
	File       string      `json:"file"`       // name of the file
	Digest     string      `json:"digest"`     // digest of its content; "": not known
	Evaluation *Evaluation `json:"evaluation"` // of the model alone
}
