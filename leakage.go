package toptau

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/tune"
)

// leakWarnings returns a warning for each column that should not be a feature; empty, not nil, without any.
func leakWarnings(leaks []tune.Leak) []diag.Warning {
	list := []diag.Warning{} // JSON has a list
	for _, w := range tune.LeakWarnings(leaks) {
		list = append(list, w)
	}
	return list
}

// leakage is the summary's line about the gravest column.
func (f *summaryFacts) leakageLine() string {
	if len(f.Leaks) == 0 {
		return ""
	}
	worst := f.Leaks[0]
	text := fmt.Sprintf("Column %q ", worst.Column)
	switch worst.Code {
	case tune.LeakCopy:
		text += "copies the label"
	case tune.LeakSeparates:
		text += "separates the classes alone"
	case tune.LeakNumbers:
		text += "numbers the rows"
	case tune.LeakNames:
		text += "has nearly as many names as there are rows"
	}
	text += ": where new rows lack it, or it is filled in after the outcome, none of these figures holds."
	switch n := len(f.Leaks) - 1; {
	case n == 1:
		text += " The notes name one more such column."
	case n > 1:
		text += fmt.Sprintf(" The notes name %d more such columns.", n)
	}
	return text
}
