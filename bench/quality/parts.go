package main

import (
	"toptau/internal/data/table"
	"toptau/schema"
)

// parts are the tables of a set for one seed.
type parts struct {
	files       files
	train, test *table.Table
	schema      schema.Schema
}

// read returns the parts of a set for a seed, the test part with the columns and categories of the training
// part.
func (h *harness) read(s *set, seed int) (*parts, error) {
	f, err := h.divide(s, seed)
	if err != nil {
		return nil, err
	}
	p := &parts{files: f}
	train, info, err := table.Read(f.train, s.options())
	if err != nil {
		return nil, err
	}
	p.train, p.schema = train, info.Schema
	p.test, _, err = table.Read(f.test, table.Options{Schema: &p.schema})
	return p, err
}

// positive reports for each row of a labelled table whether it is positive.
func positive(t *table.Table) []bool {
	list := make([]bool, t.Rows())
	for i, class := range t.Label {
		list[i] = class == table.Positive
	}
	return list
}
