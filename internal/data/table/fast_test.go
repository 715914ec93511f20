package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/schema"
)

// reading is a way to read a file. All ways return the same.
type reading struct {
	name   string
	policy chunkPolicy
	step   int // rows per call of Next; 0: the whole file
}

// readings returns the tokenizer alone, first, and ways with scanned chunks.
func readings(head int) []reading {
	return []reading{
		{"careful", chunkPolicy{chunk: 1 << 10, largest: 1 << 12, workers: 1, head: head, careful: true}, 0},
		{"careful ahead", chunkPolicy{chunk: 40, largest: 100, ahead: 300, workers: 2, head: head, careful: true}, 0},
		{"one chunk", chunkPolicy{chunk: 1 << 16, largest: 1 << 16, workers: 1, head: head}, 0},
		{"small chunks", chunkPolicy{chunk: 1, largest: 40, workers: 1, head: head}, 0},
		{"careful by rows", chunkPolicy{chunk: 1 << 10, largest: 1 << 12, workers: 1, head: head, careful: true}, 3},
		{"by rows", chunkPolicy{chunk: 60, largest: 200, ahead: 600, workers: 2, head: head}, 3},
		{"one worker ahead", chunkPolicy{chunk: 16, largest: 64, ahead: 0, workers: 2, head: head}, 0},
		{"ahead", chunkPolicy{chunk: 100, largest: 100, ahead: 300, workers: 3, head: head}, 0},
	}
}

// result is everything that a reading returns.
type result struct {
	table *Table
	info  *Info
	err   string
	rows  int // returned before the error
	fast  int // scanned chunks
}

// readIn reads text in one way.
func readIn(w reading, source io.Reader, o Options) (x result) {
	in, err := newInput("t", source)
	if err != nil {
		return result{err: err.Error()}
	}
	r, err := newReader(in, o, w.policy)
	if err != nil {
		return result{err: err.Error()}
	}
	defer r.Close()
	counted := countScans(r, &x)
	defer counted()
	if w.step == 0 {
		x.table, x.info, err = r.ReadAll()
		if err != nil {
			x.err = err.Error()
		}
		return x
	}
	for {
		t, err := r.Next(w.step)
		if err == io.EOF {
			info := r.Info()
			x.info = &info
			return x
		}
		if err != nil {
			if _, again := r.Next(w.step); again != err {
				x.err = "another error in the following call: "
			}
			x.table, x.err = nil, x.err+err.Error()
			return x
		}
		x.rows += t.Rows()
		x.table = join(x.table, t)
	}
}

// countScans counts the chunks that are scanned without giving up.
func countScans(r *Reader, x *result) (end func()) {
	var q *chunkQueue
	switch s := r.rows.(type) {
	case *delimitedRows:
		q = s.chunks
	case *libsvmRows:
		q = s.chunks
	}
	if q == nil || q.scan == nil {
		return func() {}
	}
	scan, done := q.scan, make(chan bool, 1<<16)
	q.scan = func(c *chunk) bool {
		ok := scan(c)
		if ok {
			select {
			case done <- true:
			default:
			}
		}
		return ok
	}
	return func() { x.fast = len(done) }
}

// readAllWays reads text in all ways, which must agree, and returns the number of scanned chunks.
func readAllWays(t *testing.T, text string, o Options, head int) int {
	t.Helper()
	var want result
	fast, before := 0, -1
	for i, w := range readings(head) {
		got := readIn(w, strings.NewReader(text), o)
		fast += got.fast
		if w.step > 0 && before >= 0 && got.rows != before {
			t.Fatalf("%s: %d rows before the end or the error, want %d", w.name, got.rows, before)
		}
		if w.step > 0 {
			before = got.rows
		}
		if i == 0 {
			want = got
			continue
		}
		if want.err != got.err {
			t.Fatalf("%s: %s\nwant %s", w.name, got.err, want.err)
		}
		if d := diff(want.table, got.table); d != "" {
			t.Fatalf("%s: -careful +fast:\n%s", w.name, d)
		}
		if d := sameBits(want.table, got.table); d != "" {
			t.Fatalf("%s: %s", w.name, d)
		}
		if d := diff(want.info, got.info); d != "" {
			t.Fatalf("%s: -careful +fast:\n%s", w.name, d)
		}
	}
	return fast
}

