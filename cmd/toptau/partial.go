package main

import (
	"os"
	"slices"
	"strings"

	"toptau/internal/atomicfile"
)

// partialSuffix is added to the names of files that an incomplete run writes.
const partialSuffix = ".partial"

// setAside is for a run that ended before its end. Where one of its files is there already, from an earlier run, all
// get names of their own, so that nothing better is replaced by what was found so far; replace writes over them. It
// returns the existing files that are kept.
func setAside(replace bool, paths ...*string) (kept []string) {
	for _, path := range paths {
		if !replace && *path != "" && *path != "-" && atomicfile.Exists(*path) {
			kept = append(kept, *path)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	for _, path := range paths {
		if *path != "" && *path != "-" && !isDevice(*path) {
			*path += partialSuffix
		}
	}
	return kept
}

func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// soFar says where an incomplete run has left its files.
func soFar(kept []string, written ...string) string {
	written = slices.DeleteFunc(written, func(path string) bool { return path == "" })
	if i := slices.Index(written, "-"); i >= 0 {
		written[i] = "standard output"
	}
	if len(written) == 0 {
		return "the output above holds what was finished"
	}
	text := "what was found so far is in " + strings.Join(written, " and ")
	if len(kept) > 0 {
		text += "; " + strings.Join(kept, " and ") + " stays as it was (--replace-partial replaces it)"
	}
	return text
}
