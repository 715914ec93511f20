package table

import (
	"fmt"
	"net/url"
	"strings"

	"toptau/diag"
)

// partition is a column whose value is in the name of a folder, as in day=2026-01-01: the partitions of Hive and Spark.
type partition struct {
	key, value string
	missing    bool
	numeric    bool // the values of all files are numbers
}

// missingPartition is the value of the rows whose key is missing.
const missingPartition = "__HIVE_DEFAULT_PARTITION__"

// splitPartition returns the partition that the name of a folder stands for. Special characters are escaped as in URLs.
func splitPartition(folder string) (partition, bool) {
	key, value, ok := strings.Cut(folder, "=")
	if !ok || key == "" {
		return partition{}, false
	}
	if s, err := url.PathUnescape(key); err == nil {
		key = s
	}
	if s, err := url.PathUnescape(value); err == nil {
		value = s
	}
	return partition{key: key, value: value, missing: value == missingPartition || value == ""}, true
}

// setAside reports whether a directory has a file or folder for programs, and not for its rows: hidden ones, and those that begin with
// "_", as _SUCCESS, _metadata and _temporary. Spark, Hive, DuckDB and others leave out the same. A key may begin with "_".
func setAside(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") && !strings.Contains(name, "=")
}

// keysOf describes the folders of a file.
func keysOf(list []partition) string {
	if len(list) == 0 {
		return "no folder with a key"
	}
	var keys []string
	for _, p := range list {
		keys = append(keys, diag.Quote(p.key))
	}
	return "folders with the keys " + strings.Join(keys, ", ")
}

// describePartitions returns a line for each key, in which nothing is ambiguous.
func describePartitions(list []partition) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "%q=%q\n", p.key, p.value)
	}
	return b.String()
}