// sameBits distinguishes 0 from -0, which equalTables does not.
func sameBits(a, b *Table) string {
	if a == nil {
		return ""
	}
	compare := func(where string, x, y []float64) string {
		for i := range x {
			if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
				return fmt.Sprintf("%s, row or entry %d: %x, want %x", where, i, math.Float64bits(y[i]), math.Float64bits(x[i]))
			}
		}
		return ""
	}
	for k := range a.Columns {
		if d := compare(a.Columns[k].Name, a.Columns[k].Values, b.Columns[k].Values); d != "" {
			return d
		}
	}
	if a.Sparse != nil {
		return compare("sparse", a.Sparse.Value, b.Sparse.Value)
	}
	return ""
}

// fastOptions derives options for delimited text from a number.
func fastOptions(mode uint16) (Options, int) {
	o := Options{Format: schema.Format{Format: "csv", Label: "last", Header: "auto"}, Unlabelled: mode&1 != 0, Raw: mode&2 != 0}
	if mode&4 != 0 {
		o.Label, o.ID, o.Group = "1", []string{"first", "last"}, "last"
	}
	o.Delimiter = []string{"auto", "blank", ";", "tab", ",", "x", "5", ","}[mode>>3&7]
	if mode&64 != 0 {
		o.Weight = "2"
	}
	if mode&128 != 0 {
		o.Missing = []string{"NaN", "-1", "?"}
	}
	if mode&256 != 0 {
		o.Missing = []string{"?", "na"}
	}
	if mode&512 != 0 {
		o.Categorical = []string{"1"}
	}
	if mode&1024 != 0 {
		o.Schema = &schema.Schema{Format: "csv", Width: 3, Label: &schema.Name{Name: "3", Number: 3}, Positive: []string{"a"}, Columns: []schema.Column{
			{Name: "2", Number: 2, Kind: schema.Categorical, Dictionary: []string{"x"}}, {Name: "1", Number: 1}}}
	}
	if mode&2048 != 0 {
		o.Drop = []string{"2"}
	}
	if mode&4096 != 0 {
		o.Positive = []string{"!0"}
	}
	return o, 1 + int(mode>>13)
}

func FuzzFastDelimited(f *testing.F) {
	for _, s := range []string{
		"a,b,y\n1,x,1\n2,y,0\n3,x,1\n4,z,0\n", "1.5;'a';1\r\n-2;\"b;\"\"\";0\r\n2;c;1\r\n3;c;0\r\n",
		"1 2 1 \n 3 4  0\n\t5 6 1\n7 8 0\n\n", "1\t2\t1\n\t\t0\n3\t 4 \t1\n5\t6\t0", "1,2,1\n2,3,0\n\n3,4,1\n",
		"1,2,1\r2,3,0\r3,4,1\r4,5,0\r", "1,2,1\n2,3,0\n\"a\nb\",2,1\n4,5,0\n5,6,1\n", "1\n2\n \n3\n", "1,1,1\n1,0,0\n2,1,1\n,1,0\n?,2,1\n",
		"1,a,1\n2,b,0\n3,a\x00,1\n", "1,a,1\n2,\xff,0\n3,é,1\n4,é,0\n", "1,a,1\n2,b,0\n3,c,1,4\n", "1,2,1\n-0,2,0\n1e400,3,1\n",
		"0.1,1e-7,a\n12345678901234567,.5,b\n1.,+3,a\nnan,1,b\n", "1,1,1\n2,2,0\n3,3,1\r\n\r\n\r\n", "1,1,1\n2,2,0\r\n3,3\r,1\n",
	} {
		for _, mode := range []uint16{0, 1, 7, 8, 32, 64 + 32, 128, 256 + 2, 512, 1024 + 1, 4096 + 4, 8192} {
			f.Add(s, mode)
		}
	}
	f.Fuzz(func(t *testing.T, text string, mode uint16) {
		o, head := fastOptions(mode)
		readAllWays(t, text, o, head)
	})
}

