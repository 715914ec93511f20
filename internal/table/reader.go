package table

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/packed"
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
	Digest       string       // SHA-256 of the uncompressed bytes in hexadecimal
	LabelsDigest string       // the same of the labels file; "" without one
	Schema       schema.Schema
	Warnings     []diag.Warning
}

// NewReader detects the format of r and reads the first rows. file is the name of r in errors. If it is
// empty, the name is that of r's method Name, which files have. Errors are *diag.Error.
func NewReader(file string, r io.Reader, o Options) (*Reader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if files, ok := r.(*Files); ok {
		return newFilesReader(files, o, defaultPolicy())
	}
	if named, ok := r.(interface{ Name() string }); ok && file == "" {
		file = named.Name()
	}
	in, err := newInput(file, r)
	if err != nil {
		return nil, err
	}
	return newReader(in, o, defaultPolicy())
}

// Open opens the files of a path (see OpenFiles), or standard input for "-", and returns their NewReader.
func Open(path string, o Options) (*Reader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	files, err := OpenFiles(path)
	if err != nil {
		return nil, err
	}
	return newFilesReader(files, o, defaultPolicy())
}

// newReader starts to read. It closes its input if that fails.
func newReader(in *input, o Options, p chunkPolicy) (*Reader, error) {
	in.context = o.Context
	r := &Reader{file: in.file, options: o, in: in, policy: p, table: Table{File: in.file}}
	r.active = r
	if err := r.start(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// start detects the format and prepares labels and rows.
func (r *Reader) start() error {
	if err := r.startLabels(); err != nil {
		return err
	}
	p, source, err := r.readPrefix()
	if err != nil {
		return err
	}
	if r.format = formatNamed(r.options.Format.Format); r.format == nil {
		r.format = detectFormat(p, &r.options)
	}
	if r.first != nil && r.format.name != r.first.format.name {
		return r.otherFormat()
	}
	if err := r.checkPartitionFormat(); err != nil {
		return err
	}
	r.schema.Format = r.format.name
	r.rows, err = r.format.newRows(r, p, source)
	return err
}

// readPrefix returns what decides the format, and a reader of the whole file.
func (r *Reader) readPrefix() (prefix, io.Reader, error) {
	if r.options.Live {
		r.in.readAhead()
	}
	if r.in.live != nil {
		return r.in.live.readFirstLine(r.in)
	}
	return readPrefix(r.in)
}

// startLabels prepares labels and missing values from the options and the schema.
func (r *Reader) startLabels() error {
	o := &r.options
	spellings, positive := o.Missing, o.Positive
	if o.Schema != nil {
		spellings = slices.Concat(o.Schema.Missing, o.Missing)
		if len(positive) == 0 {
			positive = o.Schema.Positive
		}
	}
	r.schema = schema.Schema{Positive: positive, Missing: spellings}
	r.schema.Decimal = o.Decimal
	if o.Schema != nil {
		r.schema.Decimal = cmp.Or(o.Decimal, o.Schema.Decimal)
	}
	r.missing = newMissing(spellings)
	r.missing.setDecimal(r.schema.Decimal)
	rule, err := parseRule(positive)
	if err != nil {
		return err
	}
	r.labels = newLabels(rule, o.Unlabelled)
	if o.LabelsFile == "" {
		return nil
	}
	if o.LabelsFile == "-" && r.file == "-" {
		return &diag.Error{Kind: diag.Usage, Found: "standard input for the data and the labels",
			Expected: "different files"}
	}
	r.labelsFile, err = openLabels(o.LabelsFile)
	return err
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

// Next returns at least one and at most maxRows further rows (by default 1,000), valid until the following
// call. With Options.Live it does not wait for more rows if it has some, and returns those before an error. It returns io.EOF at the end, or a *diag.Error, which every further call returns again. An error that
// only the whole file shows, such as a class without rows, takes the place of io.EOF.
func (r *Reader) Next(maxRows int) (*Table, error) {
	if maxRows <= 0 {
		maxRows = defaultChunk
	}
	for r.ended == nil {
		r.table.reset()
		r.ended = r.appendRows(&r.table, maxRows)
		if r.options.Live && r.ended != nil {
			r.table.truncate(len(r.table.Line)) // rows before an error count, for a stream
		} else if r.labels.bad || r.ended != nil && r.ended != io.EOF {
			continue // bad labels are counted to the end, for the message
		}
		if n := r.table.Rows(); n+len(r.table.Bad) > 0 {
			r.total += n
			if err := r.active.in.checkExpansion(r.total, nil); err != nil {
				r.ended = err
				return nil, err
			}
			return &r.table, nil
		}
	}
	return nil, r.finish()
}

// finish checks at the end, once, what only the whole file shows. It returns io.EOF or the error.
func (r *Reader) finish() error {
	if r.finished || r.ended != io.EOF {
		return r.ended
	}
	r.finished = true
	if err := r.checkEnd(); err != nil {
		r.ended = err
		return err
	}
	r.rows.finish()
	if r.active != r {
		r.closeFile(r.active)
	}
	return r.ended
}

func (r *Reader) checkEnd() error {
	if r.labelsFile != nil {
		if err := r.labelsFile.checkEnd(r.file); err != nil {
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
	if err := r.active.rows.checkEnd(); err != nil || r.options.Unlabelled {
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
// That of several files is the digest of their digests, each with a line end.
func (r *Reader) Digest() string {
	if !r.several {
		return r.in.sum()
	}
	sum := sha256.Sum256(append([]byte(r.in.sum()+"\n"), r.digests.Bytes()...))
	return hex.EncodeToString(sum[:])
}

// Schema returns the schema for reading another file the same way. Its dictionaries are complete at the end.
func (r *Reader) Schema() schema.Schema {
	s := r.schema
	for _, c := range r.table.Columns {
		s.Columns = append(s.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: c.Kind,
			Part: c.Part, Source: c.Source, Origin: c.Origin, Salt: c.Salt, Unit: c.Unit, Dictionary: slices.Clone(c.Dictionary)})
	}
	return s
}

// Info returns a description of the file. It is complete at the end.
func (r *Reader) Info() Info {
	i := Info{
		File: r.file, Format: r.format.name, Header: r.schema.Header, Compression: r.in.compression,
		Names: r.Names(),
		Rows:  r.total, Positives: r.labels.counts[Positive], Negatives: r.labels.counts[Negative],
		Unknowns: r.labels.unknown, Labels: r.labels.list(), Digest: r.Digest(), Schema: r.Schema(),
		Warnings: r.warnings,
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
	if r.active != nil && r.active != r {
		r.active.in.Close()
	}
	if r.labelsFile != nil {
		if e := r.labelsFile.in.Close(); err == nil {
			err = e
		}
	}
	return err
}

// Read reads a whole file, or standard input for "-", into one table.
func Read(path string, o Options) (*Table, *Info, error) {
	r, err := Open(path, o)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	return r.ReadAll()
}

// ReadFrame reads the remaining rows. Features that are columns of one packed file stay there, unless the rows have
// weights. Derived features are in memory.
func (r *Reader) ReadFrame() (*Frame, *Info, error) {
	r.framed = true
	t, info, err := r.ReadAll()
	if err != nil {
		return nil, nil, err
	}
	f := t.Frame()
	if f.file = r.stays; f.file != nil {
		f.columns, t.Columns = t.Columns, nil
	}
	return f, info, nil
}

// ReadAll reads the remaining rows into one table.
func (r *Reader) ReadAll() (*Table, *Info, error) {
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
	info, whole := r.Info(), *t // the copy does not keep the Reader in memory
	return &whole, &info, nil
}
