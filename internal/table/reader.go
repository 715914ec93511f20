package table

import (
	"io"
	"math"
	"slices"

	"toptau/diag"
	"toptau/schema"
)

// Reader reads a file in chunks, in memory that does not grow with the number of rows.
type Reader struct {
	file       string
	options    Options
	in         *input
	format     schema.FileFormat
	rows       rowSource
	table      Table
	missing    *missingSpellings
	labels     *labels
	labelsFile *labelsFile
	pace       pace
	outlook    outlook
	warnings   []diag.Warning
	schema     schema.Schema
	total      int    // rows returned
	packs      bool   // all rows are read into one table, whose columns are packed
	ended      error  // what the rows ended with
	finished   bool   // the end has been checked
	label      string // the label column's name
}

// rowSource is a format.
type rowSource interface {
	// more appends rows to t until it has limit rows. It returns io.EOF when there are no more.
	more(t *Table, limit int) error

	// check returns what only the end of the file shows to be wrong.
	check() error

	// finish adds what only the end of the file shows to the reader's schema and warnings.
	finish()

	// columnNames returns the names of all columns of the file.
	columnNames() []string
}

// Info is what reading a whole file shows beside its rows.
type Info struct {
	File         string
	Format       schema.FileFormat // "csv", "libsvm" or "idx"
	Delimiter    string            // for csv: comma, semicolon, tab, pipe, blank, none or the character
	Header       bool
	Compression  string // "", "gzip" or "zstd"
	Names        []string
	Rows         int
	Positives    int
	Negatives    int
	Unknowns     int          // rows without a label that is understood
	Labels       []LabelCount // by falling count; values beyond the first 1,000 are left out
	Digest       string       // SHA-256 of the uncompressed bytes, hexadecimal
	LabelsDigest string       // the same of the labels file, or empty
	Schema       schema.Schema
	Warnings     []diag.Warning
}

// Open opens a file, or standard input for "-", recognises what it is and reads its head. Errors are *diag.Error.
func Open(path string, o Options) (*Reader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	return start(in, o, defaultPace())
}

// NewReader reads from r; file is its name in errors.
func NewReader(file string, r io.Reader, o Options) (*Reader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	in, err := newInput(file, r)
	if err != nil {
		return nil, err
	}
	return start(in, o, defaultPace())
}

