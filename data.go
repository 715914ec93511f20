package toptau

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/model"
	"toptau/schema"
)

// Format describes how a file is read. The zero value detects everything except the label, which delimited text requires.
type Format = schema.Format

// Warning is something that the user should know and that is not an error.
type Warning = diag.Warning

// Data is a labelled table in memory.
type Data struct {
	table   *table.Table
	info    table.Info
	seconds float64
	once    bool // Spend was called

	whole     *Data // that the rows were selected from; nil: none
	wholeRows []int // their numbers there
}

// Spend says that d is needed for one Fit or Diagnose only. That call then gives up d's columns while it packs them, so that
// less memory is in use at a time; any other use of d's columns fails afterwards.
func (d *Data) Spend() { d.once = true }

// matrix packs all rows.
func (d *Data) matrix(ctx context.Context, m *feature.Map, s matrix.Storage) (*matrix.Matrix, error) {
	pack := func() (*matrix.Matrix, error) { return m.MatrixContext(ctx, d.table, nil, s) }
	if d.once {
		pack = func() (*matrix.Matrix, error) { return m.Consume(ctx, d.table, s) }
		defer func() { d.table.Line = nil }() // no message will name a row any more
	}
	x, err := pack()
	return x, d.inFile(err)
}

// Read reads a labelled file, "-" for standard input. Errors say where, what was found, what was expected and what to do.
func Read(path string, f Format) (*Data, error) { return read(path, table.Options{Format: f}) }

// ReadFor reads a labelled file as m's training file was read: the columns are matched by name, or by number where there is
// no header, and f adds to or replaces what the model recorded. The columns of other models that score the same rows are
// read, too.
func ReadFor(m *model.Model, path string, f Format, others ...*model.Model) (*Data, error) {
	o, err := optionsFor(m, f)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if err := addColumns(o.Schema, other.Schema()); err != nil {
			return nil, err
		}
	}
	return read(path, o)
}

func optionsFor(m *model.Model, f Format) (table.Options, error) {
	trained := m.Schema()
	o := table.Options{Format: f, Schema: &trained}
	for _, p := range m.Points() { // without its column, or by another one, every row would get the point's general threshold
		switch {
		case p.Segment == "" || p.Segment == o.Segment:
		case o.Segment == "":
			o.Segment = p.Segment
		default:
			return o, &diag.Error{Kind: diag.Usage, Found: "--segment " + diag.Quote(o.Segment),
				Expected: "the column " + diag.Quote(p.Segment) + " of the operating point " + diag.Quote(p.Name),
				Hint:     "use that, or leave out --segment"}
		}
	}
	return o, nil
}

func read(path string, o table.Options) (*Data, error) {
	start := time.Now()
	o.Packed = true
	t, info, err := table.Read(path, o)
	if err != nil {
		return nil, err
	}
	return &Data{table: t, info: *info, seconds: time.Since(start).Seconds()}, nil
}

// FromRows makes Data of numbers in memory: rows[i][j] is the value of column j in row i. The values must be finite, the
// names of the columns different.
func FromRows(columns []string, rows [][]float64, positive []bool) (*Data, error) {
	if len(rows) != len(positive) {
		return nil, mismatch(fmt.Sprintf("%d rows and %d labels", len(rows), len(positive)), "as many labels as rows")
	}
	t := &table.Table{Columns: make([]table.Column, len(columns))}
	info := table.Info{Format: "csv", Header: true, Rows: len(rows)}
	info.Schema = schema.Schema{Format: "csv", Header: true, Width: len(columns)}
	seen := make(map[string]bool, len(columns))
	for j, name := range columns {
		if name == "" || seen[name] {
			return nil, mismatch(fmt.Sprintf("the name %s for column %d", diag.Quote(name), j+1),
				"a name that no other column has")
		}
		seen[name] = true
		t.Columns[j] = table.Column{Name: name, Number: j + 1, Kind: schema.Numeric, Values: make([]float64, len(rows))}
		info.Schema.Columns = append(info.Schema.Columns, schema.Column{Name: name, Number: j + 1, Kind: schema.Numeric})
	}
	for i, row := range rows {
		if len(row) != len(columns) {
			return nil, mismatch(fmt.Sprintf("row %d has %d values", i, len(row)), fmt.Sprintf("%d, one a column", len(columns)))
		}
		for j, x := range row {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, mismatch(fmt.Sprintf("row %d, column %q: %s", i, columns[j], strconv.FormatFloat(x, 'g', -1, 64)),
					"a finite number")
			}
			t.Columns[j].Values[i] = x
		}
		class := table.Negative
		info.Negatives++
		if positive[i] {
			class = table.Positive
			info.Negatives--
			info.Positives++
		}
		t.Label = append(t.Label, class)
		t.Line = append(t.Line, i+1)
	}
	return &Data{table: t, info: info}, nil
}

func mismatch(found, expected string) error {
	return &diag.Error{Kind: diag.Data, Found: found, Expected: expected}
}

// Rows is the number of rows.
func (d *Data) Rows() int { return d.info.Rows }

// Positives is the number of positive rows.
func (d *Data) Positives() int { return d.info.Positives }

// masses are the sums of the row weights, of all rows and of the positives; 0 where rows have none.
func (d *Data) masses() (total, positive float64) {
	for i, m := range d.table.Weight {
		total += m
		if d.table.Label[i] == table.Positive {
			positive += m
		}
	}
	return total, positive
}

// digest is the digest of the data as a model keeps it.
func (d *Data) digest() string {
	if d.info.Digest == "" {
		return ""
	}
	return "sha256:" + d.info.Digest
}

// warnings returns the warnings of reading. The list is never nil, so that JSON has a list.
func (d *Data) warnings() []Warning { return append([]Warning{}, d.info.Warnings...) }

// inFile names the data's file in an error about a row of it.
func (d *Data) inFile(err error) error {
	if e := diag.Of(err); e != nil && e.File == "" && e.Line > 0 {
		e.File = d.table.File
	}
	return err
}
