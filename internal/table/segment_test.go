package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/schema"
)

// A segment of any form returns every value with the same bits.
func TestSegmentKeepsBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := map[form]func() float64{
		decimal8:  func() float64 { return float64(r.IntN(255)-127) / 10 },
		decimal16: func() float64 { return float64(r.IntN(60_000)-30_000) / 1000 },
		decimal32: func() float64 { return float64(r.IntN(2_000_000_000)-1_000_000_000) / 1e6 },
		single:    func() float64 { return float64(float32(r.Float64() * math.Pow(2, float64(r.IntN(60)-30)))) },
		double:    func() float64 { return r.Float64() },
	}
	for want, next := range draw {
		for _, missing := range []bool{false, true} {
			values := make([]float64, segmentRows)
			for i := range values {
				if values[i] = next(); missing && r.IntN(3) == 0 {
					values[i] = math.NaN()
				}
			}
			s := newSegment(values)
			if s.form != want {
				t.Errorf("form %d instead of %d", s.form, want)
			}
			checkSegment(t, s, values)
		}
	}
}

func checkSegment(t *testing.T, s segment, values []float64) {
	t.Helper()
	all := s.numbers(0, len(values), make([]float64, len(values)))
	for first := range min(len(values), 9) {
		part := s.numbers(first, len(values)-first, make([]float64, len(values)))
		for i, v := range part {
			if math.Float64bits(v) != math.Float64bits(all[first+i]) && v == v {
				t.Fatalf("form %d from %d: %v instead of %v", s.form, first, v, all[first+i])
			}
		}
	}
	for i, v := range values {
		for _, got := range []float64{s.number(i), all[i]} {
			if math.Float64bits(got) != math.Float64bits(v) && !(got != got && v != v) {
				t.Fatalf("form %d: %v became %v", s.form, v, got)
			}
		}
	}
}

// Values at the limits of each form, and values that need the next one.
func TestSegmentAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		values []float64
		form   form
	}{
		{[]float64{127, -127}, decimal8},
		{[]float64{-128}, decimal16}, // -128 is a missing value
		{[]float64{12.7, 0.1, math.NaN()}, decimal8},
		{[]float64{12.8}, decimal16},
		{[]float64{32767, -32767}, decimal16},
		{[]float64{-32768}, decimal32},
		{[]float64{math.MaxInt32, -math.MaxInt32}, decimal32},
		{[]float64{math.MinInt32}, single},
		{[]float64{1 << 31, 0.5}, single},
		{[]float64{300_000_000, 0.1}, double}, // a tenth is no float32, and the decimal has ten digits
		{[]float64{math.Copysign(0, -1), 1}, single},
		{[]float64{0.1, 0.12, 0.123}, decimal8},
		{[]float64{0.12345678901}, double},
		{[]float64{1e-15}, decimal8},
		{[]float64{1e-16}, double},
		{[]float64{math.MaxFloat64, math.SmallestNonzeroFloat64}, double},
		{[]float64{math.NaN()}, decimal8},
	} {
		s := newSegment(c.values)
		if s.form != c.form {
			t.Errorf("%v: form %d instead of %d", c.values, s.form, c.form)
		}
		checkSegment(t, s, c.values)
	}
}

func FuzzSegment(f *testing.F) {
	f.Add(0.1, 1e9, math.Copysign(0, -1), 12.345)
	f.Add(1.0, math.MaxFloat64, 1e-300, 2.5)
	f.Fuzz(func(t *testing.T, a, b, c, d float64) {
		values := []float64{a, b, c, d}
		for i, v := range values {
			if v-v != 0 {
				values[i] = math.NaN()
			}
		}
		checkSegment(t, newSegment(values), values)
	})
}

// A packed table has the values of a plain one, for every way to read its rows, and releases them from the
// first row on.
func TestPackedTable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for i := range 5*segmentRows + 77 {
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
	freed := got.Release(3*segmentRows + 5)
	if freed <= 0 || got.Release(3*segmentRows+5) != 0 {
		t.Errorf("released %d bytes, or some of them twice", freed)
	}
	for k := range got.Columns {
		for i, s := range got.Columns[k].segments {
			if (s.bytes() == 0) != (i < 3) {
				t.Errorf("column %d, segment %d: %d bytes", k, i, s.bytes())
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
