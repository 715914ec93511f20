package table

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/text"
	"toptau/schema"
)

// Files is several files that a Reader reads as one table: NewReader accepts it as its source. The first file
// decides the format, the columns and their kinds, and the others must fit it. Columns are matched as for a
// model (see the package documentation). As an io.Reader it has the bytes of the files, one after the other.
type Files struct {
	paths      []string
	partitions map[string][]partition // by path
	open       *os.File
}

// OpenFiles returns the files of some paths in their order. A directory stands for the files in it, without
// those that lakes keep for programs (see setAside) and without other folders than partitions (see partition). A pattern that is no file
// stands for the files that match it. Both are in the order of their names. Errors are *diag.Error.
func OpenFiles(paths ...string) (*Files, error) {
	f := &Files{partitions: map[string][]partition{}}
	for _, path := range paths {
		found, err := f.expandPath(path)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			if slices.Contains(f.paths, name) || name == "-" && len(paths) > 1 {
				return nil, &diag.Error{Kind: diag.Usage, File: name, Found: "among several files, or twice", Expected: "each file once"}
			}
			f.paths = append(f.paths, name)
		}
	}
	if len(f.paths) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Found: "no file", Expected: "at least one"}
	}
	return f, f.checkPartitions()
}

// Again returns the same files for another reading.
func (f *Files) Again() *Files { return &Files{paths: slices.Clone(f.paths), partitions: f.partitions} }

// openInput opens one of the files.
func (f *Files) openInput(path string) (*input, error) {
	in, err := openInput(path)
	if err == nil {
		in.partitions = f.partitions[path]
	}
	return in, err
}

// expandPath returns the files that a path stands for.
func (f *Files) expandPath(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case path == "-" || err == nil && !info.IsDir():
		return []string{path}, nil
	case err != nil && os.IsNotExist(err) && strings.ContainsAny(path, "*?["):
		return expandPattern(path)
	case err != nil:
		return nil, openFailure(path, err)
	}
	found, err := f.expandDirectory(path, nil)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &diag.Error{Kind: diag.IO, File: path, Found: "a directory without files", Expected: "files with rows",
			Hint: `names that begin with "." or "_", and folders without a key as in day=2026-01-01, are left out`}
	}
	return found, nil
}

func expandPattern(pattern string) ([]string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, &diag.Error{Kind: diag.Usage, File: pattern, Found: "a pattern that cannot be read", Expected: `for example "flows/*.csv"`}
	}
	found = slices.DeleteFunc(found, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || info.IsDir()
	})
	if len(found) == 0 {
		return nil, &diag.Error{Kind: diag.IO, File: pattern, Found: "no file that matches", Expected: "at least one"}
	}
	return found, nil
}

// Paths returns the names of the files.
func (f *Files) Paths() []string { return f.paths }

// Name describes the files.
func (f *Files) Name() string {
	if len(f.paths) == 1 {
		return f.paths[0]
	}
	return fmt.Sprintf("%s and %s", f.paths[0], text.Plural(len(f.paths)-1, "other file"))
}

// Read implements io.Reader.
func (f *Files) Read(p []byte) (int, error) {
	for {
		if f.open == nil {
			if len(f.paths) == 0 {
				return 0, io.EOF
			}
			file, err := OpenFile(f.paths[0])
			if err != nil {
				return 0, err
			}
			f.open, f.paths = file, f.paths[1:]
		}
		n, err := f.open.Read(p)
		if err != io.EOF || n > 0 {
			return n, err
		}
		f.Close()
	}
}

// Close closes the file that Read has open.
func (f *Files) Close() error {
	if f.open == nil {
		return nil
	}
	err := f.open.Close()
	f.open = nil
	return err
}

// size returns the expected number of uncompressed bytes of all files, 0 if it is unknown.
func (f *Files) size() int64 {
	total := int64(0)
	for _, path := range f.paths {
		in, err := openInput(path)
		if err != nil {
			return 0
		}
		in.Close()
		if in.size == 0 {
			return 0
		}
		total += in.size
	}
	return total
}

