package model

import (
	"slices"

	"toptau/schema"
)

// Format returns the format for reading a file as the training file was read: columns are matched by name, or by number without
// a header. The columns of the other models are read as well, and the segment column is the one of the models' operating
// points. Set further fields to add to it.
func (m *Model) Format(others ...*Model) schema.Format {
	s := m.Schema()
	for _, other := range others {
		addColumns(&s, other.parts.Schema)
	}
	f := schema.Format{}.Like(s)
	for _, m := range append([]*Model{m}, others...) {
		for _, p := range m.parts.Points {
			if f.Segment == "" {
				f.Segment = p.Segment
			}
		}
	}
	return f
}

// addColumns adds the columns that only another schema has. If a column is of different kinds, the model that reads it
// differently refuses the table.
func addColumns(to *schema.Schema, other schema.Schema) {
	for _, c := range other.Columns {
		if !slices.ContainsFunc(to.Columns, func(known schema.Column) bool { return known.Name == c.Name }) {
			to.Columns = append(to.Columns, c)
		}
	}
	slices.SortStableFunc(to.Columns, func(a, b schema.Column) int { return a.Number - b.Number })
	to.Width = max(to.Width, other.Width)
}
