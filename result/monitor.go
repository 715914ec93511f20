package result

import (
	"toptau/metric"
	"toptau/threshold"
)

// Monitoring describes what a monitor knows after the rows so far: `monitor`.
type Monitoring struct {
	Document
	Digest     string         `json:"digest"`               // digest of the model
	At         string         `json:"at"`                   // name of the operating point
	FalseAlarm threshold.Rate `json:"false_alarm"`          // probability with which any alarm is ever false if nothing changed
	Rows       int            `json:"n"`                    // number of rows since the start of the monitor
	NewRows    int            `json:"n_new"`                // number of rows of this run
	Failed     int            `json:"failed"`               // number of rows without a score
	Alerts     int            `json:"alerts"`               // number of alerts
	FirstTime  string         `json:"first_time,omitempty"` // time of the first row
	LastTime   string         `json:"last_time,omitempty"`  // time of the last row
	Block      string         `json:"block,omitempty"`      // length of the blocks that are compared; absent: rows are
	Blocks     int            `json:"blocks,omitempty"`     // number of these that have ended

	// alarms: the first one of each stream of evidence, and those of the last, unfinished block of rows
	Alarms  []MonitorAlarm  `json:"alarms"`
	Scores  *MonitorScores  `json:"scores"`  // evidence on scores; null: the model has no reference
	Columns *MonitorColumns `json:"columns"` // evidence on columns; null: the model has no profile, or the rows have no columns
	Budget  *MonitorBudget  `json:"budget"`  // evidence on the budget; null: the point has none that rows can be compared with
	Labels  MonitorLabels   `json:"labels"`  // what the labels of alerts show
	Audit   *MonitorAudit   `json:"audit"`   // what the labels of audited rows show; null: no rows are audited
	History []MonitorPoint  `json:"history"` // evidence over time
}

// Alarm reports whether there is any alarm.
func (m *Monitoring) Alarm() bool { return len(m.Alarms) > 0 }

// Evidence is the evidence of a stream that something changed. E reaches 1/delta, ever, with a probability of at
// most delta if nothing did.
type Evidence struct {
	Log10  float64 `json:"evidence_log10"` // decimal logarithm of E
	Needed float64 `json:"needed_log10"`   // what it must reach for an alarm
	Alarm  bool    `json:"alarm"`          // it has reached that, and the change has a size that matters
	// number of rows before the most probable start of the change
	Since     int    `json:"since"`
	SinceTime string `json:"since_time,omitempty"` // time of the last known row before that start
	Rows      int    `json:"n_since"`              // number of rows since then
}

// MonitorAlarm is an alarm.
type MonitorAlarm struct {
	Stream    string  `json:"stream"`               // scores, columns or budget
	Column    string  `json:"column,omitempty"`     // columns: the one with the most evidence
	Others    int     `json:"others,omitempty"`     // columns: number of others that were named at that moment
	Row       int     `json:"row"`                  // number of rows at the moment of the alarm
	Time      string  `json:"time,omitempty"`       // time of that row
	Since     int     `json:"since"`                // number of rows before the most probable start of the change
	SinceTime string  `json:"since_time,omitempty"` // time of the last known row before that start
	Log10     float64 `json:"evidence_log10"`       // decimal logarithm of the evidence at that moment
	Open      bool    `json:"open_block,omitempty"` // found in the last, unfinished block of rows, so the state does not keep it
}

// MonitorScores is the evidence on scores.
type MonitorScores struct {
	Evidence
	Reference int          `json:"n_reference"` // number of reference rows
	Source    string       `json:"source"`      // the reference rows, in words
	Level     int          `json:"level"`       // place in Levels of the level with the most evidence
	AtPoint   int          `json:"at_point"`    // place in Levels of the level nearest to the threshold
	Levels    []ScoreLevel `json:"levels"`      // the watched levels, the lowest first
	// mean rank of all scores among the reference rows, as a fraction: 0.5 if nothing changed
	MeanRank float64 `json:"mean_rank"`
	// mean score since the most probable start of a shift of all scores, less that before, in standard deviations
	MeanShift float64 `json:"mean_shift"`
}

// ScoreLevel is a level that scores are compared at.
type ScoreLevel struct {
	Score float64 `json:"score"` // the level
	// the fractions are of rows with more than this score; absent: with this score or more
	MoreThan bool    `json:"more_than,omitempty"`
	Expected float64 `json:"expected"`   // fraction of the rows before the change: reference rows, and those that arrived
	Seen     float64 `json:"seen"`       // that fraction since the most probable start of the change
	All      float64 `json:"seen_total"` // that fraction of all rows
}

// MonitorColumns is the evidence on columns.
type MonitorColumns struct {
	Rows int `json:"n_profile"` // number of counted rows of the profile
	// columns by evidence, the most first. A column whose alarm is true is named; the order of the others has
	// no error rate
	List []MonitorColumn `json:"list"`
}

