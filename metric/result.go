package metric

import "encoding/json"

// Rules by which a Result's threshold decides a row.
const (
	Above     = "score > threshold"
	AtOrAbove = "score >= threshold" // only in the paper's count
)

// Result is the value of a criterion with its threshold and budget.
type Result struct {
	Criterion  string  // its name and rate: "positives@np(0.01)"
	Proportion         // of positives: Numerator above the threshold, Denominator n+
	Threshold  float64 // rows above it are on top; null: undefined
	Rule       string  // "score > threshold"; AtOrAbove in the paper's count
	// The number of samples of the population that may be on top, or their mass. In the paper's count it is K, and 0 for
	// Positives@Top.
	Budget float64
	// The number or mass of the samples that are on top: at most the budget, in the paper's count at least the budget.
	Admitted float64
}

// MarshalJSON writes null for undefined values.
func (r Result) MarshalJSON() ([]byte, error) {
	var t *float64
	if r.Defined() {
		t = finite(r.Threshold)
	}
	return json.Marshal(struct {
		Criterion string `json:"criterion"`
		proportionJSON
		Threshold *float64 `json:"threshold"`
		Rule      string   `json:"rule"`
		Budget    float64  `json:"budget"`
		Admitted  float64  `json:"admitted"`
	}{r.Criterion, r.shadow(), t, r.Rule, r.Budget, r.Admitted})
}

// Difference is a model's criterion minus the reference's on the same rows.
type Difference struct {
	Rate      float64   // the model's rate minus the reference's
	Undefined string    // why there is no difference; "" if there is one
	Interval  *Interval // of the difference, with both models on the same drawn rows
	Gained    int       // positive rows within the budget of only the model
	Lost      int       // positive rows within the budget of only the reference
	SignTest  float64   // two-sided exact p-value: as many (entities of) gained rows as of lost ones
}

// Verdict is what a Difference shows.
type Verdict string

const (
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	Undecided Verdict = "undecided"
)

// Verdict returns Better or Worse only if the interval excludes 0 and the exact sign test agrees at its confidence: with a
// handful of positives the bootstrap alone is overconfident.
func (d Difference) Verdict() Verdict {
	switch {
	case d.Undefined != "" || d.Interval == nil || d.SignTest > 1-d.Interval.Confidence:
		return Undecided
	case d.Interval.Low > 0:
		return Better
	case d.Interval.High < 0:
		return Worse
	}
	return Undecided
}

// MarshalJSON writes null for undefined values.
func (d Difference) MarshalJSON() ([]byte, error) {
	shadow := struct {
		Rate      *float64  `json:"rate"`
		Undefined string    `json:"undefined,omitempty"`
		Interval  *Interval `json:"interval"`
		Gained    int       `json:"gained"`
		Lost      int       `json:"lost"`
		SignTest  *float64  `json:"sign_test"`
	}{nil, d.Undefined, d.Interval, d.Gained, d.Lost, nil}
	if d.Undefined == "" {
		shadow.Rate, shadow.SignTest = &d.Rate, &d.SignTest
	}
	return json.Marshal(shadow)
}
