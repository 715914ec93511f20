package table

import "bytes"

// row is a row of a file: its fields as text.
type row struct {
	line    int   // on which it begins, 1-based
	starts  []int // the line on which each field begins; nil: all on line
	fields  [][]byte
	points  []bool    // by column: a number of JSON, whose mark is a point; nil: texts
	numbers []float64 // by column: the value of a field that is such a number; NaN: not known yet
}

// lineOf returns the line on which a field begins.
func (r *row) lineOf(column int) int {
	if column >= 0 && column < len(r.starts) {
		return r.starts[column]
	}
	return r.line
}

// isNumber reports whether a field is a number by the format of the file, which a text that looks like one is not.
func (r *row) isNumber(column int) bool { return column >= 0 && r.points != nil && r.points[column] }

// textOf returns a field as text; nil for a column that the file lacks.
func (r *row) textOf(column int) []byte {
	if column < 0 {
		return nil
	}
	return r.fields[column]
}

// size returns the memory of a record, with 24 bytes for the header of each field.
func (r *row) size() int {
	size := 0
	for _, f := range r.fields {
		size += len(f) + 24
	}
	return size
}

// clone returns a copy that does not share memory with the reader.
func (r *row) clone() row {
	c := row{line: r.line, starts: append([]int(nil), r.starts...)}
	for _, f := range r.fields {
		c.fields = append(c.fields, bytes.Clone(f))
	}
	return c
}
