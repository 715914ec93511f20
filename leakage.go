package toptau

import (
	"fmt"

	"toptau/internal/tune"
)

// leakWarnings says which columns of d should not be features.
func leakWarnings(leaks []tune.Leak) []Warning {
	var list []Warning
	for _, w := range tune.LeakWarnings(leaks) {
		list = append(list, Warning(w))
	}
	return list
}

// leakage is the summary's line about the gravest column.
func (f *summaryFacts) leakage() string {
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
		text += "names nearly every row"
	}
	if n := len(f.Leaks) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more look like it (see the notes)", n)
	}
	return text + ": if new rows lack it, or it is filled in after the outcome, none of these figures holds for them."
}
