package table

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/internal/data/parquet"
	"toptau/schema"
)

// writePart writes a Parquet file with the columns a and y, and makes its folders.
func writePart(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := parquet.NewWriter(f, []parquet.WriteColumn{{Name: "a"}, {Name: "y", Type: parquet.Whole}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		w.SetNumber(0, float64(i))
		w.SetWhole(1, int64(i%2))
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Keys of folders are columns: numbers if all values are, else texts, and the default partition is missing.
func TestPartitionsAreColumns(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"hour=7/site=a%20b", "hour=07.5/site=3", "hour=__HIVE_DEFAULT_PARTITION__/site=__HIVE_DEFAULT_PARTITION__"} {
		writePart(t, filepath.Join(dir, folder, "part-0.parquet"))
	}
	o := Options{Format: schema.Format{Label: "y"}}
	for _, o.Packed = range []bool{false, true} {
		got, info, err := Read(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if names := strings.Join(info.Names, " "); names != "a y hour site" || got.Rows() != 9 {
			t.Fatalf("columns %s, %d rows", names, got.Rows())
		}
		for row, want := range []string{"7.5 3", "7 a b", " "} {
			if got := got.Columns[1].Text(row*3+1) + " " + got.Columns[2].Text(row*3+1); got != want {
				t.Errorf("file %d: %q, want %q", row, got, want)
			}
		}
		files, err := OpenFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := files.Digest(t.Context()); err != nil || sum != info.Digest {
			t.Errorf("digest %s, %v, want %s", sum, err, info.Digest)
		}
		if err := os.Rename(filepath.Join(dir, "hour=7"), filepath.Join(dir, "hour=8")); err != nil {
			t.Fatal(err)
		}
		_, other, err := Read(dir, o)
		if err != nil || other.Digest == info.Digest {
			t.Errorf("another value has the same digest (%v)", err)
		}
		if err := os.Rename(filepath.Join(dir, "hour=8"), filepath.Join(dir, "hour=7")); err != nil {
			t.Fatal(err)
		}
	}
}

// Folders that do not fit the first file or its columns are errors that name the file.
func TestPartitionErrors(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"day=1/p.parquet", "hour=1/p.parquet", `keys "hour"`},
		{"day=1/p.parquet", "p.parquet", "no folder with a key"},
		{"a=1/p.parquet", "a=2/p.parquet", "its folder names, too"},
		{"b=1/b=2/p.parquet", "b=1/b=2/q.parquet", "two folders"},
	} {
		dir := t.TempDir()
		writePart(t, filepath.Join(dir, c.first))
		writePart(t, filepath.Join(dir, c.second))
		if _, _, err := Read(dir, Options{Format: schema.Format{Label: "y"}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v", c.first, c.second, err)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "day=1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "day=1", "p.csv"), []byte("a,y\n1,0\n2,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(dir, Options{}); err == nil || !strings.Contains(err.Error(), "Parquet") {
		t.Errorf("text: %v", err)
	}
}

// What lakes keep for programs is no data: markers, statistics, checksums, logs, and the files of unfinished jobs.
func TestDirectoryLeavesOutFilesForPrograms(t *testing.T) {
	dir := t.TempDir()
	rows := []string{"_site=3/day=1/part-0.parquet", "_site=3/day=2/part-0.parquet"}
	for _, name := range rows {
		writePart(t, filepath.Join(dir, name))
	}
	for _, name := range []string{"_SUCCESS", "_metadata", "_common_metadata", "._SUCCESS.crc", "_temporary/0/day=1/part-1.parquet",
		"_delta_log/00000000000000000000.json", ".hive-staging/day=1/part-0.parquet", ".day=3/part-0.parquet", "_site=3/day=1/.part-0.parquet.crc",
		"_site=3/day=1/_started_7", "metadata/v1.json"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("crc\x00"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range files.Paths() {
		if i >= len(rows) || path != filepath.Join(dir, rows[i]) {
			t.Errorf("file %d is %s", i, path)
		}
	}
	if keys := strings.Join(files.Keys(), " "); keys != "_site day" {
		t.Errorf("keys %s", keys)
	}
	got, _, err := Read(dir, Options{Format: schema.Format{Label: "y"}})
	if err != nil || got.Rows() != 6 {
		t.Fatalf("%v", err)
	}
	if _, err := OpenFiles(filepath.Join(dir, "_temporary")); err == nil || !strings.Contains(err.Error(), "left out") {
		t.Errorf("a directory without files of its own: %v", err)
	}
	if err := os.Symlink("gone", filepath.Join(dir, "_site=3", "day=1", "part-2.parquet")); err != nil {
		t.Skip(err)
	}
	if _, err := OpenFiles(dir); err == nil || !strings.Contains(err.Error(), "part-2") {
		t.Errorf("a link to nothing: %v", err)
	}
}

// Several files with columns of text are packed as one table: text, and Parquet files in partitions.
func TestPackSeveralFilesWithTexts(t *testing.T) {
	lake := t.TempDir()
	writePart(t, filepath.Join(lake, "day=u", "p.parquet"))
	writePart(t, filepath.Join(lake, "day=v", "p.parquet"))
	for _, dir := range []string{lake, writeFiles(t, "a,t,y\n1,x,0\n2,y,1\n", "y,t,a\n1,z,5\n"), writeFiles(t, "t,y\nx,b\n", "t,y\nz,c\n")} {
		files, err := OpenFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "p.ttp")
		if _, err := Pack(files, out, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		o := Options{Unlabelled: true}
		want, wantInfo, err := Read(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		got, info, err := Read(out, o)
		if err != nil {
			t.Fatal(err)
		}
		if info.Digest != wantInfo.Digest || got.Rows() != want.Rows() || len(got.Columns) != len(want.Columns) {
			t.Fatalf("%d rows of %d columns, digest %s; want %d of %d, %s", got.Rows(), len(got.Columns), info.Digest,
				want.Rows(), len(want.Columns), wantInfo.Digest)
		}
		for k := range want.Columns {
			for row := range want.Rows() {
				if a, b := got.Columns[k].Text(row), want.Columns[k].Text(row); a != b {
					t.Errorf("column %d, row %d: %q, want %q", k, row, a, b)
				}
			}
		}
	}
}