func FuzzFastLIBSVM(f *testing.F) {
	for _, s := range []string{
		"+1 1:0.5 3:2 \n-1\n1 2:0\n-1 4:1e2\n", "# c\n1 2:1 # d\r0 1:1e3\r1 1:1\n0 1:1\n", "1 0:1\n", "1 1:1\n0 2:1 1:1\n",
		"1 1:1\n0 100000001:1\n", "1 3:1\n0 1:nan\n", "1 1:1\n2:1\n0 1:1\n", "1 1:1\n\n0 2:1", "1 1:1\n0 2:1\n\n\n",
		"a 1:1\nb 2:0\na 3:1\n", "1 1:1:1\n", "1\t1:1\t2:2\r\n0 \r\n1 1:1\r", "1 1:1\n0 1:1\n1 \x00\n", "1 1:1\n0 x:1\n",
		"1 9:1\n0 10:2 11:0\n1 2:5\n", "1 1:+.5e-3 2:12345678901234567\n0 1:0.1234567890123456789\n",
	} {
		for mode := range uint8(6) {
			f.Add(s, mode*13)
		}
	}
	f.Fuzz(func(t *testing.T, text string, mode uint8) {
		o := Options{Format: schema.Format{Format: "libsvm"}, Unlabelled: mode&1 != 0, Raw: mode&2 != 0}
		if mode&4 != 0 {
			o.Width = 7
		}
		if mode&8 != 0 {
			o.Positive = []string{"!a"}
		}
		if mode&16 != 0 {
			o.Schema = &schema.Schema{Format: "libsvm", Width: 3}
		}
		if mode&32 != 0 {
			o.Missing = []string{"0", "?"}
		}
		readAllWays(t, text, o, 1)
	})
}

