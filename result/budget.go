package result

import (
	"toptau/calibrate"
	"toptau/metric"
	"toptau/threshold"
)

// Budget describes what the thresholds for a goal find on labelled rows: the plain one, which keeps the budget on
// average, and the certified one.
type Budget struct {
	Goal       metric.Goal    `json:"goal"`       // the goal of both thresholds
	Population string         `json:"population"` // rows that the thresholds are computed from: negatives or all
	Rows       int            `json:"n"`          // number of rows in the population
	Delta      threshold.Rate `json:"delta"`      // accepted probability that the guarantee fails
	Needed     int            `json:"needed"`     // smallest number of rows that can certify the goal
	Plain      BudgetSide     `json:"plain"`      // the threshold without a guarantee
	Certified  *BudgetSide    `json:"certified"`  // the one with a guarantee; null: these rows cannot give one
	// why there is no certified threshold
	Reason string `json:"reason,omitempty"`
	// what the model's default point finds, which does not follow the goal; absent without a model
	Own *BudgetSide `json:"own,omitempty"`
}

// BudgetSide is a threshold with what it finds.
type BudgetSide struct {
	Threshold float64 `json:"threshold"` // the decision is score > threshold
	Alerts    float64 `json:"alerts"`    // number of these rows above it, or their mass
	// rate of the population above it, on new rows like these; confidence 0: its interval is not known
	Expected    calibrate.Expectation `json:"expected"`
	Found       metric.Proportion     `json:"found"`               // positives above it
	Precision   metric.Proportion     `json:"precision"`           // positives among the rows above it
	FalseAlarms metric.Proportion     `json:"false_alarms"`        // negatives above it
	MaxFalse    *int                  `json:"max_false,omitempty"` // without labels: at most this many negatives above it, see List; absent: not known
	Period      *Period               `json:"period,omitempty"`    // with a number of rows in a period
}

// Period is what a threshold means for a number of new rows, for example those of a day. As many of them are
// positive as of the measured rows.
type Period struct {
	Rows        float64 `json:"rows"`           // number of rows in the period
	Alerts      Amount  `json:"alerts"`         // number of alerts
	Real        Amount  `json:"real"`           // number of positives among them
	FalseAlarms Amount  `json:"false_alarms"`   // number of negatives among them
	Cost        *Amount `json:"cost,omitempty"` // with prices: of missed positives and of alerts
}

// Amount is a mean with its interval.
type Amount struct {
	Mean float64  `json:"mean"` // mean over many periods
	Low  *float64 `json:"low"`  // ends of the interval of the mean; null: not known
	High *float64 `json:"high"` // likewise
}

// RankedRow is a row at a place of the list.
type RankedRow struct {
	Place    int      `json:"place"`             // 1-based place in the order of falling scores
	Row      int      `json:"row"`               // 1-based number of the row in the data
	Line     int      `json:"line"`              // line of the file on which it begins
	ID       []string `json:"id,omitempty"`      // values of the columns that identify the row
	Score    float64  `json:"score"`             // its score
	Positive bool     `json:"positive"`          // its label
	Reasons  []Reason `json:"reasons,omitempty"` // what its main columns add, the largest first; absent without a model
}

// WhatIf is a row whose values may have been changed, with its score.
type WhatIf struct {
	Row         int          `json:"row"`    // 1-based number of the row in the data
	Former      float64      `json:"former"` // the score with the values of the data
	Explanation              // of the score with the changed values
	Inputs      []WhatIfCell `json:"inputs"` // columns that can be changed, in the order of the file
}

// WhatIfCell is a value of a row that can be changed.
type WhatIfCell struct {
	Column     string   `json:"column"`               // name of the column
	Numeric    bool     `json:"numeric"`              // it holds numbers
	Value      string   `json:"value"`                // the value in use; "": it is missing
	Former     string   `json:"former"`               // the value of the data
	Categories []string `json:"categories,omitempty"` // values that the model knows, the most frequent first
}

// ScoreCurve is the score of a row as a function of one of its values.
type ScoreCurve struct {
	Column     string       `json:"column"`               // name of the column
	Points     [][2]float64 `json:"points,omitempty"`     // numeric: pairs of a value and the score, ascending
	Categories []string     `json:"categories,omitempty"` // categorical: values
	Scores     []float64    `json:"scores,omitempty"`     // categorical: their scores
	Value      string       `json:"value"`                // the value in use; "": it is missing
	Score      float64      `json:"score"`                // its score
}
