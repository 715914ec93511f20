package toptau

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/table"
	"toptau/internal/tune"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
)

// units are what an evaluation counts: rows, or entities of which each raises at most one alert (a day).
type units struct {
	table  *table.Table
	of     []int         // by row: its unit; nil: every row is a unit
	label  []table.Class // by unit
	first  []int         // by unit: its first positive row, or its first row
	entity []int         // by unit: the number of the entity
	shown  *result.Unit  // nil: rows
}

// newUnits makes the units of a table. entity is a column, or "" for rows. With a time column an entity is a
// new unit on every day.
func newUnits(d *Data, entity string) (*units, error) {
	t := d.table
	u := &units{table: t, label: t.Label}
	if entity == "" {
		return u, nil
	}
	if t.Weight != nil {
		return nil, &diag.Error{Kind: diag.Usage, Param: "entity", Found: "together with row weights", Expected: "one of the two"}
	}
	names, err := d.column("entity", entity)
	if err != nil {
		return nil, err
	}
	u.shown = &result.Unit{Entity: names.name, Rows: t.Rows()}
	if t.Time != nil {
		u.shown.Per = "day"
	}
	u.of, u.label = make([]int, t.Rows()), nil
	entities, known := map[string]int{}, map[string]int{}
	for row := range u.of {
		name := names.text(row)
		number, found := entities[name]
		if !found {
			number = len(entities)
			entities[name] = number
		}
		if t.Time != nil {
			day, ok := tune.DayOf(t.Time.Values[row])
			if !ok {
				return nil, &diag.Error{Kind: diag.Data, File: t.File, Line: t.LineOf(row), Column: t.Time.Name,
					Found: diag.Quote(t.Time.Values[row]), Expected: "a date such as 2024-05-31 23:59:59, to count by day",
					Hint: "or read the rows without a time column to count each entity once"}
			}
			name += "\x00" + day
		}
		unit, found := known[name]
		if !found {
			unit = len(known)
			known[name] = unit
			u.label, u.first, u.entity = append(u.label, t.Label[row]), append(u.first, row), append(u.entity, number)
		}
		u.of[row] = unit
		if t.Label[row] == table.Positive && u.label[unit] != table.Positive {
			u.label[unit], u.first[unit] = table.Positive, row
		}
	}
	return u, nil
}

// rows reports whether rows are counted.
func (u *units) rows() bool { return u.of == nil }

// scores returns one score for each unit: the largest of its rows.
func (u *units) scores(z []float64) []float64 {
	if u.rows() {
		return z
	}
	top := slices.Repeat([]float64{math.Inf(-1)}, len(u.label))
	for row, unit := range u.of {
		top[unit] = max(top[unit], z[row])
	}
	return top
}

// alarms reports which units have a row with an alarm.
func (u *units) alarms(rows []bool) []bool {
	if u.rows() {
		return rows
	}
	alarms := make([]bool, len(u.label))
	for row, unit := range u.of {
		alarms[unit] = alarms[unit] || rows[row]
	}
	return alarms
}

// rowOf returns the row that shows a unit's values.
func (u *units) rowOf(unit int) int {
	if u.rows() {
		return unit
	}
	return u.first[unit]
}

// byClass returns the scores of units by class.
func (u *units) byClass(z []float64) metric.Scores {
	return splitByClass(u.label, u.table.Weight, u.scores(z))
}

// groups numbers the units that are drawn together in a bootstrap, by class: those of one entity, or rows with
// the same value in the group column. Without either it returns nil.
func (u *units) groups() (positives, negatives []int, entities int) {
	if u.rows() {
		return entitiesOf(u.table)
	}
	positives, negatives = []int{}, []int{}
	for unit, number := range u.entity {
		if u.label[unit] == table.Positive {
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
	return countDecisions(u.label, u.table.Weight, nil, alarms, confidence)
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

// data returns the units as rows of a table that has labels, times and entities.
func (u *units) data(d *Data) *Data {
	t := &table.Table{File: u.table.File, Label: u.label, Group: &table.Text{Name: u.shown.Entity}}
	if u.table.Time != nil {
		t.Time = &table.Text{Name: u.table.Time.Name}
	}
	view := &Data{table: t, info: d.info}
	view.info.Rows, view.info.Positives, view.info.Negatives = len(u.label), 0, 0
	for unit, row := range u.first {
		t.Line = append(t.Line, u.table.LineOf(row))
		t.Group.Values = append(t.Group.Values, strconv.Itoa(u.entity[unit]))
		if t.Time != nil {
			t.Time.Values = append(t.Time.Values, u.table.Time.Values[row])
		}
		if u.label[unit] == table.Positive {
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
	values, err := d.column("value", column)
	if err != nil {
		return nil, err
	}
	t := u.table
	sums := make([]float64, len(u.label))
	for row, class := range t.Label {
		if class != table.Positive {
			continue
		}
		x, found := values.number(row)
		if !found || !(x >= 0) || math.IsInf(x, 0) {
			return nil, &diag.Error{Kind: diag.Data, File: t.File, Line: t.LineOf(row), Column: values.name,
				Found: diag.Quote(values.text(row)), Expected: "an amount of at least 0 for each positive"}
		}
		unit := row
		if !u.rows() {
			unit = u.of[row]
		}
		sums[unit] += x
	}
	var list []float64
	total := 0.0
	for unit, class := range u.label {
		if class == table.Positive {
			list = append(list, sums[unit])
			total += sums[unit]
		}
	}
	if !(total > 0) {
		return nil, &diag.Error{Kind: diag.Data, File: t.File, Column: values.name, Found: "no positive with an amount above 0",
			Expected: "amounts to add up"}
	}
	return list, nil
}

// textColumn is a column of any role, read as text or as numbers.
type textColumn struct {
	name   string
	texts  *table.Text   // nil: column
	column *table.Column // a feature
}

func (c *textColumn) text(row int) string {
	if c.texts != nil {
		return c.texts.Values[row]
	}
	return c.column.Text(row)
}

// number returns a value as a number, and whether it is one.
func (c *textColumn) number(row int) (float64, bool) {
	if c.column != nil && c.column.Kind == schema.Numeric {
		x := c.column.Value(row)
		return x, x == x
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(c.text(row)), 64)
	return x, err == nil && x-x == 0
}

// column returns a column by its name or its number in the file: a column that was kept as text, or else a
// feature. param names the option in errors.
func (d *Data) column(param, name string) (*textColumn, error) {
	t := d.table
	var texts []*table.Text
	for i := range t.Kept {
		texts = append(texts, &t.Kept[i])
	}
	for _, c := range []*table.Text{t.Segment, t.Time, t.Group} {
		if c != nil {
			texts = append(texts, c)
		}
	}
	for i := range t.ID {
		texts = append(texts, &t.ID[i])
	}
	for _, same := range []func(string, int) bool{
		func(known string, _ int) bool { return known == name },
		func(_ string, number int) bool { return strconv.Itoa(number) == name },
	} {
		for _, c := range texts {
			if same(c.Name, c.Number) {
				return &textColumn{name: c.Name, texts: c}, nil
			}
		}
		for i := range t.Columns {
			if c := &t.Columns[i]; same(c.Name, c.Number) {
				return &textColumn{name: c.Name, column: c}, nil
			}
		}
	}
	return nil, &diag.Error{Kind: diag.Usage, File: t.File, Param: param, Found: diag.Quote(name),
		Expected: "a feature, or a column that was kept when the file was read",
		Hint:     fmt.Sprintf("set Format.Kept to %q", name)}
}
