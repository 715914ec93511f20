package toptau

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/leakage"
	"toptau/internal/text"
)

// leakWarnings returns a warning for each column that should not be a feature. Without any it is empty, not
// nil, so JSON has a list.
func leakWarnings(leaks []leakage.Leak) []diag.Warning {
	return append([]diag.Warning{}, leakage.Warnings(leaks)...)
}

// leakageLine returns the summary's line about the most severe column, "" if there is none.
func (f *summaryFacts) leakageLine() string {
	if len(f.Leaks) == 0 {
		return ""
	}
	worst := f.Leaks[0]
	line := "Column " + diag.Quote(worst.Column) + " "
	switch worst.Code {
	case leakage.Copy:
		line += "copies the label"
	case leakage.Separates:
		line += "separates the classes alone"
	case leakage.Numbers:
		line += "numbers the rows"
	case leakage.Names:
		line += "has nearly as many categories as rows"
	}
	if worst.Code == leakage.Names { // its rare categories are no features, so rows without it score alike
		line += ", so it may be an identifier."
	} else {
		line += ". If new rows lack it, or it is filled in after the outcome, these numbers do not apply."
	}
	if n := len(f.Leaks) - 1; n > 0 {
		line += fmt.Sprintf(" See the notes for %s.", text.Plural(n, "more such column"))
	}
	return line
}
