package table

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"

	"toptau/internal/text"
	"toptau/schema"
)

// format is a way to store a table. A further format needs a file that reads it and a line in formats.
type format struct {
	name    schema.FileFormat
	words   string // how messages describe such a file
	detects func(p prefix, o *Options) bool
	newRows func(r *Reader, p prefix, source io.Reader) (rowSource, error)
}

// formats returns all formats in the order of detection. The last one detects everything.
func formats() []format {
	return []format{
		{schema.Packed, "a packed file", looksPacked, newPackedRows},
		{schema.Parquet, "a Parquet file", looksParquet, newParquetRows},
		{schema.LIBSVM, "a LIBSVM file", looksLIBSVM, newLIBSVMRows},
		{schema.JSONLines, "JSON lines", looksJSON, newJSONRows},
		{schema.CSV, "delimited text", func(prefix, *Options) bool { return true }, newDelimitedRows},
	}
}

// Formats returns the names of all formats, the most general first.
func Formats() []schema.FileFormat {
	var names []schema.FileFormat
	for _, f := range slices.Backward(formats()) {
		names = append(names, f.name)
	}
	return names
}

// formatList returns the values of the format option as text.
func formatList() string {
	return "one of auto, " + strings.Join(text.Strings(Formats()), ", ")
}

// detectFormat returns the format of a file that begins with p.
func detectFormat(p prefix, o *Options) *format {
	for _, f := range formats() {
		if f.detects(p, o) {
			return &f
		}
	}
	return nil
}

// formatNamed returns a format by name, nil for none.
func formatNamed(name schema.FileFormat) *format {
	for _, f := range formats() {
		if f.name == name {
			return &f
		}
	}
	return nil
}

// FormatOf returns the format in which a file would be read, and whether it is compressed.
func FormatOf(path string, f schema.Format) (format schema.FileFormat, compressed bool, err error) {
	in, err := openInput(path)
	if err != nil {
		return "", false, err
	}
	defer in.Close()
	o := Options{Format: f}
	if !o.detectsFormat() {
		return f.Format, in.compression != "", nil
	}
	p, _, err := readPrefix(in)
	if err != nil {
		return "", false, err
	}
	return detectFormat(p, &o).name, in.compression != "", nil
}

// FormatOfColumns returns the format of a file that is known to have columns: delimited text unless its first bytes are
// those of a packed or a Parquet file.
func FormatOfColumns(path string) schema.FileFormat {
	f, err := os.Open(path)
	if err != nil {
		return schema.CSV
	}
	defer f.Close()
	b := make([]byte, 8)
	n, _ := io.ReadFull(f, b)
	switch p := (prefix{bytes: b[:n]}); {
	case looksPacked(p, nil):
		return schema.Packed
	case looksParquet(p, nil):
		return schema.Parquet
	}
	return schema.CSV
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

// looksLIBSVM reports whether more than half of the first lines are index:value pairs, with or without a
// label without a colon before them, and at least one line has a pair. A delimiter in the options excludes
// LIBSVM.
func looksLIBSVM(p prefix, o *Options) bool {
	if !o.detectsDelimiter() {
		return false
	}
	good, bad, pairs := 0, 0, 0
	for _, line := range p.lines(1000) {
		if i := bytes.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		tokens := bytes.Fields(line)
		if len(tokens) == 0 {
			continue
		}
		n := 0
		for _, t := range tokens {
			if looksPair(t) {
				n++
			}
		}
		if n == len(tokens) || n == len(tokens)-1 && looksLabel(tokens[0]) {
			good++
			pairs += n
		} else {
			bad++
		}
	}
	return good > bad && pairs > 0
}

// looksLabel reports whether a token may be a label of LIBSVM. Several labels are whole numbers with commas between
// them; other texts with commas are fields, of which the last has a blank before a time such as 10:05.
func looksLabel(token []byte) bool {
	if bytes.IndexByte(token, ':') >= 0 {
		return false
	}
	return bytes.IndexByte(token, ',') < 0 || len(bytes.Trim(token, "+-0123456789,")) == 0 && !bytes.ContainsAny(token[1:], "+-")
}

// looksPair reports whether a token is digits, a colon and a value that may be a number.
func looksPair(token []byte) bool {
	index, value, ok := bytes.Cut(token, []byte{':'})
	if !ok || len(index) == 0 || bytes.ContainsAny(value, ":,;|\"") {
		return false
	}
	for i, c := range index {
		if (c < '0' || c > '9') && !(i == 0 && c == '-') {
			return false
		}
	}
	return true
}