var decimalGrammar = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// checkNumber compares parseNumber with strconv.ParseFloat on a text without blanks at its ends.
func checkNumber(t *testing.T, s string) {
	t.Helper()
	got, what := parseNumber([]byte(s))
	if !decimalGrammar.MatchString(s) {
		if what == number || what == tooLarge {
			t.Errorf("%q: %v (%v) is no decimal number", s, got, what)
		}
		return
	}
	want, err := strconv.ParseFloat(s, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		if what != tooLarge {
			t.Errorf("%s: %v (%v) is too large", s, got, what)
		}
	case what != number || math.Float64bits(got) != math.Float64bits(want):
		t.Errorf("%s: %v (%v), want %v", s, got, what, want)
	}
	// The end of the number does not depend on the text after it.
	for _, behind := range []string{",", "\n\n\n\n\n\n\n\n\n", " 12345678", "\r\n", "/:/:/:/:/", "\xff\xff\xff\xff"} {
		v, end := readNumber([]byte(s+behind+strings.Repeat("\n", window)), 0)
		if end != 0 && (end != len(s) || math.Float64bits(v) != math.Float64bits(want)) {
			t.Errorf("%q: %v up to %d, want %v", s+behind, v, end, want)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0.0", "1e-27", "12345678901234567890", "9007199254740993", "0.1", "5e-324", "1e400",
		"0.000000000000000000000000012345", "9999999999999999999", "18446744073709551615", "1.7976931348623159e308", "-.5E+07",
		"1e0000000001", "9007199254740993e-3", "00000000000000000000001.5"} {
		f.Add(s, uint64(1), uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, pattern uint64, decimals uint8) {
		if trimmed := trimBlanks([]byte(s)); len(trimmed) == len(s) {
			checkNumber(t, s)
		}
		if v := math.Float64frombits(pattern); !math.IsNaN(v) && !math.IsInf(v, 0) {
			checkNumber(t, strconv.FormatFloat(v, 'g', -1, 64))
			checkNumber(t, strconv.FormatFloat(v, 'e', int(decimals%20), 64))
		}
		checkNumber(t, strconv.FormatUint(pattern, 10)+"e-"+strconv.Itoa(int(decimals)))
		text := strconv.FormatUint(pattern, 10)
		at := int(decimals) % (len(text) + 1)
		checkNumber(t, text[:at]+"."+text[at:])
	})
}

// TestHalves reads numbers halfway between two float64, and their neighbours. Only exact arithmetic rounds
// them correctly.
func TestHalves(t *testing.T) {
	if testing.Short() {
		t.Skip("reads every half of many files")
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		// (2^53 + an odd number / 2) 2^-k has at most 19 digits for small k.
		half := 1<<54 + 2*random.Uint64N(1<<53) + 1
		k := random.IntN(4)
		digits := half
		for range k {
			digits *= 5
		}
		if digits > 1e19 || half > math.MaxUint64/125 {
			continue
		}
		for _, d := range []uint64{digits - 1, digits, digits + 1} {
			checkNumber(t, fmt.Sprintf("%de-%d", d, k))
		}
	}
	for k := range uint64(1000) { // more digits than an uint64 has, which would leave little of them
		high, low := bits.Mul64(1<<63, 2*(k+1))
		digits := new(big.Int).Lsh(new(big.Int).SetUint64(high), 64)
		digits.Add(digits, new(big.Int).SetUint64(low+random.Uint64N(9)))
		checkNumber(t, digits.String()[:7]+"."+digits.String()[7:])
	}
	for range 100_000 {
		digits := strconv.FormatUint(random.Uint64()>>random.IntN(64), 10)
		checkNumber(t, fmt.Sprintf("%se-%d", digits, random.IntN(30)))
		at := random.IntN(len(digits) + 1)
		checkNumber(t, []string{"", "-", "+", "0"}[random.IntN(4)]+digits[:at]+"."+digits[at:])
		checkNumber(t, "."+strings.Repeat("0", random.IntN(12))+digits)
	}
}

// TestFastIsUsed reads files without anything unusual, whose chunks must all be scanned, and files with
// something unusual in a few places, whose other chunks must be scanned.
func TestFastIsUsed(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var table, crlf, sparse strings.Builder
	for i := range 300 {
		line := fmt.Sprintf("%d,%.3f,%s,%d", random.IntN(9), random.Float64(), []string{"tcp", "udp", "é"}[random.IntN(3)], i%2)
		table.WriteString(line + "\n")
		crlf.WriteString(" " + line + " \r\n")
		fmt.Fprintf(&sparse, "%d %d:%v %d:1\n", i%2, 1+random.IntN(5), random.Float64(), 10+random.IntN(5))
	}
	odd := strings.Replace(table.String(), "tcp", "\"t\nc,p\"", 20)
	spaced := strings.ReplaceAll(table.String(), ",", " ")
	for _, c := range []struct {
		name, text string
		o          Options
		least      int
	}{
		{"plain", table.String(), Options{Format: schema.Format{Label: "last"}}, 300},
		{"no LF at the end", strings.TrimSpace(table.String()), Options{Format: schema.Format{Label: "last"}}, 300},
		{"CRLF", crlf.String(), Options{Format: schema.Format{Label: "last"}}, 300},
		{"blanks", spaced, Options{Format: schema.Format{Label: "last"}}, 300},
		{"raw and text", table.String(), Options{Format: schema.Format{Label: "last", ID: []string{"1", "3"}, Group: "3", Time: "1"}, Raw: true}, 300},
		{"weight", table.String(), Options{Format: schema.Format{Label: "last", Weight: "1"}}, 300},
		{"many values", table.String(), Options{Format: schema.Format{Label: "last", Categorical: []string{"2"}}}, 300},
		{"quotes", odd, Options{Format: schema.Format{Label: "last"}}, 300},
		{"libsvm", sparse.String(), Options{}, 300},
		{"libsvm raw", sparse.String(), Options{Format: schema.Format{Width: 20}, Raw: true}, 300},
		{"libsvm comment", sparse.String() + "# c\n1 1:2 # d\n" + sparse.String(), Options{}, 300},
		{"libsvm beyond", sparse.String(), Options{Schema: &schema.Schema{Format: "libsvm", Width: 12}}, 300},
		{"labels that are not understood", strings.ReplaceAll(table.String(), ",1\n", ",2\n"), Options{Format: schema.Format{Label: "last"}}, 300},
		{"a fault at the end", table.String() + "1,2,3\n", Options{Format: schema.Format{Label: "last"}}, 300},
		{"a stray text", table.String() + "x,2,3,1\n" + table.String(), Options{Format: schema.Format{Label: "last"}}, 300},
		{"an empty line", table.String() + "\n" + table.String(), Options{Format: schema.Format{Label: "last"}}, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n := readAllWays(t, c.text, c.o, 20); n < c.least {
				t.Errorf("only %d chunks were scanned", n)
			}
		})
	}
}

