package result

import (
	"toptau/calibrate"
	"toptau/metric"
	"toptau/threshold"
)

// Threshold is a decision threshold with its evidence: `threshold`. The decision is score > threshold.
type Threshold struct {
	Document
	Threshold    float64          `json:"threshold"`               // alert where score > threshold
	Goal         metric.Goal      `json:"goal"`                    // what the threshold is for
	Delta        threshold.Rate   `json:"delta,omitzero"`          // the requested guarantee may fail with this probability
	Certified    bool             `json:"certified"`               // the guarantee holds
	Reason       string           `json:"reason,omitempty"`        // why it does not
	Population   string           `json:"population"`              // the rows whose scores gave the threshold: negatives or all
	Rows         int              `json:"n"`                       // rows of the population
	Negatives    int              `json:"n_negatives"`             // negatives among the calibration rows
	Order        *int             `json:"order,omitempty"`         // the threshold is the order-th smallest score of the population
	Bound        *float64         `json:"bound,omitempty"`         // the exact binomial tail; absolute-top: the bounded rate
	Needed       int              `json:"needed,omitempty"`        // the fewest rows with which the goal can be certified
	Segments     []Segment        `json:"segments"`                // a threshold for each value of the segment column
	Expected     Expected         `json:"expected"`                // of the threshold on new rows like these
	OverTime     *calibrate.Trend `json:"over_time,omitempty"`     // with a time column: whether the scores change over time
	TrainingRows *Overlap         `json:"training_rows,omitempty"` // with a model that has fingerprints: how many of these rows trained it
	Joined       *Joined          `json:"joined,omitempty"`        // how scores from a file of their own found their rows
}

// Segment is the threshold of one value of the segment column. All segments hold together with probability at least
// 1 - (number of segments) delta.
type Segment struct {
	Value     string   `json:"value"`            // of the segment column
	Threshold float64  `json:"threshold"`        // for rows with this value
	Certified bool     `json:"certified"`        // the guarantee holds for rows with this value
	Reason    string   `json:"reason,omitempty"` // why it does not
	Negatives int      `json:"n_negatives"`      // negatives among the calibration rows of this value
	Order     *int     `json:"order,omitempty"`  // the threshold is the order-th smallest score of the population
	Bound     *float64 `json:"bound,omitempty"`  // the exact binomial tail; absolute-top: the bounded rate
}

// Overlap is how many rows trained a model, by the fingerprints that it keeps.
type Overlap struct {
	Compared int      `json:"compared"` // rows whose hashes fall into the model's sample
	Matched  int      `json:"matched"`  // of these, rows equal to one that trained the model
	Expected float64  `json:"expected"` // the fraction of fresh rows that match because rows repeat: 1 - singletons / rows in training
	Estimate float64  `json:"estimate"` // of all rows here, those that trained the model beyond that
	P        float64  `json:"p"`        // an upper bound on the probability of as many matches among fresh rows
	Excess   bool     `json:"excess"`   // p is at most 0.001
	Smallest *float64 `json:"smallest"` // fewer training rows than about this go unnoticed; null: any number does
}

// Joined is how scores of another program were joined to labelled rows.
type Joined struct {
	By     string `json:"by"`     // id, row (a column of row numbers) or position
	Labels int    `json:"labels"` // rows whose label in the file of scores agreed; 0: it has no labels
	Unused int    `json:"unused"` // scores of other rows
}
