package result

import (
	"toptau/method"
	"toptau/schema"
)

// Fit is the result of fitting one problem: `fit`.
type Fit struct {
	Document
	method.Problem
	Settings         method.Settings   `json:"solver"`     // how it was solved
	MassOnTop        float64           `json:"k_used"`     // K, or the real M tau of a surrogate quantile
	Population       method.Population `json:"population"` // the rows whose scores give the threshold: all or negatives
	Encoding         schema.Encoding   `json:"encoding"`   // how numeric columns were encoded
	Scale            schema.Scale      `json:"scale"`      // which features were scaled
	Counts                             //
	Features         int               `json:"d"` // features, which is the number of weights
	Bounds                             //
	BallRadius       *float64          `json:"ball_radius,omitempty"`    // lambda = 0: the lower bound holds for |w| up to this
	Threshold        float64           `json:"threshold"`                // t(w)
	NormW            float64           `json:"norm_w"`                   // |w|
	ZeroIsOptimal    *bool             `json:"zero_is_optimal"`          // w = 0 is a global minimum, proven; null: not decided
	NoBetterThanZero bool              `json:"no_better_than_zero"`      // F(w) >= F(0)
	Passes           int               `json:"passes"`                   // full passes over the population
	RowReads         float64           `json:"row_reads"`                // rows read, over the number of rows
	Iterations       int               `json:"iterations"`               // steps, or Newton systems of the certified solver
	WorkingSet       *int              `json:"working_set,omitempty"`    // certified: rows held at the end
	Converged        *bool             `json:"converged,omitempty"`      // certified: the gap was reached
	BestIteration    *int              `json:"best_iteration,omitempty"` // Adam, SGD: the step with the lowest F
	BestObjective    *float64          `json:"best_objective,omitempty"` // Adam, SGD: F there
	Stopped          Stop              `json:"stopped"`                  // "", cancelled
	SecondsRead      float64           `json:"seconds_read"`             // reading the data
	SecondsFit       float64           `json:"seconds_fit"`              // fitting
}

// TracePoint is the objective on all rows after some steps of Adam or SGD.
type TracePoint struct {
	Iteration int     `json:"iteration"` // steps so far
	Objective float64 `json:"objective"` // F there
}

// Verification is what the data alone prove about a certificate: `verify`.
type Verification struct {
	Document
	Holds             bool            `json:"holds"`   // both claims agree with the data and prove a bound
	Reasons           []string        `json:"reasons"` // why it does not hold
	Problem           VerifiedProblem `json:"problem"` // what was verified
	Bounds                            // recomputed
	ObjectiveError    float64         `json:"objective_error"`       // a bound on the rounding error of objective
	LowerBoundError   float64         `json:"lower_bound_error"`     // a bound on the rounding error of lower_bound
	Slack             float64         `json:"slack"`                 // a claim that is no farther from its recomputation agrees
	ClaimedObjective  float64         `json:"claimed_objective"`     // by the certificate
	ClaimedLowerBound float64         `json:"claimed_lower_bound"`   // by the certificate
	NormW             float64         `json:"norm_w"`                // |w|
	BallRadius        *float64        `json:"ball_radius,omitempty"` // lambda = 0: proven for |w| up to this
}

// VerifiedProblem is the problem for which both bounds were computed.
type VerifiedProblem struct {
	method.Problem
	Storage method.Storage `json:"storage"` // of the packed matrix
	Counts
	Mass *float64 `json:"mass,omitempty"` // sum of the row weights, where there are any
}

// Diagnosis is what the methods can achieve on some data, before any of them is fitted: `diagnose`.
type Diagnosis struct {
	Document
	Counts
	Negatives int             `json:"n_neg"`      // negative rows
	Features  int             `json:"d"`          // features
	Separable *bool           `json:"separable"`  // some w puts every positive above every negative; false: none with |w| <= top_radius does by a margin of 1; null: not decided
	TopBound  *float64        `json:"top_bound"`  // every w with |w| <= top_radius has at least this mean hinge loss at the top (TopPush, lambda = 0)
	TopRadius *float64        `json:"top_radius"` // see top_bound
	Methods   []MethodVerdict `json:"methods"`    // of each method and rate, whether w = 0 is a global minimum
	Budgets   []BudgetVerdict `json:"budgets"`    // of each rate, whether the data are large enough
	Advice    []string        `json:"advice"`     // what to use and what not, in sentences
	Passes    int             `json:"passes"`     // passes over the data
}

// MethodVerdict says whether w = 0 is a global minimum of a method, for every lambda.
type MethodVerdict struct {
	method.Problem
	ZeroIsOptimal *bool    `json:"zero_is_optimal"`     // null: not decided, or the method is not convex
	Evidence      string   `json:"evidence"`            // the reason in words
	Distance      *float64 `json:"distance,omitempty"`  // yes: from the mean of the positives to the capped convex hull of the population
	Advantage     *float64 `json:"advantage,omitempty"` // no: mean score of the positives above the threshold, in the direction found
}

// BudgetVerdict compares a rate with the size of the data.
type BudgetVerdict struct {
	Tau             string  `json:"tau"`              // the rate
	TauNegatives    float64 `json:"tau_n_neg"`        // tau times the negatives: those within the budget
	NegativesNeeded int     `json:"negatives_needed"` // held-out negatives that a guarantee needs
	Enough          bool    `json:"enough"`           // the data have that many
	Text            string  `json:"text"`             // in words
}
