package rowset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/model"
)

// ChunkRows is the number of rows that a stream holds at a time. Chosen by hand.
const ChunkRows = 4096

// PointsFrom returns the operating points, the named one first.
func PointsFrom(m *model.Model, name string) ([]model.Point, error) {
	points := m.Points()
	if len(points) == 0 {
		return nil, &diag.Error{Kind: diag.Model, Found: "a model without an operating point", Expected: "at least one"}
	}
	first, found := m.Point(name)
	if !found {
		var names []string
		for _, p := range points {
			names = append(names, p.Name)
		}
		return nil, &diag.Error{Kind: diag.Usage, Param: "at", Found: diag.Quote(name),
			Expected: "an operating point of the model: " + strings.Join(names, ", ")}
	}
	points = slices.DeleteFunc(points, func(p model.Point) bool { return p.Name == first.Name })
	return append([]model.Point{first}, points...), nil
}

// SegmentOf returns a row's value in the segment column, "" without such a column.
func SegmentOf(t *table.Table, row int) string {
	if t.Segment == nil {
		return ""
	}
	return t.Segment.Values[row]
}

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
