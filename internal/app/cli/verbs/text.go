package verbs

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/core/text"
	"toptau/metric"
	"toptau/result"
)

// GoalText returns a point's goal in words. The threshold of a training problem has none.
func GoalText(g metric.Goal) string {
	if g == (metric.Goal{}) {
		return "the threshold of the training problem"
	}
	return g.String()
}

// RateText returns a proportion with its counts and interval, or why there is none.
func RateText(p metric.Proportion) string {
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
	return fmt.Sprintf("intervals: %s, %s", p.Interval.Kind, text.Confidence(1-p.Interval.Confidence))
}

// AlignColumns pads the columns to one width, the first to the left and the others to the right.
func AlignColumns(table [][]string) []string { return align(table, 1) }

// AlignLeft pads the columns to one width, all to the left.
func AlignLeft(table [][]string) []string { return align(table, math.MaxInt) }

// align pads the columns to one width, the first ones to the left and the others to the right.
func align(table [][]string, left int) []string {
	var width []int
	for _, cells := range table {
		for j, cell := range cells {
			if j == len(width) {
				width = append(width, 0)
			}
			width[j] = max(width[j], utf8.RuneCountInString(cell))
		}
	}
	var lines []string
	for _, cells := range table {
		var b strings.Builder
		for j, cell := range cells {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if j > 0 {
				b.WriteString("  ")
			}
			if j < left {
				b.WriteString(cell + pad)
			} else {
				b.WriteString(pad + cell)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// optional formats a value that may be unknown.
func optional[T any](format string, v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}

// PrintWarnings prints a line for each warning.
func PrintWarnings(s *cli.Session, warnings []diag.Warning) {
	for _, w := range warnings {
		s.Printf("  note: %s\n", s.Note(w))
	}
}

// ShowProgress shows the progress of the library.
func ShowProgress(s *cli.Session, now result.Progress) {
	stage := now.Stage
	if now.Of > 0 {
		stage = fmt.Sprintf("%s (%d of %d)", stage, now.Done, now.Of)
	}
	s.Progress.Show(now.Fraction, "%s", stage)
}
