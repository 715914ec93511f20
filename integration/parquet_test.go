package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/data/parquet"
)

// parquetFiles is the number of generated files: every combination of encoding, page version, codec and missing values, and most of them
// twice or more with other lengths of pages and row groups.
const parquetFiles = 500

// oracleFile is a file as another reader reads it.
type oracleFile struct {
	File    string
	Error   string
	Rows    int
	Columns []oracleColumn
}

type oracleColumn struct {
	Name, Kind string
	Values     []*string // exact; nil: missing
}

// tally counts what the two readers made of files and columns.
type tally struct {
	files, columns, values int
	refused                map[string]int // columns, by the reason
	otherFails             []string       // files that only the other reader refuses
	bothFail               int
	lenient                bool // values are compared where both read them, because the other reader checks less
}

func (c *tally) String() string {
	return fmt.Sprintf("%d files with %d columns and %d values are equal; refused %v; both readers refuse %d files, the other one alone %q",
		c.files, c.columns, c.values, c.refused, c.bothFail, c.otherFails)
}

// parquetOracle calls do with the files of some paths as a program reads them.
func parquetOracle(t *testing.T, paths []string, c *exec.Cmd, do func(*oracleFile)) {
	t.Helper()
	c.Stdin, c.Stderr = strings.NewReader(strings.Join(paths, "\n")), os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(bytes.NewReader(out))
	for range paths {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var f oracleFile
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("%.200s: %v", line, err)
		}
		do(&f)
	}
}

// sampled reports whether only some files are compared.
func sampled() bool { return os.Getenv("TOPTAU_INTEGRATION") != "all" }

// pyarrow is the reader that all files are compared with.
func pyarrow() *exec.Cmd { return exec.Command(python(), "scripts/parquet_values.py", "values") }