// TestEveryCut reads texts with something unusual in chunks that end at every place.
func TestEveryCut(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 5 // chunks of 1, 6, 11, 16 and 21 bytes
	}
	for _, text := range []string{
		"1,a,1\n2,b,0\n3,a,1\n\n4,b,0\n5,a,1\n", "1,a,1\n2,b,0\n3,\"x\ny\",1\n4,b,0\n5,é,1\n6,a,0\n\n\n", "1,a,1\n2,b,0\n3,\xff,1\n4,b,0\n",
		"1,a,1\n2,b,0\n3,é,1\n4,\xc3,0\n5,\xa9,1\n", "1,a,1\n2,b,0\n3,a\x00,1\n4,b,0\n", "1,a,1\r\n2,b,0\r3,a,1\n4,b\r,0\n5,c,1\n",
		"1,1\n2,0\n3,1\n4,0\n,1\n5,1", "1\n2\n1\n2\n \n1\n2\n", "1\n2\n1\n2\n\n1\n", "1\n2\n1\n2\n\n\n", "1\n2\n1\n\xc3\xa9\n2\n",
		"1 1:1\n2 2:1\n1 1:1\n\n2 2:2\n", "1 1:1\n2 2:1\n\n\n", "1 1:1\n2 2:1\n# c\n1 3:3 # d\n2 4:1\n1 1:1 \xff\n", "1 1:1\r2 2:1\r\n1 1:5\n",
		"1 1:1\n2 2:1\n1#b 1:1\n2 2:1\n",
	} {
		for size := 0; size < 24; size += step {
			workers := 1 + size&1
			for mode, o := range []Options{{Format: schema.Format{Label: "last", Header: "no", Positive: []string{"1"}}},
				{Format: schema.Format{Label: "last", Header: "no", Positive: []string{"1"}, Drop: []string{"2"}}, Unlabelled: true},
				{Format: schema.Format{Label: "last", Header: "no", Positive: []string{"1"}}, Raw: true},
				{Format: schema.Format{LabelsFile: "testdata/labels12", Header: "no", Categorical: []string{"1"}}},
				{Format: schema.Format{LabelsFile: "testdata/labels12", Header: "no"}}} {
				p := chunkPolicy{chunk: 1 + size, largest: 1 + size*size%41, ahead: size, workers: workers, head: 1}
				if strings.Contains(text, ":") {
					o = Options{Format: schema.Format{Positive: []string{"1"}}, Unlabelled: mode > 1, Raw: mode > 0}
				}
				got := readIn(reading{"", p, 0}, strings.NewReader(text), o)
				p.careful = true
				want := readIn(reading{"", p, 0}, strings.NewReader(text), o)
				if want.err != got.err || !cmp.Equal(want.table, got.table, equalTables) ||
					!cmp.Equal(want.info, got.info, equalTables) {
					t.Fatalf("%q in chunks of %d, %d workers: %s %+v\nwant %s %+v",
						text, size, workers, got.err, got.table, want.err, want.table)
				}
			}
		}
	}
}

// TestFastLabelsFile reads a labels file next to scanned chunks.
func TestFastLabelsFile(t *testing.T) {
	rows, svm := strings.Repeat("1,0\n2,1\n3,2\n", 40), strings.Repeat("1:1 2:1\n9 1:2\n", 60)
	for _, count := range []int{119, 120, 121, 3} {
		labels := write(t, "labels", strings.Repeat("1\n0\n", count/2)+strings.Repeat("1\n", count%2))
		readAllWays(t, rows, Options{Format: schema.Format{LabelsFile: labels, Format: "csv", Header: "no"}}, 5)
		readAllWays(t, rows, Options{Format: schema.Format{LabelsFile: labels, Format: "csv", Header: "no", Weight: "2"}}, 5)
		readAllWays(t, svm, Options{Format: schema.Format{LabelsFile: labels}}, 5)
		readAllWays(t, svm, Options{Format: schema.Format{LabelsFile: labels, Missing: []string{"0"}}}, 5)
	}
}

