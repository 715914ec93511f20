package table

import (
	"math"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/schema"
)

// checkReading reads a file as a whole and in chunks, which must return the same table or the same error, and
// checks the table.
func checkReading(t *testing.T, text string, o Options) {
	x, info, err := readText(text, o)
	for _, size := range []int{1, 7} {
		y, chunkInfo, chunkErr := readChunks(&slowReader{text: text, step: 3*size + 1}, o, size)
		if (err == nil) != (chunkErr == nil) || err != nil && err.Error() != chunkErr.Error() {
			t.Fatalf("whole: %v\nin chunks of %d: %v", err, size, chunkErr)
		}
		if d := diff(x, y); d != "" {
			t.Fatalf("in chunks of %d: -whole +chunks:\n%s", size, d)
		}
		if d := diff(info, chunkInfo); d != "" {
			t.Fatalf("in chunks of %d: -whole +chunks:\n%s", size, d)
		}
	}
	if err != nil {
		if diag.Of(err) == nil || strings.ContainsAny(err.Error(), "\x00\n") {
			t.Fatalf("an error of another type or of several lines: %q", err.Error())
		}
		return
	}
	checkTable(t, x, info)
	o.Packed = true
	packed, _, err := readText(text, o)
	if err != nil {
		t.Fatalf("packed: %v", err)
	}
	comparePacked(t, x, packed)
}

// checkTable checks the contract of Table.
func checkTable(t *testing.T, x *Table, info *Info) {
	n := x.Rows()
	if n == 0 || len(x.Label) != n || info.Rows != n || info.Positives+info.Negatives+info.Unknowns != n {
		t.Fatalf("%d rows, %d labels, %+v", n, len(x.Label), info)
	}
	for _, c := range x.Columns {
		if c.Kind == schema.Numeric && len(c.Values) != n || c.Kind == schema.Categorical && len(c.Codes) != n {
			t.Fatalf("column %s has another length", c.Name)
		}
		for _, v := range c.Values {
			if math.IsInf(v, 0) {
				t.Fatal("infinity")
			}
		}
		for _, code := range c.Codes {
			if code < -1 || int(code) >= len(c.Dictionary) {
				t.Fatalf("code %d of %d", code, len(c.Dictionary))
			}
		}
	}
	for i := 1; i < n; i++ {
		if x.Line[i] <= x.Line[i-1] {
			t.Fatal("lines do not ascend")
		}
	}
	if s := x.Sparse; s != nil {
		checkSparse(t, s, n)
	}
}

func checkSparse(t *testing.T, s *Sparse, n int) {
	if len(s.Start) != n+1 || s.Start[n] != int64(len(s.Index)) || len(s.Index) != len(s.Value) {
		t.Fatal("sparse rows of another length")
	}
	for i := range n {
		for k := s.Start[i]; k < s.Start[i+1]; k++ {
			if k > s.Start[i] && s.Index[k] <= s.Index[k-1] || int(s.Index[k]) >= s.Cols || s.Value[k] == 0 {
				t.Fatalf("row %d: entry %d: %d", i, k, s.Index[k])
			}
		}
	}
}

func FuzzDelimited(f *testing.F) {
	for _, s := range []string{
		"a,b,y\n1,x,1\n2,y,0\n", "1.5;'a';1\r\n-2;\"b;\"\"\";0\r\n", "1 2 1 \n 3 4  0\n\n", "\"a\nb\"\t1\r\"c\"\t0\r",
		"\xef\xbb\xbfx,y\n,1\nNaN,0\n", "\"a\" \"b\" 1\n", "1,1\n\n2,0", ",,\n,,\n", "a\n", "1,\"x\n", "x\x00,1\n",
	} {
		f.Add(s, uint8(0), "")
		f.Add(s, uint8(7), "x")
	}
	f.Fuzz(func(t *testing.T, text string, mode uint8, positive string) {
		o := Options{Format: schema.Format{Format: "csv", Label: "last", Header: "auto"}, Unlabelled: mode&1 != 0, Raw: mode&2 != 0}
		if mode&4 != 0 {
			o.Label, o.ID = "1", []string{"first"}
		}
		if mode&8 != 0 {
			o.Delimiter = "blank"
		}
		if mode&16 != 0 {
			o.Weight = "2"
		}
		if mode&32 != 0 {
			o.Missing = []string{"NaN", "-1", "?"}
		}
		if mode&64 != 0 {
			o.Header = "yes"
		}
		if positive != "" {
			o.Positive = []string{positive}
		}
		checkReading(t, text, o)
	})
}

func FuzzLIBSVM(f *testing.F) {
	for _, s := range []string{
		"+1 1:0.5 3:2 \n-1\n", "# c\n1 2:1 # d\r0 1:1e3\r", "1 0:1\n", "1 2:1 1:1\n", "1 100000001:1\n", "1 3:nan\n",
		"2:1\n", "1 1:1\n\n0 2:1", "a 1:1\nb 2:0\n", "1 :\n", "1 1:1:1\n", "1\t1:1\t2:2\n0\n",
	} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(3))
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
		checkReading(t, text, o)
	})
}