// arrowGo builds a second reader, which shares no code with the first, if every file is compared.
func arrowGo(t *testing.T) *exec.Cmd {
	t.Helper()
	if sampled() {
		t.Skip("arrow-go takes a minute and a half to compile: TOPTAU_INTEGRATION=all")
	}
	if out, err := exec.Command("go", "mod", "download", "-C", "arrowgo").CombinedOutput(); err != nil {
		t.Skipf("arrow-go cannot be downloaded: %v, %s", err, out)
	}
	program := filepath.Join(t.TempDir(), "arrowgo")
	if out, err := exec.Command("go", "build", "-C", "arrowgo", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return exec.Command(program)
}

// generatedFiles writes files of all types and returns their paths.
func generatedFiles(t *testing.T) []string {
	t.Helper()
	step := 1
	if sampled() {
		step = 11 // which has no factor of the number of combinations
	}
	c := exec.Command(python(), "scripts/parquet_values.py", "generate", t.TempDir(), fmt.Sprint(parquetFiles), fmt.Sprint(step))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// collectedFiles returns the files of the format's project.
func collectedFiles(t *testing.T) []string {
	t.Helper()
	data := os.Getenv("TOPTAU_DATA")
	paths, err := filepath.Glob(filepath.Join(data, "parquet_testing", "*", "*.parquet*"))
	if data == "" || err != nil || len(paths) == 0 {
		t.Skip("TOPTAU_DATA has no parquet_testing")
	}
	return paths
}

// Files that pyarrow writes, of all types in all encodings, codecs and versions of pages, have the values that pyarrow reads.
func TestParquetFilesOfPyarrow(t *testing.T) {
	if why := needsPython("pyarrow, numpy")(); why != "" {
		t.Skip(why)
	}
	count := &tally{refused: map[string]int{}}
	paths := generatedFiles(t)
	parquetOracle(t, paths, pyarrow(), func(want *oracleFile) { compareFile(t, want, count) })
	if len(count.refused) > 0 || count.files != len(paths) {
		t.Error("files or columns are refused")
	}
	t.Log(count)
}

// The collection of odd and damaged files of the format's own project is read like pyarrow reads it.
func TestParquetCollection(t *testing.T) {
	if why := needsPython("pyarrow, numpy")(); why != "" {
		t.Skip(why)
	}
	count := &tally{refused: map[string]int{}}
	parquetOracle(t, collectedFiles(t), pyarrow(), func(want *oracleFile) { compareFile(t, want, count) })
	t.Log(count)
}

// arrow-go reads the same values where it reads any. It has fewer encodings and checks no checksums; pyarrow decides what must be refused.
func TestParquetFilesInArrowGo(t *testing.T) {
	if why := needsPython("pyarrow, numpy")(); why != "" {
		t.Skip(why)
	}
	program, count := arrowGo(t), &tally{refused: map[string]int{}, lenient: true}
	parquetOracle(t, append(generatedFiles(t), collectedFiles(t)...), program, func(want *oracleFile) { compareFile(t, want, count) })
	t.Log(count)
}

// compareFile reads a file in all ways and compares the values.
func compareFile(t *testing.T, want *oracleFile, count *tally) {
	t.Helper()
	name := filepath.Base(want.File)
	file, err := os.Open(want.File)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.New(file)
	if err != nil {
		if want.Error == "" && !count.lenient {
			t.Errorf("%s: %v", name, err)
		}
		count.bothFail++
		return
	}
	defer f.Close()
	if want.Error != "" {
		switch columns, err := reads(f); {
		case err != nil:
			count.bothFail++
		case columns > 0 && !count.lenient:
			t.Errorf("%s: %d columns are read, and the other reader: %s", name, columns, want.Error)
		default: // the error may be in what this reader refuses
			count.otherFails = append(count.otherFails, name+": "+want.Error)
		}
		return
	}
	if f.Rows() != int64(want.Rows) && !count.lenient {
		t.Errorf("%s: %d rows instead of %d", name, f.Rows(), want.Rows)
	}
	byName := map[string]*oracleColumn{}
	for i := range want.Columns {
		byName[want.Columns[i].Name] = &want.Columns[i]
	}
	for k, c := range f.Columns() {
		w := byName[c.Name]
		switch {
		case c.Refused != "":
			count.refused[c.Refused]++
			continue
		case w != nil && w.Kind == "unread":
			count.refused["unread by the other reader"]++
			continue
		case w == nil && strings.Contains(c.Name, "."): // in a group with lists
			count.refused["next to a list"]++
			continue
		case w == nil:
			t.Errorf("%s: column %q is not there", name, c.Name)
			continue
		}
		for _, form := range []parquet.Form{parquet.Numbers, parquet.Texts} {
			if form == parquet.Numbers && c.Form != form {
				continue
			}
			for way, read := range map[string]func(*parquet.File, int, parquet.Form) ([]any, error){"Next": readNext, "ReadColumn": readGroups} {
				got, err := read(f, k, form)
				if difference := w.differs(form, got, err); difference != "" && (err == nil || !count.lenient) {
					t.Errorf("%s, column %q by %s, form %d: %s", name, c.Name, way, form, difference)
				}
			}
		}
		count.columns++
		count.values += len(w.Values)
	}
	count.files++
}

// reads returns the number of columns that can be read, and the first error of reading them.
func reads(f *parquet.File) (columns int, err error) {
	for k, c := range f.Columns() {
		if c.Refused == "" {
			if _, err := readNext(f, k, c.Form); err != nil {
				return columns, err
			}
			columns++
		}
	}
	return columns, nil
}

// readNext reads a column block by block: float64, string, or nil for a missing value.
func readNext(f *parquet.File, k int, form parquet.Form) (list []any, err error) {
	n := len(f.Columns())
	forms, space := make([]parquet.Form, n), make([]parquet.Values, n)
	forms[k] = form
	for f.Rewind(); ; {
		switch _, err := f.Next(forms, space); {
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, err
		}
		list = appendValues(list, form, &space[k])
	}
}

// readGroups reads a column row group by row group.
func readGroups(f *parquet.File, k int, form parquet.Form) (list []any, err error) {
	n := len(f.Columns())
	forms, space := make([]parquet.Form, n), make([]parquet.Values, n)
	for f.Rewind(); ; {
		if _, err := f.Next(forms, space); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		if !f.GroupEnds() {
			continue
		}
		if err := f.ReadColumn(k, form, func(_, _ int, v *parquet.Values) error {
			list = appendValues(list, form, v)
			return nil
		}); err != nil {
			return nil, err
		}
	}
}

func appendValues(list []any, form parquet.Form, v *parquet.Values) []any {
	if form == parquet.Numbers {
		for _, x := range v.Numbers {
			if x != x {
				list = append(list, nil)
			} else {
				list = append(list, x)
			}
		}
		return list
	}
	for _, code := range v.Codes {
		if code < 0 {
			list = append(list, nil)
		} else {
			list = append(list, v.Dictionary[code])
		}
	}
	return list
}

// differs returns how the values of a column differ from what they must be, "" if they do not.
func (c *oracleColumn) differs(form parquet.Form, got []any, err error) string {
	want := make([]any, len(c.Values))
	refused := c.Kind == "bytes"
	for i, v := range c.Values {
		if v == nil {
			continue
		}
		switch {
		case c.Kind == "text":
			want[i] = *v
			refused = refused || *v == "refused" || strings.Contains(*v, "\x00")
		case form == parquet.Texts && (c.Kind == "int" || c.Kind == "bool"):
			want[i] = *v
		default:
			x, ok := numberOf(*v, c.Kind)
			refused = refused || !ok
			if x == x {
				want[i] = x
			}
		}
	}
	if refused != (err != nil) || err != nil && diag.Of(err) == nil {
		return fmt.Sprintf("error %v, refused %v", err, refused)
	}
	if err != nil {
		return ""
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d values instead of %d", len(got), len(want))
	}
	for i := range want {
		g := got[i]
		if s, ok := g.(string); ok && form == parquet.Texts && (c.Kind == "float" || c.Kind == "decimal") {
			if x, err := strconv.ParseFloat(s, 64); err == nil {
				g = x
			} else if s == "" {
				g = nil
			}
		}
		if g != want[i] {
			return fmt.Sprintf("value %d is %v instead of %v", i+1, got[i], want[i])
		}
	}
	return ""
}

// numberOf returns the number that a text is read as, and whether a number holds it: finite, and whole numbers up to 2^53.
func numberOf(text, kind string) (float64, bool) {
	x, err := strconv.ParseFloat(text, 64)
	if kind == "int" || kind == "decimal" {
		unscaled, ok := new(big.Int).SetString(strings.Replace(text, ".", "", 1), 10)
		return x, err == nil && ok && unscaled.CmpAbs(big.NewInt(1<<53)) <= 0
	}
	return x, err == nil && !math.IsInf(x, 0)
}
