// Package packcache keeps packed copies of data that does not fit into memory, so that later runs need not pack again.
// docs/reference/packed.md describes what is trusted.
//
// An entry is two files: NAME.ttp, the packed file, and NAME.json, which describes it. NAME is a digest of the bytes of the
// source and of the options of packing. The time of NAME.json is that of the last use.
package packcache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/memory"
	"toptau/internal/table"
	"toptau/schema"
)

// Cache is a directory of packed copies. Several processes may use it at once.
type Cache struct {
	Directory string
	MaxSize   int64 // bytes of all packed files, above which those that were used longest ago are removed; 0: DefaultSize
}

// DefaultSize is the limit of a cache. Chosen by hand: a few copies of data that are larger than memory.
const DefaultSize = 50_000_000_000

// Source is a file that was packed, as it was then.
type Source struct {
	Path     string    `json:"path"` // absolute
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`

	Partition string `json:"partition,omitempty"` // what the folders of the file say
}

// Entry describes a packed copy.
type Entry struct {
	Name    string    `json:"name"`
	Format  int       `json:"format"` // of this description
	Options string    `json:"options"`
	Digest  string    `json:"digest"` // of the uncompressed bytes of the source
	Sources []Source  `json:"sources"`
	Rows    int       `json:"rows"`
	Columns int       `json:"columns"`
	Bytes   int64     `json:"bytes"`
	Packed  time.Time `json:"packed"`

	Path string    `json:"-"` // of the packed file
	Used time.Time `json:"-"`
}

// entryFormat is the version of entries. Entries of another version are not used.
const entryFormat = 1

// Read returns the format for reading a packed copy of files of a format. The copy has all columns under their names and
// numbers, so Drop and the roles of columns stay.
func Read(f schema.Format) schema.Format {
	f.Format, f.Delimiter, f.Header = schema.AutoFormat, "", schema.AutoHeader
	return f
}

// optionsOf returns the options that decide what a packed file contains.
func optionsOf(f schema.Format) (string, error) {
	b, err := json.Marshal(struct {
		Format                       schema.FileFormat
		Delimiter                    string
		Header                       schema.Header
		Missing, Categorical, Number []string
	}{f.Format, f.Delimiter, f.Header, f.Missing, f.Categorical, f.Numeric})
	return string(b), err
}

// identify returns what decides whether an entry is that of some files: the options of packing, and the files.
func identify(files *table.Files, f schema.Format) (options string, sources []Source, err error) {
	if options, err = optionsOf(f); err == nil {
		sources, err = sourcesOf(files)
	}
	return options, sources, err
}

// sourcesOf returns the path, the size, the time and the partition of each file.
func sourcesOf(files *table.Files) ([]Source, error) {
	var list []Source
	for _, path := range files.Paths() {
		info, err := os.Stat(path)
		if err != nil {
			return nil, &diag.Error{Kind: diag.IO, File: path, Err: err}
		}
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, &diag.Error{Kind: diag.IO, File: path, Err: err}
		}
		list = append(list, Source{absolute, info.Size(), info.ModTime().UTC(), files.Partition(path)})
	}
	return list, nil
}

// same reports whether files are those of an entry by path, size and time.
func same(a, b []Source) bool {
	return slices.EqualFunc(a, b, func(x, y Source) bool {
		return x.Path == y.Path && x.Size == y.Size && x.Partition == y.Partition && x.Modified.Equal(y.Modified)
	})
}

// sameSizes reports whether files have the sizes of those of an entry, so that their bytes may be the same.
func sameSizes(a, b []Source) bool {
	return slices.EqualFunc(a, b, func(x, y Source) bool { return x.Size == y.Size })
}

// List returns the entries, the last used first. Files that are not whole entries are left out.
func (c *Cache) List() ([]Entry, error) {
	names, err := filepath.Glob(filepath.Join(c.Directory, "*.json"))
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: c.Directory, Err: err}
	}
	var list []Entry
	for _, name := range names {
		if e, ok := readEntry(name); ok {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b Entry) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Name, b.Name)) })
	return list, nil
}

// readEntry reads the description of an entry whose packed file has the size that it had.
func readEntry(path string) (e Entry, ok bool) {
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &e) != nil || e.Format != entryFormat || e.Name+".json" != filepath.Base(path) {
		return e, false
	}
	info, err := os.Stat(path)
	if err != nil {
		return e, false
	}
	e.Used, e.Path = info.ModTime(), strings.TrimSuffix(path, ".json")+".ttp"
	packed, err := os.Stat(e.Path)
	return e, err == nil && packed.Size() == e.Bytes
}

// Find returns the entry of some files, nil if there is none. Files with the path, size and time of an entry's sources are
// those; of others with the same sizes the bytes are compared, by their digest.
func (c *Cache) Find(ctx context.Context, files *table.Files, f schema.Format) (*Entry, error) {
	options, sources, err := identify(files, f)
	if err != nil {
		return nil, err
	}
	list, err := c.List()
	if err != nil {
		return nil, err
	}
	digest := ""
	for i := range list {
		e := &list[i]
		if e.Options == options && same(e.Sources, sources) {
			return e, c.use(e)
		}
	}
	for i := range list {
		e := &list[i]
		if e.Options != options || !sameSizes(e.Sources, sources) {
			continue
		}
		if digest == "" {
			if digest, err = files.Digest(ctx); err != nil {
				return nil, err
			}
		}
		if e.Digest == digest {
			e.Sources = sources // the quick check suffices next time
			if err := c.describe(e); err != nil {
				return nil, err
			}
			return e, c.use(e)
		}
	}
	return nil, nil
}

// use records that an entry is used now. Another process may have removed it.
func (c *Cache) use(e *Entry) error {
	e.Used = time.Now()
	err := os.Chtimes(strings.TrimSuffix(e.Path, ".ttp")+".json", e.Used, e.Used)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return &diag.Error{Kind: diag.IO, File: e.Path, Err: err}
	}
	return nil
}

func (c *Cache) describe(e *Entry) error {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(c.Directory, e.Name+".json"), append(b, '\n'))
}

// Add packs files, and removes entries that were used longest ago while the cache is too large. progress is that of
// table.Pack.
func (c *Cache) Add(ctx context.Context, files *table.Files, f schema.Format, progress func(rows int, done float64)) (*Entry, error) {
	options, sources, err := identify(files, f)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Directory, 0o700); err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: c.Directory, Err: err, Hint: "set another directory for the cache"}
	}
	// The name needs the digest, which packing computes. Until then the file has a name of this process.
	path := filepath.Join(c.Directory, fmt.Sprintf("packing-%d-%d.ttp", os.Getpid(), time.Now().UnixNano()))
	f.Drop = nil // see Read
	info, err := table.Pack(files, path, table.Options{Format: f, Context: ctx}, progress)
	if err != nil {
		return nil, c.explain(err)
	}
	now, err := sourcesOf(files)
	if err == nil && !same(now, sources) {
		err = &diag.Error{Kind: diag.Data, File: files.Name(), Found: "a file that changed while it was packed", Expected: "files that stay the same"}
	}
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	sum := sha256.Sum256([]byte(fmt.Sprintf("%d\n%s\n%s\n", entryFormat, options, info.Digest)))
	e := &Entry{Name: hex.EncodeToString(sum[:16]), Format: entryFormat, Options: options, Digest: info.Digest, Sources: sources,
		Rows: info.Rows, Columns: len(info.Names), Packed: time.Now().UTC()}
	e.Path = filepath.Join(c.Directory, e.Name+".ttp")
	written, err := os.Stat(path)
	if err == nil {
		err = os.Rename(path, e.Path)
	}
	if err != nil {
		os.Remove(path)
		return nil, &diag.Error{Kind: diag.IO, File: e.Path, Err: err}
	}
	e.Bytes = written.Size()
	if err := c.describe(e); err != nil {
		return nil, err
	}
	limit := c.MaxSize
	if limit == 0 {
		limit = DefaultSize
	}
	_, err = c.shrink(limit, e.Name)
	return e, err
}

// explain adds to an error of a full disk what helps.
func (c *Cache) explain(err error) error {
	var e *diag.Error
	if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Found, out.Expected = "no space left for a packed copy", "space for about as many bytes as the data have"
	out.Hint = "remove other copies (toptau cache clear), or set TOPTAU_CACHE to a directory on another disk"
	return &out
}

// Shrink removes the entries that were used longest ago until the packed files have at most that number of bytes, and
// files that killed processes left. It returns what it removed.
func (c *Cache) Shrink(bytes int64) ([]Entry, error) {
	leftovers, _ := filepath.Glob(filepath.Join(c.Directory, "packing-*.ttp")) // the pattern is valid
	for _, path := range leftovers {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > leftAfter {
			os.Remove(path)
		}
	}
	return c.shrink(bytes, "")
}

// leftAfter is the age of a packed file without a name that no process will name any more.
const leftAfter = time.Hour

func (c *Cache) shrink(bytes int64, keep string) (removed []Entry, err error) {
	list, err := c.List()
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for _, e := range list {
		total += e.Bytes
	}
	for _, e := range slices.Backward(list) {
		if total <= bytes {
			break
		}
		if e.Name == keep {
			continue
		}
		// The description first: without it the rest is no entry. Who has the packed file open can still read it.
		for _, path := range []string{strings.TrimSuffix(e.Path, ".ttp") + ".json", e.Path} {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return removed, &diag.Error{Kind: diag.IO, File: path, Err: err}
			}
		}
		removed, total = append(removed, e), total-e.Bytes
	}
	return removed, nil
}

// The memory that a table takes, as a multiple of the bytes of its files. Measured on simulated rows: text of float32 numbers
// takes 0.4 of its size in memory, and the matrix as much again; a compressed file is four times as large.
const (
	ofText       = 1
	ofCompressed = 4
	ofParquet    = 2
)

// Fits reports whether the table of some files, and a matrix of it, are expected to fit into some bytes of memory (0: half of
// the free memory), from the sizes of the files. Standard input, pipes and files that cannot or need not be packed fit.
func Fits(files *table.Files, f schema.Format, bytes int64) (bool, error) {
	bytes = memory.ForRows(bytes)
	var sizes []int64
	total := int64(0)
	for _, path := range files.Paths() {
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
	for i, path := range files.Paths() {
		format, compressed, err := table.FormatOf(path, f)
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
