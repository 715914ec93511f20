// Package dataset reads labelled rows, for packages that train on them, measure them and decide about them. Read and Rows.Data return
// Data. An Entry is a ranking of rows: the scores of a model or of another program.
//
// Errors that the user can fix have a diag.Error in their chain.
package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/training/rowset"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// Data is labelled rows in memory, in a packed file or in a database.
type Data struct {
	set *rowset.Set
}

func init() {
	rowset.Wrap = func(s *rowset.Set) any { return &Data{s} }
	rowset.Of = func(d any) *rowset.Set {
		if d := d.(*Data); d != nil {
			return d.set
		}
		return nil
	}
}

// Read reads a labelled file. The path "-" is standard input. A diag.Error gives the file, line and column of a
// problem, what was found and expected, and how to fix it. errors.Is(err, fs.ErrNotExist) holds for a missing
// file.
func Read(ctx context.Context, path string, f schema.Format) (*Data, error) {
	o := table.Options{Format: f, Schema: f.Schema(), Packed: true, Context: ctx}
	return readData(func() (*table.Reader, error) { return table.Open(path, o) }, o)
}

// ReadFrom reads labelled rows from r until EOF. In errors the file is r.Name() if r has that method,
// otherwise "input".
func ReadFrom(ctx context.Context, r io.Reader, f schema.Format) (*Data, error) {
	o := table.Options{Format: f, Schema: f.Schema(), Packed: true, Context: ctx}
	return readData(func() (*table.Reader, error) { return table.NewReader(table.NameOf(r), r, o) }, o)
}

// OpenFiles returns several files for ReadFrom, Score and Explain, which read them as one table. The first
// file decides the format, the columns and their kinds, and the others must fit it. An error names the file.
// A directory stands for the files in it, and a pattern such as "flows/*.csv" for the files that match it,
// in the order of their names. Read accepts such paths, too.
func OpenFiles(paths ...string) (io.ReadCloser, error) { return table.OpenFiles(paths...) }

func readData(open func() (*table.Reader, error), o table.Options) (*Data, error) {
	start := time.Now()
	r, err := open()
	if err != nil {
		return nil, err
	}
	if s := o.Schema; s != nil && o.LabelsFile == "" && o.Label == "" && s.Label == nil && s.Format == schema.CSV {
		r.Close()
		return nil, &diag.Error{Kind: diag.Usage, Param: "labels-file",
			Expected: "the labels, because those of the training data are in a separate file",
			Fixes:    []diag.Fix{{Param: "labels-file", Value: "FILE"}}, Hint: "or put the label into the file"}
	}
	f, info, err := r.ReadFrame()
	if err != nil {
		return nil, err
	}
	return &Data{&rowset.Set{Frame: f, Table: f.Head(), Info: *info, Memory: o.Memory, Seconds: time.Since(start).Seconds()}}, nil
}

// Close closes the packed file that the data stay in, if there is one. The data cannot be used afterwards.
func (d *Data) Close() error { return d.set.Frame.Close() }

// LimitMemory sets how many bytes the rows of a packed file may take in memory, which at first are those of Format.Memory. Verbs leave rows
// that need more in the file, and read them in passes. 0 is half of the free memory.
func (d *Data) LimitMemory(bytes int64) { d.set.Memory = bytes }

// Rows are labelled rows in memory. Columns with numbers come first, then columns with text.
type Rows struct {
	Columns     []string    // names of the numeric columns
	Numbers     [][]float64 // Numbers[i][j] is column j of row i: finite, or NaN if missing
	TextColumns []string    // names of the categorical columns
	Texts       [][]string  // Texts[i][j] is text column j of row i; "" if missing
	Positive    []bool      // the label of each row
	Weight      []float64   // importance weights; nil: all 1
	Group       []string    // rows with equal values are never split between parts of the data; nil: no groups
	Time        []string    // values that order the rows; nil: no order
	ID          []string    // identifiers of the rows; nil: no identifiers
}

