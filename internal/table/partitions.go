package table

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/packed"
	"toptau/schema"
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

// describePartitions returns a line for each key, in which nothing is ambiguous.
func describePartitions(list []partition) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "%q=%q\n", p.key, p.value)
	}
	return b.String()
}

// checkPartitionFormat refuses partitions around files of a format that has no columns for them.
func (r *Reader) checkPartitionFormat() error {
	if len(r.in.partitions) == 0 || r.format.name == schema.Parquet {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: r.file, Found: r.format.words + " in " + keysOf(r.in.partitions), Expected: "Parquet files",
		Hint: "give the files themselves; then their folders are no columns"}
}

// partitionedFile is a columnFile with a constant column for each partition.
type partitionedFile struct {
	columnFile
	partitions []partition
	texts      []bool // by partition
	block      columnBlock
}

// withPartitions adds the partitions of the reader's file to its columns.
func withPartitions(r *Reader, file columnFile) (columnFile, error) {
	list := r.in.partitions
	if len(list) == 0 {
		return file, nil
	}
	columns, _ := file.described()
	for i, p := range list {
		if slices.ContainsFunc(columns, func(c packed.Column) bool { return c.Name == p.key }) {
			return nil, &diag.Error{Kind: diag.Data, File: r.file, Column: p.key, Found: "a column of the file that its folder names, too",
				Expected: "one of both", Hint: "rename the folders or the column, or give the files themselves"}
		}
		if slices.ContainsFunc(list[:i], func(q partition) bool { return q.key == p.key }) {
			return nil, &diag.Error{Kind: diag.Data, File: r.file, Column: p.key, Found: "two folders with the key", Expected: "one"}
		}
	}
	s := &partitionedFile{columnFile: file, partitions: list, texts: make([]bool, len(list))}
	for k, p := range list {
		s.texts[k] = !p.numeric
	}
	return s, nil
}

func (s *partitionedFile) described() ([]packed.Column, bool) {
	columns, named := s.columnFile.described()
	columns = slices.Clone(columns)
	for k, p := range s.partitions {
		kind := packed.Numbers
		if s.texts[k] {
			kind = packed.Texts
		}
		columns = append(columns, packed.Column{Name: p.key, Kind: kind})
	}
	return columns, named
}

// asTexts implements what columnRows asks of files whose numbers can be read as texts.
func (s *partitionedFile) asTexts(column int) {
	columns, _ := s.columnFile.described()
	if k := column - len(columns); k >= 0 {
		s.texts[k] = true
	} else if f, ok := s.columnFile.(interface{ asTexts(column int) }); ok {
		f.asTexts(column)
	}
}

func (s *partitionedFile) next(used []bool) (*columnBlock, error) {
	n := len(used) - len(s.partitions)
	block, err := s.columnFile.next(used[:n])
	if err != nil {
		return nil, err
	}
	s.block.rows, s.block.columns = block.rows, append(s.block.columns[:0], block.columns...)
	for k, p := range s.partitions {
		s.block.columns = append(s.block.columns, p.values(block.rows, s.texts[k]))
	}
	return &s.block, nil
}

// values returns the value of the partition in some rows.
func (p *partition) values(rows int, asText bool) (c blockColumn) {
	if asText {
		c.codes = make([]int32, rows)
		c.dictionary = []string{p.value}
		if p.missing {
			c.codes, c.dictionary = slices.Repeat([]int32{-1}, rows), nil
		}
		return c
	}
	v := math.NaN()
	if !p.missing {
		v, _ = parseNumber([]byte(p.value))
	}
	c.numbers = slices.Repeat([]float64{v}, rows)
	return c
}