// Digest reads all files and returns their digest: see Info.Digest.
func (f *Files) Digest(ctx context.Context) (string, error) {
	var sums bytes.Buffer
	for _, path := range f.paths {
		in, err := f.openInput(path)
		if err != nil {
			return "", err
		}
		in.context = ctx
		_, err = io.Copy(io.Discard, in)
		in.Close()
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&sums, in.sum())
	}
	if len(f.paths) == 1 {
		return strings.TrimSpace(sums.String()), nil
	}
	sum := sha256.Sum256(sums.Bytes())
	return hex.EncodeToString(sum[:]), nil
}

// FilePart is the rows of a table from one of several files.
type FilePart struct {
	First int // the first of the rows
	File  string
}

// FileOf returns the file of a row.
func (t *Table) FileOf(row int) string {
	name := t.File
	for _, p := range t.Parts {
		if p.First > row {
			break
		}
		name = p.File
	}
	return name
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

// appendRows appends rows of the current file, and of the next ones, until t has limit rows.
func (r *Reader) appendRows(t *Table, limit int) error {
	for {
		current, first := r.active, t.Rows()
		err := current.rows.appendRows(t, limit)
		if t.Rows() > first && r.several {
			t.Parts = append(t.Parts, FilePart{First: first, File: current.file})
		}
		r.appendFileName(t, current.file)
		if err != io.EOF || len(r.more) == 0 {
			return err
		}
		if err := r.openNext(); err != nil {
			return err
		}
	}
}

// appendFileName extends the text columns that hold the name of the file.
func (r *Reader) appendFileName(t *Table, file string) {
	if r.options.FileColumn == "" {
		return
	}
	for _, c := range t.fileTexts() {
		for len(c.Values) < t.Rows() {
			c.Values = append(c.Values, file)
		}
	}
}

// openNext makes the next file the current one.
func (r *Reader) openNext() error {
	last := r.active
	if err := last.rows.checkEnd(); err != nil {
		return err
	}
	if last != r {
		r.closeFile(last)
	}
	in, err := r.files.openInput(r.more[0])
	if err != nil {
		return err
	}
	r.more = r.more[1:]
	in.context, in.before, in.size, in.stored = r.options.Context, last.in.before+last.in.count, r.in.size, in.stored+last.in.stored
	next := &Reader{file: in.file, options: r.options, in: in, policy: r.policy, table: Table{File: in.file}, packs: r.packs,
		several: true, first: r}
	if next.options.Schema == nil && r.format.name != schema.LIBSVM {
		like := r.schema
		for _, c := range r.table.Columns {
			like.Columns = append(like.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: c.Kind, Part: c.Part,
				Source: c.Source, Origin: c.Origin})
		}
		next.options.Schema = &like
	}
	if r.options.texts { // what is text in the first file is text in all of them
		for i := range r.table.Kept {
			next.options.Kept = append(next.options.Kept, r.table.Kept[i].Name)
		}
	}
	r.active = next
	if err := next.start(); err != nil {
		return err
	}
	next.options.Schema, next.options.Kept, next.labels = r.options.Schema, r.options.Kept, r.labels
	next.rows.join(r.rows)
	return nil
}

// closeFile adds what the end of one of several files shows to r, and closes it.
func (r *Reader) closeFile(file *Reader) {
	file.rows.finish()
	r.warnings = append(r.warnings, file.warnings...)
	r.schema.Width = max(r.schema.Width, file.schema.Width)
	fmt.Fprintln(&r.digests, file.in.sum())
	file.in.Close()
}

// otherFormat is the error of a file that differs in its format from the first one.
func (r *Reader) otherFormat() error {
	return &diag.Error{Kind: diag.Data, File: r.file, Found: r.format.words, Expected: r.first.format.words + ", as in " + r.first.file}
}

// isFileColumn reports whether a reference means the column of file names.
func (o *Options) isFileColumn(ref string) bool { return ref != "" && ref == o.FileColumn }
