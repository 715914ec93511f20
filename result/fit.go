package result

import (
	"toptau/method"
	"toptau/schema"
)

// Fit is the result of fitting one problem: `fit`.
type Fit struct {
	Document
	method.Problem
	Settings  method.Settings `json:"solver"` // settings of the solver, as used
	MassOnTop float64         `json:"k_used"` // mass on top: K, or M tau for a surrogate quantile
	// rows whose scores give the threshold: all or negatives
	Population method.Population `json:"population"`
	Encoding   schema.Encoding   `json:"encoding"` // encoding of numeric columns
	Scale      schema.Scale      `json:"scale"`    // features that are scaled
	Counts                       //
	Features   int               `json:"d"` // number of features and weights
	Bounds                       //
	// lambda = 0: the lower bound holds for |w| up to this
	BallRadius *float64 `json:"ball_radius,omitempty"`
	Threshold  float64  `json:"threshold"` // t(w)
	NormW      float64  `json:"norm_w"`    // |w|
	// lambda = 0: no weights with as small an objective have a norm below this, proven
	NormBound *float64 `json:"norm_bound,omitempty"`
	// w = 0 is a global minimum, proven; null: not decided
	ZeroIsOptimal    *bool   `json:"zero_is_optimal"`
	NoBetterThanZero bool    `json:"no_better_than_zero"` // F(w) >= F(0)
	Passes           int     `json:"passes"`              // full passes over the rows
	RowReads         float64 `json:"row_reads"`           // rows read, divided by the number of rows
	Iterations       int     `json:"iterations"`          // steps; certified: Newton systems
	// certified: rows in the final restricted problem
	WorkingSet    *int     `json:"working_set,omitempty"`
	Converged     *bool    `json:"converged,omitempty"`      // certified: the gap was reached
	BestIteration *int     `json:"best_iteration,omitempty"` // Adam, SGD: the step with the lowest F, whose w it is; absent: w = 0
	LastObjective *float64 `json:"last_objective,omitempty"` // Adam, SGD: F after the last step
	Stopped       Stop     `json:"stopped"`                  // "" or cancelled
	SecondsRead   float64  `json:"seconds_read"`             // time spent reading
	SecondsFit    float64  `json:"seconds_fit"`              // time spent encoding and solving
}

// TracePoint is a value of the objective on all rows during Adam or SGD.
type TracePoint struct {
	Iteration int     `json:"iteration"` // number of steps taken
	Objective float64 `json:"objective"` // F after them
}

// Verification is the result of checking a certificate against the data alone: `verify`.
type Verification struct {
	Document
	// both claims agree with their recomputation and prove a bound
	Holds          bool            `json:"holds"`
	Reasons        []string        `json:"reasons"` // reasons why it does not hold
	Problem        VerifiedProblem `json:"problem"` // the problem of the certificate
	Bounds                         // the recomputed bounds
	ObjectiveError float64         `json:"objective_error"` // bound on the rounding error of objective
	// bound on the rounding error of lower_bound
	LowerBoundError float64 `json:"lower_bound_error"`
	// largest difference between a claim and its recomputation that counts as equal
	Slack             float64 `json:"slack"`
	ClaimedObjective  float64 `json:"claimed_objective"`   // objective according to the certificate
	ClaimedLowerBound float64 `json:"claimed_lower_bound"` // lower bound according to the certificate
	NormW             float64 `json:"norm_w"`              // |w|
	// lambda = 0: the bound holds for |w| up to this
	BallRadius *float64 `json:"ball_radius,omitempty"`
	// lambda = 0: the recomputed bound on the norm, see fit; absent if the certificate has none
	NormBound        *float64 `json:"norm_bound,omitempty"`
	NormBoundError   *float64 `json:"norm_bound_error,omitempty"`   // bound on its rounding error
	ClaimedNormBound *float64 `json:"claimed_norm_bound,omitempty"` // norm_bound according to the certificate
}

// VerifiedProblem is the problem for which both bounds were computed.
type VerifiedProblem struct {
	method.Problem
	Storage method.Storage `json:"storage"` // number type of the packed matrix
	Counts
	Label          string   `json:"label,omitempty"` // the label's column; absent: it has no name
	PositiveLabels []string `json:"positive_labels"` // labels of the positives; "!x": all labels except x
	Mass           *float64 `json:"mass,omitempty"`  // sum of the row weights; absent without weights
}

// Diagnosis describes what the methods can achieve on some data. None of them is fitted for it: `diagnose`.
type Diagnosis struct {
	Document
	Counts
	Negatives int `json:"n_neg"` // number of negatives
	Features  int `json:"d"`     // number of features
	// true: some w puts every positive above every negative; false: no w with |w| <= top_radius does so with a
	// margin of 1; null: not decided
	Separable *bool `json:"separable"`
	// lower bound of the mean hinge loss at the top for |w| <= top_radius (TopPush, lambda = 0)
	TopBound  *float64        `json:"top_bound"`
	TopRadius *float64        `json:"top_radius"` // see top_bound
	Methods   []MethodVerdict `json:"methods"`    // whether w = 0 is a global minimum, for each method and rate
	Budgets   []BudgetVerdict `json:"budgets"`    // whether the data are large enough, for each rate
	Advice    []string        `json:"advice"`     // recommendations, in sentences
	Passes    int             `json:"passes"`     // number of passes over the data
}

// MethodVerdict describes whether w = 0 is a global minimum of a method, for every lambda.
type MethodVerdict struct {
	method.Problem
	ZeroIsOptimal *bool  `json:"zero_is_optimal"` // null: not decided, or the method is not convex
	Evidence      string `json:"evidence"`        // the reason, in words
	// if it is: distance from the positives' mean to the population's capped convex hull
	Distance *float64 `json:"distance,omitempty"`
	// if it is not: the positives' mean score minus the threshold in some direction w
	Advantage *float64 `json:"advantage,omitempty"`
}

// BudgetVerdict compares a rate with the size of the data.
type BudgetVerdict struct {
	Tau string `json:"tau"` // the rate
	// number of negatives within the budget: tau times all negatives
	TauNegatives    float64 `json:"tau_n_neg"`
	NegativesNeeded int     `json:"negatives_needed"` // number of held-out negatives that a guarantee needs
	Enough          bool    `json:"enough"`           // the data have that many negatives
	Text            string  `json:"text"`             // the same in words
}
