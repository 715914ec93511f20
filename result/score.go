package result

import (
	"fmt"
	"slices"

	"toptau/diag"
	"toptau/threshold"
)

// Scoring holds the totals of a stream of scored rows: `score`. It is complete after the last row.
type Scoring struct {
	Document
	Rows      int      `json:"n"`               // number of rows, with those that have no score
	Points    []string `json:"points"`          // names of the operating points, the chosen one first
	Positives []int    `json:"decisions"`       // number of alerts of each point
	Units     int      `json:"units,omitempty"` // number of entities (and days); decisions then counts these. 0: rows
	Missing   int      `json:"missing_values"`  // number of missing values, which were imputed
	Unknown   int      `json:"unknown_values"`  // number of categories and indices that were not seen in training
	Failed    int      `json:"failed"`          // number of rows that could not be scored
	HeldBack  int      `json:"held_back"`       // number of rows above the chosen point that an alert limit held back
	Imputed   int      `json:"imputed"`         // number of rows with values that were imputed although the model refuses missing ones
	List      *List    `json:"list,omitempty"`  // bounds of the false rows among the best ones; absent: none
}

// List bounds the false rows among the best ones of one delivery, by their ranks among calibration negatives. It assumes that
// the negatives of the delivery come from the same distribution as these.
type List struct {
	Rows       int     `json:"rows"`        // number of rows (or entities) on the list, those with the highest scores
	MaxFalse   int     `json:"max_false"`   // at most this many of them are negative
	Confidence float64 `json:"confidence"`  // probability that this bound and those of all shorter and longer lists hold together
	Batch      int     `json:"n"`           // rows (or entities) of the delivery
	Negatives  int     `json:"n_negatives"` // calibration negatives
	// the fraction of the list that is negative at most on average over deliveries; unset: the length was given
	MaxFalseDiscoveries threshold.Rate `json:"max_false_discoveries,omitzero"`
	Shortest            int            `json:"shortest,omitempty"` // with it: no list for this fraction is shorter
	Cut                 bool           `json:"cut,omitempty"`      // with it: the list may be longer with more kept scores of calibration negatives
}

// Row is a scored row. It is valid until the stream yields the next row. The lines of `score --json` have the
// same numbers, with IDs, inputs and decisions by name.
type Row struct {
	Number int      `json:"row"`             // 1-based number of the row
	ID     []string `json:"id,omitempty"`    // values of the columns that identify the row
	Input  []string `json:"input,omitempty"` // values of the input's other columns
	Time   string   `json:"-"`               // value of the time column
	Score  float64  `json:"score"`           // the model's score
	// probability that the row is positive, if requested
	Probability *float64 `json:"probability,omitempty"`
	// the probability times the amount of the row, if rows are ranked by it
	ExpectedValue *float64 `json:"expected_value,omitempty"`
	Threshold     float64  `json:"threshold"` // threshold of the chosen operating point for this row
	// score > threshold at each operating point, the chosen one first
	Decisions []bool `json:"decisions"`

	// at most this many of the rows up to this one are negative, see List; nil: not known
	MaxFalse *int `json:"max_false,omitempty"`

	// entity whose rows were merged into this one, which is the one with the highest score; nil: none were
	Merged *Merged `json:"merged,omitempty"`

	// why a row above the threshold is no alert: "budget", "clock" or "state" of an alert limit; its decisions are false
	HeldBack string `json:"held_back,omitempty"`
	// columns whose missing value was imputed although the model refuses missing values: no guarantee covers the row
	Imputed []string `json:"imputed,omitempty"`
	// why the row has no score; the fields after Input are then zero
	Err error `json:"-"`

	Explanation *Explanation `json:"explanation,omitempty"` // what each column adds to the score, if requested
}

