package toptau

import (
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/feature"
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

// rowScores are the scores of an entry for all rows of a Data.
type rowScores struct {
	values []float64
	joined *result.Joined  // nil: not read from a file
	counts *feature.Counts // nil: not scored by a model
}

// arranged returns d with its columns in the order of a model's schema. Both share their values.
func (d *Data) arranged(m *Model) *Data {
	var names []string
	for _, c := range m.Schema().Columns {
		names = append(names, c.Name)
	}
	view := *d
	if view.frame = d.frame.Arrange(names); !view.frame.InFile() {
		view.table = view.frame.Head()
	}
	return &view
}

// scoresOf returns the scores of the rows of d.
func (e *Entry) scoresOf(d *Data) (*rowScores, error) {
	switch {
	case e.Model != nil:
		z, counts, err := scoreRows(e.Model, d)
		return &rowScores{values: z, counts: counts}, d.inFile(err)
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
	if d.whole != nil {
		rows = d.whole.Len()
	}
	if len(e.Scores) != rows {
		return nil, &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("%d scores of %s", len(e.Scores), diag.Quote(e.Name)),
			Expected: fmt.Sprintf("%d, one for each row of %s", rows, d.table.File)}
	}
	s := &rowScores{values: e.Scores}
	if d.whole != nil {
		s.values = pickValues(e.Scores, d.wholeRows)
	}
	return s, s.requireAll(e.Name, "", d, false)
}

// columnScores returns the values of a numeric column.
func (e *Entry) columnScores(d *Data) (*rowScores, error) {
	var names []string
	columns := d.frame.Shape().Columns
	for i := range columns {
		if columns[i].Kind == schema.Categorical {
			continue
		}
		if columns[i].Name != e.Column {
			names = append(names, columns[i].Name)
			continue
		}
		c, err := d.frame.LoadColumn(i)
		if err != nil {
			return nil, err
		}
		scores := c.AllValues()
		if row := slices.IndexFunc(scores, math.IsNaN); row >= 0 {
			return nil, &diag.Error{Kind: diag.Data, File: d.table.FileOf(row), Line: d.table.LineOf(row), Column: e.Column,
				Found: "a missing score", Expected: "a number"}
		}
		return &rowScores{values: scores}, nil
	}
	return nil, &diag.Error{Kind: diag.Usage, File: d.table.File, Param: "score", Found: diag.Quote(e.Column),
		Expected: fmt.Sprintf("one of the numeric columns %q", names)}
}

// requireAll returns an error if some row of d has no score. byID names the row by its id.
func (s *rowScores) requireAll(name, file string, d *Data, byID bool) error {
	row := slices.IndexFunc(s.values, math.IsNaN)
	if row < 0 {
		return nil
	}
	e := &diag.Error{Kind: diag.Data, File: file, Expected: "one for each row that is measured"}
	e.Found = fmt.Sprintf("no score for row %d", d.rowNumber(row))
	switch {
	case byID:
		e.Found = "no score for " + shownID(idOf(d.table.ID, row))
	case file == "":
		e.Found = fmt.Sprintf("no score of %s for row %d", diag.Quote(name), d.rowNumber(row))
	}
	e.Found += fmt.Sprintf(" (line %d of %s)", d.table.LineOf(row), d.table.FileOf(row))
	others := -1
	for _, z := range s.values {
		if z != z {
			others++
		}
	}
	if others > 0 {
		e.Found += fmt.Sprintf(" and %d others", others)
	}
	return e
}

// rowNumber returns the 1-based number of a row in its file.
func (d *Data) rowNumber(row int) int {
	if d.whole != nil {
		row = d.wholeRows[row]
	}
	return row + 1
}

// pickValues returns the elements at some places of a list.
func pickValues(list []float64, places []int) []float64 {
	picked := make([]float64, len(places))
	for i, place := range places {
		picked[i] = list[place]
	}
	return picked
}

// selectRows returns some rows of d. The result keeps their numbers in d, so that scores of all rows of d can
// be joined to it.
func (d *Data) selectRows(rows []int) (*Data, error) {
	t, err := d.frame.Select(rows)
	if err != nil {
		return nil, err
	}
	part := &Data{frame: t.Frame(), table: t, info: d.info, whole: d, wholeRows: rows}
	part.info.Rows, part.info.Positives, part.info.Digest, part.info.Warnings = len(rows), 0, "", nil
	for _, class := range part.table.Label {
		if class == table.Positive {
			part.info.Positives++
		}
	}
	part.info.Negatives = len(rows) - part.info.Positives
	return part, nil
}
