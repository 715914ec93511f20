package result

import (
	"toptau/calibrate"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
)

// Evaluation is the result of evaluating one or more rankings of the same labelled rows: `evaluate`, and the
// second part of `compare`. The embedded Measured belongs to the first entry.
type Evaluation struct {
	Document
	Counts
	Prevalence float64 `json:"prevalence"` // n_pos / n, or the same ratio of weights
	Weighted   bool    `json:"weighted"`   // rows have weights
	Measured
	Unit    *Unit    `json:"unit,omitempty"`    // what is counted instead of rows; absent: rows
	Value   string   `json:"value,omitempty"`   // column of amounts; criteria are then fractions of the positives' sum
	Summary []string `json:"summary"`           // sentences about the first operating point
	Entries []Entry  `json:"entries"`           // all rankings, in the order given
	Against string   `json:"against,omitempty"` // the entry that the others are compared with
	// with a group column: number of groups, the units of the paired bootstrap
	Entities int       `json:"entities,omitempty"`
	Gate     *Gate     `json:"gate,omitempty"` // whether the first entry may replace another, if requested
	Verdicts []Verdict `json:"verdicts"`       // conclusions from the differences
	// rows with the most telling scores of the first model, with reasons, if requested
	Examples    []Example `json:"examples,omitempty"`
	SecondsRead float64   `json:"seconds_read"` // time spent reading
}

// Measured are the measurements of one ranking.
type Measured struct {
	AUC        float64 `json:"auc"`         // area under the ROC curve; ties count one half
	AUCAgainst float64 `json:"auc_against"` // the same area; ties count against the ranking
	// rows that do not fit into memory: the exact areas differ from these by at most this, because rows were counted in intervals of scores
	AUCWithin *float64 `json:"auc_within,omitempty"`
	// mean over the positives of the precision in the rows with at least their score; absent: rows were counted in intervals of scores
	AveragePrecision *float64 `json:"average_precision,omitempty"`
	// Brier score: mean squared error of a model's probabilities on these rows; absent: it has none
	Brier *float64 `json:"brier,omitempty"`
	// mean negative log likelihood of a model's probabilities on these rows; absent: it has none
	LogLoss *float64 `json:"log_loss,omitempty"`
	// number of different scores; with auc_within, of intervals
	Distinct int        `json:"distinct_scores"`
	Goal     *GoalValue `json:"goal"` // the goal's criterion on these rows; null: no goal was set
	// with a cost of alerts: the highest profit of all thresholds on these rows
	BestProfit *metric.Profit `json:"best_profit,omitempty"`
	// criteria with thresholds from these rows and bootstrap intervals
	Criteria []metric.Result `json:"criteria"`
	// decisions of the model's operating points on these rows
	Points []Decisions `json:"points"`
	// decisions of the default operating point, or of the goal's threshold, by the values of columns
	By []Breakdown `json:"by,omitempty"`
	// rows that also trained the model; null: it has no fingerprints
	TrainingRows *Overlap `json:"training_rows"`
	// a model's probabilities, for the prevalence in training, against what happened on these rows
	Reliability []calibrate.Reliability `json:"reliability,omitempty"`
	Curves      []Curve                 `json:"curves"` // roc, pr and ptau, if requested
	// a model's number of missing values, which were imputed; absent: not counted, because the rows are in a database
	Missing *int `json:"missing_values,omitempty"`
	// a model's number of values that were not seen in training; absent: not counted, likewise
	Unknown *int `json:"unknown_values,omitempty"`
}

// GoalValue is the value of a goal's criterion.
type GoalValue struct {
	Goal  metric.Goal   `json:"goal"`  // the goal
	Value metric.Result `json:"value"` // its criterion, with the threshold from these rows
}

// Decisions are the decisions of an operating point on rows.
type Decisions struct {
	Name      string           `json:"name"`      // name of the operating point
	Goal      metric.Goal      `json:"goal"`      // goal of the operating point
	Decisions metric.Confusion `json:"decisions"` // counts and rates of score > threshold, with exact intervals
	// with a column of amounts: the positives' sum above the threshold
	Value *metric.Proportion `json:"value,omitempty"`
	// with a column of amounts and a cost of alerts: what the alerts bring
	Profit *metric.Profit `json:"profit,omitempty"`
	Shift  []Shift        `json:"shift"` // these rows against the calibration rows, for each guarantee
}

