package table

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/text"
	"toptau/schema"
)

// Options describe how a file is read. The zero value detects everything except the label, which formats
// without a fixed place for it require.
type Options struct {
	schema.Format

	Schema     *schema.Schema  // read the file as a training file: match its columns, kinds and label rule
	Unlabelled bool            // the label column may be absent; missing and other labels are Unknown
	Raw        bool            // keep every field in Table.Raw
	Context    context.Context // reading fails with its error once it ends; nil: never
	Live       bool            // Next returns the rows that have arrived instead of waiting for more
	OnBadRow   BadRowPolicy    // what Next does with a row that cannot be read
	Text       bool            // keep the text of every row in Table.Text
	Packed     bool            // store columns and lines in few bytes, for the methods of Column and LineOf

	texts bool // columns that would not be numeric features are kept as text instead
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
