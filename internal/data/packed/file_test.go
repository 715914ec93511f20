package packed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/data/packed/packedtest"
)

func openFile(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return New(file)
}

// sample returns rows of two columns of numbers and one of texts, with missing values.
func sample(seed uint64, rows int) ([]Column, *Values) {
	r := rand.New(rand.NewPCG(seed, 1))
	v := &Values{Numbers: make([][]float64, 3), Texts: make([][]string, 3)}
	for i := range rows {
		x := r.NormFloat64()
		if r.IntN(9) == 0 {
			x = math.NaN()
		}
		v.Numbers[0] = append(v.Numbers[0], x)
		v.Texts[1] = append(v.Texts[1], []string{"", "tcp", "a \"quoted\", name\n", fmt.Sprint("id", i)}[r.IntN(4)])
		v.Numbers[2] = append(v.Numbers[2], float64(r.IntN(1000))/100)
	}
	return []Column{{Name: "x", Kind: Numbers}, {Name: "name", Kind: Texts}, {Name: "amount", Kind: Numbers}}, v
}

func write(t testing.TB, columns []Column, v *Values, rows int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.ttp")
	w, err := Create(path, columns, true)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for first := 0; first < rows; { // in pieces of any size
		n := min(rows-first, 1+first%7000)
		part := &Values{Numbers: make([][]float64, len(columns)), Texts: make([][]string, len(columns))}
		for k, c := range columns {
			if c.Kind == Numbers {
				part.Numbers[k] = v.Numbers[k][first : first+n]
			} else {
				part.Texts[k] = v.Texts[k][first : first+n]
			}
		}
		if err := w.Add(n, part); err != nil {
			t.Fatal(err)
		}
		first += n
	}
	if err := w.Commit("digest"); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file returns every value with its bits, in files of no row, one block, several blocks and a part of one.
func TestFileKeepsBits(t *testing.T) {
	for _, rows := range []int{0, 1, SegmentRows, 1<<16 - 1, 1 << 16, 1<<16 + 1, 150_000} {
		columns, want := sample(uint64(rows), rows)
		f, err := openFile(write(t, columns, want, rows))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Rows() != rows || f.Source() != "digest" || !f.Header() || fmt.Sprint(f.Columns()) != fmt.Sprint(columns) {
			t.Fatalf("%d rows: %+v", rows, f.head)
		}
		row := 0
		for block := range f.Blocks() {
			for k, c := range columns {
				chunk, err := f.Chunk(block, k)
				if err != nil {
					t.Fatal(err)
				}
				i := row
				for _, s := range chunk.Segments {
					for j := range s.Rows() {
						switch {
						case c.Kind == Numbers && math.Float64bits(s.Number(j)) != math.Float64bits(want.Numbers[k][i]) && want.Numbers[k][i] == want.Numbers[k][i]:
							t.Fatalf("row %d of %s: %v instead of %v", i, c.Name, s.Number(j), want.Numbers[k][i])
						case c.Kind == Texts && textOf(chunk, s.Whole(j)) != want.Texts[k][i]:
							t.Fatalf("row %d of %s: %q instead of %q", i, c.Name, textOf(chunk, s.Whole(j)), want.Texts[k][i])
						}
						i++
					}
				}
			}
			row += f.rowsOf(block)
		}
		if row != rows {
			t.Errorf("%d rows in blocks instead of %d", row, rows)
		}
	}
}

func textOf(c *Chunk, place int32) string {
	if place < 0 {
		return ""
	}
	return c.Dictionary[place]
}

// readAll opens a file and reads all chunks.
func readAll(path string) error {
	f, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for block := range f.Blocks() {
		for k := range f.Columns() {
			if _, err := f.Chunk(block, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// Every flipped bit and every missing byte is an error. Those in a chunk name its block and column.
func TestDamagedFiles(t *testing.T) {
	columns, v := sample(1, 70_000)
	path := write(t, columns, v, 70_000)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	damaged := filepath.Join(t.TempDir(), "damaged.ttp")
	check := func(what string, content []byte) string {
		if err := os.WriteFile(damaged, content, 0o600); err != nil {
			t.Fatal(err)
		}
		err := readAll(damaged)
		if diag.Of(err) == nil {
			t.Fatalf("%s: %v", what, err)
		}
		return err.Error()
	}
	for range 200 {
		at, bit := r.IntN(len(whole)), byte(1)<<r.IntN(8)
		content := bytes.Clone(whole)
		content[at] ^= bit
		check(fmt.Sprintf("bit %d of byte %d", bit, at), content)
	}
	for range 50 {
		n := r.IntN(len(whole))
		check(fmt.Sprintf("%d of %d bytes", n, len(whole)), whole[:n])
	}
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content := bytes.Clone(whole)
	content[f.places[4].offset+5] ^= 1
	if text := check("a bit of a chunk", content); !strings.Contains(text, "block 2 of 2 (rows 65,537 to 70,000)") && !strings.Contains(text, "block 2 of 2 (rows 65537 to 70000)") ||
		!strings.Contains(text, `"name"`) {
		t.Errorf("the error is %q", text)
	}
	if err := os.Truncate(path, f.places[4].offset+10); err != nil { // while it is open
		t.Fatal(err)
	}
	if _, err := f.Chunk(1, 1); err == nil || !strings.Contains(err.Error(), "the end of the file") {
		t.Errorf("a file that became shorter: %v", err)
	}
}

// A file with any content is read without a panic and with an error, or with values that keep the rules.
func FuzzFile(f *testing.F) {
	columns, v := sample(1, 1500)
	content, err := os.ReadFile(write(f, columns, v, 1500))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "fuzz.ttp")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readAll(path); err != nil && diag.Of(err) == nil {
			t.Error(err)
		}
	})
}

// sealed returns a file with a header, and chunks in their order, with the places and the checksums that belong to them.
func sealed(head header, chunks [][]byte) []byte {
	text, err := json.Marshal(head)
	if err != nil {
		panic(err)
	}
	return packedtest.Sealed(text, chunks)
}

// Rows and columns whose product overflows are an error.
func TestFooterThatOverflows(t *testing.T) {
	columns := make([]Column, 4096)
	for i := range columns {
		columns[i] = Column{Name: fmt.Sprint("c", i), Kind: Numbers}
	}
	for _, rows := range []int64{1 << 58, 1 << 62, math.MaxInt64, math.MaxInt64 - 1} {
		path := filepath.Join(t.TempDir(), "rows.ttp")
		if err := os.WriteFile(path, sealed(header{Columns: columns, Rows: rows, BlockRows: SegmentRows}, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readAll(path); diag.Of(err) == nil || !strings.Contains(err.Error(), "bytes of places") {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// FuzzSealed reads files whose checksums are right, so that everything after them is reached.
func FuzzSealed(f *testing.F) {
	columns, v := sample(1, 2*SegmentRows)
	content, err := os.ReadFile(write(f, columns, v, 2*SegmentRows))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(int64(2*SegmentRows), 1<<16, uint8(0b010), uint16(20_000), content[prefixBytes:])
	f.Add(int64(1)<<58, SegmentRows, uint8(1), uint16(0), []byte{})
	f.Fuzz(func(t *testing.T, rows int64, blockRows int, kinds uint8, each uint16, content []byte) {
		head := header{Header: true, Rows: rows, BlockRows: blockRows}
		var chunks [][]byte
		for k := range 3 {
			kind := Numbers
			if kinds>>k&1 == 1 {
				kind = Texts
			}
			head.Columns = append(head.Columns, Column{Name: fmt.Sprint("c", k), Kind: kind})
			n := min(int(each), len(content))
			chunks, content = append(chunks, content[:n]), content[n:]
		}
		path := filepath.Join(t.TempDir(), "rows.ttp")
		if err := os.WriteFile(path, sealed(head, chunks), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readAll(path); err != nil && diag.Of(err) == nil {
			t.Error(err)
		}
	})
}
