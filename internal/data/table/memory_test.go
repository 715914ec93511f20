package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"

	"toptau/diag"
	"toptau/schema"
)

// passEmpty skips exactly the lines that next returns as lines of blanks, for every way to cut the text.
func TestPassEmpty(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteByte(" \t\n\r\n\r\nx"[r.IntN(8)])
		}
		text, delimiter := b.String(), " \t,"[r.IntN(3)]
		d := &delimited{delimiter: delimiter}
		want := newLines(strings.NewReader(text))
		var first []byte
		var end error
		for {
			if first, end = want.next(); end != nil || !d.isEmpty(first) {
				break
			}
		}
		got := newLines(iotest.OneByteReader(strings.NewReader(text)))
		got.passEmpty(delimiter)
		line, err := got.next()
		if err == nil && d.isEmpty(line) { // blanks without a line's end stay
			line, err = got.next()
		}
		if !bytes.Equal(line, first) || err != end || got.number != want.number {
			t.Fatalf("%q, delimiter %q: line %d %q %v, want line %d %q %v", text, delimiter, got.number, line, err, want.number, first, end)
		}
	}
}

func TestLineFeeds(t *testing.T) {
	for n := range 40 {
		if got := lineFeeds([]byte(strings.Repeat("\n", n) + "x\n\n")); got != n {
			t.Errorf("%d of %d", got, n)
		}
	}
}

// Empty lines around the rows of a file change neither the rows nor the numbers of the lines.
func TestEmptyLinesAround(t *testing.T) {
	const rows = "a,y\n1,1\n2,0\n"
	read := func(text string) *Table {
		r, err := NewReader("t", strings.NewReader(text), Options{Format: schema.Format{Label: "y"}})
		if err != nil {
			t.Fatal(err)
		}
		table, _, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	got := read(strings.Repeat("\n \r\n", 50_000) + rows + strings.Repeat("\n", 600_000))
	if want := read(rows); got.Rows() != 2 || got.Line[0] != want.Line[0]+100_000 || got.Columns[0].Values[1] != 2 {
		t.Errorf("%d rows, the first in line %d", got.Rows(), got.Line[0])
	}
}

func failureOf(text string, o Options) *diag.Error {
	r, err := NewReader("t", strings.NewReader(text), o)
	if err == nil {
		_, _, err = r.ReadAll()
	}
	return diag.Of(err)
}

func TestWidestTable(t *testing.T) {
	row := strings.Repeat("1,", MaxColumns-1)
	o := Options{Format: schema.Format{Label: "last", Header: "no"}}
	if e := failureOf(row+"1\n"+row+"0\n", o); e != nil {
		t.Error(e)
	}
	for _, wider := range []string{row + "1,1\n", strings.Repeat(`"1",`, MaxColumns) + "1\n", strings.Repeat("1,", 3*MaxColumns) + "1\n"} {
		if e := failureOf(wider+wider, o); e == nil || e.Line != 1 || !strings.Contains(e.Error(), "more than 25,000 fields") {
			t.Error(e)
		}
	}
	blanks := strings.Repeat("1 ", MaxColumns-1)
	if e := failureOf(blanks+"1  \n"+blanks+"0 \n", o); e != nil {
		t.Error(e)
	}
}

// Both ways to read refuse the same category in the same line.
func TestMaxCategories(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a column with as many categories as there may be")
	}
	var b strings.Builder
	b.WriteString("s,y\n")
	for i := range maxCategories + 2 {
		fmt.Fprintf(&b, "k%d,%d\n", i, i%2)
	}
	const want = `t:262146: column "s": distinct value 262,145 of the categorical columns, expected at most 262,144 in all of them, of 16 MiB`
	for _, quote := range []string{"", `"k0",1` + "\n"} {
		text := strings.Replace(b.String(), "s,y\n", "s,y\n"+quote, 1)
		e := failureOf(text, Options{Format: schema.Format{Label: "y"}})
		if e == nil || !strings.HasPrefix(strings.Replace(e.Error(), "t:262147", "t:262146", 1), want) {
			t.Error(e)
		}
	}
}

