package toptau

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/text"
	"toptau/internal/tune"
)

// leakWarnings returns a warning for each column that should not be a feature. Without any it is empty, not
// nil, so JSON has a list.
func leakWarnings(leaks []tune.Leak) []diag.Warning {
	return append([]diag.Warning{}, tune.LeakWarnings(leaks)...)
}

// leakageLine returns the summary's line about the most severe column, "" if there is none.
func (f *summaryFacts) leakageLine() string {
	if len(f.Leaks) == 0 {
		return ""
	}
	worst := f.Leaks[0]
	line := fmt.Sprintf("Column %q ", worst.Column)
	switch worst.Code {
	case tune.LeakCopy:
		line += "copies the label"
	case tune.LeakSeparates:
		line += "separates the classes alone"
	case tune.LeakNumbers:
		line += "numbers the rows"
	case tune.LeakNames:
		line += "has nearly as many categories as rows"
	}
	if worst.Code == tune.LeakNames { // its rare categories are no features, so rows without it score alike
		line += ", so it may be an identifier."
	} else {
		line += ". If new rows lack it, or it is filled in after the outcome, these numbers do not apply."
	}
	if n := len(f.Leaks) - 1; n > 0 {
		line += fmt.Sprintf(" See the notes for %s.", text.Plural(n, "more such column"))
	}
	return line
}