// Data returns a copy of the rows as Data. It returns an error of kind data if lengths differ, a class has no
// rows, a column name is missing or used twice, or a number or weight is out of range.
func (r Rows) Data() (*Data, error) {
	n := len(r.Positive)
	if err := r.check(); err != nil {
		return nil, err
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
			c.Values, err = r.numericColumn(j)
		} else {
			c.Kind = schema.Categorical
			c.Codes, c.Dictionary, err = r.textColumn(j - len(r.Columns))
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
	if info.Positives == 0 || info.Negatives == 0 {
		return nil, badRows(fmt.Sprintf("%d rows, %d of them positive", n, info.Positives), "rows of both classes")
	}
	textOf := func(name string, values []string) *table.Text {
		if values == nil {
			return nil
		}
		return &table.Text{Name: name, Values: slices.Clone(values)}
	}
	t.Group, t.Time = textOf("group", r.Group), textOf("time", r.Time)
	if id := textOf("id", r.ID); id != nil {
		t.ID = []table.Text{*id}
	}
	return &Data{&rowset.Set{Frame: t.Frame(), Table: t, Info: info}}, nil
}

// check returns an error for lengths that differ, and for weights out of range.
func (r *Rows) check() error {
	for _, part := range []struct {
		name   string
		length int
		needed bool
	}{{"rows of numbers", len(r.Numbers), len(r.Columns) > 0}, {"rows of texts", len(r.Texts), len(r.TextColumns) > 0},
		{"weights", len(r.Weight), false}, {"groups", len(r.Group), false}, {"times", len(r.Time), false}, {"ids", len(r.ID), false}} {
		if n := len(r.Positive); part.length != n && (part.length != 0 || part.needed) {
			return badRows(fmt.Sprintf("%d %s and %d labels", part.length, part.name, n), "one for each row")
		}
	}
	for i, w := range r.Weight {
		if !(w >= 0) || math.IsInf(w, 1) {
			return badRows(fmt.Sprintf("weight %v of row %d", w, i+1), "a finite number of at least 0")
		}
	}
	return nil
}

// numericColumn returns the values of a numeric column.
func (r *Rows) numericColumn(j int) ([]float64, error) {
	values := make([]float64, len(r.Numbers))
	for i, row := range r.Numbers {
		if len(row) != len(r.Columns) {
			return nil, badRows(fmt.Sprintf("row %d has %d numbers", i+1, len(row)), fmt.Sprintf("%d, one for each column", len(r.Columns)))
		}
		if values[i] = row[j]; math.IsInf(row[j], 0) {
			return nil, &diag.Error{Kind: diag.Data, Row: i + 1, Column: r.Columns[j], Found: fmt.Sprint(row[j]),
				Expected: "a finite number, or NaN for a missing one"}
		}
	}
	return values, nil
}

// textColumn returns the category codes of a text column (-1: missing) and the categories in order of
// appearance.
func (r *Rows) textColumn(j int) (codes []int32, dictionary []string, err error) {
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

// Format returns the format for reading another file like d, for example validation, test or calibration
// rows.
func (d *Data) Format() schema.Format { return schema.Format{}.Like(d.set.Info.Schema) }

// Len returns the number of rows.
func (d *Data) Len() int { return d.set.Len() }

// Positives returns the number of positive rows.
func (d *Data) Positives() int { return d.set.Positives() }

// File returns the file that the data were read from, "" for rows of a program or a database.
func (d *Data) File() string { return d.set.Table.File }

// Digest returns the digest of the data in the form that a model keeps, "" if it is not known.
func (d *Data) Digest() string { return d.set.Digest() }

// Entry is one ranking of rows. Exactly one of Model, Scores, Column and File is set.
//
// File has the scores of another program: delimited text, plain or compressed. Its scores are in the column
// "score", or in the only column that is neither id nor label. If the data have id columns, the file must have
// them too, and scores are joined by id. Without ids in the data, or if the file has a column "row" instead of
// them, scores are joined by that column of 1-based row numbers, or else by position. Scores of other rows are
// ignored. A row that occurs twice or has no score is an error. A column of labels, named as in the data or
// "label", must have the same labels. Scores that are joined by position and have no labels must not look
// unrelated to the labels of the data.
type Entry struct {
	Name   string        // names the entry in results; a single entry needs none
	Model  *model.Model  // scores the rows
	Scores []float64     // one score for each row of the data; NaN is a missing score
	Column string        // numeric column of the data that holds the scores
	File   string        // file with the scores
	Format schema.Format // of File; the zero value is usually enough, because ids and the spelling of labels come from the data

	Origin *result.Origin // set by Train
}
