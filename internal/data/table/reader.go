package table

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"

	"toptau/diag"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// Reader reads a file in chunks, in memory that does not grow with the number of rows.
type Reader struct {
	file       string
	options    Options
	in         *input
	format     *format
	rows       rowSource
	table      Table
	missing    *missingSpellings
	labels     *labels
	labelsFile *labelsFile
	policy     chunkPolicy
	outlook    outlook
	warnings   []diag.Warning
	schema     schema.Schema
	total      int          // rows returned
	files      *Files       // the files of the table, nil for another source
	more       []string     // the files that follow
	active     *Reader      // of the current file: this one, or that of a further file
	first      *Reader      // of the first file, if this one reads a further file
	several    bool         // several files make the table
	digests    bytes.Buffer // of the files that were closed
	packs      bool         // all rows go to one table with packed columns
	framed     bool         // features may stay in a packed file
	stays      *packed.File // the file that stays open for a Frame; nil: none
	ended      error        // the error that ended the rows, io.EOF at the end
	finished   bool         // the end has been checked
	label      string       // the name of the label column
}

// Info describes a file that was read to its end.
type Info struct {
	File         string
	Format       schema.FileFormat
	Delimiter    string // of delimited text: comma, semicolon, tab, pipe, blank, none or the character
	Header       bool   // whether the file names its columns
	Compression  string // "", "gzip" or "zstd"
	Names        []string
	Rows         int
	Positives    int
	Negatives    int
	Unknowns     int          // rows whose class is Unknown
	Labels       []LabelCount // the most frequent first; at most 1,000
	Digest       string       // SHA-256 of the uncompressed bytes in hexadecimal; see Options.Undigested
	LabelsDigest string       // the same of the labels file; "" without one
	Schema       schema.Schema
	Warnings     []diag.Warning
}

// refuseColumns refuses options that name columns, for a format without names. label is Options.Label, or ""
// if the format accepts it.
func (r *Reader) refuseColumns(label string) error {
	o := &r.options
	for _, f := range []struct {
		param string
		set   bool
	}{
		{"label", label != ""}, {"weight", o.Weight != ""}, {"group", o.Group != ""}, {"segment", o.Segment != ""},
		{"time", o.Time != ""}, {"date", len(o.Date) > 0}, {"address", len(o.Address) > 0}, {"id", len(o.ID) > 0}, {"categorical", len(o.Categorical) > 0},
		{"numeric", len(o.Numeric) > 0}, {"by", len(o.Kept) > 0},
	} {
		if f.set {
			return r.refusal(f.param)
		}
	}
	return nil
}

// refusal is the error of an option that the format does not have.
func (r *Reader) refusal(param string) error {
	return &diag.Error{Kind: diag.Usage, Param: param, Found: "with " + r.format.words,
		Expected: "delimited text"}
}

// defaultChunk is the number of rows that Next returns by default.
const defaultChunk = 1000

// countLabel counts the label of a row and returns its class. nil is a missing label.
func (r *Reader) countLabel(label []byte) Class {
	if label == nil {
		return r.labels.countMissing()
	}
	return r.labels.classOf(label)
}

func (r *Reader) warn(code, text string) {
	r.warnings = append(r.warnings, diag.Warning{Code: code, Text: text})
}

// Names returns the names of all columns of the file, in the order of the fields in Table.Raw.
func (r *Reader) Names() []string { return r.rows.columnNames() }

// Warnings returns the warnings so far. The list is complete at the end.
func (r *Reader) Warnings() []diag.Warning { return r.warnings }

// Digest returns the SHA-256 of the uncompressed bytes in hexadecimal. It is valid at the end.
// That of several files is the digest of their digests, each with a line end. It is empty with Options.Undigested.
func (r *Reader) Digest() string {
	if !r.several || r.options.Undigested {
		return r.in.sum()
	}
	sum := sha256.Sum256(append([]byte(r.in.sum()+"\n"), r.digests.Bytes()...))
	return hex.EncodeToString(sum[:])
}

// Schema returns the schema for reading another file the same way. Its dictionaries are complete at the end.
func (r *Reader) Schema() schema.Schema {
	s := r.schema
	s.Labels, s.OtherLabels = r.labels.kept()
	for _, c := range r.table.Columns {
		s.Columns = append(s.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: c.Kind,
			Part: c.Part, Source: c.Source, Origin: c.Origin, Salt: c.Salt, Unit: c.Unit, Dictionary: slices.Clone(c.Dictionary)})
	}
	return s
}

// keepBadRow adds a bad row to the table, from which it removes what the row has left. It returns err if the
// row is not the cause.
func (r *Reader) keepBadRow(t *Table, err error, bad BadRow) error {
	e := diag.Of(err)
	if !r.options.keepsBadRows() || e == nil || e.Kind != diag.Data || e.File != r.file || e.Line == 0 {
		return err
	}
	t.truncate(len(t.Line))
	bad.Before, bad.Err = len(t.Line), err
	t.Bad = append(t.Bad, bad)
	return nil
}

// wrongFormat is the error of a file that stores its rows differently from the model's training file.
func (r *Reader) wrongFormat() error {
	expected := "a file with columns, as the model was trained on"
	if r.options.Schema.Sparse() {
		expected = "a LIBSVM file, as the model was trained on"
	}
	return &diag.Error{Kind: diag.Model, File: r.file, Found: r.format.words, Expected: expected}
}

// format is a way to store a table. A further format needs a file that reads it and a line in formats.
type format struct {
	name    schema.FileFormat
	words   string // how messages describe such a file
	detects func(p prefix, o *Options) bool
	newRows func(r *Reader, p prefix, source io.Reader) (rowSource, error)
}

// rowSource reads the rows of one format. Formats with columns embed an assembler, which implements
// everything except appendRows.
type rowSource interface {
	// appendRows appends rows to t until it has limit rows. It returns io.EOF after the last row of the file.
	appendRows(t *Table, limit int) error

	// checkEnd returns an error that only the end of the file shows.
	checkEnd() error

	// finish adds to the reader's schema and warnings what only the end of the file shows.
	finish()

	// join lets the source continue the table of the first of several files. The columns match already.
	join(first rowSource)

	// columnNames returns the names of all columns of the file.
	columnNames() []string
}
