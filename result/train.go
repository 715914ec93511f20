package result

import (
	"toptau/calibrate"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
	"toptau/threshold"
)

// Training is the result of choosing a model for a goal: `train`.
type Training struct {
	Document
	Goal               metric.Goal       `json:"goal"`                        // what the model is for
	Summary            []string          `json:"summary"`                     // what to expect, in sentences, at the assumed fraction of positives
	Training           Counts            `json:"training"`                    // the rows that fit the model
	Calibration        *Counts           `json:"calibration,omitempty"`       // the rows that give the threshold and nothing else
	Validation         *Counts           `json:"validation,omitempty"`        // the rows that choose, instead of a cross-validation
	Test               *Counts           `json:"test,omitempty"`              // the rows that measure the choice
	Folds              int               `json:"folds"`                       // of the cross-validation
	FoldRows           int               `json:"fold_rows,omitempty"`         // the rows that a fold fits, if they are a sample
	Criterion          string            `json:"criterion"`                   // what candidates are compared by, in words
	Budgets            []string          `json:"budgets"`                     // the budgets of the criterion in the first fold
	Candidates         []Candidate       `json:"candidates"`                  // every setting of every learner on every encoding, in the order tried
	NotTried           []string          `json:"not_tried"`                   // learners on encodings that were left out, with the reason unless it is the time
	Members            []Member          `json:"members"`                     // what the model is the average of, best first
	CrossValidation    Estimate          `json:"cross_validation"`            // the criterion of the model
	Reference          *int              `json:"reference,omitempty"`         // the candidate that is logistic regression on raw columns
	Gain               *Estimate         `json:"gain,omitempty"`              // of the model over the reference
	Choice             Choice            `json:"choice"`                      // why the model was chosen
	Why                string            `json:"why"`                         // the same in words
	Threshold          float64           `json:"threshold"`                   // alert where score > threshold
	ThresholdNote      string            `json:"threshold_note"`              // which rows gave the threshold, and what it promises
	Certified          bool              `json:"certified"`                   // the threshold has a guarantee
	Order              *int              `json:"order,omitempty"`             // the threshold is the order-th smallest calibration score
	Bound              *float64          `json:"bound,omitempty"`             // the exact binomial tail; absolute-top: the bounded rate
	Delta              threshold.Rate    `json:"delta,omitzero"`              // the requested guarantee may fail with this probability
	Expected           Expected          `json:"expected"`                    // of the threshold on new rows
	OverTime           *calibrate.Trend  `json:"over_time,omitempty"`         // whether the calibration scores change over time
	OutOfFoldGoal      metric.Result     `json:"out_of_fold_goal"`            // the goal's criterion on scores of folds that did not fit the row
	OutOfFoldDecisions metric.Confusion  `json:"out_of_fold_at_threshold"`    // what the model's threshold does there
	TestGoal           *metric.Result    `json:"test_goal,omitempty"`         // the goal's criterion on the test part, with its threshold from the test part itself
	TestDecisions      *metric.Confusion `json:"test_at_threshold,omitempty"` // what the model's threshold does on the test part
	Features           int               `json:"d"`                           // features
	Seed               uint64            `json:"seed"`                        // of every random choice
	Stopped            Stop              `json:"stopped"`                     // "", cancelled, time-up: the choice is among the candidates that were finished
	SecondsRead        float64           `json:"seconds_read"`                // reading the data
	SecondsSearch      float64           `json:"seconds_search"`              // comparing the candidates
	SecondsRefit       float64           `json:"seconds_refit"`               // fitting the model to all rows
	Seconds            float64           `json:"seconds_total"`               // all of it
}

// Candidate is one setting of one learner on one encoding.
type Candidate struct {
	Encoding schema.Encoding `json:"encoding"` // how numeric columns are encoded
	method.Problem
	Anchor          *float64  `json:"anchor,omitempty"` // ramp: the lambda of the logistic regression that it starts from
	Status          string    `json:"status"`           // fitted, skipped, unfinished
	Reason          string    `json:"reason,omitempty"` // why it was skipped
	CrossValidation *Estimate `json:"cross_validation"` // the criterion; null: not fitted in all folds
	Constant        bool      `json:"constant"`         // all rows of a fold have the same score, so it cannot be chosen
	ZeroIsOptimal   bool      `json:"zero_is_optimal"`  // w = 0 is a global minimum in every fold, proven
	SecondsFit      float64   `json:"seconds_fit"`      // in all folds
}

// Member is one fitted model in the average.
type Member struct {
	Candidate  int     `json:"candidate"`   // index into candidates
	Lambda     float64 `json:"lambda"`      // as fitted to all rows
	Share      float64 `json:"share"`       // its weight in the average
	Folds      int     `json:"folds"`       // the number of folds whose fits it is the mean of, without a certificate; 0: one fit to all rows
	SecondsFit float64 `json:"seconds_fit"` // fitting
}

// Choice is why a model was chosen.
type Choice struct {
	Best     int       `json:"best"`           // the candidate with the best criterion
	Of       int       `json:"of"`             // combinations of learner and encoding that were compared
	Averaged bool      `json:"averaged"`       // the average with others is better than the best alone
	Guarded  bool      `json:"guarded"`        // the gain over the reference does not exceed its standard error, so the reference is kept
	Gain     *Estimate `json:"gain,omitempty"` // of the best (average) over the reference
}

// Scheme is how a threshold was found.
type Scheme string

// Expected is what to expect of a threshold on new rows like those that gave it: the fraction of the negatives that raise a
// false alarm or, for a goal in fractions of all rows, of the rows that become alerts.
type Expected struct {
	calibrate.Expectation
	Scheme      Scheme `json:"scheme"`      // certified, held-out, cross-fitted, validation
	Population  string `json:"population"`  // negatives or all
	Rows        int    `json:"n"`           // rows of the population that gave the threshold
	Approximate bool   `json:"approximate"` // low and high are not exact: the rows also chose the model, or carry weights
}
