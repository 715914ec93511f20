package table

import (
	"io"
	"slices"

	"toptau/diag"
	"toptau/schema"
)

// idxRows reads the items of an IDX file as rows. Their columns are the values, named by their 1-based
// places.
type idxRows struct {
	*assembler
	items *idx
	row   row
}

func newIDXRows(r *Reader, _ prefix, source io.Reader) (rowSource, error) {
	o := &r.options
	if err := r.refuseColumns(o.Label); err != nil {
		return nil, err
	}
	if o.LabelsFile == "" && !o.Unlabelled {
		return nil, &diag.Error{Kind: diag.Usage, File: r.file, Found: "an IDX file without labels",
			Expected: "a file with its labels", Fixes: []diag.Fix{{Param: "labels-file", Value: "FILE"}}}
	}
	if m := o.Schema; m != nil && (m.Header || slices.ContainsFunc(m.Columns, isCategorical)) {
		return nil, r.wrongFormat()
	}
	items, err := newIDX(r.file, source)
	if err != nil {
		return nil, err
	}
	n, err := newNames(r.file, nil, items.cols)
	if err != nil {
		return nil, err
	}
	a, err := newAssembler(r, n, nil)
	return &idxRows{assembler: a, items: items}, err
}

func isCategorical(c schema.Column) bool { return c.Kind == schema.Categorical }

// appendRows implements rowSource.
func (s *idxRows) appendRows(t *Table, limit int) error { return s.appendAll(t, limit, s) }

// nextRow implements rowReader.
func (s *idxRows) nextRow() (*row, error) {
	var err error
	s.row.values, err = s.items.next()
	s.row.line = s.items.item
	return &s.row, err
}

// text implements rowReader.
func (s *idxRows) text() []byte { return nil }

// hasRow implements rowReader.
func (s *idxRows) hasRow() bool { return false }

// consumed implements rowReader.
func (s *idxRows) consumed() int64 { return int64(s.items.item) * int64(s.items.size*s.items.cols) }
