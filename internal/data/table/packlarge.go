package table

import (
	"errors"
	"os"
	"syscall"

	"toptau/diag"
	"toptau/internal/data/memory"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// The memory that a table takes, as a multiple of the bytes of its files. Measured on simulated rows: text of float32 numbers
// takes 0.4 of its size in memory, and the matrix as much again; a compressed file is four times as large.
const (
	ofText       = 1
	ofCompressed = 4
	ofParquet    = 2
)

// FitMemory reports whether the table of the files, and a matrix of it, are expected to fit into some bytes of memory (0: half of
// the free memory), from the sizes of the files. Standard input, pipes and files that cannot or need not be packed fit.
func (f *Files) FitMemory(o schema.Format, bytes int64) (bool, error) {
	bytes = memory.ForRows(bytes)
	var sizes []int64
	total := int64(0)
	for _, path := range f.paths {
		info, err := os.Stat(path)
		if path == "-" || err != nil || !info.Mode().IsRegular() {
			return true, nil // reading it returns the error
		}
		sizes, total = append(sizes, info.Size()), total+info.Size()
	}
	if ofCompressed*total <= bytes { // whatever their formats are
		return true, nil
	}
	need := int64(0)
	for i, path := range f.paths {
		format, compressed, err := FormatOf(path, o)
		switch {
		case err != nil || format == schema.Packed || format == schema.LIBSVM:
			return true, err
		case compressed:
			need += ofCompressed * sizes[i]
		case format == schema.Parquet:
			need += ofParquet * sizes[i]
		default:
			need += ofText * sizes[i]
		}
	}
	return need <= bytes, nil
}

// PackTemporary packs files into a temporary file in the system's directory for them (TMPDIR). Its path and the format for
// reading it take the place of the files. remove removes it; the end of the process and the next run that packs do so, too. A
// column that the options name and the files do not have is an error before anything is packed.
func PackTemporary(files *Files, o Options, progress func(rows int, done float64)) (path string, f schema.Format, remove func(), err error) {
	o.Schema = o.Format.Schema()
	r, err := NewReader(files.Name(), files.Again(), o)
	if err != nil {
		return "", f, nil, err
	}
	r.Close()
	f, o.Format.Drop = o.Format, nil // the copy has all columns under their names and numbers, so Drop and the roles stay
	var w *packed.Writer
	_, err = packInto(files, o, progress, func(columns []packed.Column, header bool) (*packed.Writer, error) {
		w, err = packed.CreateTemporary("rows.ttp", columns, header)
		return w, err
	})
	if err != nil {
		return "", f, nil, explainFull(err)
	}
	f.Format, f.Delimiter, f.Header = schema.AutoFormat, "", schema.AutoHeader
	return w.Path(), f, w.Close, nil
}

// explainFull adds to an error of a full disk what helps.
func explainFull(err error) error {
	var e *diag.Error
	if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Found, out.Expected = "no space left for the packed rows", "space for about as many bytes as the data have"
	out.Hint = "set TMPDIR to a directory on another disk"
	return &out
}
