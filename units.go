package toptau

import (
	"context"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/large"
	"toptau/internal/table"
	"toptau/internal/tune"
	"toptau/metric"
	"toptau/result"
)

// units are what an evaluation counts: rows, or entities of which each raises at most one alert (a day).
type units struct {
	*tune.Units
	table *table.Table
	shown *result.Unit // nil: rows
}

// newUnits makes the units of a table. entity is a column, or "" for rows. With a time column an entity is a
// new unit on every day.
func newUnits(d *Data, entity string) (*units, error) {
	t := d.table
	var of *tune.Units
	var err error
	if entity == "" {
		of, err = d.rowUnits()
	} else {
		of, err = tune.NewUnits(t, entity)
	}
	if err != nil {
		return nil, err
	}
	return &units{of, t, unitOf(of, t.Rows())}, nil
}

// rowUnits returns the rows as units, and copies as one. Of selected rows, all rows decide whether there are copies.
func (d *Data) rowUnits() (*tune.Units, error) {
	whole := d
	for whole.whole != nil {
		whole = whole.whole
	}
	of, err := tune.RowUnits(whole.frame)
	if err != nil || whole == d {
		return of, err
	}
	return of.Copies.Units(d.frame)
}

// copiesInFile looks for copies among all rows of a file. It returns nil for rows in a database.
func (d *Data) copiesInFile() (*tune.Copies, error) {
	if d.database != nil {
		return nil, nil
	}
	if d.table.Group != nil {
		return &tune.Copies{}, nil
	}
	c, err := tune.FindCopies(d.frame)
	return &c, err
}

// copiesElsewhere looks for copies among rows that are not in memory: all rows of a file, and a sample of those in a database.
func (d *Data) copiesElsewhere(ctx context.Context) (bool, error) {
	return copiesAmong(d, func() (*table.Table, error) {
		sample, err := d.database.Sample(ctx, large.All(), large.DefaultSample)
		if err != nil {
			return nil, err
		}
		return sample.Table, nil
	})
}

// copiesAmong looks for copies among all rows in memory or in a file, and among a sample of rows in a database.
func copiesAmong(d *Data, sample func() (*table.Table, error)) (bool, error) {
	if c, err := d.copiesInFile(); c != nil || err != nil {
		return c.Found(), err
	}
	t, err := sample()
	if err != nil {
		return false, err
	}
	units, err := tune.RowUnits(t.Frame())
	return err == nil && units.Copies.Found(), err
}

// warnOfCopies adds a warning about copies among the rows of a fit.
func (e *encoding) warnOfCopies(d *Data) error {
	copies, err := copiesAmong(d, func() (*table.Table, error) { return e.rows, nil })
	if copies {
		e.warnings = append(e.warnings, diag.Warning{Code: "copies", Text: "rows are copies of others, and each counts in the objective and the threshold"})
	}
	return err
}

// copies returns a warning about copies, nil if there are none.
func (u *units) copies(certified bool) []diag.Warning {
	if words := u.CopiesText(certified); words != "" {
		return []diag.Warning{{Code: "copies", Text: words}}
	}
	return nil
}

// unitOf describes units that were made of some rows, nil for rows.
func unitOf(u *tune.Units, rows int) *result.Unit {
	if u.Column == "" {
		return nil
	}
	shown := &result.Unit{Entity: u.Column, Rows: rows}
	if u.Daily {
		shown.Per = "day"
	}
	return shown
}

// scores returns one score for each unit: the largest of its rows.
func (u *units) scores(z []float64) []float64 {
	if u.Rows() {
		return z
	}
	top := slices.Repeat([]float64{math.Inf(-1)}, len(u.Label))
	for row, unit := range u.Of {
		top[unit] = max(top[unit], z[row])
	}
	return top
}

// alarms reports which units have a row with an alarm.
func (u *units) alarms(rows []bool) []bool {
	if u.Rows() {
		return rows
	}
	alarms := make([]bool, len(u.Label))
	for row, unit := range u.Of {
		alarms[unit] = alarms[unit] || rows[row]
	}
	return alarms
}

// rowOf returns the row that shows a unit's values.
func (u *units) rowOf(unit int) int {
	if u.Rows() {
		return unit
	}
	return u.First[unit]
}

// byClass returns the scores of units by class.
func (u *units) byClass(z []float64) metric.Scores {
	return splitByClass(u.Label, u.Weights(u.table), u.scores(z))
}

// groups numbers the units that are drawn together in a bootstrap, by class: those of one entity, or rows with
// the same value in the group column. Without either it returns nil.
func (u *units) groups() (positives, negatives []int, entities int) {
	if u.Column == "" {
		return entitiesOf(u.table)
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

// decisions counts the decisions on units.
func (u *units) decisions(alarms []bool, confidence float64) (metric.Confusion, error) {
	return countDecisions(u.Label, u.Weights(u.table), nil, alarms, confidence)
}

// countDecisions counts decisions on some rows (nil: all). It makes scores of 1 and -1, so that a threshold of
// 0 decides in the same way.
func countDecisions(label []table.Class, weight []float64, rows []int, alarms []bool, confidence float64) (metric.Confusion, error) {
	var s metric.Scores
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
	ranking, err := metric.Rank(s)
	if err != nil {
		return metric.Confusion{}, err
	}
	return ranking.At(0, confidence)
}

// data returns the units as rows of a table that has labels, times and entities. Of copies it has one row each.
func (u *units) data(d *Data) *Data {
	if u.Copies.Found() {
		view := d.onTable(u.table.Select(u.First))
		view.whole, view.wholeRows = d, u.First
		counts := tune.CountClasses(u.Label)
		view.info.Rows, view.info.Positives, view.info.Negatives = len(u.Label), counts.Positives, counts.Negatives
		return view
	}
	t := &table.Table{File: u.table.File, Zone: u.table.Zone, Label: u.Label, Group: &table.Text{Name: u.shown.Entity}}
	if u.table.Time != nil {
		t.Time = &table.Text{Name: u.table.Time.Name}
	}
	view := &Data{frame: t.Frame(), table: t, info: d.info}
	view.info.Rows, view.info.Positives, view.info.Negatives = len(u.Label), 0, 0
	for unit, row := range u.First {
		t.Line = append(t.Line, u.table.LineOf(row))
		t.Group.Values = append(t.Group.Values, strconv.Itoa(u.Entity[unit]))
		if t.Time != nil {
			t.Time.Values = append(t.Time.Values, u.table.Time.Values[row])
		}
		if u.Label[unit] == table.Positive {
			view.info.Positives++
		} else {
			view.info.Negatives++
		}
	}
	return view
}

// amounts returns the amount of each positive unit, in the order of byClass: the sum of a column over its
// positive rows.
func (u *units) amounts(d *Data, column string) ([]float64, error) {
	sums, err := u.Amounts(u.table, column)
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
