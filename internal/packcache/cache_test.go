package packcache

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"toptau/internal/table"
	"toptau/schema"
)

func text(rows int, last string) []byte {
	var b bytes.Buffer
	b.WriteString("x,name,label\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d.5,n%d,%d\n", i, i%7, i%2)
	}
	b.WriteString("1.5," + last + ",1\n")
	return b.Bytes()
}

func files(t *testing.T, paths ...string) *table.Files {
	t.Helper()
	f, err := table.OpenFiles(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A copy is found by path, size and time, or by the bytes, and not for other bytes or other options.
func TestFind(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	c := &Cache{Directory: filepath.Join(dir, "copies")}
	path := filepath.Join(dir, "rows.csv")
	write(t, path, text(5000, "a"))
	find := func(path string, f schema.Format) *Entry {
		t.Helper()
		e, err := c.Find(ctx, files(t, path), f)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := find(path, schema.Format{}); e != nil {
		t.Fatal("an entry in an empty cache")
	}
	added, err := c.Add(ctx, files(t, path), schema.Format{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e := find(path, schema.Format{Drop: []string{"x"}}); e == nil || e.Name != added.Name || e.Rows != 5001 || e.Columns != 3 {
		t.Errorf("found %+v, added %+v", e, added)
	}
	if find(path, schema.Format{Missing: []string{"0.5"}}) != nil {
		t.Error("an entry for other options")
	}
	copied := filepath.Join(dir, "copied.csv")
	write(t, copied, text(5000, "a"))
	if e := find(copied, schema.Format{}); e == nil || e.Name != added.Name {
		t.Errorf("a copy with another name and time: %+v", e)
	}
	write(t, copied, text(5000, "b")) // as many bytes
	if find(copied, schema.Format{}) != nil {
		t.Error("an entry for other bytes")
	}
	// What is trusted: path, size and time.
	info, err := os.Stat(copied)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Add(ctx, files(t, copied), schema.Format{}, nil); err != nil {
		t.Fatal(err)
	}
	write(t, copied, text(5000, "c"))
	if err := os.Chtimes(copied, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if find(copied, schema.Format{}) == nil {
		t.Error("no entry for the same path, size and time")
	}
	// A packed file that became shorter is no entry, and is packed again.
	if err := os.Truncate(added.Path, added.Bytes-1); err != nil {
		t.Fatal(err)
	}
	if find(path, schema.Format{}) != nil {
		t.Error("an entry whose packed file is shorter")
	}
}

// The copies that were used longest ago are removed first, and never the one that was just packed.
func TestLimit(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	c := &Cache{Directory: filepath.Join(dir, "copies")}
	var names []string
	for i := range 4 {
		path := filepath.Join(dir, fmt.Sprint(i, ".csv"))
		write(t, path, text(3000, fmt.Sprint("last", i)))
		e, err := c.Add(ctx, files(t, path), schema.Format{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(c.Directory, e.Name+".json"), at, at); err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
		c.MaxSize = 3*e.Bytes + e.Bytes/2
	}
	list, err := c.List()
	if err != nil || len(list) != 3 || list[0].Name != names[3] || list[2].Name != names[1] {
		t.Fatalf("%d entries: %+v %v", len(list), list, err)
	}
	if e, err := c.Find(ctx, files(t, filepath.Join(dir, "1.csv")), schema.Format{}); err != nil || e == nil {
		t.Fatal(err)
	}
	removed, err := c.Shrink(list[0].Bytes + list[0].Bytes/2)
	if err != nil || len(removed) != 2 || removed[0].Name != names[2] || removed[1].Name != names[3] {
		t.Errorf("removed %+v %v", removed, err)
	}
	if removed, err = c.Shrink(0); err != nil || len(removed) != 1 {
		t.Errorf("removed %+v %v", removed, err)
	}
	if left, err := os.ReadDir(c.Directory); err != nil || len(left) != 0 {
		t.Errorf("left %v %v", left, err)
	}
}

// Two that pack the same files at once leave one whole entry.
func TestTwoAtOnce(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	c := &Cache{Directory: filepath.Join(dir, "copies")}
	path := filepath.Join(dir, "rows.csv")
	write(t, path, text(20_000, "a"))
	var all sync.WaitGroup
	for range 4 {
		f := files(t, path)
		all.Go(func() {
			if _, err := c.Add(ctx, f, schema.Format{}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := c.List()
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	if left, err := os.ReadDir(c.Directory); err != nil || len(left) != 2 {
		t.Errorf("left %v %v", left, err)
	}
	_, info, err := table.Read(list[0].Path, table.Options{Format: schema.Format{Label: "label"}})
	if err != nil || info.Rows != 20_001 || info.Digest != list[0].Digest {
		t.Errorf("%+v %v", info, err)
	}
}

// What fits is read as it is, and so is what cannot or need not be packed.
func TestFits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rows.csv")
	write(t, path, text(3000, "a"))
	sparse := filepath.Join(dir, "rows.libsvm")
	write(t, sparse, bytes.Repeat([]byte("1 3:0.5 9:1\n-1 2:1\n"), 2000))
	c := &Cache{Directory: filepath.Join(dir, "copies")}
	e, err := c.Add(context.Background(), files(t, path), schema.Format{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		path   string
		memory int64
		want   bool
	}{{path, 1 << 30, true}, {path, 1 << 10, false}, {sparse, 1 << 10, true}, {e.Path, 1 << 10, true}, {path, 0, true}} {
		if got, err := Fits(files(t, f.path), schema.Format{}, f.memory); err != nil || got != f.want {
			t.Errorf("%s in %d bytes: %v %v", filepath.Base(f.path), f.memory, got, err)
		}
	}
}
