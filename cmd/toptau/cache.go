package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toptau"
	"toptau/diag"
	"toptau/internal/cli"
	"toptau/internal/memory"
	"toptau/internal/text"
	"toptau/result"
)

// cacheCommand lists or removes packed copies.
type cacheCommand struct {
	Action  string `arg:"" optional:"" enum:"list,clear" default:"list" help:"list, or clear to remove copies (default list)."`
	MaxSize int64  `name:"max-size" placeholder:"BYTES" help:"With clear: remove the copies that were used longest ago until the others have at most this size, such as 20GB (default: remove all)."`
}

func (c *cacheCommand) Run(s *cli.Session) error {
	directory, err := cacheDirectory()
	if err != nil {
		return err
	}
	var r *result.Cache
	switch {
	case c.Action == "clear":
		r, err = toptau.RemoveCopies(directory, c.MaxSize)
	case c.MaxSize != 0:
		return &diag.Error{Kind: diag.Usage, Param: "max-size", Found: "without clear", Expected: "toptau cache clear"}
	default:
		r, err = toptau.PackedCopies(directory)
	}
	if err != nil {
		return err
	}
	if s.JSON {
		return s.Emit(r)
	}
	for _, e := range r.Removed {
		s.Printf("removed  %s, packed from %s\n", memory.Size(e.Bytes), strings.Join(e.Sources, ", "))
	}
	for _, e := range r.Copies {
		s.Printf("%s  %s rows of %s, %s, last used %s\n  packed from %s\n", e.Name, text.Count(e.Rows), text.Plural(e.Columns, "column"), memory.Size(e.Bytes),
			e.Used.Local().Format("2006-01-02 15:04"), strings.Join(e.Sources, ", "))
	}
	s.Printf("%s, %s in %s\n", copies(len(r.Copies)), memory.Size(r.Bytes), r.Directory)
	return nil
}

// copies counts packed copies.
func copies(n int) string {
	if n == 1 {
		return "1 packed copy"
	}
	return text.Count(n) + " packed copies"
}

// cacheDirectory returns the directory of packed copies: TOPTAU_CACHE, or toptau in the user's cache directory.
func cacheDirectory() (string, error) {
	if directory := os.Getenv("TOPTAU_CACHE"); directory != "" {
		return directory, nil
	}
	directory, err := os.UserCacheDir()
	if err != nil {
		return "", &diag.Error{Kind: diag.IO, Err: err, Hint: "set TOPTAU_CACHE to the directory of packed copies"}
	}
	return filepath.Join(directory, "toptau"), nil
}

// cacheFlags are those of verbs that read data which may not fit into memory.
type cacheFlags struct {
	NoCache bool `group:"Data" help:"Do not keep a packed copy of data that does not fit into memory; read it into memory all the same."`
}

// packLarge returns the path of a packed copy and the format for it if the data does not fit into some bytes of memory (0: half
// of the free memory), otherwise what it was given. It says on standard error what it packs or uses.
func (c cacheFlags) packLarge(s *cli.Session, paths []string, f toptau.Format, bytes int64) ([]string, toptau.Format, error) {
	if c.NoCache {
		return paths, f, nil
	}
	directory, err := cacheDirectory()
	if err != nil {
		return paths, f, nil // without a cache the data is read into memory
	}
	o := toptau.CacheOptions{Directory: directory, Memory: bytes}
	if limit := os.Getenv("TOPTAU_CACHE_SIZE"); limit != "" {
		if o.MaxSize, err = memory.ParseSize(limit); err != nil {
			return nil, f, fmt.Errorf("TOPTAU_CACHE_SIZE: %w", err)
		}
	}
	s.Progress.Start()
	o.Progress = func(rows int, done float64) {
		s.Progress.Show(done, "packing for later runs: %s rows", text.Count(rows))
	}
	e, err := toptau.PackLarge(s, paths, f, o)
	s.Progress.Clear()
	if err != nil || e == nil {
		return paths, f, err
	}
	how := "packed it into"
	if e.Reused {
		how = "using the packed copy"
	}
	s.PrintError(strings.Join(paths, ", ") + " does not fit into memory: " + how + " " + e.Path + " (" + memory.Size(e.Bytes) + ")")
	return []string{e.Path}, toptau.ReadCopy(f), nil
}
