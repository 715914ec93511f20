package table

import (
	"io"
	"os"
	"slices"
	"strings"

	"toptau/internal/core/text"
	"toptau/schema"
)

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
