package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/diag"
)

// readOdd returns the values of a file of TestOddFiles as Next and as ReadColumn read them, which must be the same.
func readOdd(t *testing.T, name string) (map[string][]float64, map[string][]string) {
	t.Helper()
	path := filepath.Join("testdata", "odd", name+".parquet")
	numbers, texts, err := readFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	columns := f.Columns()
	byColumn := make([][]float64, len(columns))
	for {
		if _, err := f.Next(make([]Form, len(columns)), make([]Values, len(columns))); err != nil {
			break
		}
		for k, c := range columns {
			if c.Form == Texts {
				continue
			}
			if err := f.ReadColumn(k, Numbers, func(_, _ int, v *Values) error {
				byColumn[k] = append(byColumn[k], v.Numbers...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for k, c := range columns {
		if c.Form == Numbers {
			compareNumbers(t, name+" "+c.Name+" by column", byColumn[k], numbers[c.Name])
		}
	}
	return numbers, texts
}

// Sums of differences of 32 bits wrap.
func TestDifferencesOf32Bits(t *testing.T) {
	numbers, _ := readOdd(t, "int32")
	compareNumbers(t, "n", numbers["n"], []float64{math.MinInt32, math.MaxInt32, 0, math.MaxInt32, math.MinInt32, 7})

	// One block of eight numbers after 2^31 - 1, whose differences are 1.
	next := func(narrow bool) (int64, error) {
		b := binary.AppendVarint([]byte{8, 1, 2}, math.MaxInt32)
		d, err := newDelta(append(b, 2, 0), narrow)
		if err != nil {
			return 0, err
		}
		var v values
		err = d.read(2, &v)
		return v.ints[1], err
	}
	for narrow, want := range map[bool]int64{true: math.MinInt32, false: math.MaxInt32 + 1} {
		if got, err := next(narrow); err != nil || got != want {
			t.Errorf("%v: %d, %v", narrow, got, err)
		}
	}
	if _, err := newDelta(binary.AppendVarint([]byte{8, 1, 2}, math.MaxInt32+1), true); err == nil {
		t.Error("a first number of 33 bits is accepted")
	}
}

// Times of 96 bits are the dates that are written, also where 64 bits of nanoseconds have no such date, or an error.
func TestTimesOf96Bits(t *testing.T) {
	for _, name := range []string{"int96", "int96-plain"} {
		_, texts := readOdd(t, name)
		compareTexts(t, name, texts["t"], []string{"9999-12-31T23:59:59.999999", "1200-01-01T00:00:59", "", "2024-02-29T00:00:00"})
	}
	for _, c := range []struct {
		day, nanos int64
		want       string
	}{
		{2440588, 0, "1970-01-01T00:00:00"}, {0, 86400e9 - 1, "-4713-11-24T23:59:59.999999999"}, {math.MaxInt32, 1, "5874898-06-03T00:00:00.000000001"},
		{2440588, 86400e9, ""}, {2440588, -1, ""}, {-1, 0, ""},
	} {
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(c.nanos)), uint32(c.day))
		got, err := julianText(b, 0)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("day %d, nanosecond %d: %q, %v, want %q", c.day, c.nanos, got, err, c.want)
		}
	}
}

// Values of less than four bytes have dictionaries.
func TestNarrowDictionaries(t *testing.T) {
	numbers, _ := readOdd(t, "narrow")
	var halves, decimals []float64
	for i := range 90 {
		halves, decimals = append(halves, float64(i)/4-9), append(decimals, float64(i%9))
	}
	compareNumbers(t, "h", numbers["h"], halves)
	for _, name := range []string{"d2", "d3", "d4", "d5", "d6", "d7", "d9"} {
		compareNumbers(t, name, numbers[name], decimals)
	}
}

// A file without rows has none, and a row group without rows is passed over.
func TestEmptyGroups(t *testing.T) {
	if numbers, _ := readOdd(t, "no-rows"); len(numbers["h"]) != 0 {
		t.Error(numbers["h"])
	}
	numbers, _ := readOdd(t, "empty-group")
	if h := numbers["h"]; len(h) != 90 || h[60] != 6 || h[89] != 89./4-9 {
		t.Error(h)
	}
}

// Writers count the rows of a file, and the header of a dictionary as bytes of its chunk, in different ways.
func TestTolerantFooters(t *testing.T) {
	f, err := openFile(filepath.Join("testdata", "odd", "narrow.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, c := range []struct {
		rows int64
		good bool
	}{{0, true}, {90, true}, {89, false}, {91, false}} {
		m := *f.meta
		m.rows = c.rows
		if err := m.check(); (err == nil) != c.good || c.good && m.rows != 90 {
			t.Errorf("%d rows: %v", c.rows, err)
		}
	}
	for _, c := range []struct {
		name string
		rows int
		less int64
		want string // of the error
	}{{"narrow", 90, 0, ""}, {"narrow", 90, 14, ""}, {"narrow", 90, uncountedHeader + 1, "not well-formed"}, {"int32", 6, 0, ""}, {"int32", 6, 14, "in the chunk"}} {
		f, err := openFile(filepath.Join("testdata", "odd", c.name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		f.meta.groups[0].chunks[0].bytes -= c.less
		space := make([]Values, len(f.meta.leaves))
		forms := make([]Form, len(space))
		forms[0] = Numbers
		if n, err := f.Next(forms, space); c.want == "" && (err != nil || n != c.rows) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %d bytes less: %v", c.name, c.less, err)
		}
		f.Close()
	}
}

// A logical type of a physical type that does not have it, and a time without a unit, are refused and never a panic.
func TestLogicalTypesThatDoNotFit(t *testing.T) {
	for _, l := range []leaf{{physical: byteArrays, logical: timestamp, unit: 1e3}, {physical: byteArrays, logical: date}, {physical: int64s, logical: date},
		{physical: byteArrays, logical: timeOfDay, unit: 1e3}, {physical: int64s, logical: timestamp}, {physical: int64s, logical: timeOfDay},
		{physical: byteArrays, logical: uuid, width: 16}, {physical: int32s, logical: float16, width: 2}} {
		if l.unreadable() == "" {
			t.Errorf("%+v is read", l)
		}
	}
	for _, l := range []leaf{{physical: int64s, logical: timestamp, unit: 1e9}, {physical: int96s, logical: timestamp}, {physical: int32s, logical: date},
		{physical: int32s, logical: timeOfDay, unit: 1e3}, {physical: fixedArrays, logical: uuid, width: 16}, {physical: fixedArrays, logical: float16, width: 2}} {
		if why := l.unreadable(); why != "" {
			t.Errorf("%+v: %s", l, why)
		}
	}
	hours := leaf{physical: int32s, logical: timeOfDay, unit: 1e3}
	for v, want := range map[int64]string{86400e3 - 1: "23:59:59.999", 86400e3: "", -1: ""} {
		if got, err := hours.text(&values{ints: []int64{v}}, 0, 0); got != want || (err == nil) != (want != "") {
			t.Errorf("%d: %q, %v", v, got, err)
		}
	}
}

// Damaged files in which a byte differs are errors or are read, and never a panic.
func TestDamagedOddFiles(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "odd", "*.parquet"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range append(paths, filepath.Join("testdata", "brotli-1.parquet")) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(content); at += 37 {
			damaged := bytes.Clone(content)
			damaged[at] ^= 0x55
			if _, _, err := readFile(save(t, damaged)); err != nil && diag.Of(err) == nil {
				t.Errorf("%s, byte %d: %v", path, at, err)
			}
		}
	}
}
