package rowset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/model"
	"toptau/result"
)

// Scores are the scores of an entry for all rows of a Data.
type Scores struct {
	Values []float64
	Joined *result.Joined  // nil: not read from a file
	Counts *feature.Counts // nil: not scored by a model
}

// RequireAll returns an error if some row of d has no score. byID names the row by its id.
func (s *Scores) RequireAll(name, file string, d *Set, byID bool) error {
	row := slices.IndexFunc(s.Values, math.IsNaN)
	if row < 0 {
		return nil
	}
	e := &diag.Error{Kind: diag.Data, File: file, Expected: "one for each row that is measured"}
	e.Found = fmt.Sprintf("no score for row %d", d.RowNumber(row))
	switch {
	case byID:
		e.Found = "no score for " + shownID(IDOf(d.Table.ID, row))
	case file == "":
		e.Found = fmt.Sprintf("no score of %s for row %d", diag.Quote(name), d.RowNumber(row))
	}
	e.Found += fmt.Sprintf(" (line %d of %s)", d.Table.LineOf(row), d.Table.FileOf(row))
	others := -1
	for _, z := range s.Values {
		if z != z {
			others++
		}
	}
	if others > 0 {
		e.Found += fmt.Sprintf(" and %d others", others)
	}
	return e
}

// IDOf returns a row's id: the values of its columns, separated by a byte that does not occur in text files.
func IDOf(columns []table.Text, row int) string {
	if len(columns) == 1 {
		return strings.TrimSpace(columns[0].Values[row])
	}
	var parts []string
	for _, c := range columns {
		parts = append(parts, strings.TrimSpace(c.Values[row]))
	}
	return strings.Join(parts, "\x00")
}

func shownID(id string) string { return "id " + diag.Quote(strings.ReplaceAll(id, "\x00", ", ")) }

// entitiesOf numbers the groups and returns the number of each row's group by class. Without a group column
// it returns nil.
func entitiesOf(t *table.Table) (positives, negatives []int, entities int) {
	if t.Group == nil {
		return nil, nil, 0
	}
	numbers := map[string]int{}
	positives, negatives = []int{}, []int{}
	for row, value := range t.Group.Values {
		number, known := numbers[value]
		if !known {
			number = len(numbers)
			numbers[value] = number
		}
		if t.Label[row] == table.Positive {
			positives = append(positives, number)
		} else {
			negatives = append(negatives, number)
		}
	}
	return positives, negatives, len(numbers)
}

// splitByClass returns scores with their weights (nil: 1 each) by class.
func splitByClass(label []table.Class, weight, z []float64) ranking.Scores {
	var s ranking.Scores
	for i, class := range label {
		to, weights := &s.Negatives, &s.NegativeWeights
		if class == table.Positive {
			to, weights = &s.Positives, &s.PositiveWeights
		}
		*to = append(*to, z[i])
		if weight != nil {
			*weights = append(*weights, weight[i])
		}
	}
	return s
}

// scoreRows returns the scores of all rows, and counts of missing and unknown values.
func scoreRows(m *model.Model, d *Set) ([]float64, *feature.Counts, error) {
	scorer := feature.ScorerOf(m)
	z := make([]float64, d.Len())
	if err := scorer.ScoresOf(d.Frame, z); err != nil {
		return nil, nil, err
	}
	return z, &scorer.Row.Counts, nil
}

// byClass returns the scores of labelled rows by class.
func byClass(t *table.Table, z []float64) ranking.Scores {
	return splitByClass(t.Label, t.Weight, z)
}
