package result

import (
	"toptau/metric"
	"toptau/schema"
)

// Evaluation is one or more rankings of the same labelled rows: `evaluate`, and the second part of `compare`.
// The fields of Measured at the top are those of the first entry.
type Evaluation struct {
	Document
	Counts
	Prevalence float64 `json:"prevalence"` // n_pos / n, or the same of weights
	Weighted   bool    `json:"weighted"`   // rows have weights
	Measured
	Summary     []string  `json:"summary"`            // what the first operating point does, in sentences
	Entries     []Entry   `json:"entries"`            // every ranking, in the order given
	Against     string    `json:"against,omitempty"`  // the entry that the others are compared with
	Entities    int       `json:"entities,omitempty"` // with a group column: the number of groups, which the paired intervals draw
	Verdicts    []Verdict `json:"verdicts"`           // conclusions from the differences
	SecondsRead float64   `json:"seconds_read"`       // reading the data
}

// Measured is one ranking of the rows.
type Measured struct {
	AUC          float64         `json:"auc"`             // ties count one half
	AUCAgainst   float64         `json:"auc_against"`     // ties count against the ranking
	Distinct     int             `json:"distinct_scores"` // different scores
	Goal         *GoalValue      `json:"goal"`            // the goal's criterion on these rows; null: no goal was set
	Criteria     []metric.Result `json:"criteria"`        // criteria with thresholds from these rows, with bootstrap intervals
	Points       []Decisions     `json:"points"`          // what the model's operating points do to these rows
	TrainingRows *Overlap        `json:"training_rows"`   // how many of these rows trained the model; null: it has no fingerprints
	Curves       []Curve         `json:"curves"`          // roc, pr and ptau, on request
	Missing      int             `json:"missing_values"`  // values that were missing and imputed
	Unknown      int             `json:"unknown_values"`  // values that training did not have
}

// GoalValue is the criterion of a goal.
type GoalValue struct {
	Goal  metric.Goal   `json:"goal"`  // the goal
	Value metric.Result `json:"value"` // with the threshold from these rows
}

// Decisions is what the threshold of an operating point does to rows.
type Decisions struct {
	Name      string           `json:"name"`      // of the operating point
	Goal      metric.Goal      `json:"goal"`      // of the operating point
	Decisions metric.Confusion `json:"decisions"` // score > threshold, with exact intervals
	Shift     []Shift          `json:"shift"`     // the calibration rows against these rows, for each guarantee of the point
}

// Shift is the largest difference between the scores of the calibration rows and of the rows here.
type Shift struct {
	Segment  *string `json:"segment"`  // null: all rows
	P        float64 `json:"p"`        // an upper bound on the probability of as large a difference if the rows are alike
	Score    float64 `json:"score"`    // where the difference is
	Expected float64 `json:"expected"` // the fraction of the calibration scores above it
	Seen     float64 `json:"seen"`     // the fraction of the scores here above it
	More     bool    `json:"more"`     // more than expected; otherwise fewer
}

// Curve is a curve for plotting.
type Curve struct {
	Name   string       `json:"name"`   // roc, pr, ptau
	X      string       `json:"x"`      // the name of the axis
	Y      string       `json:"y"`      // the name of the axis
	Area   float64      `json:"area"`   // under the exact curve
	Points [][2]float64 `json:"points"` // pairs of x and y
}

// Entry is one ranking among several.
type Entry struct {
	Name     string          `json:"name"`                       // of the entry
	Kind     EntryKind       `json:"kind"`                       // model, scores, chosen, method or baseline
	Encoding schema.Encoding `json:"encoding,omitempty"`         // how numeric columns are encoded; absent: not known
	Setting  string          `json:"setting,omitempty"`          // the model's methods with their hyperparameters
	Features int             `json:"d,omitempty"`                // the model's features
	Estimate *Estimate       `json:"cross_validation,omitempty"` // the criterion in training, for entries of train
	Measured
	Difference *metric.Difference `json:"difference,omitempty"` // to the reference on the same rows
	Verdict    metric.Verdict     `json:"verdict,omitempty"`    // of the difference: better, worse, undecided
	Joined     *Joined            `json:"joined,omitempty"`     // how scores from a file were joined to the rows
}

// EntryKind is what an entry is.
type EntryKind string

const (
	ModelEntry    EntryKind = "model"    // a saved model
	ScoresEntry   EntryKind = "scores"   // the scores of another program
	ChosenEntry   EntryKind = "chosen"   // the model that training chose
	MethodEntry   EntryKind = "method"   // a top-focused learner at its best setting: one of the eight methods, or the ramp
	BaselineEntry EntryKind = "baseline" // what users have today, at its best setting
)

// VerdictAbout is the question that a verdict answers.
type VerdictAbout string

const (
	AboutLoss     VerdictAbout = "loss"     // a top-focused learner against logistic regression on the same encoding
	AboutEncoding VerdictAbout = "encoding" // one learner on two encodings
	AboutEntry    VerdictAbout = "against"  // an entry against the reference or another program's scores
	AboutBest     VerdictAbout = "best"     // the entry with the most positives on these rows
)

// Verdict is one conclusion with both of its sides. Only entries that differ in the loss alone show what the
// loss does, and only those that differ in the encoding alone show what the encoding does. All sides except
// the best entry were chosen without these rows.
type Verdict struct {
	About      VerdictAbout       `json:"about"`                // the question: loss, encoding, against or best
	Entry      string             `json:"entry,omitempty"`      // one side; absent: there is none
	Against    string             `json:"against,omitempty"`    // the other side; absent: there is none
	Difference *metric.Difference `json:"difference,omitempty"` // of entry to against
	Together   int                `json:"together,omitempty"`   // comparisons whose intervals hold together with this one (Bonferroni)
	Among      []string           `json:"among,omitempty"`      // best: with the confidence of the intervals the best entry is one of these
	Verdict    metric.Verdict     `json:"verdict"`              // better, worse, undecided
}
