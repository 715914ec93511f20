package rowset

import (
	"slices"
	"strings"
	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/data/table"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// AlarmsAt reports which rows an operating point alarms about.
func AlarmsAt(p *model.Point, d *Set, z []float64) []bool {
	alarms := make([]bool, len(z))
	for row := range z {
		alarms[row] = p.Decide(z[row], SegmentOf(d.Table, row))
	}
	return alarms
}

// ReasonAgainst returns the reason why rows cannot certify a threshold of the model, "" if there is none.
func ReasonAgainst(m *model.Model, d *Set, known *result.Overlap, force bool) string {
	switch {
	case TrainedOn(m, d):
		return "these are the rows that the model was trained on"
	case known != nil && known.Excess && !force:
		return OverlapWarning(known, d.Len()) + "; force it if these are other rows with equal values"
	}
	return ""
}

// TrainedOn reports whether d is the file that the model was trained on.
func TrainedOn(m *model.Model, d *Set) bool {
	digest := m.Training().Digest
	return digest != "" && digest == d.Digest()
}

// NegativeScores returns the scores of the negatives of a table.
func NegativeScores(t *table.Table, scores []float64) (z []float64) {
	for i, class := range t.Label {
		if class == table.Negative {
			z = append(z, scores[i])
		}
	}
	return z
}

// SortedScores returns the scores of a population, of some rows of a table (nil: all).
func SortedScores(t *table.Table, z []float64, of method.Population, rows []int) (*heldout.Sorted, error) {
	var scores, weights []float64
	add := func(i int) {
		if !Counts(of, t.Label[i]) {
			return
		}
		scores = append(scores, z[i])
		if t.Weight != nil {
			weights = append(weights, t.Weight[i])
		}
	}
	if rows == nil {
		for i := range z {
			add(i)
		}
	}
	for _, i := range rows {
		add(i)
	}
	return heldout.Sort(scores, weights, of)
}

// Counts reports whether a row of a class belongs to a population.
func Counts(of method.Population, class table.Class) bool {
	return of == method.AllRows || of == method.Negatives && class == table.Negative || of == method.Positives && class == table.Positive
}

// RowsOnly counts each row.
var RowsOnly tune.Units

// AtScoring replaces a fix of training by one of scoring: a model has no feature that indicates a value which
// was never missing.
func AtScoring(err error) error {
	e := diag.Of(err)
	if e == nil {
		return err
	}
	for i := range e.Fixes {
		if e.Fixes[i] == (diag.Fix{Param: "impute", Value: string(schema.ImputeIndicator)}) {
			e.Fixes[i].Value = string(schema.ImputeZero)
		}
	}
	return err
}

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
