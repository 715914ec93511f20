package table

import (
	"toptau/internal/core/parallel"
	"toptau/schema"
)

// Select returns a table of some rows of t, in the order given. Dictionaries and lines stay those of t.
func (t *Table) Select(rows []int) *Table {
	s := &Table{File: t.File, Zone: t.Zone, Label: selectRows(t.Label, rows), Weight: selectRows(t.Weight, rows), Raw: selectRows(t.Raw, rows)}
	s.Columns = make([]Column, len(t.Columns))
	parallel.For(len(t.Columns), func(i int) { s.Columns[i] = t.Columns[i].selectRows(rows) })
	if x := t.Sparse; x != nil {
		s.Sparse = &Sparse{Cols: x.Cols, Start: make([]int64, 1, len(rows)+1)}
		for _, row := range rows {
			first, last := x.Start[row], x.Start[row+1]
			s.Sparse.Index = append(s.Sparse.Index, x.Index[first:last]...)
			s.Sparse.Value = append(s.Sparse.Value, x.Value[first:last]...)
			s.Sparse.Start = append(s.Sparse.Start, int64(len(s.Sparse.Index)))
		}
	}
	for _, id := range t.ID {
		s.ID = append(s.ID, *id.selectRows(rows))
	}
	for _, kept := range t.Kept {
		s.Kept = append(s.Kept, *kept.selectRows(rows))
	}
	s.Group, s.Segment, s.Time = t.Group.selectRows(rows), t.Segment.selectRows(rows), t.Time.selectRows(rows)
	for i, row := range rows {
		if len(t.Parts) == 0 {
			break
		}
		if file := t.FileOf(row); i == 0 || file != s.Parts[len(s.Parts)-1].File {
			s.Parts = append(s.Parts, FilePart{First: i, File: file})
		}
	}
	s.Line = make([]int, len(rows))
	for i, row := range rows {
		s.Line[i] = t.LineOf(row)
	}
	return s
}

// selectRows returns the column with the values of some rows.
func (c *Column) selectRows(rows []int) Column {
	column := Column{Name: c.Name, Number: c.Number, Kind: c.Kind, Dictionary: c.Dictionary, Part: c.Part, Source: c.Source, Origin: c.Origin, Salt: c.Salt, Unit: c.Unit}
	for _, row := range rows {
		if c.Kind == schema.Categorical {
			column.Codes = append(column.Codes, c.Code(row))
		} else {
			column.Values = append(column.Values, c.Value(row))
		}
	}
	return column
}

func (c *Text) selectRows(rows []int) *Text {
	if c == nil {
		return nil
	}
	return &Text{Name: c.Name, Number: c.Number, Values: selectRows(c.Values, rows)}
}

// selectRows returns the elements of some rows, nil for nil.
func selectRows[T any](list []T, rows []int) []T {
	if list == nil {
		return nil
	}
	selected := make([]T, len(rows))
	for i, row := range rows {
		selected[i] = list[row]
	}
	return selected
}