// MonitorColumn is the evidence on one column.
type MonitorColumn struct {
	Column string `json:"column"` // name of the column
	Evidence
	// the change with the most evidence: the fraction of rows with a value or more, with more than a value, in a category, of other
	// values, or missing
	Kind     ShiftKind `json:"kind"`
	AtLeast  *float64  `json:"at_least,omitempty"` // the value
	Category string    `json:"category,omitempty"` // the category
	Expected float64   `json:"expected"`           // that fraction before the change: of the profile's rows, and of those that arrived
	Seen     float64   `json:"seen"`               // since the most probable start of the change
	PSI      float64   `json:"psi"`                // population stability index of all rows
	Chance   float64   `json:"psi_chance"`         // what the index would be by chance
	Missing  int       `json:"missing"`            // number of missing values
	Unknown  int       `json:"unknown"`            // number of categories that training did not have
}

// ShiftKind is the kind of a change of a column.
type ShiftKind string

const (
	AtLeastValue    ShiftKind = "at-least"             // the fraction of rows with a value or more
	AtLeastMissing  ShiftKind = "at-least-or-missing"  // the fraction of rows with a value or more, or without one
	MoreThanValue   ShiftKind = "more-than"            // the fraction of rows with more than a value
	MoreThanMissing ShiftKind = "more-than-or-missing" // the fraction of rows with more than a value, or without one
	InCategory      ShiftKind = "category"             // the fraction of rows in a category
	OtherValues     ShiftKind = "other"                // the fraction of rows with values that the profile does not list
	MissingValue    ShiftKind = "missing"              // the fraction of missing values
	NewValues       ShiftKind = "new"                  // the fraction of values beyond all of the profile, which had none
)

// MonitorBudget is the evidence that a budget is broken.
type MonitorBudget struct {
	Evidence
	Kind metric.GoalKind `json:"kind"` // what the budget counts: max-fpr: false alarms; otherwise alerts
	Rate float64         `json:"rate"` // the budget, as a fraction
	// the rate that it must exceed: the budget or, for a threshold without a guarantee, the upper end of its expected rate
	Bound float64 `json:"bound"`
	// number of known false alarms, or of alerts, since the most probable start of the change
	Events int `json:"events"`
}

// MonitorLabels is what the labels of alerts show.
type MonitorLabels struct {
	Positives int     `json:"positives"` // number of alerts with a positive label
	Negatives int     `json:"negatives"` // number of alerts with a negative label
	Precision float64 `json:"precision"` // fraction of positives among these alerts; 0 without labels
	Low       float64 `json:"low"`       // ends of the 95 % interval of the precision
	High      float64 `json:"high"`      // the upper end
	Waiting   int     `json:"waiting"`   // number of alerts and audited rows that wait for a label
	Dropped   int     `json:"dropped"`   // number that waited while too many others came: a label can no longer be joined
}

// MonitorAudit is what the labels of audited rows show. The rows are chosen whatever their score, so that rates
// are those of all rows.
type MonitorAudit struct {
	Rate      threshold.Rate `json:"rate"`      // fraction of the rows that are audited
	Marked    int            `json:"marked"`    // number of audited rows
	Labelled  int            `json:"labelled"`  // number of these with a label
	Positives int            `json:"positives"` // number of these that are positive
	Recall    AuditRate      `json:"recall"`    // alerts among the positives
	FPR       AuditRate      `json:"fpr"`       // alerts among the negatives
}

// AuditRate is a rate with its 95 % interval (Clopper and Pearson).
type AuditRate struct {
	Count int     `json:"count"` // alerts
	Of    int     `json:"n"`     // rows
	Low   float64 `json:"low"`   // lower end
	High  float64 `json:"high"`  // upper end
}

// MonitorPoint is the evidence at some moment. The decimal logarithm of columns is that of the column with the
// most evidence, less that of the number of columns, so that the streams can be compared.
type MonitorPoint struct {
	Row     int     `json:"row"`            // number of rows
	Time    string  `json:"time,omitempty"` // time of the last of them
	Scores  float64 `json:"scores"`         // evidence on scores
	Columns float64 `json:"columns"`        // evidence on columns
	Budget  float64 `json:"budget"`         // evidence on the budget
	Rows    int     `json:"n"`              // number of rows since the last point
	Alerts  int     `json:"alerts"`         // number of alerts since the last point
}

// AuditedRow is a row whose label is wanted, whatever its score.
type AuditedRow struct {
	Row      int      // 1-based number of the row in this run
	Score    float64  // the model's score
	Alert    bool     // the decision
	Positive *bool    // the label; nil: not known
	Names    []string // names of the input's columns
	Fields   []string // the row's text in these columns
}
