package table

import (
	"os"
	"path/filepath"
	"testing"
)

// Several files with columns of text are packed as one table, in whatever order their columns are.
func TestPackSeveralFilesWithTexts(t *testing.T) {
	for _, parts := range [][2]string{{"a,t,y\n1,x,0\n2,y,1\n", "y,t,a\n1,z,5\n"}, {"t,y\nx,b\n", "t,y\nz,c\n"}} {
		dir := t.TempDir()
		for i, name := range []string{"1.csv", "2.csv"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(parts[i]), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		files, err := OpenFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "p.ttp")
		if _, err := Pack(files, out, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		want, _, err := Read(dir, Options{Unlabelled: true})
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := Read(out, Options{Unlabelled: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.Rows() != want.Rows() || len(got.Columns) != len(want.Columns) {
			t.Fatalf("%d rows of %d columns, want %d of %d", got.Rows(), len(got.Columns), want.Rows(), len(want.Columns))
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
