package table

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"toptau/internal/data/parquet"
	"toptau/schema"
)

// A file that is read column by column has the rows of one that is read row by row.
func TestColumnByColumn(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many files")
	}
	const rows = 1<<18 + 1<<16 + 77 // three row groups of the writer, each with several parts
	path := filepath.Join(t.TempDir(), "key=5", "rows.parquet")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parquet.NewWriter(f, []parquet.WriteColumn{{Name: "n"}, {Name: "color", Type: parquet.Text}, {Name: "weight"},
		{Name: "y", Type: parquet.Whole}, {Name: "id", Type: parquet.Text}, {Name: "text", Type: parquet.Text}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		w.SetNumber(0, float64(i%1000)/8)
		w.SetText(1, fmt.Sprint("c", i/1000%7, i%3)) // new categories in later groups
		w.SetNumber(2, float64((i/70_000+i)%3))
		w.SetWhole(3, int64(i%2))
		w.SetText(4, fmt.Sprint(i%11))
		w.SetText(5, fmt.Sprint(i%13))
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, weight := range []string{"", "weight"} {
		o := Options{Format: schema.Format{Label: "y", Weight: weight, ID: []string{"id"}, Numeric: []string{"text"}}}
		r, err := NewReader(path, mustOpen(t, filepath.Dir(path)), o)
		if err != nil {
			t.Fatal(err)
		}
		want, at := &Table{}, 0
		got, _, err := Read(filepath.Dir(path), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Packed = true
		packed, _, err := Read(filepath.Dir(path), o)
		if err != nil {
			t.Fatal(err)
		}
		for want, err = r.Next(10_007); err == nil; want, err = r.Next(10_007) {
			n := want.Rows()
			if !slices.Equal(want.Label, got.Label[at:at+n]) || !slices.Equal(want.ID[0].Values, got.ID[0].Values[at:at+n]) ||
				weight != "" && !slices.Equal(want.Weight, got.Weight[at:at+n]) {
				t.Fatalf("rows from %d on have other roles", at)
			}
			for k := range want.Columns {
				for row := range n {
					a, b, c := want.Columns[k].Text(row), got.Columns[k].Text(at+row), packed.Columns[k].Text(at+row)
					if a != b || a != c || want.LineOf(row) != packed.LineOf(at+row) {
						t.Fatalf("column %s, row %d: %q, %q and packed %q", want.Columns[k].Name, at+row, a, b, c)
					}
				}
			}
			at += n
		}
		if at != got.Rows() || at != packed.Rows() || weight != "" && at == rows {
			t.Errorf("%d rows, %d and packed %d", at, got.Rows(), packed.Rows())
		}
	}
}

func mustOpen(t *testing.T, path string) *Files {
	t.Helper()
	files, err := OpenFiles(path)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
