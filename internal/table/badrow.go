package table

import (
	"toptau/diag"
)

// BadRowPolicy is what a Reader does with a row that cannot be read: text in a numeric column, a wrong number
// of fields, bytes that are not text, a quote that does not end.
type BadRowPolicy uint8

const (
	StopAtBadRow BadRowPolicy = iota // Next returns the error
	KeepBadRow                       // the row goes to Table.Bad, and reading goes on with the next line
)

// BadRow is a row that could not be read.
type BadRow struct {
	Before int      // it comes before this row of the table
	Line   int      // on which it begins
	Err    error    // a *diag.Error
	Text   string   // the text of the row
	ID     []string // of the columns Options.ID, if the row has all its fields; otherwise empty
	Raw    []string // with Options.Raw: all its fields, or nil
}

// maxBadLines and maxBadBytes bound a quoted field if bad rows are kept: a quote that does not end must not
// take the rest of the file with it. Chosen by hand.
const (
	maxBadLines = 100
	maxBadBytes = 1 << 20
)

// keepsBadRows reports whether a bad row is no error.
func (o *Options) keepsBadRows() bool { return o.OnBadRow == KeepBadRow }

// keepBadRow adds a bad row to the table, from which it removes what the row has left. It returns err if the
// row is not the cause.
func (r *Reader) keepBadRow(t *Table, err error, bad BadRow) error {
	e := diag.Of(err)
	if !r.options.keepsBadRows() || e == nil || e.Kind != diag.Data || e.File != r.file || e.Line == 0 {
		return err
	}
	t.truncate(len(t.Line))
	bad.Before, bad.Err = len(t.Line), err
	t.Bad = append(t.Bad, bad)
	return nil
}

// truncate removes the values after a number of rows.
func (t *Table) truncate(rows int) {
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Values, c.Codes = c.Values[:min(rows, len(c.Values))], c.Codes[:min(rows, len(c.Codes))]
	}
	if s := t.Sparse; s != nil {
		s.Start = s.Start[:rows+1]
		s.Index, s.Value = s.Index[:s.Start[rows]], s.Value[:s.Start[rows]]
	}
	for _, c := range t.texts() {
		c.Values = c.Values[:min(rows, len(c.Values))]
	}
	t.Label = t.Label[:min(rows, len(t.Label))]
	t.Weight, t.Raw, t.Text = t.Weight[:min(rows, len(t.Weight))], t.Raw[:min(rows, len(t.Raw))], t.Text[:min(rows, len(t.Text))]
}
