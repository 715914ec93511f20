package table

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/schema"
)

// mixedText returns delimited text with columns of all kinds and missing values.
func mixedText(seed uint64, rows int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("id,label,amount,service,when,ratio,count,host\n")
	for i := range rows {
		ratio := fmt.Sprint(r.Float64())
		if r.IntN(20) == 0 {
			ratio = "n/a"
		}
		fmt.Fprintf(&b, "%06d,%s,%.2f,%s,2024-05-%02dT%02d:00:00,%s,%d,10.0.%d.%d\n", i, []string{"bad", "good", "fine"}[min(2, r.IntN(20))],
			r.ExpFloat64()*100, []string{"http", "ftp", `"a,b"`, "", "n/a"}[r.IntN(5)], 1+r.IntN(28), r.IntN(24), ratio, r.IntN(50), r.IntN(2), r.IntN(256))
	}
	return b.String()
}

// pack packs text and returns the paths of both files.
func packText(t testing.TB, text string, o Options) (source, out string) {
	t.Helper()
	source, out = filepath.Join(t.TempDir(), "rows.csv"), filepath.Join(t.TempDir(), "rows.ttp")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := OpenFiles(source)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(files, out, o, nil); err != nil {
		t.Fatal(err)
	}
	return source, out
}

// A packed file gives the same table as its source, for any roles: read as a whole, packed, and in chunks.
func TestPackedFileIsItsSource(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 70,000 rows are compared value by value")
	}
	reading := schema.Format{Missing: []string{"n/a"}, Categorical: []string{"id"}}
	source, out := packText(t, mixedText(1, 70_123), Options{Format: reading})
	for _, roles := range []schema.Format{
		{Label: "label", Positive: []string{"bad"}, ID: []string{"id"}},
		{Label: "label", Positive: []string{"!fine"}, ID: []string{"id"}, Group: "host", Time: "when", Segment: "service", Drop: []string{"count"}},
		{Label: "label", Positive: []string{"bad"}, Drop: []string{"id"}, Categorical: []string{"count", "when"}, Kept: []string{"host"}},
		{Label: "label", Positive: []string{"bad"}, ID: []string{"id"}, Weight: "count"},
	} {
		o := Options{Format: roles}
		o.Missing = reading.Missing
		want, wantInfo, err := Read(source, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, packs := range []bool{false, true} {
			o.Packed = packs
			f, gotInfo := readFrame(t, out, o)
			if f.InFile() != (roles.Weight == "") {
				t.Errorf("in the file: %v", f.InFile())
			}
			got, err := f.Load()
			if err != nil {
				t.Fatal(err)
			}
			sameRows(t, want, got)
			sameBlocks(t, want, f)
			gotInfo.File, gotInfo.Format, gotInfo.Delimiter, gotInfo.Warnings = wantInfo.File, wantInfo.Format, wantInfo.Delimiter, wantInfo.Warnings
			wantSame(t, wantInfo, gotInfo)
		}
	}
}

func readFrame(t *testing.T, path string, o Options) (*Frame, *Info) {
	t.Helper()
	r, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	f, info, err := r.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	return f, info
}

// sameBlocks compares the blocks of a frame, and rows that it selects, with a table in memory and its own blocks.
func sameBlocks(t *testing.T, want *Table, got *Frame) {
	t.Helper()
	columns := make([]int, len(want.Columns))
	rows := []int{want.Rows() - 1}
	for k := range columns {
		columns[k] = k
		rows = append(rows, k*7919%want.Rows())
	}
	for _, f := range []*Frame{got, want.Frame()} {
		end := 0
		err := f.Scan(columns, func(part *Table, first int) error {
			if first != end {
				t.Fatalf("a block from row %d on after row %d", first, end)
			}
			end = first + part.Rows()
			some := make([]int, part.Rows())
			for i := range some {
				some[i] = first + i
			}
			sameRows(t, want.Select(some), part)
			return nil
		})
		if err != nil || end != want.Rows() {
			t.Fatalf("%d of %d rows: %v", end, want.Rows(), err)
		}
		some, err := f.Select(rows)
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, want.Select(rows), some)
	}
}

// sameRows compares tables value by value, whatever their form. The lines of a packed file are its rows.
func sameRows(t *testing.T, want, got *Table) {
	t.Helper()
	if want.Rows() != got.Rows() || len(want.Columns) != len(got.Columns) {
		t.Fatalf("%d rows of %d columns instead of %d of %d", got.Rows(), len(got.Columns), want.Rows(), len(want.Columns))
	}
	wantSame(t, want.Label, got.Label)
	wantSame(t, want.Weight, got.Weight)
	wantSame(t, want.texts(), got.texts())
	for k := range want.Columns {
		a, b := &want.Columns[k], &got.Columns[k]
		wantSame(t, a.Dictionary, b.Dictionary)
		codes, space := make([]int32, want.Rows()), make([]float64, want.Rows())
		if a.Kind == schema.Categorical {
			b.ReadCodes(0, codes)
		} else {
			space = b.Range(0, want.Rows(), space)
		}
		for row := range want.Rows() {
			if a.Kind == schema.Categorical {
				if a.Code(row) != b.Code(row) || a.Code(row) != codes[row] {
					t.Fatalf("column %s, row %d: code %d, %d instead of %d", a.Name, row, b.Code(row), codes[row], a.Code(row))
				}
			} else if x, y := a.Value(row), b.Value(row); x != y && (x == x || y == y) || x == x && space[row] != x {
				t.Fatalf("column %s, row %d: %v instead of %v", a.Name, row, y, x)
			}
		}
	}
}

// A model's schema reads a packed file as it reads the source, and a packed file that is damaged while it is read
// gives its error.
func TestPackedFileWithASchema(t *testing.T) {
	reading := schema.Format{Missing: []string{"n/a"}, Categorical: []string{"id"}}
	source, out := packText(t, mixedText(2, 70_123), Options{Format: reading})
	o := Options{Format: schema.Format{Label: "label", Positive: []string{"bad"}, ID: []string{"id"}, Missing: reading.Missing}}
	_, info, err := Read(source, o)
	if err != nil {
		t.Fatal(err)
	}
	_, other := packText(t, mixedText(3, 1000), Options{Format: reading})
	o = Options{Schema: &info.Schema, Unlabelled: true}
	want, _, err := Read(other, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Packed = true
	got, _, err := Read(other, o)
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, want, got)
	o = Options{Format: schema.Format{Label: "label", Positive: []string{"bad"}, Missing: reading.Missing, Drop: []string{"id"}}, Packed: true}
	f, _ := readFrame(t, out, o)
	if err := os.Truncate(out, 1000); err != nil {
		t.Fatal(err)
	}
	_, loaded := f.Load()
	_, selected := f.Select([]int{f.Rows() - 1})
	for _, err := range []error{loaded, selected, f.Scan([]int{0}, func(*Table, int) error { return nil })} {
		if err == nil || !strings.Contains(err.Error(), "the end of the file") {
			t.Errorf("the error is %v", err)
		}
	}
}
