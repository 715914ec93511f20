package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"toptau/diag"
)

func openFile(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return New(file)
}

// writeSample writes rows of all types, and returns what they must be read as.
func writeSample(t testing.TB, seed uint64, rows int) (content []byte, numbers [3][]float64, texts [2][]string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var b bytes.Buffer
	w, err := NewWriter(&b, []WriteColumn{{"x", Double}, {"n", Whole}, {"flag", Boolean}, {"name", Text}, {"id", Text}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		x := r.NormFloat64()
		if r.IntN(7) == 0 {
			x = math.NaN()
		}
		n, flag, name, id := int64(r.IntN(1000)-500), r.IntN(20) > 0, []string{"", "tcp", "udp", "ünï"}[r.IntN(4)], fmt.Sprint("id", i)
		w.SetNumber(0, x)
		w.SetWhole(1, n)
		w.SetTruth(2, flag)
		w.SetText(3, name)
		w.SetText(4, id)
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
		truth := 0.0
		if flag {
			truth = 1
		}
		numbers[0], numbers[1], numbers[2] = append(numbers[0], x), append(numbers[1], float64(n)), append(numbers[2], truth)
		texts[0], texts[1] = append(texts[0], name), append(texts[1], id)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), numbers, texts
}

// maxRead bounds the rows that a test reads: a file of a few bytes may claim any number of missing values.
const maxRead = 1 << 19

// readFile reads all columns of a file.
func readFile(path string) (numbers map[string][]float64, texts map[string][]string, err error) {
	f, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	numbers, texts = map[string][]float64{}, map[string][]string{}
	columns := f.Columns()
	forms, space := make([]Form, len(columns)), make([]Values, len(columns))
	for k, c := range columns {
		forms[k] = c.Form
	}
	for rows := 0; ; {
		n, err := f.Next(forms, space)
		if err == io.EOF || rows > maxRead {
			return numbers, texts, nil
		}
		rows += n
		if err != nil {
			return nil, nil, err
		}
		for k, c := range columns {
			v := &space[k]
			if c.Form == Numbers {
				if len(v.Numbers) != n {
					return nil, nil, fmt.Errorf("%d numbers in %d rows", len(v.Numbers), n)
				}
				numbers[c.Name] = append(numbers[c.Name], v.Numbers...)
				continue
			}
			if len(v.Codes) != n {
				return nil, nil, fmt.Errorf("%d texts in %d rows", len(v.Codes), n)
			}
			for _, code := range v.Codes {
				text := ""
				if code >= 0 {
					text = v.Dictionary[code]
				}
				texts[c.Name] = append(texts[c.Name], text)
			}
		}
	}
}

func save(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is written is read again, in files of several row groups and calls.
func TestWriterAndReader(t *testing.T) {
	for _, rows := range []int{0, 1, 9, 1000, groupRows, 2*groupRows + 12_345} {
		content, wantNumbers, wantTexts := writeSample(t, 1, rows)
		numbers, texts, err := readFile(save(t, content))
		if err != nil {
			t.Fatal(err)
		}
		for k, name := range []string{"x", "n", "flag"} {
			compareNumbers(t, name, numbers[name], wantNumbers[k])
		}
		for k, name := range []string{"name", "id"} {
			compareTexts(t, name, texts[name], wantTexts[k])
		}
	}
}

func compareNumbers(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values instead of %d", name, len(got), len(want))
	}
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s, row %d: %v instead of %v", name, i, got[i], want[i])
		}
	}
}

func compareTexts(t *testing.T, name string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values instead of %d", name, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s, row %d: %q instead of %q", name, i, got[i], want[i])
		}
	}
}

// Files of another writer, in all encodings and codecs, have the same values. testdata/make.py wrote them.
func TestFilesOfAnotherWriter(t *testing.T) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		numbers, texts, err := readFile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var x, whole, gap []float64
		var name, when, day []string
		for i := range 300 {
			x, whole, gap = append(x, float64(i)/8), append(whole, float64(i*i-500)), append(gap, float64(i))
			if i%3 == 0 {
				gap[i] = math.NaN()
			}
			name = append(name, []string{"tcp", "udp", "", "ünï"}[i%4])
			when = append(when, fmt.Sprintf("2024-05-31T%02d:%02d:59.25Z", i/60, i%60))
			day = append(day, fmt.Sprintf("2024-05-%02d", 1+i%31))
		}
		compareNumbers(t, path+" x", numbers["x"], x)
		compareNumbers(t, path+" whole", numbers["whole"], whole)
		compareNumbers(t, path+" inner.gap", numbers["inner.gap"], gap)
		compareNumbers(t, path+" amount", numbers["amount"], x)
		compareTexts(t, path+" name", texts["name"], name)
		compareTexts(t, path+" when", texts["when"], when)
		compareTexts(t, path+" day", texts["day"], day)
	}
}

// Damaged files are errors, and never a panic.
func TestDamagedFiles(t *testing.T) {
	content, _, _ := writeSample(t, 2, 3000)
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		damaged := bytes.Clone(content)
		if r.IntN(2) == 0 {
			damaged = damaged[:r.IntN(len(damaged))]
		} else {
			damaged[r.IntN(len(damaged))] ^= byte(1 << r.IntN(8))
		}
		if _, _, err := readFile(save(t, damaged)); err != nil && diag.Of(err) == nil {
			t.Errorf("%v", err)
		}
	}
}

func FuzzFile(f *testing.F) {
	content, _, _ := writeSample(f, 1, 50)
	f.Add(content)
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if _, _, err := readFile(save(t, content)); err != nil && diag.Of(err) == nil {
			t.Error(err)
		}
	})
}
