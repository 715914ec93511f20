package main

import (
	"os"
	"strings"

	"toptau"
	"toptau/internal/cli"
	"toptau/internal/memory"
	"toptau/internal/table"
	"toptau/internal/text"
)

// packLarge returns the path of a temporary packed file and the format for it if the data does not fit into some bytes of memory (0:
// half of the free memory), otherwise what it was given. It prints on standard error what it packed. The file is removed at the end.
func packLarge(s *cli.Session, paths []string, f toptau.Format, bytes int64) ([]string, toptau.Format, error) {
	files, err := table.OpenFiles(paths...)
	if err != nil || f.FileColumn != "" {
		return paths, f, err
	}
	fits, err := files.FitMemory(f, bytes)
	if err != nil || fits {
		return paths, f, err
	}
	s.Progress.Start()
	path, readAs, remove, err := table.PackTemporary(files, table.Options{Format: f, Context: s}, func(rows int, done float64) {
		s.Progress.Show(done, "packing: %s rows", text.Count(rows))
	})
	s.Progress.Clear()
	if err != nil {
		return paths, f, err
	}
	s.AtEnd(remove)
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	s.PrintError(strings.Join(paths, ", ") + " does not fit into memory: packed it into " + path + " (" + memory.Size(size) + ") for this run")
	return []string{path}, readAs, nil
}
