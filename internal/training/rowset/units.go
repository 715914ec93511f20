package rowset

import (
	"context"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/internal/training/large"
	"toptau/internal/training/tune"
	"toptau/metric"
	"toptau/result"
)

// Units are what an evaluation counts: rows, or entities of which each raises at most one alert (a day).
type Units struct {
	*tune.Units
	Table *table.Table
	Shown *result.Unit // nil: rows
}

// NewUnits makes the units of a table. entity is a column, or "" for rows. With a time column an entity is a
// new unit on every day.
func NewUnits(d *Set, entity string) (*Units, error) {
	t := d.Table
	var of *tune.Units
	var err error
	if entity == "" {
		of, err = d.RowUnits()
	} else {
		of, err = tune.NewUnits(t, entity)
	}
	if err != nil {
		return nil, err
	}
	return &Units{of, t, UnitOf(of, t.Rows())}, nil
}

// RowUnits returns the rows as units, and copies as one. Of selected rows, all rows decide whether there are copies.
func (d *Set) RowUnits() (*tune.Units, error) {
	whole := d
	for whole.Whole != nil {
		whole = whole.Whole
	}
	of, err := tune.RowUnits(whole.Frame)
	if err != nil || whole == d {
		return of, err
	}
	return of.Copies.Units(d.Frame)
}

// CopiesInFile looks for copies among all rows of a file. It returns nil for rows in a database.
func (d *Set) CopiesInFile() (*tune.Copies, error) {
	if d.Database != nil {
		return nil, nil
	}
	if d.Table.Group != nil {
		return &tune.Copies{}, nil
	}
	c, err := tune.FindCopies(d.Frame)
	return &c, err
}

// CopiesElsewhere looks for copies among rows that are not in memory: all rows of a file, and a sample of those in a database.
func (d *Set) CopiesElsewhere(ctx context.Context) (bool, error) {
	return d.copiesAmong(func() (*table.Table, error) {
		sample, err := d.Database.Sample(ctx, large.All(), large.DefaultSample)
		if err != nil {
			return nil, err
		}
		return sample.Table, nil
	})
}

// copiesAmong looks for copies among all rows in memory or in a file, and among a sample of rows in a database.
func (d *Set) copiesAmong(sample func() (*table.Table, error)) (bool, error) {
	if c, err := d.CopiesInFile(); c != nil || err != nil {
		return c.Found(), err
	}
	t, err := sample()
	if err != nil {
		return false, err
	}
	units, err := tune.RowUnits(t.Frame())
	return err == nil && units.Copies.Found(), err
}

// WarnOfCopies adds a warning about copies among the rows of a fit.
func (e *encoding) WarnOfCopies(d *Set) error {
	copies, err := d.copiesAmong(func() (*table.Table, error) { return e.Rows, nil })
	if copies {
		e.Warnings = append(e.Warnings, diag.Warning{Code: "copies", Text: "rows are copies of others, and each counts in the objective and the threshold"})
	}
	return err
}

// copies returns a warning about copies, nil if there are none.
func (u *Units) CopyWarnings(certified bool) []diag.Warning {
	if words := u.CopiesText(certified); words != "" {
		return []diag.Warning{{Code: "copies", Text: words}}
	}
	return nil
}

// UnitOf describes units that were made of some rows, nil for rows.
func UnitOf(u *tune.Units, rows int) *result.Unit {
	if u.Column == "" {
		return nil
	}
	shown := &result.Unit{Entity: u.Column, Rows: rows}
	if u.Daily {
		shown.Per = "day"
	}
	return shown
}

// Scores returns one score for each unit: the largest of its rows.
func (u *Units) Scores(z []float64) []float64 {
	if u.Rows() {
		return z
	}
	top := slices.Repeat([]float64{math.Inf(-1)}, len(u.Label))
	for row, unit := range u.Of {
		top[unit] = max(top[unit], z[row])
	}
	return top
}

// Alarms reports which units have a row with an alarm.
func (u *Units) Alarms(rows []bool) []bool {
	if u.Rows() {
		return rows
	}
	alarms := make([]bool, len(u.Label))
	for row, unit := range u.Of {
		alarms[unit] = alarms[unit] || rows[row]
	}
	return alarms
}