// TestUnknownLimit reads more unknown values than the limit.
func TestUnknownLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 65,000 unknown values are compared row by row")
	}
	var text strings.Builder
	for i := range unknownLimit + 500 {
		fmt.Fprintf(&text, "v%d,%d\n", i%(unknownLimit+200), i%2)
	}
	o := Options{Schema: &schema.Schema{Format: "csv", Width: 2, Label: &schema.Name{Name: "2", Number: 2},
		Columns: []schema.Column{{Name: "1", Number: 1, Kind: schema.Categorical, Dictionary: []string{"v7", "w"}}}}}
	want := readIn(readings(10)[0], strings.NewReader(text.String()), o)
	for _, w := range []reading{{"", chunkPolicy{chunk: 1 << 12, largest: 1 << 12, ahead: 3 << 12, workers: 2, head: 10}, 0},
		{"", chunkPolicy{chunk: 1 << 20, largest: 1 << 20, workers: 1, head: 10}, 1000}} {
		got := readIn(w, strings.NewReader(text.String()), o)
		wantSame(t, want.err, got.err)
		if !cmp.Equal(want.table, got.table, equalTables) || !cmp.Equal(want.info, got.info, equalTables) {
			t.Error("another table")
		}
	}
}

// TestFastFailures reads streams that fail at every place.
func TestFastFailures(t *testing.T) {
	text := strings.Repeat("1,2,1\n3,\"4\",0\n", 6) + strings.Repeat("5,6,1\r\n", 6)
	for n := range len(text) {
		var want result
		for i, w := range readings(2) {
			got := readIn(w, io.MultiReader(strings.NewReader(text[:n]), &failing{errors.New("broken")}),
				Options{Format: schema.Format{Label: "last", Format: "csv"}})
			if i == 0 {
				want = got
			}
			wantSame(t, want.err, got.err)
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 3000 {
		fmt.Fprintf(z, "%d,%d,%d\n", i, i*i, i%2)
	}
	z.Close()
	for _, n := range []int{100, 1000, packed.Len() - 9, packed.Len() - 1} {
		var want result
		for i, w := range readings(20) {
			got := readIn(w, bytes.NewReader(packed.Bytes()[:n]), Options{Format: schema.Format{Label: "last", Header: "no"}})
			if i == 0 {
				want = got
			}
			wantSame(t, want.err, got.err)
		}
	}
}

// TestPublicFast compares the ways to read the public data sets.
func TestPublicFast(t *testing.T) {
	root := public(t)
	for _, c := range []struct {
		file string
		o    Options
	}{
		{"nsl_kdd/KDDTrain+_20Percent.txt.gz", Options{Format: schema.Format{Label: "42", Drop: []string{"43"}, Positive: []string{"!normal"}}}},
		{"cicids2017_web/web_attacks_balanced.csv.gz", Options{Format: schema.Format{Label: "Label", Positive: []string{"!BENIGN"}}}},
		{"w8a/w8a.gz", Options{}},
		{"usps/zip.test.gz", Options{Format: schema.Format{Label: "first", Positive: []string{"8"}}}},
		{"magic04/magic04.data.gz", Options{Format: schema.Format{Label: "last", Positive: []string{"g"}}}},
		{"madelon/madelon_train.data.gz", Options{Format: schema.Format{LabelsFile: filepath.Join(root, "madelon/madelon_train.labels")}}},
	} {
		text, err := os.ReadFile(filepath.Join(root, c.file))
		if err != nil {
			t.Fatal(err)
		}
		want := readIn(reading{"", chunkPolicy{chunk: 1 << 16, largest: 1 << 20, workers: 1, head: 100, careful: true}, 0},
			bytes.NewReader(text), c.o)
		got := readIn(reading{"", chunkPolicy{chunk: 1 << 16, largest: 1 << 20, ahead: 3 << 20, workers: 2, head: 100}, 0}, bytes.NewReader(text), c.o)
		wantSame(t, want.err, got.err)
		if got.fast == 0 || want.table == nil || !cmp.Equal(want.table, got.table, equalTables) ||
			!cmp.Equal(want.info, got.info, equalTables) {
			t.Errorf("%s: another table, or no scanned chunk (%d)", c.file, got.fast)
		}
		if d := sameBits(want.table, got.table); d != "" {
			t.Errorf("%s: %s", c.file, d)
		}
	}
}
