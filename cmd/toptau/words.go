package main

import (
	"fmt"
	"strconv"
	"strings"

	"toptau/metric"
)

// group writes a whole number with commas between thousands.
func group(n int) string {
	text := strconv.Itoa(n)
	var b strings.Builder
	for i, digit := range text {
		if i > 0 && (len(text)-i)%3 == 0 && text[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// count writes a number with its noun: 1 pass, 2 passes.
func count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return group(n) + " " + noun
}

// percent writes a share for people.
func percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 4, 64) + " %" }

// goalText returns a point's goal in words; a threshold that came with a training problem has none.
func goalText(g metric.Goal) string {
	if g == (metric.Goal{}) {
		return "the threshold of the training problem"
	}
	return g.String()
}

// rate writes a proportion with its counts and interval, or why there is none.
func rate(p metric.Proportion) string {
	if !p.Defined() {
		return "undefined: " + p.Undefined
	}
	text := fmt.Sprintf("%s (%v of %v)", percent(p.Rate), p.Numerator, p.Denominator)
	if i := p.Interval; i != nil {
		text += fmt.Sprintf(", %s to %s", percent(i.Low), percent(i.High))
	}
	return text
}

// intervalNote says what the intervals are.
func intervalNote(p metric.Proportion) string {
	if p.Interval == nil {
		return "no intervals: " + p.NoInterval
	}
	return fmt.Sprintf("intervals: %s, %s", p.Interval.Kind, metric.ConfidenceText(1-p.Interval.Confidence))
}
