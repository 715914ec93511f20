package result

import (
	"fmt"
	"slices"

	"toptau/diag"
)

// Scoring is what holds for all rows of a stream. It is complete after the last row.
type Scoring struct {
	Document
	Rows      int      `json:"n"`              // rows scored
	Points    []string `json:"points"`         // names of the operating points, the chosen one first
	Positives []int    `json:"decisions"`      // alerts of each point
	Missing   int      `json:"missing_values"` // values that were missing and imputed
	Unknown   int      `json:"unknown_values"` // categories and indices that training did not have
	Failed    int      `json:"failed"`         // rows that could not be scored
}

// Row is a scored row. It is valid until the next row; Clone keeps it.
type Row struct {
	Number    int      `json:"row"`             // 1-based
	ID        []string `json:"id,omitempty"`    // the columns that identify the row
	Input     []string `json:"input,omitempty"` // the other columns of the input
	Score     float64  `json:"score"`           // of the row
	Threshold float64  `json:"threshold"`       // of the chosen operating point for this row
	Decisions []bool   `json:"decisions"`       // score > threshold at each operating point, the chosen one first

	Contributions []float64 `json:"contributions,omitempty"` // what each column adds to the score
	Offset        float64   `json:"offset,omitempty"`        // the part of the score that belongs to no column
}

// Clone returns a copy that stays valid.
func (r *Row) Clone() Row {
	c := *r
	c.ID, c.Input, c.Decisions, c.Contributions = slices.Clone(r.ID), slices.Clone(r.Input), slices.Clone(r.Decisions), slices.Clone(r.Contributions)
	return c
}

// Columns is what each column does to the scores: `explain --columns`.
type Columns struct {
	Document
	Rows      int            `json:"n"`          // rows read
	Sampled   int            `json:"n_sampled"`  // rows that the shapes are drawn from
	MeanScore float64        `json:"mean_score"` // over all rows
	Columns   []ColumnEffect `json:"columns"`    // the strongest first
}

// ColumnEffect is what a column adds to the score. Shapes are relative to Mean, so the columns' Means and the model's offset
// add up to the mean score.
type ColumnEffect struct {
	Column     string           `json:"column"`     // the column's name
	Effect     float64          `json:"effect"`     // the standard deviation of what it adds, over the rows
	Mean       float64          `json:"mean"`       // the mean of what it adds
	Shape      [][2]float64     `json:"shape"`      // numeric: pairs of a value and what it adds there, ascending; a value that many rows share is a point of its own
	Categories []CategoryEffect `json:"categories"` // categorical: the most frequent values
	Missing    *float64         `json:"missing"`    // what a missing value adds; null: there was none
}

// CategoryEffect is what a category adds.
type CategoryEffect struct {
	Value string  `json:"value"` // the category
	Rows  int     `json:"n"`     // of the sampled rows
	Adds  float64 `json:"adds"`  // what it adds to the score, relative to the mean of the column
}

// String describes the column in words: where it adds least and where it adds most.
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
