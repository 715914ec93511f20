package table

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"toptau/schema"
)

// What fits is read as it is, and so is what cannot or need not be packed.
func TestFitMemory(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, line string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, append([]byte("a,b\n"), bytes.Repeat([]byte(line), 2000)...), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	open := func(path string) *Files {
		f, err := OpenFiles(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	text, sparse := write("rows.csv", "1,2\n"), filepath.Join(dir, "rows.libsvm")
	if err := os.WriteFile(sparse, bytes.Repeat([]byte("1 3:0.5 9:1\n-1 2:1\n"), 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	packed, _, remove, err := PackTemporary(open(text), Options{Format: schema.Format{Label: "b"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		path   string
		memory int64
		want   bool
	}{{text, 1 << 30, true}, {text, 1 << 10, false}, {sparse, 1 << 10, true}, {packed, 1 << 10, true}, {text, 0, true}} {
		if got, err := open(f.path).FitMemory(schema.Format{}, f.memory); err != nil || got != f.want {
			t.Errorf("%s in %d bytes: %v %v", filepath.Base(f.path), f.memory, got, err)
		}
	}
	if remove(); fileExists(packed) {
		t.Error("the temporary file is still there")
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
