package result

import (
	"toptau/calibrate"
	"toptau/metric"
	"toptau/threshold"
)

// Threshold is a decision threshold with its evidence: `threshold`.
type Threshold struct {
	Document
	Threshold float64     `json:"threshold"` // the decision is score > threshold
	Goal      metric.Goal `json:"goal"`      // the goal that it is for
	// accepted probability that the guarantee fails
	Delta     threshold.Rate `json:"delta,omitzero"`
	Certified bool           `json:"certified"`        // whether the threshold has the guarantee
	Reason    string         `json:"reason,omitempty"` // why it does not have it
	// rows that the threshold is computed from: negatives or all
	Population string `json:"population"`
	Rows       int    `json:"n"`           // number of rows in the population
	Negatives  int    `json:"n_negatives"` // number of negatives among the calibration rows
	// the threshold is the order-th smallest score of the population
	Order *int `json:"order,omitempty"`
	// exact binomial tail; absolute-top: the bounded rate
	Bound    *float64  `json:"bound,omitempty"`
	Needed   int       `json:"needed,omitempty"` // smallest number of rows that can certify the goal
	Segments []Segment `json:"segments"`         // thresholds for the values of the segment column
	// the probability with which the guarantee of any segment may fail; missing: each has its own
	SegmentsDelta threshold.Rate `json:"segments_delta,omitzero"`
	// decisions on these rows; their intervals take the threshold as fixed, although it comes from these rows
	Decisions *metric.Confusion `json:"decisions"`
	Former    *metric.Confusion `json:"former,omitempty"` // decisions of the point that is replaced
	Unit      *Unit             `json:"unit,omitempty"`   // what is counted instead of rows; absent: rows
	Expected  Expected          `json:"expected"`         // expected rate on new rows like these
	// with a time column: whether scores change over time
	OverTime *calibrate.Trend `json:"over_time,omitempty"`
	// number of these rows that trained the model; absent without fingerprints
	TrainingRows *Overlap `json:"training_rows,omitempty"`
	Joined       *Joined  `json:"joined,omitempty"` // how scores of a file were joined to the rows
	// cost-alert: what the alerts bring on these rows, which gave the threshold
	Profit *metric.Profit `json:"profit,omitempty"`
	Audit  *Audit         `json:"audit,omitempty"` // the review of negatives, if there was one
}

// Audit describes a review of the best-scoring calibration negatives.
type Audit struct {
	Rows       []AuditRow `json:"rows,omitempty"`       // negatives to review, the best first
	Reviewed   int        `json:"reviewed,omitempty"`   // reviewed negatives
	Removed    int        `json:"removed,omitempty"`    // positives among them, which were left out
	Unreviewed int        `json:"unreviewed,omitempty"` // negatives that were not reviewed
	Reaches    bool       `json:"reaches,omitempty"`    // the threshold is among the reviewed rows
	// probability that the guarantee fails if positives are as frequent among the others as among the reviewed ones; absent: not known
	MaxTail float64 `json:"max_tail,omitempty"`
}

// AuditRow is a calibration negative to review.
type AuditRow struct {
	Row   int      `json:"row"`          // 1-based number of the row
	ID    []string `json:"id,omitempty"` // values of the columns that identify it
	Score float64  `json:"score"`        // its score
}

// Segment is the threshold for one value of the segment column. The guarantees of all m segments hold
// together with probability at least 1 - m delta.
type Segment struct {
	Value     string   `json:"value"`            // value of the segment column
	Threshold float64  `json:"threshold"`        // as in Threshold
	Certified bool     `json:"certified"`        // as in Threshold
	Reason    string   `json:"reason,omitempty"` // as in Threshold
	Negatives int      `json:"n_negatives"`      // as in Threshold
	Order     *int     `json:"order,omitempty"`  // as in Threshold
	Bound     *float64 `json:"bound,omitempty"`  // as in Threshold
}

// Overlap compares rows with those that trained a model, by the fingerprints in the model.
type Overlap struct {
	Compared int `json:"compared"` // number of rows whose hashes are in the sampled range
	Matched  int `json:"matched"`  // number of these that equal a training row
	// fraction of new rows that match by repetition: 1 - singletons / rows in training
	Expected float64 `json:"expected"`
	// estimated number of all these rows that trained the model, beyond repetition
	Estimate float64 `json:"estimate"`
	P        float64 `json:"p"`      // upper bound on the probability of that many matches among new rows
	Excess   bool    `json:"excess"` // p is at most 0.001
	// about the smallest number of training rows that is detected; null: no number is
	Smallest *float64 `json:"smallest"`
}

// Joined describes how scores of another program were joined to labelled rows.
type Joined struct {
	By     string `json:"by"`     // id, row (a column of row numbers) or position
	Labels int    `json:"labels"` // number of labels in the file of scores that agree; 0: it has no labels
	Unused int    `json:"unused"` // number of scores of other rows
}
