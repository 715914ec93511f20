package table

import (
	"strings"

	"toptau/diag"
)

// Options says how a file is to be read. The zero value detects everything but the label, which must be told for
// formats that do not fix its place. A column is told by name or by 1-based number; a header's name wins over a number.
type Options struct {
	Format     string   // "" or "auto", "csv" (any delimited text), "libsvm", "idx"
	Delimiter  string   // "" or "auto", one ASCII character, or comma, semicolon, tab, pipe, blank (runs of them)
	Header     string   // "" or "auto", "yes", "no"
	Label      string   // a column, or "first" or "last"
	LabelsFile string   // a file with one label per row: text or IDX, may be compressed; instead of Label
	Positive   []string // values of the positive class, or all of the form "!x": all but these; see package doc for none
	Drop       []string // columns that are not features; elements may be lists and ranges: "1-7,43"
	ID         []string // columns kept as text
	Symbolic   []string // columns that are symbolic whatever they hold
	Numeric    []string // columns that are numeric whatever they hold
	Weight     string   // a column of row weights
	Group      string   // a column kept as text, as the next two
	Segment    string
	Time       string
	Missing    []string // spellings of a missing value, beside the empty field
	Features   int      // LIBSVM: the number of features, 0: the largest index in the file

	Schema     *Schema // read the file as a model's training file was read: match its columns, kinds, label rule
	Unlabelled bool    // the label column may be absent, and labels that are missing or not understood are Unknown
	Raw        bool    // keep every field in Table.Raw
	Packed     bool    // Read: keep columns and lines in few bytes, for the methods of Column and Table.LineOf alone
}

// check validates what can be validated without the file.
func (o *Options) check() error {
	if !oneOf(o.Format, "", "auto", "csv", "libsvm", "idx") {
		return usage("--format "+diag.Quote(o.Format), "auto, csv, libsvm or idx", "")
	}
	if !oneOf(o.Header, "", "auto", "yes", "no") {
		return usage("--header "+diag.Quote(o.Header), "auto, yes or no", "")
	}
	if _, err := delimiterOf(o.Delimiter); err != nil {
		return err
	}
	if o.Label != "" && o.LabelsFile != "" {
		return usage("--label and --labels", "one of the two", "")
	}
	if o.Features < 0 || o.Features > MaxFeatures {
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

func oneOf(s string, all ...string) bool {
	for _, a := range all {
		if s == a {
			return true
		}
	}
	return false
}

func usage(found, expected, hint string) error {
	return &diag.Error{Kind: diag.Usage, Found: found, Expected: expected, Hint: hint}
}
