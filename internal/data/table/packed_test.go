package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/internal/data/packed"
	"toptau/schema"
)

// A packed table has the values of a plain one, for every way to read its rows, and releases them from the
// first row on.
func TestPackedTable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for i := range 5*packed.SegmentRows + 77 {
		quote := ""
		if i%2000 == 1999 {
			quote = `"` // a chunk for the careful reader
		}
		fmt.Fprintf(&b, "%d,%s%.4f%s,name%d,%v,%v\n", i%2, quote, r.Float64(), quote, r.IntN(300), r.Float64(), r.IntN(1000))
	}
	o := Options{Format: schema.Format{Label: "1", Header: "no"}}
	want, _, err := readText(b.String(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Packed = true
	got, _, err := readText(b.String(), o)
	if err != nil {
		t.Fatal(err)
	}
	comparePacked(t, want, got)
	freed := got.Release(3*packed.SegmentRows + 5)
	if freed <= 0 || got.Release(3*packed.SegmentRows+5) != 0 {
		t.Errorf("released %d bytes, or some of them twice", freed)
	}
	for k := range got.Columns {
		for i, s := range got.Columns[k].segments {
			if (s.Bytes() == 0) != (i < 3) {
				t.Errorf("column %d, segment %d: %d bytes", k, i, s.Bytes())
			}
		}
	}
}

// comparePacked compares a packed table with a plain one.
func comparePacked(t *testing.T, want, got *Table) {
	t.Helper()
	for k := range want.Columns {
		w, g := &want.Columns[k], &got.Columns[k]
		if g.Values != nil || g.Codes != nil {
			t.Fatalf("column %d is not packed", k)
		}
		for row := range want.Rows() {
			switch {
			case w.Kind == schema.Categorical && w.Codes[row] != g.Code(row):
				t.Fatalf("column %d, row %d: code %d instead of %d", k, row, g.Code(row), w.Codes[row])
			case w.Kind == schema.Numeric && math.Float64bits(w.Value(row)) != math.Float64bits(g.Value(row)):
				t.Fatalf("column %d, row %d: %v instead of %v", k, row, g.Value(row), w.Value(row))
			}
		}
		if w.Kind == schema.Numeric {
			wantSame(t, w.AllValues(), g.AllValues())
		}
	}
}

// A packed table does not store consecutive lines, but returns them.
func TestPackedLines(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int // nil: 2, 3, 4
	}{
		{"y,a\n1,2\n0,3\n1,4\n", nil},
		{"y,a\n1,2\n0,\"3\n\"\n1,4\n", []int{2, 3, 5}},
	} {
		x, _ := mustRead(t, c.text, Options{Format: schema.Format{Label: "y", Categorical: []string{"a"}}, Packed: true})
		if (x.Line == nil) != (c.want == nil) || x.Rows() != 3 {
			t.Errorf("%q: %d rows, lines %v", c.text, x.Rows(), x.Line)
		}
		for row, line := range append([]int{}, append(c.want, 2, 3, 4)[:3]...) {
			if got := x.LineOf(row); got != line {
				t.Errorf("%q: row %d has line %d, want %d", c.text, row, got, line)
			}
		}
	}
}
