package metric

import (
	"encoding/json"
	"math"
)

// Proportion is a rate with what stands behind it: numerator, denominator, interval. In JSON what is not known is null.
type Proportion struct {
	Numerator   float64   // a count; a mass when rows are weighted
	Denominator float64   // the same
	Rate        float64   // Numerator / Denominator; 0 when Undefined says why there is none
	Undefined   string    // why there is no rate; empty when there is one
	Interval    *Interval // nil: none, see NoInterval
	NoInterval  string    // why there is no interval; empty when there is one or none was asked for
}

// Defined reports whether there is a rate.
func (p Proportion) Defined() bool { return p.Undefined == "" }

// proportion divides; undefined says what it means that the denominator is 0.
func proportion(numerator, denominator float64, undefined string) Proportion {
	if !(denominator > 0) {
		return Proportion{Numerator: numerator, Denominator: denominator, Undefined: undefined}
	}
	return Proportion{Numerator: numerator, Denominator: denominator, Rate: numerator / denominator}
}

// Kinds of intervals, as they are named in results.
const (
	BootstrapInterval = "bootstrap of both classes"            // the distributions of both classes drawn, the threshold with them
	FixedInterval     = "clopper-pearson at a fixed threshold" // the threshold comes from elsewhere
)

// Interval is a two-sided confidence interval for a rate, named as what it is.
type Interval struct {
	Kind       string  `json:"interval"`             // BootstrapInterval or FixedInterval
	Low        float64 `json:"low"`                  // the lower end
	High       float64 `json:"high"`                 // the upper end
	Confidence float64 `json:"confidence"`           // 0.95
	Replicates int     `json:"replicates,omitempty"` // of a bootstrap; those in which the rate is undefined count as 0
	Seed       uint64  `json:"seed,omitempty"`       // of a bootstrap
}

// proportionJSON is a Proportion in which unknown is null.
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

// finite returns nil for what JSON cannot hold.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
