package toptau

import (
	"context"

	"toptau/diag"
	"toptau/internal/packcache"
	"toptau/internal/table"
	"toptau/result"
)

// CacheOptions describe a cache of packed copies of data that does not fit into memory. Several processes may use one.
type CacheOptions struct {
	Directory string                       // of the packed files
	MaxSize   int64                        // bytes above which copies that were used longest ago are removed; 0: 50 GB
	Memory    int64                        // bytes that a table and its matrix may take; 0: half of the free memory
	Progress  func(rows int, done float64) // is called while rows are packed
}

// PackLarge packs files (see OpenFiles) that are not expected to fit into memory, or finds the copy that an earlier call packed.
// It returns nil if they fit, or if they cannot be packed: standard input, pipes, LIBSVM files, and several files with
// f.FileColumn. Otherwise Read takes the copy's path in the place of the files, with ReadCopy(f).
//
// A copy is that of files with the same paths, sizes and times of modification, or with the same bytes, packed with the same
// options.
func PackLarge(ctx context.Context, paths []string, f Format, o CacheOptions) (*result.PackedCopy, error) {
	files, err := table.OpenFiles(paths...)
	if err != nil || f.FileColumn != "" {
		return nil, err
	}
	fits, err := packcache.Fits(files, f, o.Memory)
	if fits || err != nil {
		return nil, err
	}
	c := packcache.Cache{Directory: o.Directory, MaxSize: o.MaxSize}
	e, err := c.Find(ctx, files, f)
	if err != nil {
		return nil, err
	}
	reused := e != nil
	if e == nil {
		if err := checkRoles(ctx, files.Again(), f); err != nil {
			return nil, err
		}
		if e, err = c.Add(ctx, files, f, o.Progress); err != nil {
			return nil, err
		}
	}
	out := packedCopy(e)
	out.Reused = reused
	return &out, nil
}

// checkRoles returns an error if a column that f names is not in the files: packing may take minutes, and should not come first.
func checkRoles(ctx context.Context, files *table.Files, f Format) error {
	r, err := table.NewReader(files.Name(), files, table.Options{Format: f, Schema: f.Schema(), Context: ctx})
	if err != nil {
		return err
	}
	return r.Close()
}

// ReadCopy returns the format for reading the packed copy of files of a format.
func ReadCopy(f Format) Format { return packcache.Read(f) }

// PackedCopies returns the packed copies in a directory, the last used first.
func PackedCopies(directory string) (*result.Cache, error) {
	c := packcache.Cache{Directory: directory}
	list, err := c.List()
	if err != nil {
		return nil, err
	}
	return cacheResult(directory, list), nil
}

// RemoveCopies removes the packed copies that were used longest ago until the others have at most that number of bytes.
func RemoveCopies(directory string, bytes int64) (*result.Cache, error) {
	c := packcache.Cache{Directory: directory}
	removed, err := c.Shrink(bytes)
	if err != nil {
		return nil, err
	}
	r, err := PackedCopies(directory)
	if err != nil {
		return nil, err
	}
	for i := range removed {
		r.Removed = append(r.Removed, packedCopy(&removed[i]))
	}
	return r, nil
}

func cacheResult(directory string, list []packcache.Entry) *result.Cache {
	r := &result.Cache{Document: result.Document{Warnings: []diag.Warning{}}, Directory: directory, Copies: []result.PackedCopy{}, Removed: []result.PackedCopy{}}
	for i := range list {
		r.Copies = append(r.Copies, packedCopy(&list[i]))
		r.Bytes += list[i].Bytes
	}
	return r
}

func packedCopy(e *packcache.Entry) result.PackedCopy {
	c := result.PackedCopy{Name: e.Name, Path: e.Path, Digest: "sha256:" + e.Digest, Rows: e.Rows, Columns: e.Columns, Bytes: e.Bytes, Packed: e.Packed, Used: e.Used}
	for _, s := range e.Sources {
		c.Sources = append(c.Sources, s.Path)
	}
	return c
}
