package toptau

import (
	"toptau/internal/table"
	"toptau/schema"
)

// tableSchema and modelSchema go when table has the types of package schema.
func tableSchema(s schema.Schema) *table.Schema {
	t := &table.Schema{Format: string(s.Format), Header: s.Header, Width: s.Width, Positive: s.Positive, Missing: s.Missing}
	for _, c := range s.Columns {
		kind := table.Numeric
		if c.Kind == schema.Categorical {
			kind = table.Symbolic
		}
		t.Columns = append(t.Columns, table.SchemaColumn{Name: c.Name, Number: c.Number, Kind: kind, Dictionary: c.Dictionary})
	}
	if s.Label != nil {
		t.Label = &table.ColumnName{Name: s.Label.Name, Number: s.Label.Number}
	}
	for _, c := range s.Others {
		t.Others = append(t.Others, table.ColumnName{Name: c.Name, Number: c.Number})
	}
	return t
}

func modelSchema(t table.Schema) schema.Schema {
	s := schema.Schema{Format: schema.FileFormat(t.Format), Header: t.Header, Width: t.Width, Positive: t.Positive, Missing: t.Missing}
	for _, c := range t.Columns {
		kind := schema.Numeric
		if c.Kind == table.Symbolic {
			kind = schema.Categorical
		}
		s.Columns = append(s.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: kind})
	}
	if t.Label != nil {
		s.Label = &schema.Name{Name: t.Label.Name, Number: t.Label.Number}
	}
	for _, c := range t.Others {
		s.Others = append(s.Others, schema.Name{Name: c.Name, Number: c.Number})
	}
	return s
}
