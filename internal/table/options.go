package table

import (
	"slices"
	"strings"

	"toptau/diag"
	"toptau/schema"
)

// Options describe how a file is read. The zero value detects everything except the label, which formats without a fixed
// place for it require.
type Options struct {
	schema.Format

	Schema     *schema.Schema // read the file as a model's training file was read: match its columns, kinds and label rule
	Unlabelled bool           // the label column may be absent; labels that are missing or not understood are Unknown
	Raw        bool           // keep every field in Table.Raw
	Packed     bool           // Read: store columns and lines in few bytes, for the methods of Column and Table.LineOf alone
}

// check validates what can be validated without the file.
func (o *Options) check() error {
	if !slices.Contains(append(schema.FileFormats(), schema.AutoFormat, "auto"), o.Format.Format) {
		return usage("--format "+diag.Quote(string(o.Format.Format)), "auto, csv, libsvm or idx", "")
	}
	if !slices.Contains([]schema.Header{schema.AutoHeader, "auto", schema.HasHeader, schema.NoHeader}, o.Header) {
		return usage("--header "+diag.Quote(string(o.Header)), "auto, yes or no", "")
	}
	if _, err := delimiterOf(o.Delimiter); err != nil {
		return err
	}
	if o.Label != "" && o.LabelsFile != "" {
		return usage("--label and --labels-file", "one of the two", "")
	}
	if o.Width < 0 || o.Width > MaxFeatures {
		return usage("a number of features out of range", "1 to 100000000", "")
	}
	_, err := parseRule(o.Positive)
	return err
}

// delimiterOf returns the delimiter's byte, 0 for automatic.
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
	const never = "\"\r\n\x00" // bytes that already have a meaning in a line
	if len(name) != 1 || name[0] >= 0x80 || strings.Contains(never, name) {
		return 0, usage("--delimiter "+diag.Quote(name),
			"one ASCII character, comma, semicolon, tab, pipe, blank or auto", "")
	}
	return name[0], nil
}

func usage(found, expected, hint string) error {
	return &diag.Error{Kind: diag.Usage, Found: found, Expected: expected, Hint: hint}
}
