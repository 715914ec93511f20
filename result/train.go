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
	Goal    metric.Goal `json:"goal"`    // goal of the model
	Summary []string    `json:"summary"` // what to expect, in sentences
	// fraction of all rows that is positive, or of what is counted; the test part, and for min-precision held-out calibration rows, have
	// their own
	Prevalence float64 `json:"prevalence"`
	Training   Counts  `json:"training"` // rows that fit the model
	// training rows on which the search ran, if not all fit into memory
	Sample *Counts `json:"sample,omitempty"`
	// rows that are only used for the threshold
	Calibration *Counts `json:"calibration,omitempty"`
	// rows that choose the model, instead of a cross-validation
	Validation *Counts `json:"validation,omitempty"`
	Test       *Counts `json:"test,omitempty"`      // rows that measure the chosen model
	Folds      int     `json:"folds"`               // number of folds of the cross-validation
	FoldRows   int     `json:"fold_rows,omitempty"` // rows that a fold fits, if they are a sample
	// what the criterion, the threshold and all rates count; absent: rows
	Unit *Unit `json:"unit,omitempty"`
	// column of amounts, of which the criterion is a fraction; absent: it is one of the positives
	Value     string   `json:"value,omitempty"`
	Criterion string   `json:"criterion"` // criterion that compares candidates, in words
	Budgets   []string `json:"budgets"`   // budgets of the criterion in the first fold
	// settings of learners on encodings, in the order tried
	Candidates []Candidate `json:"candidates"`
	// learners on encodings that were not fitted, with the reason unless time was up
	NotTried        []string `json:"not_tried"`
	Members         []Member `json:"members"`          // the model is their average; best first
	CrossValidation Estimate `json:"cross_validation"` // criterion of the model
	// candidate that is logistic regression on raw columns
	Reference *int      `json:"reference,omitempty"`
	Gain      *Estimate `json:"gain,omitempty"` // gain of the model over the reference
	Choice    Choice    `json:"choice"`         // reasons for the choice
	Why       string    `json:"why"`            // the same, in words
	Threshold float64   `json:"threshold"`      // alert where score > threshold
	// rows that gave the threshold, and what it promises
	ThresholdNote string `json:"threshold_note"`
	Certified     bool   `json:"certified"` // whether the threshold has a guarantee
	// the threshold is the order-th smallest calibration score
	Order *int `json:"order,omitempty"`
	// exact binomial tail; absolute-top: the bounded rate
	Bound *float64 `json:"bound,omitempty"`
	// accepted probability that the guarantee fails
	Delta    threshold.Rate `json:"delta,omitzero"`
	Expected Expected       `json:"expected"` // expected rate of the threshold on new rows
	// with a time column: whether calibration scores change
	OverTime *calibrate.Trend `json:"over_time,omitempty"`
	// the chosen learners on parts of the rows, the smallest first, if requested
	LearningCurve []LearningPoint `json:"learning_curve,omitempty"`
	// goal's criterion on out-of-fold scores
	OutOfFoldGoal metric.Result `json:"out_of_fold_goal"`
	Price         *Price        `json:"price,omitempty"` // of a guarantee
	// decisions of the threshold on out-of-fold scores; their precision is for the prevalence and the expected rate of false alarms
	OutOfFoldDecisions metric.Confusion `json:"out_of_fold_at_threshold"`
	// with value: fraction of the amounts that the threshold finds on out-of-fold scores
	OutOfFoldValue *metric.Proportion `json:"out_of_fold_value,omitempty"`
	// with a cost of alerts: the profit of the threshold on out-of-fold scores, which gave it
	OutOfFoldProfit *metric.Profit `json:"out_of_fold_profit,omitempty"`
	// goal's criterion on the test part, with its threshold from there
	TestGoal *metric.Result `json:"test_goal,omitempty"`
	// decisions of the threshold on the test part
	TestDecisions *metric.Confusion `json:"test_at_threshold,omitempty"`
	// with value: fraction of the amounts that the threshold finds on the test part
	TestValue *metric.Proportion `json:"test_value,omitempty"`
	// with a cost of alerts: the profit of the threshold on the test part
	TestProfit *metric.Profit `json:"test_profit,omitempty"`
	Features   int            `json:"d"`    // number of features
	Size       ModelSize      `json:"size"` // size of the model
	Seed       uint64         `json:"seed"` // seed of every random choice
	// "", cancelled or time-up: the choice is among finished candidates
	Stopped       Stop    `json:"stopped"`
	SecondsRead   float64 `json:"seconds_read"`   // time spent reading
	SecondsSearch float64 `json:"seconds_search"` // time spent on candidates
	SecondsRefit  float64 `json:"seconds_refit"`  // time spent fitting the choice again
	Seconds       float64 `json:"seconds_total"`  // total time
}

// Price is what a guarantee costs on out-of-fold scores: the fraction of the positives found at the expected rate of
// thresholds. The rows that calibrate do not train, which is not part of it.
type Price struct {
	Plain     PriceAt `json:"plain"`     // without the guarantee
	Certified PriceAt `json:"certified"` // the threshold
	Doubled   PriceAt `json:"doubled"`   // with twice the rows
}

