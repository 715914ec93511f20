package metric

import (
	"encoding/json"
	"fmt"

	"toptau/diag"
)

// Costs are the prices of decisions, in any unit.
type Costs struct {
	Missed float64 `json:"missed"` // of a positive that is not found
	Alert  float64 `json:"alert"`  // of looking at an alert, real or false
}

// maxCost keeps sums over 2^53 rows far from the largest float64.
const maxCost = 1e15

// Check returns an error of kind usage for a price that is negative, not a number or above 1e15.
func (c Costs) Check() error {
	for i, price := range [2]float64{c.Missed, c.Alert} {
		if !(price >= 0 && price <= maxCost) {
			return &diag.Error{Kind: diag.Usage, Param: [2]string{"missed", "alert"}[i], Found: fmt.Sprint(price),
				Expected: "an amount from 0 to 1e15"}
		}
	}
	return nil
}

// Of returns the cost of decisions.
func (c Costs) Of(d Confusion) float64 {
	return float64(c.Missed*d.FalseNegatives) + float64(c.Alert*(d.TruePositives+d.FalsePositives))
}

// Cheapest is the threshold with the smallest cost on a sample.
type Cheapest struct {
	Threshold float64 // the decision is score > threshold; -Inf, null in JSON: every row is an alert
	Alerts    float64 // rows above it, or their mass
	Cost      float64 // on these rows
}

// MarshalJSON writes null for an infinite threshold.
func (c Cheapest) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Threshold *float64 `json:"threshold"`
		Alerts    float64  `json:"alerts"`
		Cost      float64  `json:"cost"`
	}{finite(c.Threshold), c.Alerts, c.Cost})
}

// Profit is what alerts bring: the amounts of the positives among them less their price.
type Profit struct {
	Price    float64 `json:"cost_alert"` // of an alert, real or false
	Alerts   float64 `json:"alerts"`     // number of alerts
	Found    float64 `json:"found"`      // sum of the amounts of the positives among them
	Possible float64 `json:"possible"`   // sum of the amounts of all positives
	Profit   float64 `json:"profit"`     // Found less the price of all alerts
	// of the profit of as many new rows, at this threshold; absent without alerts
	Interval *Interval `json:"interval,omitempty"`
}
