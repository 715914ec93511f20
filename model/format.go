package model

import "toptau/schema"

// Format returns the format for reading a file as the training file was read: columns are matched by name, or by number without
// a header. The segment column is the one of the operating points of m and the others. Set further fields to add to it.
func (m *Model) Format(others ...*Model) schema.Format {
	f := schema.Format{}.Like(m.Schema())
	for _, m := range append([]*Model{m}, others...) {
		for _, p := range m.parts.Points {
			if f.Segment == "" {
				f.Segment = p.Segment
			}
		}
	}
	return f
}
