// Package rowset is the labelled rows of a verb: in memory, in a packed file or in a database, with what all verbs ask of them. It knows
// units (rows or entities), scores of an entry, encodings of all rows, and rows that trained a model. It trains, measures and decides
// nothing.
package rowset

import (
	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/training/large"
	"toptau/model"
	"toptau/schema"
)

// Of returns the rows of a *dataset.Data, nil for a nil one, and Wrap makes such data. Package dataset sets both: functions there would show
// Set in the documentation of the library.
var (
	Of   func(data any) *Set
	Wrap func(s *Set) (data any)
)

// Set is labelled rows in memory, in a packed file or in a database.
type Set struct {
	Frame   *table.Frame
	Table   *table.Table // the head of frame; of a packed file with the columns that a verb loads
	Info    table.Info
	Seconds float64 // time spent reading
	Memory  int64   // bytes that rows of a packed file may take in memory; 0: half of the free memory

	Origin string // of rows in a database: the table, its condition and a checksum

	Database large.Rows // rows that are not in the table, which is a sample of them; nil: the table has all rows
	mass     [2]float64 // of rows in a database: the sum of the weights of each class, as the database adds them; 0 without weights

	Whole     *Set  // the data that the rows were selected from, or nil
	WholeRows []int // the 0-based rows of whole that were selected
}

// OnTable returns d with another table in memory.
func (d *Set) OnTable(t *table.Table) *Set {
	view := *d
	view.Frame, view.Table = t.Frame(), t
	return &view
}

// Loaded returns d with all values in memory.
func (d *Set) Loaded() (*Set, error) {
	if !d.Frame.InFile() {
		return d, nil
	}
	t, err := d.Frame.Load()
	if err != nil {
		return nil, err
	}
	return d.OnTable(t), nil
}

// With returns d with some columns in its table, by their names or numbers. Columns that it does not have are left out.
func (d *Set) With(names ...string) (*Set, error) {
	t, err := d.Frame.With(names...)
	if err != nil || t == d.Table {
		return d, err
	}
	view := *d
	view.Table = t
	return &view, nil
}

// Row returns a table with one row.
func (d *Set) Row(row int) (*table.Table, error) { return d.Frame.Select([]int{row}) }

// Masses returns the sums of the weights of all rows and of the positives. Both are 0 if rows have no
// weights.
func (d *Set) Masses() (total, positive float64) {
	if d.Database != nil {
		return d.mass[table.Negative] + d.mass[table.Positive], d.mass[table.Positive]
	}
	for i, m := range d.Table.Weight {
		total += m
		if d.Table.Label[i] == table.Positive {
			positive += m
		}
	}
	return total, positive
}

// Digest returns the digest of the rows in the form that a model keeps, "" if it is not known.
func (d *Set) Digest() string {
	if d.Info.Digest == "" {
		return ""
	}
	return "sha256:" + d.Info.Digest
}

// Len returns the number of rows.
func (d *Set) Len() int { return d.Info.Rows }

// Positives returns the number of positive rows.
func (d *Set) Positives() int { return d.Info.Positives }

// Warnings returns a copy of the warnings of reading. It is never nil, so JSON has a list.
func (d *Set) Warnings() []diag.Warning { return append([]diag.Warning{}, d.Info.Warnings...) }

// WithFile adds the data's file to an error about one of its lines.
func (d *Set) WithFile(err error) error {
	if e := diag.Of(err); e != nil && e.Line > 0 {
		return diag.At(err, diag.Error{File: d.Table.File})
	}
	return err
}

// TableOptions returns the options for reading a file in the way that m's training file was read.
func TableOptions(m *model.Model, f schema.Format) (table.Options, error) {
	trained := m.Format()
	s := trained.Schema()
	o := table.Options{Format: f, Schema: s}
	// Without the segment column of a point, or with another column, every row would get the point's general
	// threshold.
	for _, p := range m.Points() {
		switch {
		case p.Segment == "" || p.Segment == o.Segment:
		case o.Segment == "":
			o.Segment = p.Segment
		default:
			return o, WrongSegment(o.Segment, p.Segment)
		}
	}
	return o, nil
}

// WrongSegment returns the error for a segment column that is not that of the model's thresholds.
func WrongSegment(column, own string) error {
	return &diag.Error{Kind: diag.Usage, Param: "segment", Found: diag.Quote(column),
		Expected: diag.Quote(own) + ", the column of the model's thresholds", Hint: "use that, or set none"}
}

// Arranged returns d with its columns in the order of a model's schema. Both share their values.
func (d *Set) Arranged(m *model.Model) *Set {
	var names []string
	for _, c := range m.Schema().Columns {
		names = append(names, c.Name)
	}
	view := *d
	if view.Frame = d.Frame.Arrange(names); !view.Frame.InFile() {
		view.Table = view.Frame.Head()
	}
	return &view
}

// RowNumber returns the 1-based number of a row in its file.
func (d *Set) RowNumber(row int) int {
	if d.Whole != nil {
		row = d.WholeRows[row]
	}
	return row + 1
}

// SelectRows returns some rows of d. The result keeps their numbers in d, so that scores of all rows of d can
// be joined to it.
func (d *Set) SelectRows(rows []int) (*Set, error) {
	t, err := d.Frame.Select(rows)
	if err != nil {
		return nil, err
	}
	part := &Set{Frame: t.Frame(), Table: t, Info: d.Info, Whole: d, WholeRows: rows}
	part.Info.Rows, part.Info.Positives, part.Info.Digest, part.Info.Warnings = len(rows), 0, "", nil
	for _, class := range part.Table.Label {
		if class == table.Positive {
			part.Info.Positives++
		}
	}
	part.Info.Negatives = len(rows) - part.Info.Positives
	return part, nil
}
