package paper

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"toptau/diag"
)

func TestReadIDX(t *testing.T) {
	write := func(content string) string {
		path := filepath.Join(t.TempDir(), "items.gz")
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		z.Close()
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const head = "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x03"
	items, err := readIDX(write(head + "\x00\x01\xff\x02\x03\x04"))
	if err != nil || len(items) != 2 || !slices.Equal(items[0], []byte{0, 1, 255}) || !slices.Equal(items[1], []byte{2, 3, 4}) {
		t.Errorf("%v, %v", items, err)
	}
	for name, damaged := range map[string]string{"empty": "", "text": "1,2,3\n", "short": head + "\x00\x01\xff\x02\x03", "long": head + "abcdefg",
		"short header": head[:9], "no dimensions": "\x00\x00\x08\x00", "doubles": "\x00\x00\x0e\x01\x00\x00\x00\x00",
		"empty items": "\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x00", "huge": "\x00\x00\x08\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffa"} {
		if _, err := readIDX(write(damaged)); diag.Of(err) == nil || diag.Of(err).Kind != diag.Data {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readIDX(filepath.Join(t.TempDir(), "none")); diag.Of(err) == nil || diag.Of(err).Kind != diag.IO {
		t.Errorf("a missing file: %v", err)
	}
}