// RowOf returns the row that shows a unit's values.
func (u *Units) RowOf(unit int) int {
	if u.Rows() {
		return unit
	}
	return u.First[unit]
}

// ByClass returns the scores of units by class.
func (u *Units) ByClass(z []float64) ranking.Scores {
	return splitByClass(u.Label, u.Weights(u.Table), u.Scores(z))
}

// Groups numbers the units that are drawn together in a bootstrap, by class: those of one entity, or rows with
// the same value in the group column. Without either it returns nil.
func (u *Units) Groups() (positives, negatives []int, entities int) {
	if u.Column == "" {
		return entitiesOf(u.Table)
	}
	positives, negatives = []int{}, []int{}
	for unit, number := range u.Entity {
		if u.Label[unit] == table.Positive {
			positives = append(positives, number)
		} else {
			negatives = append(negatives, number)
		}
		entities = max(entities, number+1)
	}
	return positives, negatives, entities
}

// Decisions counts the decisions on units.
func (u *Units) Decisions(alarms []bool, confidence float64) (metric.Confusion, error) {
	return CountDecisions(u.Label, u.Weights(u.Table), nil, alarms, confidence)
}

// CountDecisions counts decisions on some rows (nil: all). It makes scores of 1 and -1, so that a threshold of
// 0 decides in the same way.
func CountDecisions(label []table.Class, weight []float64, rows []int, alarms []bool, confidence float64) (metric.Confusion, error) {
	var s ranking.Scores
	add := func(row int) {
		z := -1.0
		if alarms[row] {
			z = 1
		}
		to, weights := &s.Negatives, &s.NegativeWeights
		if label[row] == table.Positive {
			to, weights = &s.Positives, &s.PositiveWeights
		}
		*to = append(*to, z)
		if weight != nil {
			*weights = append(*weights, weight[row])
		}
	}
	if rows == nil {
		for row := range label {
			add(row)
		}
	}
	for _, row := range rows {
		add(row)
	}
	rank, err := ranking.Rank(s)
	if err != nil {
		return metric.Confusion{}, err
	}
	return rank.At(0, confidence)
}

// data returns the units as rows of a table that has labels, times and entities. Of copies it has one row each.
func (u *Units) AsRows(d *Set) *Set {
	if u.Copies.Found() {
		view := d.OnTable(u.Table.Select(u.First))
		view.Whole, view.WholeRows = d, u.First
		counts := tune.CountClasses(u.Label)
		view.Info.Rows, view.Info.Positives, view.Info.Negatives = len(u.Label), counts.Positives, counts.Negatives
		return view
	}
	t := &table.Table{File: u.Table.File, Zone: u.Table.Zone, Label: u.Label, Group: &table.Text{Name: u.Shown.Entity}}
	if u.Table.Time != nil {
		t.Time = &table.Text{Name: u.Table.Time.Name}
	}
	view := &Set{Frame: t.Frame(), Table: t, Info: d.Info}
	view.Info.Rows, view.Info.Positives, view.Info.Negatives = len(u.Label), 0, 0
	for unit, row := range u.First {
		t.Line = append(t.Line, u.Table.LineOf(row))
		t.Group.Values = append(t.Group.Values, strconv.Itoa(u.Entity[unit]))
		if t.Time != nil {
			t.Time.Values = append(t.Time.Values, u.Table.Time.Values[row])
		}
		if u.Label[unit] == table.Positive {
			view.Info.Positives++
		} else {
			view.Info.Negatives++
		}
	}
	return view
}

// amounts returns the amount of each positive unit, in the order of byClass: the sum of a column over its
// positive rows.
func (u *Units) PositiveAmounts(d *Set, column string) ([]float64, error) {
	sums, err := u.Amounts(u.Table, column)
	if err != nil {
		return nil, err
	}
	var list []float64
	for unit, class := range u.Label {
		if class == table.Positive {
			list = append(list, sums[unit])
		}
	}
	return list, nil
}
