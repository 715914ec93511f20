package result

import "toptau/metric"

// Breakdown shows which positives a threshold finds and which negatives raise false alarms, by the values of a
// column.
type Breakdown struct {
	Column    string  `json:"column"`    // name of the column
	Point     string  `json:"point"`     // operating point that decides; "": the threshold comes from these rows
	Threshold float64 `json:"threshold"` // its threshold
	// the intervals of this number of rates, of all columns, hold together (Bonferroni); absent: each has its own confidence
	Together int `json:"together,omitempty"`
	// values with the most missed positives first; days and ranges of numbers in their order
	Values []BreakdownValue `json:"values"`
}

// BreakdownValue is one value of a column, or several that are counted together.
type BreakdownValue struct {
	Value  string `json:"value"`            // the value, a day, a range of numbers, or "" for missing values
	Others int    `json:"others,omitempty"` // number of rare values that are counted together; absent: one value
	Counts
	Found       metric.Proportion `json:"found"`        // positives above the threshold
	FalseAlarms metric.Proportion `json:"false_alarms"` // negatives above the threshold
}

// ExampleKind is the reason why a row is listed.
type ExampleKind string

const (
	FalseAlarm ExampleKind = "false-alarm" // a negative above the threshold, the highest scores first
	FoundRow   ExampleKind = "found"       // a positive above the threshold, the highest scores first
	MissedRow  ExampleKind = "missed"      // a positive not above the threshold, the lowest scores first
)

// Example is a row that deserves a look.
type Example struct {
	Kind    ExampleKind `json:"kind"`         // false-alarm, found or missed
	Row     int         `json:"row"`          // 1-based number of the row
	Line    int         `json:"line"`         // line of the file on which it begins
	ID      []string    `json:"id,omitempty"` // values of the columns that identify the row
	Score   float64     `json:"score"`        // the model's score
	Reasons []Reason    `json:"reasons"`      // what its main columns add, the largest first
}

// Unit is what a budget and all rates count instead of rows: an entity, or an entity on one day. A unit is
// positive if one of its rows is, and its score is the largest of its rows.
type Unit struct {
	Entity string `json:"entity"`        // column that names the entity
	Per    string `json:"per,omitempty"` // "day" with a time column
	Rows   int    `json:"rows"`          // number of rows that the units were made of
}