// start recognises the format; it closes what it opened when it fails.
func start(in *input, o Options, p pace) (*Reader, error) {
	r := &Reader{file: in.file, options: o, in: in, pace: p, table: Table{File: in.file}}
	if err := r.begin(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Reader) begin() error {
	o := &r.options
	spellings := o.Missing
	positive := o.Positive
	if o.Schema != nil {
		spellings = append(append([]string(nil), o.Schema.Missing...), o.Missing...)
		if len(positive) == 0 {
			positive = o.Schema.Positive
		}
	}
	r.missing = newMissing(spellings)
	rule, err := parseRule(positive)
	if err != nil {
		return err
	}
	r.labels = newLabels(rule, o.Unlabelled)
	if o.LabelsFile != "" {
		if o.LabelsFile == "-" && r.file == "-" {
			return usage("standard input for the data and the labels", "different files", "")
		}
		if r.labelsFile, err = openLabels(o.LabelsFile); err != nil {
			return err
		}
	}
	p, source, err := readPrefix(r.in)
	if err != nil {
		return err
	}
	if r.format = o.Format.Format; r.format == "" || r.format == "auto" {
		r.format = formatOf(p)
		if r.format == "libsvm" && o.Delimiter != "" && o.Delimiter != "auto" {
			r.format = "csv"
		}
	}
	r.schema = schema.Schema{Format: r.format, Positive: positive, Missing: spellings}
	switch r.format {
	case "libsvm":
		r.rows, err = newLIBSVMRows(r, source)
	case "idx":
		r.rows, err = newIDXRows(r, source)
	default:
		r.rows, err = newDelimitedRows(r, p, source)
	}
	return err
}

// defaultChunk is the rows of a chunk when Next is not told.
const defaultChunk = 1000

// Next returns at most maxRows further rows (1,000 when maxRows is not positive), at least one, valid until the
// following call; io.EOF at the end; or a *diag.Error, which every further call returns again. What only the whole
// file can show (a class that never occurs, labels that need --positive) is reported in place of io.EOF.
func (r *Reader) Next(maxRows int) (*Table, error) {
	if maxRows <= 0 {
		maxRows = defaultChunk
	}
	for r.ended == nil {
		r.table.reset()
		r.ended = r.rows.more(&r.table, maxRows)
		if r.labels.bad || r.ended != nil && r.ended != io.EOF {
			continue // bad labels are counted to the end, for the message
		}
		if n := r.table.Rows(); n > 0 {
			r.total += n
			return &r.table, nil
		}
	}
	return nil, r.finish()
}

// finish checks what only the whole file shows, once, and returns io.EOF or the error.
func (r *Reader) finish() error {
	if r.finished || r.ended != io.EOF {
		return r.ended
	}
	r.finished = true
	if err := r.check(); err != nil {
		r.ended = err
		return err
	}
	r.rows.finish()
	return r.ended
}

func (r *Reader) check() error {
	if r.labelsFile != nil {
		if err := r.labelsFile.end(r.file); err != nil {
			return err
		}
	}
	if r.total == 0 && !r.labels.bad {
		e := &diag.Error{Kind: diag.Data, File: r.file, Found: "no rows", Expected: "rows"}
		if r.options.Weight != "" {
			e.Found, e.Expected = "no row with a weight above 0", "some"
		}
		return e
	}
	if err := r.rows.check(); err != nil || r.options.Unlabelled {
		return err
	}
	e := diag.Error{Kind: diag.Data, File: r.file, Column: r.label}
	if r.labelsFile != nil {
		e.File = r.labelsFile.file
	}
	if r.options.Schema == nil || len(r.options.Positive) > 0 {
		if err := r.labels.checkRule(e); err != nil {
			return err
		}
	}
	if err := r.labels.checkPair(e); err != nil || r.options.Schema != nil {
		return err
	}
	return r.labels.checkClasses(e)
}

// count returns the class of a row's label, nil for none.
func (r *Reader) count(label []byte) Class {
	if label == nil {
		return r.labels.missing()
	}
	return r.labels.classOf(label)
}

// warn adds a warning.
func (r *Reader) warn(code, text string) {
	r.warnings = append(r.warnings, diag.Warning{Code: code, Text: text})
}

// Names returns the names of all columns of the file, for Table.Raw.
func (r *Reader) Names() []string { return r.rows.columnNames() }

// Warnings returns what was done with the data that a user should know; complete at the end.
func (r *Reader) Warnings() []diag.Warning { return r.warnings }

// Digest returns the SHA-256 of the uncompressed bytes in hexadecimal, valid at the end.
func (r *Reader) Digest() string { return r.in.sum() }

// Schema returns what a model needs to read another file the same way; the dictionaries are complete at the end.
func (r *Reader) Schema() schema.Schema {
	s := r.schema
	for _, c := range r.table.Columns {
		s.Columns = append(s.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: c.Kind,
			Dictionary: slices.Clone(c.Dictionary)})
	}
	return s
}

// Info returns what reading showed; complete at the end.
func (r *Reader) Info() Info {
	i := Info{
		File: r.file, Format: r.format, Header: r.schema.Header, Compression: r.in.compression, Names: r.Names(),
		Rows: r.total, Positives: r.labels.counts[Positive], Negatives: r.labels.counts[Negative],
		Unknowns: r.labels.lost, Labels: r.labels.list(), Digest: r.Digest(), Schema: r.Schema(), Warnings: r.warnings,
	}
	if d, ok := r.rows.(*delimitedRows); ok {
		i.Delimiter = delimiterName(d.records.delimiter)
	}
	if r.labelsFile != nil {
		i.LabelsDigest = r.labelsFile.in.sum()
	}
	return i
}

// Close closes the file. The tables that were returned stay valid.
func (r *Reader) Close() error {
	err := r.in.Close()
	if r.labelsFile != nil {
		if e := r.labelsFile.in.Close(); err == nil {
			err = e
		}
	}
	return err
}

// Read reads a whole file into one table.
func Read(path string, o Options) (*Table, *Info, error) {
	r, err := Open(path, o)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	return r.all()
}

// all reads what is left into one table.
func (r *Reader) all() (*Table, *Info, error) {
	r.packs = r.options.Packed
	t, err := r.Next(math.MaxInt)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	if err := r.finish(); err != io.EOF {
		return nil, nil, err
	}
	if err := t.checkWeights(r.options.Weight); err != nil {
		return nil, nil, err
	}
	if r.packs {
		t.pack(true)
		t.dropLines()
	}
	info, whole := r.Info(), *t // the copy lets go of the Reader
	return &whole, &info, nil
}
