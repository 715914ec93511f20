package explorer

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/app/report"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/effect"
	"toptau/internal/training/rowset"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// Ranked lists at most limit rows of a class from a place of the list on, 1 for the row with the highest score. An
// entity is listed by the row with its highest score. more reports whether rows of the class follow.
func (x *Explorer) Ranked(class result.RowClass, from, limit int) (rows []result.RankedRow, more bool, err error) {
	if class != result.AllRows && class != result.PositiveRows && class != result.NegativeRows {
		return nil, false, &diag.Error{Kind: diag.Usage, Param: "class", Found: diag.Quote(string(class)),
			Expected: "all, positive or negative"}
	}
	order := x.byScore()
	if from < 1 || limit < 0 {
		return nil, false, &diag.Error{Kind: diag.Usage, Param: "from", Found: strconv.Itoa(from),
			Expected: "a place of the list, from 1"}
	}
	var reasons *rowset.TableReasons
	if m := x.Model(); m != nil {
		reasons = rowset.NewTableReasons(m)
	}
	for place := from; place <= len(order); place++ {
		unit := order[place-1]
		positive := x.state.Units.Label[unit] == table.Positive
		if class == result.PositiveRows && !positive || class == result.NegativeRows && positive {
			continue
		}
		if len(rows) == limit {
			return rows, true, nil
		}
		r, err := x.ranked(place, int(unit), reasons)
		if err != nil {
			return nil, false, err
		}
		r.Positive = positive
		rows = append(rows, r)
	}
	return rows, false, nil
}

// ranked describes a row, or the row with the highest score of an entity.
func (x *Explorer) ranked(place, unit int, e *rowset.TableReasons) (result.RankedRow, error) {
	row := x.topRow(unit)
	t, err := x.first.Data.Row(row)
	if err != nil {
		return result.RankedRow{}, err
	}
	r := result.RankedRow{Place: place, Row: x.first.Data.RowNumber(row), Line: t.LineOf(0),
		Score: x.first.Z[row]}
	for _, c := range t.ID {
		r.ID = append(r.ID, c.Values[0])
	}
	if e == nil {
		return r, nil
	}
	if r.Reasons, err = e.Of(t, 0, exploredReasons); err != nil {
		err = x.first.Data.WithFile(err)
	}
	return r, err
}

// topRow returns the row with the highest score of a unit.
func (x *Explorer) topRow(unit int) int {
	if x.state.Units.Rows() {
		return unit
	}
	top := -1
	for row, of := range x.state.Units.Of {
		if of == unit && (top < 0 || x.first.Z[row] > x.first.Z[top]) {
			top = row
		}
	}
	return top
}

// WhatIf scores a row (1-based) after some of its values were changed, by column: numbers as text, categories, or ""
// for a missing value. Columns of times and addresses have the derived values, as in Model.ScoreFields.
func (x *Explorer) WhatIf(row int, changes map[string]string) (*result.WhatIf, error) {
	r, err := x.changedRow(row, changes)
	if err != nil {
		return nil, err
	}
	w := &result.WhatIf{Row: row, Former: x.first.Z[row-1]}
	if w.Explanation, err = r.scorer.ExplainFields(r.fields); err != nil {
		return nil, err
	}
	inputs := feature.MapOf(x.Model().Features()).Inputs
	for i := range inputs {
		in := &inputs[i]
		w.Inputs = append(w.Inputs, result.WhatIfCell{Column: in.Name, Numeric: in.Kind == schema.Numeric,
			Value: r.fields[in.Column], Former: r.former[in.Column],
			Categories: in.Categories[:min(len(in.Categories), knownCategories)]})
	}
	return w, nil
}

// changedRow is a row of the data with some other values.
type changedRow struct {
	scorer         *model.Scorer
	fields, former []string // in the order of the model's columns
}

// changedRow returns a row (1-based) with changed values.
func (x *Explorer) changedRow(row int, changes map[string]string) (*changedRow, error) {
	m, d := x.Model(), x.first.Data
	switch {
	case m == nil:
		return nil, &diag.Error{Kind: diag.Usage, Found: "scores without a model",
			Expected: "a model, to score other values"}
	case d.Table.Sparse != nil:
		return nil, &diag.Error{Kind: diag.Usage, Found: "rows of index:value",
			Expected: "rows of columns, to change values"}
	case row < 1 || row > d.Len():
		return nil, &diag.Error{Kind: diag.Usage, Param: "row", Found: strconv.Itoa(row),
			Expected: fmt.Sprintf("a row from 1 to %d", d.Len())}
	}
	t, err := d.Row(row - 1)
	if err != nil {
		return nil, err
	}
	r := &changedRow{scorer: m.NewScorer()}
	known := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		field := c.Text(0)
		r.former = append(r.former, field)
		if value, changed := changes[c.Name]; changed {
			field = value
			known++
		}
		r.fields = append(r.fields, field)
	}
	if known < len(changes) {
		for name := range changes {
			if !slices.ContainsFunc(t.Columns, func(c table.Column) bool { return c.Name == name }) {
				return nil, &diag.Error{Kind: diag.Usage, Column: name, Found: "no such column",
					Expected: "a column of the model"}
			}
		}
	}
	return r, nil
}

// Curve returns the score of a row, with changed values as in WhatIf, as a function of one of its columns: over values
// that the data have, or over the categories that the model knows.
func (x *Explorer) Curve(row int, changes map[string]string, column string) (*result.ScoreCurve, error) {
	r, err := x.changedRow(row, changes)
	if err != nil {
		return nil, err
	}
	inputs := feature.MapOf(x.Model().Features()).Inputs
	at := slices.IndexFunc(inputs, func(in feature.Input) bool { return in.Name == column })
	if at < 0 {
		return nil, &diag.Error{Kind: diag.Usage, Column: column, Found: "no such column",
			Expected: "a column that the model uses"}
	}
	in := &inputs[at]
	c := &result.ScoreCurve{Column: column, Value: r.fields[in.Column]}
	if c.Score, err = r.scorer.ScoreFields(r.fields); err != nil {
		return nil, err
	}
	score := func(value string) (float64, error) {
		r.fields[in.Column] = value
		return r.scorer.ScoreFields(r.fields)
	}
	if in.Kind == schema.Categorical {
		for _, category := range in.Categories[:min(len(in.Categories), effect.ShapeCategories)] {
			z, err := score(category)
			if err != nil {
				return nil, err
			}
			c.Categories, c.Scores = append(c.Categories, category), append(c.Scores, z)
		}
		return c, nil
	}
	values, err := x.curveValues(in.Column, c.Value)
	if err != nil {
		return nil, err
	}
	for _, value := range values {
		z, err := score(strconv.FormatFloat(value, 'g', -1, 64))
		if err != nil {
			return nil, err
		}
		c.Points = append(c.Points, [2]float64{value, z})
	}
	return c, nil
}

// curveValues returns ascending values of a numeric column at even ranks, and the value in use.
func (x *Explorer) curveValues(column int, current string) ([]float64, error) {
	c, err := x.first.Data.Frame.LoadColumn(column)
	if err != nil {
		return nil, err
	}
	var values []float64
	for _, row := range spacedRows(x.first.Data.Len(), report.MaxShapeRows) {
		if v := c.Value(row); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	var chosen []float64
	for i := range min(curvePoints, len(values)) {
		chosen = append(chosen, values[i*(len(values)-1)/max(1, min(curvePoints, len(values))-1)])
	}
	if v, ok := table.ParseNumber([]byte(current)); ok {
		chosen = append(chosen, v)
	}
	slices.Sort(chosen)
	return slices.Compact(chosen), nil
}
