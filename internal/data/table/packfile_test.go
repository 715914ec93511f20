package table

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/data/packed"
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
	all := []schema.Format{
		{Label: "label", Positive: []string{"bad"}, ID: []string{"id"}},
		{Label: "label", Positive: []string{"!fine"}, ID: []string{"id"}, Group: "host", Time: "when", Segment: "service", Drop: []string{"count"}},
		{Label: "label", Positive: []string{"bad"}, Drop: []string{"id"}, Categorical: []string{"count", "when"}, Kept: []string{"host"}},
		{Label: "label", Positive: []string{"bad"}, ID: []string{"id"}, Weight: "count"},
	}
	if os.Getenv("TOPTAU_LONG") == "" {
		all = all[1:2]
	}
	for _, roles := range all {
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

// A packed file keeps the texts of whole numbers that a number does not give back, from the first row or from a later one, and still
// has numbers as features. Numbers whose texts are lost are refused as names of rows.
func TestPackedFileKeepsIdentifiers(t *testing.T) {
	var b strings.Builder
	b.WriteString("card,zip,plain,missing,ts,amount,flag,y\n")
	for i := range 400 {
		missing := strconv.Itoa(i)
		if i%100 == 7 {
			missing = "?"
		}
		fmt.Fprintf(&b, "%d,%05d,%d,%s,%d,%.2f,%t,%d\n", 4000123412340000000+int64(i/3), i%200, 999_990+i, missing, 1717199999+i, float64(i)/8, i%3 == 0, i%5%2)
	}
	source, out := packText(t, b.String(), Options{Format: schema.Format{Missing: []string{"?"}}})
	all := []string{"card", "zip", "plain", "ts"}
	for _, roles := range []schema.Format{
		{Label: "y", Missing: []string{"?"}},
		{Label: "y", Missing: []string{"?"}, ID: all, Group: "card", Segment: "zip", Time: "ts"},
		{Label: "y", Missing: []string{"?"}, Kept: append(all, "card"), Categorical: []string{"zip"}, Drop: []string{"card"}},
	} {
		want, wantInfo, err := Read(source, Options{Format: roles})
		if err != nil {
			t.Fatal(err)
		}
		for _, packed := range []bool{true, false} {
			got, info, err := Read(out, Options{Format: roles, Packed: packed})
			if err != nil {
				t.Fatal(err)
			}
			sameRows(t, want, got)
			wantSame(t, wantInfo.Schema.Columns, info.Schema.Columns)
		}
	}
	kept, _, err := Read(out, Options{Format: schema.Format{Label: "y", Kept: []string{"missing", "amount"}}})
	if err != nil || kept.Kept[0].Values[7] != "" || kept.Kept[0].Values[8] != "8" || kept.Kept[1].Values[4] != "0.5" {
		t.Errorf("%v %q", err, kept.Kept[0].Values[7:9])
	}
	for name, f := range map[string]schema.Format{"id": {ID: []string{"amount"}}, "group": {Group: "flag"}, "segment": {Segment: "amount"}} {
		f.Label = "y"
		_, _, err := Read(out, Options{Format: f})
		wantError(t, err, fmt.Sprintf(`%s: --%s %q, whose packed numbers have lost their texts, such as 1.50, expected texts or whole numbers `+
			"(pack the source again with this column as categorical)", out, name, cmp.Or(f.Group, f.Segment, "amount")))
	}
	// A packed file that is packed again stays the same.
	again := filepath.Join(t.TempDir(), "again.ttp")
	files, err := OpenFiles(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(files, again, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	described := func(path string) []packed.Column {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := packed.New(f)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		return p.Columns()
	}
	wantSame(t, described(out), described(again))
	const want = "[{card texts true false} {zip texts true false} {plain numbers false false} {missing numbers false false} " +
		"{ts texts true false} {amount numbers false true} {flag numbers false true} {y numbers false false}]"
	if got := fmt.Sprint(described(out)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A whole number after the rows that decide the kinds that does not give its text back makes its column one of texts.
func TestPackedFileKeepsLateIdentifiers(t *testing.T) {
	text := "id,n,y\n" + strings.Repeat("7,1,1\n8,2,0\n", headRows/2) + "007,3,0\n9,,1\n"
	source, out := packText(t, text, Options{})
	for _, path := range []string{source, out} {
		x, _, err := Read(path, Options{Format: schema.Format{Label: "y", ID: []string{"id"}, Kept: []string{"n"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%q %q", x.ID[0].Values[headRows-1:], x.Kept[0].Values[headRows-1:]); got != `["8" "007" "9"] ["2" "3" ""]` {
			t.Errorf("%s: %s", path, got)
		}
	}
}