// PriceAt is one threshold of a Price.
type PriceAt struct {
	Rate  float64 `json:"rate"`  // expected rate that the goal bounds
	Found float64 `json:"found"` // fraction of the positives
}

// LearningPoint is a model that was fitted to a part of the rows, measured on the same other rows as all points.
type LearningPoint struct {
	Counts
	TestRows int           `json:"test_rows"` // number of rows that measure
	Value    metric.Result `json:"value"`     // the goal's criterion on these rows
	// difference to the model of all rows; absent: this is it
	Difference *metric.Difference `json:"difference,omitempty"`
}

// ModelSize is the size of a model and the time that it takes to score.
type ModelSize struct {
	Trees         int     `json:"trees"`           // number of trees; a table of curves has one for each column
	Leaves        int     `json:"leaves"`          // of all trees
	Bytes         int64   `json:"bytes"`           // of the model file
	SecondsPerRow float64 `json:"seconds_per_row"` // time to score a row of the training data on one processor
}

// Candidate is one setting of one learner on one encoding.
type Candidate struct {
	Encoding schema.Encoding `json:"encoding"` // encoding of numeric columns
	method.Problem
	// ramp: lambda of the logistic regression that it starts from
	Anchor          *float64  `json:"anchor,omitempty"`
	Trees           *int      `json:"trees,omitempty"`   // of boosting
	Derived         bool      `json:"derived,omitempty"` // its trees also read derived columns
	Bytes           *int64    `json:"bytes,omitempty"`   // of the model's features and weights in a file, about
	Status          string    `json:"status"`            // fitted, skipped or unfinished
	Reason          string    `json:"reason,omitempty"`  // why it was skipped
	CrossValidation *Estimate `json:"cross_validation"`  // criterion; null: not fitted in all folds
	Constant        bool      `json:"constant"`          // all scores of a fold are equal, so it cannot be chosen
	ZeroIsOptimal   bool      `json:"zero_is_optimal"`   // w = 0 is proven to be a global minimum in every fold
	SecondsFit      float64   `json:"seconds_fit"`       // time spent in all folds
}

// Features returns the encoding in words: "boosted", or "boosted with derived columns".
func (c *Candidate) Features() string {
	if c.Derived {
		return string(c.Encoding) + " with derived columns"
	}
	return string(c.Encoding)
}

// Member is a fitted model in the average.
type Member struct {
	Candidate int     `json:"candidate"` // index into candidates
	Lambda    float64 `json:"lambda"`    // lambda of the fit to all rows
	Share     float64 `json:"share"`     // its weight in the average
	// number of folds whose fits it averages; 0: it is one fit to all rows
	Folds int `json:"folds"`
	// number of rows that it was fitted to; absent: all training rows
	Rows       int     `json:"rows,omitempty"`
	SecondsFit float64 `json:"seconds_fit"` // time spent on this fit
}

// Choice holds the reasons for a choice.
type Choice struct {
	Best     int  `json:"best"`     // candidate with the best criterion
	Of       int  `json:"of"`       // number of models compared: a learner on an encoding, or the mean of the boosters
	Averaged bool `json:"averaged"` // an average is chosen, not the best candidate alone
	// the standard error of the best is so large that all models within it are averaged
	Uncertain bool `json:"uncertain"`
	// the reference is kept: the gain over it does not exceed its standard error
	Guarded bool      `json:"guarded"`
	Gain    *Estimate `json:"gain,omitempty"` // gain of the best model over the reference
	// boosters with derived columns are taken instead of those without, because the gain exceeds its standard error
	Derived     bool      `json:"derived,omitempty"`
	DerivedGain *Estimate `json:"derived_gain,omitempty"` // absent: not tried, or dropped after the first fold
	// logistic regression on leaves of random trees is half of the mean, because the gain exceeds its standard error
	Leaves     bool      `json:"leaves,omitempty"`
	LeavesGain *Estimate `json:"leaves_gain,omitempty"` // absent: not tried, or dropped after the first fold
}

// Expected is the expected rate of a threshold on new rows like those that gave it: the fraction of negatives
// that raise a false alarm or, for a goal in fractions of all rows, the fraction of rows that become alerts.
type Expected struct {
	Rate       float64  `json:"rate"`       // its mean; with tied that of the rows
	Low        *float64 `json:"low"`        // ends of an interval that holds it with probability confidence; null: the model was refitted
	High       *float64 `json:"high"`       // the upper end
	Confidence float64  `json:"confidence"` // of the interval
	// scores are tied at the threshold; absent: they are not
	Tied *calibrate.Tied `json:"tied,omitempty"`
	// members with trees were fitted again to all rows after other fits gave the threshold, so the rate has no interval
	Refitted   bool   `json:"refitted"`
	Scheme     string `json:"scheme"`     // how the threshold was computed: certified, all-rows, held-out, cross-fitted or validation
	Population string `json:"population"` // rows that the rate counts: negatives or all
	Rows       int    `json:"n"`          // number of rows in the population that gave the threshold
	// low and high are not exact, because the rows also chose the model or have weights
	Approximate bool `json:"approximate"`
}
