package table

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"toptau/internal/parquet"
	"toptau/schema"
)

// textsInParquet writes a Parquet file with a column of texts and a label, and returns its path.
func textsInParquet(t *testing.T, texts []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "texts.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := parquet.NewWriter(f, []parquet.WriteColumn{{Name: "a", Type: parquet.Text}, {Name: "y", Type: parquet.Whole}})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		w.SetText(0, text)
		w.SetWhole(1, int64(i%2))
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Texts that look like numbers stay categories in a format that has numbers, and a note names the way to read them.
func TestTextsOfNumbers(t *testing.T) {
	for _, c := range []struct {
		texts []string
		noted bool
		last  float64
	}{{[]string{"2.041", "-0.461", "0.926"}, true, 0.926}, {[]string{"tcp", "udp", "7"}, false, 0}, {[]string{"", "", "7"}, true, 7}} {
		json := filepath.Join(t.TempDir(), "rows.jsonl")
		var lines []byte
		for i, text := range c.texts {
			lines = append(lines, `{"a":`+strconv.Quote(text)+`,"y":`+strconv.Itoa(i%2)+"}\n"...)
		}
		if err := os.WriteFile(json, lines, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{textsInParquet(t, c.texts), json} {
			x, info, err := Read(path, Options{Format: schema.Format{Label: "y"}})
			if err != nil {
				t.Fatal(err)
			}
			noted := len(info.Warnings) == 1 && info.Warnings[0].Code == "texts-of-numbers" && info.Warnings[0].Fixes[0].Param == "numeric"
			if x.Columns[0].Kind != schema.Categorical || noted != c.noted || len(info.Warnings) > 1 {
				t.Errorf("%s, %q: %v, %v", filepath.Base(path), c.texts, x.Columns[0].Kind, info.Warnings)
			}
			if !c.noted {
				continue
			}
			x, info, err = Read(path, Options{Format: schema.Format{Label: "y", Numeric: []string{"a"}}})
			if err != nil || len(info.Warnings) > 0 || x.Columns[0].Values[len(c.texts)-1] != c.last {
				t.Errorf("%s as numbers: %v, %v", filepath.Base(path), err, info.Warnings)
			}
		}
	}
}
