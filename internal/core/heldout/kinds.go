package heldout

import (
	"fmt"

	"toptau/diag"
	"toptau/method"
	"toptau/metric"
)

// kindOf returns the kind of a guarantee for a rate among a population.
func kindOf(p method.Population) metric.GoalKind {
	if p == method.AllRows {
		return metric.GoalTop
	}
	return metric.GoalMaxFPR
}

func notANumber(i int) error {
	return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("calibration score %d is NaN", i+1), Expected: "a number"}
}

func rowsOf(p method.Population) string {
	if p == method.AllRows {
		return "rows"
	}
	return p.String()
}
