package table_test

import (
	"os"
	"path/filepath"
	"testing"

	"toptau/internal/data/table"
	"toptau/schema"
)

// Rows of a table have the same fields wherever they are, packed or not.
func TestSelect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	text := "id,x,c,host,w,y\na,1,red,p,1,1\nb,2.5,blue,p,2,0\nc,,red,q,1,0\nd,4,green,r,3,1\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, packed := range []bool{false, true} {
		o := table.Options{Packed: packed}
		o.Label, o.ID, o.Group, o.Weight = "y", []string{"id"}, "host", "w"
		all, _, err := table.Read(path, o)
		if err != nil {
			t.Fatal(err)
		}
		rows := []int{3, 1, 2}
		part := all.Select(rows)
		if part.Rows() != len(rows) {
			t.Fatalf("%d rows", part.Rows())
		}
		for i, row := range rows {
			if part.Label[i] != all.Label[row] || part.LineOf(i) != all.LineOf(row) || part.Weight[i] != all.Weight[row] ||
				part.ID[0].Values[i] != all.ID[0].Values[row] || part.Group.Values[i] != all.Group.Values[row] {
				t.Errorf("row %d differs from row %d", i, row)
			}
			for j := range all.Columns {
				a, b := &part.Columns[j], &all.Columns[j]
				if a.Kind == schema.Categorical {
					if a.Code(i) != b.Code(row) {
						t.Errorf("row %d, column %s: %d", i, a.Name, a.Code(i))
					}
				} else if x, y := a.Value(i), b.Value(row); x != y && (x == x || y == y) {
					t.Errorf("row %d, column %s: %v", i, a.Name, x)
				}
			}
		}
	}
}
