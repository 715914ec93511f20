package toptau

import (
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/rowset"
	"toptau/internal/table"
	"toptau/internal/tune"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// Entry is one ranking of rows. Exactly one of Model, Scores, Column and File is set.
//
// File has the scores of another program: delimited text, plain or compressed. Its scores are in the column
// "score", or in the only column that is neither id nor label. If the data have id columns, the file must have
// them too, and scores are joined by id. Without ids in the data, or if the file has a column "row" instead of
// them, scores are joined by that column of 1-based row numbers, or else by position. Scores of other rows are
// ignored. A row that occurs twice or has no score is an error. A column of labels, named as in the data or
// "label", must have the same labels. Scores that are joined by position and have no labels must not look
// unrelated to the labels of the data.
type Entry struct {
	Name   string    // names the entry in results; a single entry needs none
	Model  *Model    // scores the rows
	Scores []float64 // one score for each row of the data; NaN is a missing score
	Column string    // numeric column of the data that holds the scores
	File   string    // file with the scores
	Format Format    // of File; the zero value is usually enough, because ids and the spelling of labels come from the data

	origin *origin // set by Train
}

// origin describes how Train made an entry.
type origin struct {
	kind     result.EntryKind
	task     tune.Task       // learner and encoding, unless kind is ChosenEntry
	estimate result.Estimate // criterion in cross-validation
}

// decidesBySegment reports whether a model has a threshold for each segment.
func (e *Entry) decidesBySegment() bool {
	return e.Model != nil && slices.ContainsFunc(e.Model.Points(), func(p model.Point) bool { return len(p.Segments) > 0 })
}

// scoresOf returns the scores of the rows of d.
func (e *Entry) scoresOf(d *rowset.Set) (*rowset.Scores, error) {
	switch {
	case e.Model != nil:
		z, counts, err := rowset.ScoreRows(e.Model, d)
		return &rowset.Scores{Values: z, Counts: counts}, d.WithFile(err)
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
	s := &rowset.Scores{Values: e.Scores}
	if d.Whole != nil {
		s.Values = rowset.PickValues(e.Scores, d.WholeRows)
	}
	return s, s.RequireAll(e.Name, "", d, false)
}

// columnScores returns the values of a numeric column.
func (e *Entry) columnScores(d *rowset.Set) (*rowset.Scores, error) {
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
		return &rowset.Scores{Values: scores}, nil
	}
	return nil, &diag.Error{Kind: diag.Usage, File: d.Table.File, Param: "score", Found: diag.Quote(e.Column),
		Expected: fmt.Sprintf("one of the numeric columns %q", names)}
}
