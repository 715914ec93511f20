package summary

import (
	"toptau/calibrate"
	"toptau/result"
)

// NewExpected returns an expected rate. That of a refitted model has no interval: the order statistic's is about other fits.
func NewExpected(e calibrate.Expectation, refitted bool) result.Expected {
	x := result.Expected{Rate: e.Rate, Confidence: e.Confidence, Tied: e.Tied, Refitted: refitted}
	if !refitted {
		x.Low, x.High = &e.Low, &e.High
	}
	return x
}
