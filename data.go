package toptau

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
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

	whole     *Data // the data that the rows were selected from; nil: none
	wholeRows []int // their numbers there
}

// matrix packs all rows. release frees the columns as they are packed.
func (d *Data) matrix(ctx context.Context, m *feature.Map, s matrix.Storage, release bool) (*matrix.Matrix, error) {
	if !release {
		x, err := m.MatrixContext(ctx, d.table, nil, s)
		return x, d.inFile(err)
	}
	x, err := m.Consume(ctx, d.table, s)
	err = d.inFile(err)
	d.table.Line = nil // no message will name a row any more
	return x, err
}

// Read reads a labelled file; "-" is standard input. Errors say where the problem is, what was found, what was expected, and how
// to fix it.
func Read(ctx context.Context, path string, f Format) (*Data, error) {
	o := table.Options{Format: f, Schema: f.Schema(), Packed: true, Context: ctx}
	return readData(func() (*table.Reader, error) { return table.Open(path, o) }, o)
}

// ReadFrom reads labelled rows from r until EOF. Errors name r by its method Name, if it has one.
func ReadFrom(ctx context.Context, r io.Reader, f Format) (*Data, error) {
	o := table.Options{Format: f, Schema: f.Schema(), Packed: true, Context: ctx}
	return readData(func() (*table.Reader, error) { return table.NewReader(readerName(r), r, o) }, o)
}

func readData(open func() (*table.Reader, error), o table.Options) (*Data, error) {
	start := time.Now()
	r, err := open()
	if err != nil {
		return nil, err
	}
	if s := o.Schema; s != nil && o.LabelsFile == "" && o.Label == "" && s.Label == nil && s.Format == schema.CSV {
		r.Close()
		return nil, &diag.Error{Kind: diag.Usage, Found: "labels in a file of their own",
			Expected: "one labelled file", Hint: "put the label into the file", Fixes: []diag.Fix{{Param: "labels-file", Value: "FILE"}}}
	}
	t, info, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	return &Data{table: t, info: *info, seconds: time.Since(start).Seconds()}, nil
}

// tableOptions returns the options for reading a file as m's training file was read.
func tableOptions(m *model.Model, f Format) (table.Options, error) {
	trained := m.Format()
	s := trained.Schema()
	o := table.Options{Format: f, Schema: s}
	for _, p := range m.Points() { // without its column, or with another one, every row would get the point's general threshold
		switch {
		case p.Segment == "" || p.Segment == o.Segment:
		case o.Segment == "":
			o.Segment = p.Segment
		default:
			return o, &diag.Error{Kind: diag.Usage, Param: "segment", Found: diag.Quote(o.Segment),
				Expected: "the column " + diag.Quote(p.Segment) + " of the operating point " + diag.Quote(p.Name), Hint: "use that, or set none"}
		}
	}
	return o, nil
}

// Rows are labelled rows in memory. Columns with numbers come first, then columns with text.
type Rows struct {
	Columns     []string    // names of the numeric columns
	Numbers     [][]float64 // Numbers[i][j] is the value of column j in row i: finite, or NaN for a missing value
	TextColumns []string    // names of the categorical columns
	Texts       [][]string  // Texts[i][j] is the category of row i in text column j; "" is a missing value
	Positive    []bool      // the label of each row
	Weight      []float64   // importance weights; nil: all 1
	Group       []string    // rows with equal values are never split between parts; nil: none
	Time        []string    // orders the rows; nil: none
	ID          []string    // identifies the rows; nil: none
}

