package rowset

import (
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/training/tune"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// Entry is one ranking of rows: what users see as an Entry of the library, with the same fields.
type Entry struct {
	Name   string
	Model  *model.Model
	Scores []float64
	Column string
	File   string
	Format schema.Format
	Origin *result.Origin
}

// DecidesBySegment reports whether a model has a threshold for each segment.
func (e *Entry) DecidesBySegment() bool {
	return e.Model != nil && slices.ContainsFunc(e.Model.Points(), func(p model.Point) bool { return len(p.Segments) > 0 })
}

// ScoresOf returns the scores of the rows of d.
func (e *Entry) ScoresOf(d *Set) (*Scores, error) {
	switch {
	case e.Model != nil:
		z, counts, err := scoreRows(e.Model, d)
		return &Scores{Values: z, Counts: counts}, d.WithFile(err)
	case e.File != "":
		names, err := table.ColumnNames(e.File, e.Format)
		if err != nil {
			return nil, err
		}
		f := &scoreFile{path: e.File, format: e.Format, names: names}
		return f.joinTo(e.Name, d)
	case e.Column != "":
		return e.columnScores(d)
	}
	rows := d.Len()
	if d.Whole != nil {
		rows = d.Whole.Len()
	}
	if len(e.Scores) != rows {
		return nil, &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("%d scores of %s", len(e.Scores), diag.Quote(e.Name)),
			Expected: fmt.Sprintf("%d, one for each row of %s", rows, d.Table.File)}
	}
	s := &Scores{Values: e.Scores}
	if d.Whole != nil {
		s.Values = tune.Pick(e.Scores, d.WholeRows)
	}
	return s, s.RequireAll(e.Name, "", d, false)
}

// columnScores returns the values of a numeric column.
func (e *Entry) columnScores(d *Set) (*Scores, error) {
	var names []string
	columns := d.Frame.Shape().Columns
	for i := range columns {
		if columns[i].Kind == schema.Categorical {
			continue
		}
		if columns[i].Name != e.Column {
			names = append(names, columns[i].Name)
			continue
		}
		c, err := d.Frame.LoadColumn(i)
		if err != nil {
			return nil, err
		}
		scores := c.AllValues()
		if row := slices.IndexFunc(scores, math.IsNaN); row >= 0 {
			return nil, &diag.Error{Kind: diag.Data, File: d.Table.FileOf(row), Line: d.Table.LineOf(row), Column: e.Column,
				Found: "a missing score", Expected: "a number"}
		}
		return &Scores{Values: scores}, nil
	}
	return nil, &diag.Error{Kind: diag.Usage, File: d.Table.File, Param: "score", Found: diag.Quote(e.Column),
		Expected: fmt.Sprintf("one of the numeric columns %q", names)}
}
