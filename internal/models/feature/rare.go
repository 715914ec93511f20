package feature

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/core/text"
)

// A column of very many names has few rows for most of them, and the weights of such names are noise. So the
// names of fewer than minRows training rows share one feature, which names that training did not have get
// as well. Labels are not read. Both numbers are chosen by hand (a change moves results): ten rows are the usual least number for a
// fraction, and a thousand features do not slow down training.
const (
	manyNames = 1000
	minRows   = 10
)

// frequent returns the codes that keep their own features, the first ones of order, which is by descending
// mass.
func (f *fitter) frequent(order []int, masses []float64) []int {
	if len(order) <= manyNames {
		return order
	}
	least := minRows * f.allMass() / float64(f.allRows())
	for n, code := range order {
		if masses[code] < least {
			return order[:n]
		}
	}
	return order
}

// warnRare returns a warning about the rare names of a column.
func warnRare(name string, names, kept, rows int) diag.Warning {
	w := diag.Warning{Code: "rare-values", Text: fmt.Sprintf("column %q has %s different values: the %s of fewer than %d rows share one feature",
		name, text.Count(names), text.Count(names-kept), minRows)}
	if kept == 0 {
		w.Text = fmt.Sprintf("column %q has %s different values, none in %d rows: left out", name, text.Count(names), minRows)
	}
	if ManyCategories(names, rows) {
		w.Code = "many-categories"
		w.Text += "; it may be an identifier"
		w.Fixes = []diag.Fix{{Param: "id", Value: name}, {Param: "drop", Value: name}}
	}
	return w
}