// Data returns the rows as Data, which shares no memory with them.
func (r Rows) Data() (*Data, error) {
	n := len(r.Positive)
	for name, length := range map[string]int{"rows of numbers": len(r.Numbers), "rows of texts": len(r.Texts), "weights": len(r.Weight),
		"groups": len(r.Group), "times": len(r.Time), "ids": len(r.ID)} {
		if length != n && (length != 0 || name == "rows of numbers" && len(r.Columns) > 0 || name == "rows of texts" && len(r.TextColumns) > 0) {
			return nil, badRows(fmt.Sprintf("%d %s and %d labels", length, name, n), "one for each row")
		}
	}
	t := &table.Table{Line: make([]int, n), Weight: slices.Clone(r.Weight)}
	info := table.Info{Format: schema.CSV, Header: true, Rows: n,
		Schema: schema.Schema{Format: schema.CSV, Header: true, Width: len(r.Columns) + len(r.TextColumns)}}
	seen := map[string]bool{}
	for j, name := range slices.Concat(r.Columns, r.TextColumns) {
		if name == "" || seen[name] {
			return nil, badRows(fmt.Sprintf("the name %s for column %d", diag.Quote(name), j+1), "a name that no other column has")
		}
		seen[name] = true
		c := table.Column{Name: name, Number: j + 1, Kind: schema.Numeric}
		var err error
		if j < len(r.Columns) {
			c.Values, err = r.numbers(j)
		} else {
			c.Kind = schema.Categorical
			c.Codes, c.Dictionary, err = r.texts(j - len(r.Columns))
		}
		if err != nil {
			return nil, err
		}
		t.Columns = append(t.Columns, c)
		info.Schema.Columns = append(info.Schema.Columns, schema.Column{Name: name, Number: j + 1, Kind: c.Kind})
	}
	for i, positive := range r.Positive {
		class := table.Negative
		if positive {
			class = table.Positive
			info.Positives++
		}
		t.Label = append(t.Label, class)
		t.Line[i] = i + 1
	}
	info.Negatives = n - info.Positives
	for i, w := range r.Weight {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, badRows(fmt.Sprintf("weight %v of row %d", w, i+1), "a finite number of at least 0")
		}
	}
	keep := func(name string, values []string) *table.Text {
		if values == nil {
			return nil
		}
		return &table.Text{Name: name, Values: slices.Clone(values)}
	}
	t.Group, t.Time = keep("group", r.Group), keep("time", r.Time)
	if id := keep("id", r.ID); id != nil {
		t.ID = []table.Text{*id}
	}
	return &Data{table: t, info: info}, nil
}

func (r *Rows) numbers(j int) ([]float64, error) {
	values := make([]float64, len(r.Numbers))
	for i, row := range r.Numbers {
		if len(row) != len(r.Columns) {
			return nil, badRows(fmt.Sprintf("row %d has %d numbers", i+1, len(row)), fmt.Sprintf("%d, one for each column", len(r.Columns)))
		}
		if values[i] = row[j]; math.IsInf(row[j], 0) {
			return nil, badRows(fmt.Sprintf("row %d, column %q: %v", i+1, r.Columns[j], row[j]), "a finite number, or NaN for a missing one")
		}
	}
	return values, nil
}

// texts returns the codes of a text column's categories, -1 for a missing value, and the categories in order of appearance.
func (r *Rows) texts(j int) (codes []int32, dictionary []string, err error) {
	known := map[string]int32{"": -1}
	for i, row := range r.Texts {
		if len(row) != len(r.TextColumns) {
			return nil, nil, badRows(fmt.Sprintf("row %d has %d texts", i+1, len(row)), fmt.Sprintf("%d, one for each column", len(r.TextColumns)))
		}
		code, found := known[row[j]]
		if !found {
			code = int32(len(dictionary))
			known[row[j]] = code
			dictionary = append(dictionary, row[j])
		}
		codes = append(codes, code)
	}
	return codes, dictionary, nil
}

func badRows(found, expected string) error {
	return &diag.Error{Kind: diag.Data, Found: found, Expected: expected}
}

// Format returns the format for reading a further file like d: validation, test and calibration parts.
func (d *Data) Format() Format { return Format{}.Like(d.info.Schema) }

// Len returns the number of rows.
func (d *Data) Len() int { return d.info.Rows }

// Positives returns the number of positive rows.
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
