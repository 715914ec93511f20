package servers

import (
	"encoding/binary"
	"io"
	"math"

	"toptau/internal/data/table"
	"toptau/schema"
)

// Table is a table to be loaded. Its values come from functions of the row, so that a large table needs no memory.
type Table struct {
	Name    string
	Key     string // the column that orders the table, a primary key where there is one; "": none
	Rows    int
	Columns []Column
}

// Column is a column of a table. One of Integer, Number and Text is set.
type Column struct {
	Name    string
	Integer func(row int) int64
	Number  func(row int) float64
	Text    func(row int) string
	Single  bool               // numbers are stored in 32 bits
	Null    func(row int) bool // rows without a value; nil: the column is not nullable
}

// Part returns the rows of one of n shards: every n-th row.
func (t Table) Part(shard, n int) Table {
	part := Table{Name: t.Name, Key: t.Key, Rows: (t.Rows - shard + n - 1) / n}
	for _, c := range t.Columns {
		part.Columns = append(part.Columns, Column{Name: c.Name, Single: c.Single, Integer: every(c.Integer, shard, n),
			Number: every(c.Number, shard, n), Text: every(c.Text, shard, n), Null: every(c.Null, shard, n)})
	}
	return part
}

func every[T any](f func(int) T, first, step int) func(int) T {
	if f == nil {
		return nil
	}
	return func(row int) T { return f(row*step + first) }
}

// FromTable returns the columns of a table in memory: a key that counts the rows from 1, the label as 0 or 1, and the
// features. Missing values become NULL.
func FromTable(name, key, label string, from *table.Table) Table {
	t := Table{Name: name, Key: key, Rows: from.Rows(), Columns: []Column{
		{Name: key, Integer: func(row int) int64 { return int64(row) + 1 }},
		{Name: label, Integer: func(row int) int64 { return int64(from.Label[row]) }},
	}}
	for i := range from.Columns {
		c := &from.Columns[i]
		if c.Kind == schema.Categorical {
			t.Columns = append(t.Columns, Column{Name: c.Name, Text: c.Text, Null: func(row int) bool { return c.Code(row) < 0 }})
		} else {
			t.Columns = append(t.Columns, Column{Name: c.Name, Number: c.Value, Null: func(row int) bool { return math.IsNaN(c.Value(row)) }})
		}
	}
	return t
}

// kind is the type of a column among those that a database has for integers, doubles, floats and texts.
func (c *Column) kind() int {
	switch {
	case c.Integer != nil:
		return 0
	case c.Text != nil:
		return 3
	case c.Single:
		return 2
	}
	return 1
}

// encoder collects bytes.
type encoder struct {
	to    io.Writer
	bytes []byte
	err   error
}

// flush writes the bytes if there are more than a number of them.
func (e *encoder) flush(above int) {
	if len(e.bytes) > above && e.err == nil {
		_, e.err = e.to.Write(e.bytes)
		e.bytes = e.bytes[:0]
	}
}

// copyRow writes a row in the binary form of PostgreSQL's COPY: the number of fields, and each with its length.
func copyRow(e *encoder, t Table, row int) {
	b := binary.BigEndian.AppendUint16(e.bytes, uint16(len(t.Columns)))
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Null != nil && c.Null(row) {
			b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
			continue
		}
		switch c.kind() {
		case 0:
			b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(c.Integer(row)))
		case 1:
			b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), math.Float64bits(c.Number(row)))
		case 2:
			b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, 4), math.Float32bits(float32(c.Number(row))))
		case 3:
			s := c.Text(row)
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
		}
	}
	e.bytes = b
}

// rowBinary writes a row in the form RowBinary of ClickHouse.
func rowBinary(e *encoder, t Table, row int) {
	b := e.bytes
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Null != nil {
			if c.Null(row) {
				b = append(b, 1)
				continue
			}
			b = append(b, 0)
		}
		switch c.kind() {
		case 0:
			b = binary.LittleEndian.AppendUint64(b, uint64(c.Integer(row)))
		case 1:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Number(row)))
		case 2:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(c.Number(row))))
		case 3:
			s := c.Text(row)
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	e.bytes = b
}
