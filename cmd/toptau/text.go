package main

import (
	"fmt"

	"toptau/internal/text"
	"toptau/metric"
)

// goalText returns a point's goal in words. The threshold of a training problem has none.
func goalText(g metric.Goal) string {
	if g == (metric.Goal{}) {
		return "the threshold of the training problem"
	}
	return g.String()
}

// rateText returns a proportion with its counts and interval, or why there is none.
func rateText(p metric.Proportion) string {
	if !p.Defined() {
		return "undefined: " + p.Undefined
	}
	line := fmt.Sprintf("%s (%s of %s", text.Percent(p.Rate), text.Number(p.Numerator), text.Number(p.Denominator))
	if i := p.Interval; i != nil {
		line += fmt.Sprintf("; %s to %s", text.Percent(i.Low), text.Percent(i.High))
	}
	return line + ")"
}

// intervalNote describes the intervals.
func intervalNote(p metric.Proportion) string {
	if p.Interval == nil {
		return "no intervals: " + p.NoInterval
	}
	return fmt.Sprintf("intervals: %s, %s", p.Interval.Kind, metric.ConfidenceText(1-p.Interval.Confidence))
}
