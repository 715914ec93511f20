// Package wording has the phrases about thresholds and what they count that the library's own texts share with the pages and the commands.
package wording

import (
	"toptau/internal/core/text"
	"toptau/result"
)

// UnitsText returns a number of rows, or of the units that are counted instead: "1,200 host-days".
func UnitsText(u *result.Unit, n int) string {
	if u == nil {
		return text.Plural(n, "row")
	}
	return text.Count(n) + " " + UnitNames(u)
}

// UnitNames returns "rows", "hosts" or "host-days".
func UnitNames(u *result.Unit) string {
	if u == nil {
		return "rows"
	}
	name := u.Entity
	if u.Per != "" {
		name += "-" + u.Per
	}
	return name + "s"
}

// NegativeNames returns "negatives", "negative hosts" or "negative host-days".
func NegativeNames(u *result.Unit) string { return classNames("negative", u) }

// PositiveNames returns "positives", "positive hosts" or "positive host-days".
func PositiveNames(u *result.Unit) string { return classNames("positive", u) }

func classNames(class string, u *result.Unit) string {
	if u == nil {
		return class + "s"
	}
	return class + " " + UnitNames(u)
}
