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

// proportion returns numerator / denominator. undefined is the reason if the denominator is 0.
func proportion(numerator, denominator float64, undefined string) Proportion {
	if !(denominator > 0) {
		return Proportion{Numerator: numerator, Denominator: denominator, Undefined: undefined}
	}
	return Proportion{Numerator: numerator, Denominator: denominator, Rate: numerator / denominator}
}

// Moved returns the rate with the interval of a rate whose threshold is not exact either, between thresholds at which the rates of the same
// rows are ends. The distances from the rate to the ends of both intervals are squared and added (Newcombe 1998). Without an interval it
// stays so.
func (p Proportion) Moved(ends ...Proportion) Proportion {
	if p.Interval == nil {
		return p
	}
	low, high := p.Rate, p.Rate
	for _, e := range ends {
		if e.Defined() {
			low, high = min(low, e.Rate), max(high, e.Rate)
		}
	}
	i := *p.Interval
	i.Kind = MovedInterval
	i.Low = max(0, p.Rate-math.Sqrt(float64((p.Rate-i.Low)*(p.Rate-i.Low))+float64((p.Rate-low)*(p.Rate-low))))
	i.High = min(1, p.Rate+math.Sqrt(float64((i.High-p.Rate)*(i.High-p.Rate))+float64((high-p.Rate)*(high-p.Rate))))
	p.Interval = &i
	return p
}

// Kinds of intervals, as results name them.
const (
	BootstrapInterval = "bootstrap of both classes"            // replicates draw the distributions of both classes and with them the threshold
	FixedInterval     = "clopper-pearson at a fixed threshold" // the threshold was chosen without these rows
	MixedInterval     = "rates of both classes"                // see Confusion.Mixed
	MovedInterval     = "rate and threshold"                   // see Proportion.Moved
)

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
