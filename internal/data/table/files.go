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
	"toptau/internal/core/text"
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

// expandDirectory adds the files of a directory in the order of their paths, and those of its folders that are partitions.
func (f *Files) expandDirectory(path string, above []partition) (found []string, err error) {
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, openFailure(path, err)
	}
	for _, e := range entries {
		if setAside(e.Name()) {
			continue
		}
		name := filepath.Join(path, e.Name())
		info, err := os.Stat(name) // of what a link points to
		if err != nil {
			return nil, openFailure(name, err)
		}
		if !info.IsDir() {
			if found = append(found, name); len(above) > 0 {
				f.partitions[name] = slices.Clone(above)
			}
		} else if p, ok := splitPartition(e.Name()); ok {
			below, err := f.expandDirectory(name, append(slices.Clip(above), p))
			if err != nil {
				return nil, err
			}
			found = append(found, below...)
		}
	}
	return found, nil
}

// checkPartitions checks that all files have the keys of the first one, and finds the keys whose values are numbers.
func (f *Files) checkPartitions() error {
	if len(f.partitions) == 0 {
		return nil
	}
	first := f.partitions[f.paths[0]]
	numeric := make([]bool, len(first))
	for k := range numeric {
		numeric[k] = true
	}
	for _, path := range f.paths {
		list := f.partitions[path]
		if !slices.EqualFunc(list, first, func(a, b partition) bool { return a.key == b.key }) {
			return &diag.Error{Kind: diag.Data, File: path, Found: "in " + keysOf(list), Expected: keysOf(first) + ", as " + f.paths[0]}
		}
		for k, p := range list {
			_, what := parseNumber([]byte(p.value))
			numeric[k] = numeric[k] && (p.missing || what == number)
		}
	}
	for _, list := range f.partitions {
		for k := range list {
			list[k].numeric = numeric[k]
		}
	}
	return nil
}

// Keys returns the names of the columns whose values are in the names of folders.
func (f *Files) Keys() []string {
	var keys []string
	for _, list := range f.partitions { // which all have the same keys
		for _, p := range list {
			keys = append(keys, p.key)
		}
		break
	}
	return keys
}

// Partition describes the partition of a file, "" if it has none.
func (f *Files) Partition(path string) string { return describePartitions(f.partitions[path]) }
