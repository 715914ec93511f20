package table

import (
	"context"
	"strings"

	"toptau/diag"
	"toptau/schema"
)

// Options describe how a file is read. The zero value detects everything except the label, which formats
// without a fixed place for it require.
type Options struct {
	schema.Format

	Schema     *schema.Schema  // read the file as a training file: match its columns, kinds and label rule
	Unlabelled bool            // the label column may be absent; missing and other labels are Unknown
	LabelsOf   *schema.Schema  // check the labels against those of this training file; nil: those of Schema, unless Unlabelled is set
	Raw        bool            // keep every field in Table.Raw
	Context    context.Context // reading fails with its error once it ends; nil: never
	Live       bool            // Next returns the rows that have arrived instead of waiting for more
	OnBadRow   BadRowPolicy    // what Next does with a row that cannot be read
	Text       bool            // keep the text of every row in Table.Text
	Undigested bool            // leave the digest of the file empty, which spares reading a Parquet file twice
	Packed     bool            // store columns and lines in few bytes, for the methods of Column and LineOf

	texts   bool     // to pack: columns that would not be numeric features are kept as text instead
	spelled []string // with texts: columns that are kept as text though they are numbers
}

// delimiterOf returns the delimiter's byte, 0 if it is to be detected.
func delimiterOf(name string) (byte, error) {
	switch strings.ToLower(name) {
	case "", "auto":
		return 0, nil
	case "comma":
		return ',', nil
	case "semicolon":
		return ';', nil
	case "tab", `\t`:
		return '\t', nil
	case "pipe":
		return '|', nil
	case "blank", "blanks", "space", "whitespace":
		return blank, nil
	}
	const reserved = "\"\r\n\x00" // bytes that already have a meaning in a line
	if len(name) != 1 || name[0] >= 0x80 || strings.Contains(reserved, name) {
		return 0, usage("delimiter", name, "one ASCII character, comma, semicolon, tab, pipe, blank or auto")
	}
	return name[0], nil
}

// detectsFormat reports whether the content decides the format.
func (o *Options) detectsFormat() bool {
	return o.Format.Format == schema.AutoFormat || o.Format.Format == "auto"
}

// detectsDelimiter reports whether the content decides the delimiter.
func (o *Options) detectsDelimiter() bool { return o.Delimiter == "" || o.Delimiter == "auto" }

// usage is the error of a parameter's value.
func usage(param, value, expected string) error {
	return &diag.Error{Kind: diag.Usage, Param: param, Found: diag.Quote(value), Expected: expected}
}

// keepsBadRows reports whether a bad row is no error.
func (o *Options) keepsBadRows() bool { return o.OnBadRow == KeepBadRow }

// isFileColumn reports whether a reference means the column of file names.
func (o *Options) isFileColumn(ref string) bool { return ref != "" && ref == o.FileColumn }

// trainedLabels returns the schema whose labels those of the file are checked against, nil for none.
func (o *Options) trainedLabels() *schema.Schema {
	if o.LabelsOf == nil && !o.Unlabelled {
		return o.Schema
	}
	return o.LabelsOf
}
