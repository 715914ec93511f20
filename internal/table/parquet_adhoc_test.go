package table

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/schema"
)

func TestParquetAdhoc(t *testing.T) {
	dir := os.Getenv("PQDIR")
	if dir == "" {
		t.Skip()
	}
	o := Options{Format: schema.Format{Label: "label", Positive: []string{"bad"}, ID: []string{"id"}, Kept: []string{"host"}}}
	want, _, err := Read(filepath.Join(dir, "rows.csv"), o)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := filepath.Glob(filepath.Join(dir, "*.parquet"))
	for _, path := range list {
		for _, packs := range []bool{false, true} {
			o.Packed = packs
			got, info, err := Read(path, o)
			if strings.Contains(path, "brotli") {
				if err == nil {
					t.Error("brotli")
				}
				t.Log(err)
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			t.Log(path, info.Rows, info.Warnings)
			sameRows(t, want, got)
		}
	}
}
