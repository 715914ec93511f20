package table

import (
	"slices"
	"strconv"
	"strings"

	"toptau/schema"
)

// Found is a column of any role, read as text or as numbers.
type Found struct {
	Name   string
	texts  *Text   // nil: column
	column *Column // a feature
}

// Text returns the text of a row.
func (c *Found) Text(row int) string {
	if c.texts != nil {
		return c.texts.Values[row]
	}
	return c.column.Text(row)
}

// Respelled reports whether a column that was kept has numbers that had other texts before they were packed.
func (t *Table) Respelled(name string) bool { return slices.Contains(t.respelled, name) }

// Number returns the value of a row as a number, and whether it is one.
func (c *Found) Number(row int) (float64, bool) {
	if c.column != nil && c.column.Kind == schema.Numeric {
		x := c.column.Value(row)
		return x, x == x
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(c.Text(row)), 64)
	return x, err == nil && x-x == 0
}

// Find returns a column by its name or its number in the file: a column that was kept as text, or else a feature.
// It returns nil if there is none.
func (t *Table) Find(name string) *Found {
	var texts []*Text
	for i := range t.Kept {
		texts = append(texts, &t.Kept[i])
	}
	for _, c := range []*Text{t.Segment, t.Time, t.Group} {
		if c != nil {
			texts = append(texts, c)
		}
	}
	for i := range t.ID {
		texts = append(texts, &t.ID[i])
	}
	for _, same := range []func(string, int) bool{
		func(known string, _ int) bool { return known == name },
		func(_ string, number int) bool { return strconv.Itoa(number) == name },
	} {
		for _, c := range texts {
			if same(c.Name, c.Number) {
				return &Found{Name: c.Name, texts: c}
			}
		}
		for i := range t.Columns {
			if c := &t.Columns[i]; same(c.Name, c.Number) {
				return &Found{Name: c.Name, column: c}
			}
		}
	}
	return nil
}