// ShiftLevel is the probability of a false alarm of a check whether new rows are like those that calibrated a threshold: a Shift with at
// most this probability is a sign of a difference. Chosen by hand (a change moves results).
const ShiftLevel = 0.01

// Shift is the largest difference between the scores of these rows and those of the calibration rows.
type Shift struct {
	Segment *string `json:"segment"` // value of the segment column; null: all rows
	// upper bound on the probability of such a difference if the rows are alike
	P        float64 `json:"p"`
	Score    float64 `json:"score"`    // score at which the difference is largest
	Expected float64 `json:"expected"` // fraction of the calibration scores above it
	Seen     float64 `json:"seen"`     // fraction of these scores above it
	More     bool    `json:"more"`     // true: more than expected, false: fewer
}

// Curve is a curve for plotting.
type Curve struct {
	Name   string       `json:"name"`   // roc, pr, ptau
	X      string       `json:"x"`      // name of the x axis
	Y      string       `json:"y"`      // name of the y axis
	Area   float64      `json:"area"`   // area under the exact curve
	Points [][2]float64 `json:"points"` // pairs of x and y
}

// Entry is one ranking among several.
type Entry struct {
	Name string    `json:"name"` // name of the entry
	Kind EntryKind `json:"kind"` // kind of the entry
	// encoding of numeric columns; absent: not known
	Encoding schema.Encoding `json:"encoding,omitempty"`
	// the model's methods with their hyperparameters
	Setting  string    `json:"setting,omitempty"`
	Features int       `json:"d,omitempty"`                // number of the model's features
	Estimate *Estimate `json:"cross_validation,omitempty"` // criterion in the cross-validation of training
	Measured
	Difference *metric.Difference `json:"difference,omitempty"` // difference to the reference on the same rows
	Verdict    metric.Verdict     `json:"verdict,omitempty"`    // better, worse or undecided
	Joined     *Joined            `json:"joined,omitempty"`     // how scores of a file were joined to the rows
}

// EntryKind is the kind of an entry.
type EntryKind string

const (
	ModelEntry  EntryKind = "model"  // a saved model
	ScoresEntry EntryKind = "scores" // the scores of another program
	ChosenEntry EntryKind = "chosen" // the model that training chose
	// a top-focused learner at its best setting: one of the eight methods or ramp
	MethodEntry   EntryKind = "method"
	BaselineEntry EntryKind = "baseline" // logistic regression or a support vector machine at its best setting
)

// Origin describes how a training made an entry.
type Origin struct {
	Kind     EntryKind
	Learner  method.Name
	Encoding schema.Encoding
	Derived  bool     // the encoding reads derived columns, too
	Estimate Estimate // the criterion in cross-validation
}

// VerdictAbout is the question that a verdict answers.
type VerdictAbout string

const (
	// a top-focused learner against logistic regression on the same encoding
	AboutLoss     VerdictAbout = "loss"
	AboutEncoding VerdictAbout = "encoding" // one learner on two encodings
	AboutEntry    VerdictAbout = "against"  // an entry against the reference or another program's scores
	AboutBest     VerdictAbout = "best"     // the entry with the most positives on these rows
)

// Verdict is a conclusion from the difference of two sides. The effect of a loss shows only between entries
// that differ in nothing else, and so does the effect of an encoding. Except for the best entry, sides are
// chosen without these rows.
type Verdict struct {
	About      VerdictAbout       `json:"about"`                // the question that it answers
	Entry      string             `json:"entry,omitempty"`      // one side; absent: there is none
	Against    string             `json:"against,omitempty"`    // the other side; absent: there is none
	Difference *metric.Difference `json:"difference,omitempty"` // entry minus against
	// number of comparisons whose intervals hold together (Bonferroni)
	Together int `json:"together,omitempty"`
	// best: with the intervals' confidence, the best entry is one of these
	Among   []string       `json:"among,omitempty"`
	Verdict metric.Verdict `json:"verdict"` // better, worse or undecided
}
