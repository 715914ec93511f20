package main

import (
	"os"
	"slices"
	"strings"

	"toptau/internal/atomicfile"
)

// partialSuffix is added to the names of files of an incomplete run.
const partialSuffix = ".partial"

// setAside changes the paths of an incomplete run. If one of the files exists, all get partialSuffix, so that
// an incomplete result does not replace a complete one. If replace is set, it changes nothing. It returns the
// existing files.
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

// soFar describes the files of an incomplete run.
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
