package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/schema"
)

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
	in.context, in.allowed = o.Context, o.Memory
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
	if r.options.Undigested {
		r.in.digest = nil
	}
	if err := r.startLabels(); err != nil {
		return err
	}
	p, source, err := r.in.readPrefix(r.options.Live)
	if err != nil {
		return err
	}
	if r.format = formatNamed(r.options.Format.Format); r.format == nil {
		r.format = detectFormat(p, &r.options)
	}
	if r.first != nil && r.format.name != r.first.format.name {
		return &diag.Error{Kind: diag.Data, File: r.file, Found: r.format.words, Expected: r.first.format.words + ", as in " + r.first.file}
	}
	if err := r.in.checkPartitionFormat(r.format); err != nil {
		return err
	}
	r.schema.Format = r.format.name
	r.rows, err = r.format.newRows(r, p, source)
	return err
}

// readPrefix returns what decides the format, and a reader of the whole file.
func (in *input) readPrefix(live bool) (prefix, io.Reader, error) {
	if live {
		in.readAhead()
	}
	if in.live != nil {
		return in.live.readFirstLine(in)
	}
	return readPrefix(in)
}

// startLabels prepares labels and missing values from the options and the schema.
func (r *Reader) startLabels() error {
	o := &r.options
	spellings, positive := o.Missing, o.Positive
	if o.Schema != nil {
		spellings = slices.Concat(o.Schema.Missing, o.Missing)
	}
	for _, trained := range []*schema.Schema{o.Schema, o.LabelsOf} {
		if len(positive) == 0 && trained != nil {
			positive = trained.Positive
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
	if trained := o.trainedLabels(); trained != nil {
		r.labels.known = newKnownLabels(trained, len(o.Positive) > 0)
	}
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

// checkPartitionFormat refuses partitions around files of a format that has no columns for them.
func (in *input) checkPartitionFormat(f *format) error {
	if len(in.partitions) == 0 || f.name == schema.Parquet {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: in.file, Found: f.words + " in " + keysOf(in.partitions), Expected: "Parquet files",
		Hint: "give the files themselves; then their folders are no columns"}
}

// check checks everything that can be checked without the file.
func (o *Options) check() error {
	if !o.detectsFormat() && formatNamed(o.Format.Format) == nil {
		return usage("format", string(o.Format.Format), formatList())
	}
	headers := []schema.Header{schema.AutoHeader, "auto", schema.HasHeader, schema.NoHeader}
	if !slices.Contains(headers, o.Header) {
		return usage("header", string(o.Header), "auto, yes or no")
	}
	if _, err := delimiterOf(o.Delimiter); err != nil {
		return err
	}
	if o.Decimal != "" && o.Decimal != "," && o.Decimal != "." {
		return usage("decimal", o.Decimal, "the decimal mark of numbers: , or .")
	}
	if o.Label != "" && o.LabelsFile != "" {
		return &diag.Error{Kind: diag.Usage, Found: "a label column and a labels file", Expected: "one of the two"}
	}
	if o.NoTime && o.Time != "" {
		return &diag.Error{Kind: diag.Usage, Param: "no-time", Found: "together with the column of times " + diag.Quote(o.Time), Expected: "one of the two"}
	}
	if o.Width < 0 || o.Width > MaxFeatures {
		return usage("width", strconv.Itoa(o.Width), "a number of features from 1 to "+text.Count(MaxFeatures))
	}
	if _, err := loadZone(o.Timezone); err != nil {
		return err
	}
	_, err := parseRule(o.Positive)
	return err
}

// newFilesReader starts to read the files.
func newFilesReader(f *Files, o Options, p chunkPolicy) (*Reader, error) {
	if len(f.paths) > 1 && o.LabelsFile != "" {
		return nil, &diag.Error{Kind: diag.Usage, Param: "labels-file", Found: fmt.Sprintf("with %d files", len(f.paths)), Expected: "one file with rows"}
	}
	size := int64(0)
	if len(f.paths) > 1 {
		size = f.size()
	}
	in, err := f.openInput(f.paths[0])
	if err != nil {
		return nil, err
	}
	if len(f.paths) > 1 {
		in.size = size
	}
	r, err := newReader(in, o, p)
	if err != nil {
		return nil, err
	}
	r.files, r.table.File, r.more, r.several = f, f.Name(), f.paths[1:], len(f.paths) > 1
	return r, nil
}

// NameOf returns the name of r if it has one, otherwise "input".
func NameOf(r io.Reader) string {
	if named, ok := r.(interface{ Name() string }); ok {
		return named.Name()
	}
	return "input"
}
