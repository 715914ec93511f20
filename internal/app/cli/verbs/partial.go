package verbs

import (
	"os"
	"slices"
	"strings"

	"toptau/internal/data/atomicfile"
)

// PartialSuffix is added to the names of files that an incomplete run writes.
const PartialSuffix = ".partial"

// KeepExisting protects the files of earlier runs from a run that ended early. If one of its files exists, all get names that
// end in .partial, unless replace is set. It returns the existing files.
func KeepExisting(replace bool, paths ...*string) (kept []string) {
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
			*path += PartialSuffix
		}
	}
	return kept
}

func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// PartialText describes where a run that ended early has left its files.
func PartialText(kept []string, written ...string) string {
	written = slices.DeleteFunc(written, func(path string) bool { return path == "" })
	if i := slices.Index(written, "-"); i >= 0 {
		written[i] = "standard output"
	}
	if len(written) == 0 {
		return "the output above holds what was finished"
	}
	text := "the results so far are in " + strings.Join(written, " and ")
	if len(kept) > 0 {
		text += "; " + strings.Join(kept, " and ") + " was not replaced (--replace-partial replaces it)"
	}
	return text
}