// Explanation divides a score among columns. Offset, what the reasons add, in their order, and Rounding sum to the score.
// So do AverageScore and what they add above the average, apart from rounding.
type Explanation struct {
	Score        float64  `json:"score"`         // the model's score
	AverageScore *float64 `json:"average_score"` // mean score of the training rows; null: the model keeps no averages
	Offset       float64  `json:"offset"`        // part of the score that belongs to no column
	Reasons      []Reason `json:"reasons"`       // what columns add, the largest difference to the average training row first
	Rounding     float64  `json:"rounding"`      // the score less the sum of the offset and what all reasons add
}

// Merged describes the rows of an entity that became one. Its Decisions are those of any of the rows.
type Merged struct {
	Entity string `json:"entity"`        // value of the entity's column
	Day    string `json:"day,omitempty"` // with a time column
	Rows   int    `json:"rows"`          // number of rows
	Alerts int    `json:"alerts"`        // number of rows above the threshold of the chosen operating point
}

// Clone returns a copy that stays valid after the next row.
func (r *Row) Clone() Row {
	c := *r
	c.ID, c.Input, c.Decisions, c.Imputed = slices.Clone(r.ID), slices.Clone(r.Input), slices.Clone(r.Decisions), slices.Clone(r.Imputed)
	if r.Explanation != nil {
		e := *r.Explanation
		e.Reasons = slices.Clone(e.Reasons)
		c.Explanation = &e
	}
	return c
}

// Reason is what a column adds to the score of a row.
type Reason struct {
	Column string  `json:"column"` // name of the column
	Value  string  `json:"value"`  // its value as text; "": it is missing
	Adds   float64 `json:"adds"`   // what it adds to the score
	// what it adds more than in the average training row; the same as adds if the model keeps no averages
	AboveAverage float64 `json:"above_average"`
}

// Rejected is a row of the input that has no score.
type Rejected struct {
	Row  int    // 1-based number of the row
	Line int    // 1-based line of the file on which it begins
	Err  error  // why it has no score
	Text string // the text of the row
}

// Columns describes what each column adds to the scores: `explain --columns`.
type Columns struct {
	Document
	Rows      int            `json:"n"`          // number of rows
	Sampled   int            `json:"n_sampled"`  // number of rows that the shapes are drawn from
	MeanScore float64        `json:"mean_score"` // mean score of all rows
	Columns   []ColumnEffect `json:"columns"`    // columns, largest effect first
}

// ColumnEffect describes what a column adds to the score. Shapes are relative to Mean. The sum of all Means
// and the model's offset is the mean score.
type ColumnEffect struct {
	Column string  `json:"column"` // name of the column
	Effect float64 `json:"effect"` // standard deviation of what it adds, over the rows
	Mean   float64 `json:"mean"`   // mean of what it adds
	// numeric: pairs of a value and what it adds there, ascending; a frequent value is a separate point
	Shape      [][2]float64     `json:"shape"`
	Categories []CategoryEffect `json:"categories"` // categorical: the most frequent values
	Missing    *float64         `json:"missing"`    // what a missing value adds; null: no value was missing
}

// CategoryEffect describes what a category adds to the score.
type CategoryEffect struct {
	Value string  `json:"value"` // the category
	Rows  int     `json:"n"`     // number of sampled rows with it
	Adds  float64 `json:"adds"`  // what it adds, relative to Mean
}

// String returns where the column adds least and where it adds most: "-0.5 at 2, +1.2 at 40".
func (c *ColumnEffect) String() string {
	switch {
	case len(c.Shape) > 0:
		low, high := c.Shape[0], c.Shape[0]
		for _, p := range c.Shape {
			if p[1] < low[1] {
				low = p
			}
			if p[1] > high[1] {
				high = p
			}
		}
		return fmt.Sprintf("%+.3g at %.4g, %+.3g at %.4g", low[1], low[0], high[1], high[0])
	case len(c.Categories) > 0:
		low, high := c.Categories[0], c.Categories[0]
		for _, v := range c.Categories {
			if v.Adds < low.Adds {
				low = v
			}
			if v.Adds > high.Adds {
				high = v
			}
		}
		return fmt.Sprintf("%+.3g for %s, %+.3g for %s", low.Adds, diag.Quote(low.Value), high.Adds, diag.Quote(high.Value))
	}
	return ""
}
