package rowset

import (
	"cmp"
	"fmt"
	"slices"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/models/feature"
)

// ChunkRows is the number of rows that a stream holds at a time. Chosen by hand.
const ChunkRows = 4096

// tallyColumns is the number of columns that a warning about unknown or missing values names. Chosen by hand.
const tallyColumns = 5

// UnknownWarning returns the warning about values that were not seen in training.
func UnknownWarning(m *feature.Map, counts feature.Counts, unknown int) diag.Warning {
	return diag.Warning{Code: "unknown-values",
		Text: text.Plural(unknown, "value") + ` not seen in training (treated as "other"), in ` + TalliesText(m, counts, true)}
}

// TalliesText lists the columns with the most unknown (otherwise missing) values: "service (12), flag (3) and 2
// other columns".
func TalliesText(m *feature.Map, counts feature.Counts, unknown bool) string {
	count := func(t feature.Tally) int {
		if unknown {
			return t.Unknown
		}
		return t.Missing
	}
	list := slices.DeleteFunc(counts.Tallies(m), func(t feature.Tally) bool { return count(t) == 0 })
	slices.SortStableFunc(list, func(a, b feature.Tally) int { return cmp.Compare(count(b), count(a)) })
	var names []string
	for _, t := range list[:min(len(list), tallyColumns)] {
		name := diag.Quote(t.Column)
		if t.Column == "index" {
			name = "indices"
		}
		names = append(names, fmt.Sprintf("%s (%s)", name, text.Count(count(t))))
	}
	if others := len(list) - len(names); others > 0 {
		names = append(names, text.Plural(others, "other column"))
	}
	return text.List(names, "and")
}

func SumOf(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}
