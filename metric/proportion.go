package metric

import (
	"encoding/json"
	"math"
)

// Proportion is a rate with its counts and its interval. In JSON an unknown value is null.
type Proportion struct {
	Numerator   float64   // a count; the sum of the weights if rows are weighted
	Denominator float64   // likewise
	Rate        float64   // numerator over denominator; 0, and null in JSON, if it is undefined
	Undefined   string    // the reason if there is no rate
	Interval    *Interval // nil: there is none
	NoInterval  string    // the reason if an interval was requested and there is none
}

// Defined reports whether there is a rate.
func (p Proportion) Defined() bool { return p.Undefined == "" }

// Kinds of intervals, as results name them.
const (
	BootstrapInterval = "bootstrap of both classes"                 // replicates draw both classes and with them the threshold
	GroupInterval     = "bootstrap of groups"                       // the same, and replicates draw entities
	FixedInterval     = "clopper-pearson at a fixed threshold"      // the threshold was chosen without these rows
	MixedInterval     = "rates of both classes"                     // of a precision at another fraction of positives
	MovedInterval     = "rate and threshold"                        // the threshold is not exact either
	ValueInterval     = "bootstrap of amounts at a fixed threshold" // of a fraction of amounts
	ProfitInterval    = "bootstrap of alerts at a fixed threshold"  // of a profit
)

// DefaultConfidence is the default confidence of an interval.
const DefaultConfidence = 0.95

// Interval is a two-sided confidence interval for a rate.
type Interval struct {
	Kind       string  `json:"interval"`             // how it was computed, such as "bootstrap of both classes"
	Low        float64 `json:"low"`                  // the lower end
	High       float64 `json:"high"`                 // the upper end
	Confidence float64 `json:"confidence"`           // 0.95
	Replicates int     `json:"replicates,omitempty"` // of a bootstrap; a replicate with an undefined rate counts as 0
	Seed       uint64  `json:"seed,omitempty"`       // of a bootstrap
}

// proportionJSON is the JSON form of a Proportion.
type proportionJSON struct {
	Numerator   float64   `json:"numerator"`
	Denominator float64   `json:"denominator"`
	Rate        *float64  `json:"rate"`
	Undefined   string    `json:"undefined,omitempty"`
	Interval    *Interval `json:"interval"`
	NoInterval  string    `json:"no_interval,omitempty"`
}

func (p Proportion) shadow() proportionJSON {
	s := proportionJSON{p.Numerator, p.Denominator, nil, p.Undefined, p.Interval, p.NoInterval}
	if p.Defined() {
		s.Rate = &p.Rate
	}
	return s
}

// MarshalJSON writes null for an undefined rate.
func (p Proportion) MarshalJSON() ([]byte, error) { return json.Marshal(p.shadow()) }

// finite returns nil for numbers that JSON cannot represent.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