// Names and categories have bounded text, because models and reports hold many copies of them.
func TestLongNamesAndCategories(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	if e := failureOf("a,"+long+",y\n1,2,1\n3,4,0\n", Options{Format: schema.Format{Label: "y"}}); e == nil || !strings.HasPrefix(e.Error(), "t:1: more than 16 MiB of column names") {
		t.Error(e)
	}
	if e := failureOf("a,s,y\n1,k,1\n3,l,0\n3,"+long+",0\n", Options{Format: schema.Format{Label: "y"}}); e == nil ||
		!strings.HasPrefix(e.Error(), `t:4: column "s": more than 16 MiB of text`) {
		t.Error(e)
	}
}

// A table that will not fit is refused early, by the size of its file or, if that is unknown, while it is
// read.
func TestOutlook(t *testing.T) {
	before := debug.SetMemoryLimit(48 << 20)
	defer debug.SetMemoryLimit(before)
	row := "0.123456789,0.987654321,1\n0.23456789,0.87654321,0\n"
	for _, known := range []bool{true, false} {
		var read counter
		source := io.TeeReader(strings.NewReader("a,b,y\n"+strings.Repeat(row, 1<<20)), &read)
		in, err := newInput("t", source)
		if err != nil {
			t.Fatal(err)
		}
		if known {
			in.size = int64(6 + len(row)<<20)
		}
		r, err := newReader(in, Options{Format: schema.Format{Label: "y"}}, defaultPolicy())
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = r.ReadAll()
		e := diag.Of(err)
		if e == nil || e.File != "t" || !strings.Contains(e.Found, "rows, which need about") || !strings.HasSuffix(e.Hint, "rows fit") {
			t.Fatalf("known size %v: %v", known, err)
		}
		if known && read > 16<<20 {
			t.Errorf("%d bytes were read before %v", read, err)
		}
	}
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func TestWeightsThatOverflow(t *testing.T) {
	for text, want := range map[string]string{
		"a,w,y\n1,1e308,1\n2,1e308,0\n":   `t:2: column "w": a sum of weights of 1e+308`,
		"a,w,y\n1,9e149,1\n2,9e149,0\n":   `t:3: column "w": a sum of weights of 1.8e+150`,
		"a,w,y\n1,1,1\n2,1e-200,0\n":      `t:3: column "w": the weight 1e-200`,
		"a,w,y\n1,1,1\n2,0,0\n3,1e-9,0\n": "",
	} {
		switch e := failureOf(text, Options{Format: schema.Format{Label: "y", Weight: "w"}}); {
		case want == "" && e != nil, want != "" && (e == nil || !strings.HasPrefix(e.Error(), want)):
			t.Errorf("%q: %v, want %s", text, e, want)
		}
	}
}

// A table of zeros and ones with 3,000 columns is packed to 70 bytes a row by gzip.
func TestRowsForTheSizeOfTheirFile(t *testing.T) {
	wide := &Table{Columns: make([]Column, 3000)}
	if err := (&input{stored: 1_436_161}).checkExpansion(20_000, wide); err != nil {
		t.Error(err)
	}
	if err := (&input{stored: 500_000}).checkExpansion(20_000, wide); err == nil {
		t.Error("300 MB from half a megabyte are accepted")
	}
}

// Rows that compress unusually well are refused with a flag that reads them, and with less memory than they need also if it is set.
func TestMemoryIsThePermission(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zeros.csv.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	io.WriteString(z, "a,y\n1,1\n")
	const rows = 1_300_000
	io.WriteString(z, strings.Repeat("0,0\n", rows-1))
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for memory, good := range map[int64]bool{0: false, 120e6: false, 200e6: true} {
		x, _, err := Read(path, Options{Format: schema.Format{Label: "y", Memory: memory}, Packed: true})
		e := diag.Of(err)
		if good && (err != nil || x.Rows() != rows) || !good && (e == nil || len(e.Fixes) != 1 || e.Fixes[0].Param != "memory" || e.Fixes[0].Value != "1GB") {
			t.Errorf("memory %d: %v", memory, err)
		}
	}
}
