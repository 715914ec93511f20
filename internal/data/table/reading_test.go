package table

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"toptau/diag"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// readText reads text as the file "t".
func readText(text string, o Options) (*Table, *Info, error) {
	r, err := NewReader("t", strings.NewReader(text), o)
	if err != nil {
		return nil, nil, err
	}
	return r.ReadAll()
}

// mustRead reads text without errors.
func mustRead(t *testing.T, text string, o Options) (*Table, *Info) {
	t.Helper()
	x, info, err := readText(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return x, info
}

// write creates a file.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var equalTables = cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmp.AllowUnexported(Table{}, Column{}, packed.Segment{})}

// diff returns how two tables or what was read with them differ; equal ones are recognised without cmp, which is slow.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, equalTables)
}

func wantSame(t *testing.T, want, got any) {
	t.Helper()
	if d := diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestPlainCSV(t *testing.T) {
	x, info := mustRead(t, "bytes,proto,day,class\n1.5,tcp,mon,bad\n-2e3,udp,tue,ok\n,tcp,mon,ok\n", Options{Format: schema.Format{Label: "class", Positive: []string{"bad"}, Group: "day", ID: []string{"1", "day"}, Categorical: []string{"proto"}}})
	wantSame(t, &Table{
		File: "t",
		Columns: []Column{
			{Name: "proto", Number: 2, Kind: schema.Categorical, Codes: []int32{0, 1, 0}, Dictionary: []string{"tcp", "udp"}},
		},
		Label: []Class{Positive, Negative, Negative},
		ID: []Text{{Name: "bytes", Number: 1, Values: []string{"1.5", "-2e3", ""}},
			{Name: "day", Number: 3, Values: []string{"mon", "tue", "mon"}}},
		Group: &Text{Name: "day", Number: 3, Values: []string{"mon", "tue", "mon"}},
		Line:  []int{2, 3, 4},
	}, x)
	if info.Rows != 3 || info.Positives != 1 || info.Negatives != 2 || !info.Header || info.Delimiter != "comma" {
		t.Errorf("%+v", info)
	}
}

// TestShapesOfText reads the same table from differently written files.
func TestShapesOfText(t *testing.T) {
	want := &Table{
		File: "t",
		Columns: []Column{
			{Name: "1", Number: 1, Kind: schema.Numeric, Values: []float64{1.5, 2, -3}},
			{Name: "2", Number: 2, Kind: schema.Categorical, Codes: []int32{0, 1, 0}, Dictionary: []string{"x", "y"}},
		},
		Label: []Class{Positive, Negative, Negative},
		Line:  []int{1, 2, 3},
	}
	for name, text := range map[string]string{
		"comma":           "1.5,x,1\n2,y,0\n-3,x,0\n",
		"no last end":     "1.5,x,1\n2,y,0\n-3,x,0",
		"CRLF":            "1.5,x,1\r\n2,y,0\r\n-3,x,0\r\n",
		"CR":              "1.5,x,1\r2,y,0\r-3,x,0\r",
		"CR, no last end": "1.5,x,1\r2,y,0\r-3,x,0",
		"mixed ends":      "1.5,x,1\r\n2,y,0\r-3,x,0\n",
		"empty lines":     "1.5,x,1\n2,y,0\n-3,x,0\n\n  \n\t\n",
		"mark":            "\xef\xbb\xbf1.5,x,1\n2,y,0\n-3,x,0\n",
		"blanks around":   " 1.5 ,x\t, 1\n2, y,0 \n-3 ,x,0\n",
		"quotes":          "\"1.5\",\"x\",\"1\"\n2, \"y\" ,\"0\"\n-3,x,\"0\"\n",
		"semicolon":       "1.5;x;1\n2;y;0\n-3;x;0\n",
		"pipe":            "1.5|x|1\n2|y|0\n-3|x|0\n",
		"tab":             "1.5\tx\t1\n2\ty\t0\n-3\tx\t0\n",
		"blanks":          "1.5 x 1\n2 \t y  0\n   -3   x\t0\n",
		"blank at end":    "1.5 x 1 \n2 y 0 \n-3 x 0 \n",
		"quotes, blanks":  "\"1.5\" \"x\" 1 \n2 y \"0\"\n-3 x 0 \n",
		"spellings":       "+1.50,x,+1\n2e0,y,0.0\n-.3e1,x,-0\n",
	} {
		t.Run(name, func(t *testing.T) {
			x, _ := mustRead(t, text, Options{Format: schema.Format{Label: "last"}})
			wantSame(t, want, x)
			for _, packed := range []string{pack(t, text, "gzip"), pack(t, text, "zstd")} {
				x, info := mustRead(t, packed, Options{Format: schema.Format{Label: "last"}})
				wantSame(t, want, x)
				if _, plain := mustRead(t, text, Options{Format: schema.Format{Label: "last"}}); info.Digest != plain.Digest {
					t.Error("the digest depends on compression")
				}
			}
		})
	}
}

func pack(t testing.TB, text, how string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if how == "zstd" {
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestQuotedFields(t *testing.T) {
	text := "a,b,c\n" +
		"\"x, \"\"1\"\"\",5\" pipe,1\n" +
		"\"two\r\nlines\",'q',0\n" +
		"\"  \",\"\",0\n"
	x, _ := mustRead(t, text, Options{Format: schema.Format{Label: "c"}, Raw: true})
	wantSame(t, [][]string{{`x, "1"`, `5" pipe`, "1"}, {"two\nlines", "'q'", "0"}, {"  ", "", "0"}}, x.Raw)
	wantSame(t, []int{2, 3, 5}, x.Line)
	wantSame(t, []int32{0, 1, -1}, x.Columns[0].Codes)
	wantSame(t, []int32{0, 1, -1}, x.Columns[1].Codes)
}

func TestQuotedFieldNamesItsOwnLine(t *testing.T) {
	_, _, err := readText("name,v,y\n\"a\nb\",oops,1\nc,2,0\nd,3,0\n", Options{Format: schema.Format{Label: "y", Numeric: []string{"v"}}})
	wantError(t, err, `t:3: column "v": "oops", expected a number (use --missing oops or --categorical v)`)
}

func TestKindsAndMissing(t *testing.T) {
	text := "n,s,m,f,y\n1,a,?,1,1\n,1,2,2,0\nNA,?,3,3,0\n4,b,NaN,4,0\n"
	x, info := mustRead(t, text, Options{Format: schema.Format{Label: "y", Missing: []string{"?", "NA", "NaN"}, Categorical: []string{"f"}}})
	nan := math.NaN()
	wantSame(t, []Column{
		{Name: "n", Number: 1, Kind: schema.Numeric, Values: []float64{1, nan, nan, 4}},
		{Name: "s", Number: 2, Kind: schema.Categorical, Codes: []int32{0, 1, -1, 2}, Dictionary: []string{"a", "1", "b"}},
		{Name: "m", Number: 3, Kind: schema.Numeric, Values: []float64{nan, 2, 3, nan}},
		{Name: "f", Number: 4, Kind: schema.Categorical, Codes: []int32{0, 1, 2, 3}, Dictionary: []string{"1", "2", "3", "4"}},
	}, x.Columns)
	wantSame(t, schema.Schema{
		Format: "csv", Header: true, Width: 5, Label: &schema.Name{Name: "y", Number: 5}, Missing: []string{"?", "NA", "NaN"},
		Labels: []LabelCount{{Value: "0", Count: 3}, {Value: "1", Count: 1}},
		Columns: []schema.Column{{Name: "n", Number: 1, Kind: schema.Numeric}, {Name: "s", Number: 2, Kind: schema.Categorical, Dictionary: []string{"a", "1", "b"}},
			{Name: "m", Number: 3, Kind: schema.Numeric}, {Name: "f", Number: 4, Kind: schema.Categorical, Dictionary: []string{"1", "2", "3", "4"}}},
	}, info.Schema)
}

func TestMissingNumberSpelling(t *testing.T) {
	x, _ := mustRead(t, "-999,1,1\n2,-999.0,0\n", Options{Format: schema.Format{Label: "last", Missing: []string{"-999"}}})
	wantSame(t, []float64{math.NaN(), 2}, x.Columns[0].Values)
	wantSame(t, []float64{1, -999}, x.Columns[1].Values)
}

// TestKindsFromTheHead has a column whose text comes after the rows that decide the kind.
func TestKindsFromTheHead(t *testing.T) {
	var b strings.Builder
	for i := range headRows + 5 {
		switch {
		case i < headRows/2+1:
			b.WriteString("7,1\n")
		default:
			b.WriteString(",0\n")
		}
	}
	if x, _ := mustRead(t, b.String(), Options{Format: schema.Format{Label: "2"}}); x.Columns[0].Kind != schema.Numeric {
		t.Error("numeric column read as categorical")
	}
	b.WriteString("late,0\n")
	_, _, err := readText(b.String(), Options{Format: schema.Format{Label: "2"}})
	wantError(t, err, `t:10006: column "1": "late", expected a number (use --missing late or --categorical 1)`)
	if x, _ := mustRead(t, b.String(), Options{Format: schema.Format{Label: "2", Categorical: []string{"1"}}}); len(x.Columns[0].Dictionary) != 2 {
		t.Error(x.Columns[0].Dictionary)
	}
}

func TestHeaderDetection(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          Options
		header     bool
		rows       int
	}{
		{"numbers below names", "a,b\n1,1\n2,0\n", Options{Format: schema.Format{Label: "last"}}, true, 2},
		{"numbers only", "3,1\n1,1\n2,0\n", Options{Format: schema.Format{Label: "last"}}, false, 3},
		{"text and numbers", "x,1\ny,0\n", Options{Format: schema.Format{Label: "last"}}, false, 2},
		{"an option names a column", "a,1,y\nx,1,1\nz,0,0\n", Options{Format: schema.Format{Label: "y", Categorical: []string{"2"}}}, true, 2},
		{"text only, names differ", "colour,class\nred,yes\nblue,no\n",
			Options{Format: schema.Format{Label: "2", Positive: []string{"yes"}}}, true, 2},
		{"text only, repeated", "red,yes\nblue,no\nred,no\n", Options{Format: schema.Format{Label: "2", Positive: []string{"yes"}}}, false, 3},
		{"text only, two rows", "red,yes\nblue,no\n", Options{Format: schema.Format{Label: "2", Positive: []string{"yes"}}}, false, 2},
		{"missing spelling in line 1", "?,x\n1,y\n2,y\n",
			Options{Format: schema.Format{Label: "2", Positive: []string{"x"}, Missing: []string{"?"}}}, false, 3},
		{"set to yes", "1,2\n2,1\n3,0\n", Options{Format: schema.Format{Label: "2", Header: "yes"}}, true, 2},
		{"set to no", "a,b\nc,d\ne,b\n", Options{Format: schema.Format{Label: "2", Positive: []string{"b"}, Header: "no"}}, false, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, info := mustRead(t, c.text, c.o)
			if info.Header != c.header || x.Rows() != c.rows {
				t.Errorf("header %v, %d rows", info.Header, x.Rows())
			}
		})
	}
}

func TestDelimiterDetection(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"decimal commas":         {"1,5;2,5\n3,5;4,5\n", "semicolon"},
		"commas and blanks":      {"2017-01-01 10:00,1\n2017-01-02 11:00,0\n", "comma"},
		"commas, one row ragged": {"1 2,1\n1 2,1\n1 2,0\n1 2,1,0\n", "comma"},
		"tabs and commas":        {"1,2\t0\n3,4\t1\n", "tab"},
		"quoted commas":          {"\"a,b\";1\n\"c,d\";0\n", "semicolon"},
		"one column":             {"1\n0\n1\n", "none"},
		"words":                  {"a b 1\nc d 0\n", "blank"},
		"blanks vary, commas do": {"a b,1\nc,0\nd e f,0\n", "comma"},
	} {
		p := prefix{bytes: []byte(c.text), whole: true}
		if got := delimiterName(sniffDelimiter(p)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestFormatDetection(t *testing.T) {
	for text, want := range map[string]schema.FileFormat{
		"-1 3:1 5:2\n+1\n":            "libsvm",
		"+1\n-1\n":                    "csv",
		"# comment\n1 1:0.5 # more\n": "libsvm",
		"2017-01-01 10:00:00 5\n":     "csv",
		"1,2017-01-01 10:00,5\n":      "csv",
		"-1 2:1 1:1\n1 0:1\n1 3:x\n":  "libsvm",
		"a,b\n1,2\n":                  "csv",
		"":                            "csv",
	} {
		if got := detectFormat(prefix{bytes: []byte(text), whole: true}, &Options{}).name; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestColumnReferences(t *testing.T) {
	text := "2,b,c,d,y\n1,2,3,4,1\n5,6,7,8,0\n"
	x, _ := mustRead(t, text, Options{Format: schema.Format{Header: "yes", Label: "last", Drop: []string{"2", "c"}}})
	wantSame(t, []string{"b", "d"}, columnNames(x)) // the name 2 wins over the number
	x, _ = mustRead(t, text, Options{Format: schema.Format{Header: "yes", Label: "5", Drop: []string{"3-4, b"}}})
	wantSame(t, []string{"2"}, columnNames(x))
	x, _ = mustRead(t, "1 2 3 4\n5 6 7 8\n", Options{Format: schema.Format{Label: "first", Positive: []string{"5.0"}, Drop: []string{"3-4"}}})
	wantSame(t, []string{"2"}, columnNames(x))
	x, _ = mustRead(t, ",a b,\"c,d\",y\n1,2,3,1\n2,3,4,0\n", Options{Format: schema.Format{Label: "y", Drop: []string{"c,d"}}})
	wantSame(t, []string{"1", "a b"}, columnNames(x))
}

func columnNames(x *Table) []string {
	var all []string
	for _, c := range x.Columns {
		all = append(all, c.Name)
	}
	return all
}

func TestPositiveRules(t *testing.T) {
	for _, c := range []struct {
		labels   string
		positive []string
		want     []Class
	}{
		{"1 0 1.0 +1 0.0", nil, []Class{1, 0, 1, 1, 0}},
		{"+1 -1 -1.00", nil, []Class{1, 0, 0}},
		{"true False TRUE", nil, []Class{1, 0, 1}},
		{"a b c a", []string{"a"}, []Class{1, 0, 0, 1}},
		{"a b c a", []string{"a", "c"}, []Class{1, 0, 1, 1}},
		{"a b c a", []string{"!a"}, []Class{0, 1, 1, 0}},
		{"a b c a", []string{"!a", "!b"}, []Class{0, 0, 1, 0}},
		{"6.0000 8 9", []string{"8.0"}, []Class{0, 1, 0}},
		{"'1' '-1'", []string{"'1'"}, []Class{1, 0}},
		{"01 1 x", []string{"x"}, []Class{0, 0, 1}},
		{"1 x 0", []string{"!0"}, []Class{1, 1, 0}},
		{"! a", []string{"!"}, []Class{1, 0}},
	} {
		text := ""
		for i, label := range strings.Fields(c.labels) {
			text += string(rune('1'+i)) + "," + label + "\n"
		}
		x, _ := mustRead(t, text, Options{Format: schema.Format{Label: "2", Positive: c.positive}})
		wantSame(t, c.want, x.Label)
	}
}

func TestWeights(t *testing.T) {
	x, info := mustRead(t, "x,w,y\n1,2,1\n2,0,0\n3,.5,0\n", Options{Format: schema.Format{Label: "y", Weight: "w"}})
	wantSame(t, []float64{2, 0.5}, x.Weight)
	wantSame(t, []float64{1, 3}, x.Columns[0].Values)
	wantSame(t, []int{2, 4}, x.Line)
	wantSame(t, []diag.Warning{{Code: "zero-weight", Text: "t: 1 row of weight 0 left out"}}, info.Warnings)
	if info.Rows != 2 || info.Negatives != 1 {
		t.Errorf("%+v", info)
	}
}

func TestUnlabelled(t *testing.T) {
	o := Options{Format: schema.Format{Label: "y"}, Unlabelled: true}
	x, info := mustRead(t, "x,y\n1,1\n2,\n3,what\n4,0\n", o)
	wantSame(t, []Class{Positive, Unknown, Unknown, Negative}, x.Label)
	if info.Unknowns != 2 {
		t.Errorf("%+v", info)
	}
	x, _ = mustRead(t, "x,z\n1,1\n2,5\n", Options{Unlabelled: true})
	wantSame(t, []Class{Unknown, Unknown}, x.Label)
	wantSame(t, []string{"x", "z"}, columnNames(x))
	x, _ = mustRead(t, "1:2 3:4\n1 2:1\n", Options{Unlabelled: true})
	wantSame(t, []Class{Unknown, Positive}, x.Label)
}

func TestLabelsFile(t *testing.T) {
	data := "1 2\n3 4\n5 6\n"
	for _, labels := range []string{"1\n0\n1\n", "1\r\n0\r\n1", "1 \n0 \n1 \n\n", pack(t, "1\n0\n1\n", "gzip")} {
		x, info := mustRead(t, data, Options{Format: schema.Format{LabelsFile: write(t, "labels", labels)}})
		wantSame(t, []Class{1, 0, 1}, x.Label)
		if len(x.Columns) != 2 || len(info.LabelsDigest) != 64 {
			t.Errorf("%+v", info)
		}
	}
	x, _ := mustRead(t, "5 1:1\n2:1\n7 3:1\n", Options{Format: schema.Format{LabelsFile: write(t, "labels", "1\n-1\n1\n")}})
	wantSame(t, []Class{1, 0, 1}, x.Label)
}

func TestLIBSVM(t *testing.T) {
	x, info := mustRead(t, "# head\n+1 1:0.5 3:2 7:0 \n-1\n-1 2:-1e-3 # tail\n#\n+1 3:+1\n\n", Options{})
	wantSame(t, &Table{
		File: "t",
		Sparse: &Sparse{Cols: 7, Start: []int64{0, 2, 2, 3, 4}, Index: []uint32{0, 2, 1, 2},
			Value: []float64{0.5, 2, -1e-3, 1}},
		Label: []Class{1, 0, 0, 1},
		Line:  []int{2, 3, 4, 6},
	}, x)
	wantSame(t, schema.Schema{Format: "libsvm", Width: 7, Labels: []LabelCount{{Value: "1", Count: 2}, {Value: "-1", Count: 2}}}, info.Schema)
	x, _ = mustRead(t, "1 1:1\n0 2:1\n", Options{Format: schema.Format{Width: 9}})
	if x.Sparse.Cols != 9 {
		t.Error(x.Sparse.Cols)
	}
	x, _ = mustRead(t, "spam 1:1\nham 2:1\n", Options{Format: schema.Format{Positive: []string{"spam"}}})
	wantSame(t, []Class{1, 0}, x.Label)
}

// TestChunks reads files in chunks of several sizes, from a source that returns one byte or half a buffer at
// a time.
func TestChunks(t *testing.T) {
	var csv, svm strings.Builder
	for i := range 300 {
		y := "0"
		if i%7 == 0 {
			y = "1"
		}
		word := string([]byte{byte('a' + i%5), byte('a' + i/40)})
		csv.WriteString(strings.Join([]string{word, "\"q\n" + word + "\"", y, "1." + word[:0] + y}, ",") + "\r\n")
		svm.WriteString(y + " 1:" + y + " 9:3\r")
	}
	for name, c := range map[string]struct {
		text string
		o    Options
	}{
		"csv":    {csv.String(), Options{Format: schema.Format{Label: "3", ID: []string{"1"}, Group: "1"}, Raw: true}},
		"libsvm": {svm.String(), Options{Format: schema.Format{Width: 10}}},
	} {
		t.Run(name, func(t *testing.T) {
			want, wantInfo := mustRead(t, c.text, c.o)
			for _, size := range []int{1, 7, 1000} {
				got, info, err := readChunks(&slowReader{text: c.text, step: size}, c.o, size)
				if err != nil {
					t.Fatal(err)
				}
				wantSame(t, want, got)
				wantSame(t, wantInfo, info)
			}
		})
	}
}

// slowReader returns a few bytes at a time.
type slowReader struct {
	text string
	step int
}

func (s *slowReader) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.step)], s.text)
	s.text = s.text[n:]
	return n, nil
}

// readChunks reads in chunks and joins them.
func readChunks(source io.Reader, o Options, size int) (*Table, *Info, error) {
	r, err := NewReader("t", source, o)
	if err != nil {
		return nil, nil, err
	}
	var whole *Table
	for {
		t, err := r.Next(size)
		if err == io.EOF {
			info := r.Info()
			return whole, &info, nil
		}
		if err != nil {
			return nil, nil, err
		}
		whole = join(whole, t)
	}
}

// join appends a copy of a chunk.
func join(whole, t *Table) *Table {
	if whole == nil {
		whole = &Table{File: t.File, Columns: make([]Column, len(t.Columns)), ID: make([]Text, len(t.ID))}
		if t.Sparse != nil {
			whole.Sparse = &Sparse{Start: []int64{0}}
		}
	}
	for k, c := range t.Columns {
		w := &whole.Columns[k]
		w.Name, w.Number, w.Kind = c.Name, c.Number, c.Kind
		w.Values = append(w.Values, c.Values...)
		w.Codes = append(w.Codes, c.Codes...)
		w.Dictionary = append([]string(nil), c.Dictionary...)
	}
	if s := t.Sparse; s != nil {
		w := whole.Sparse
		begin := int64(len(w.Index))
		w.Cols = s.Cols
		for _, at := range s.Start[1:] {
			w.Start = append(w.Start, begin+at)
		}
		w.Index = append(w.Index, s.Index...)
		w.Value = append(w.Value, s.Value...)
	}
	for k, c := range t.ID {
		whole.ID[k] = Text{c.Name, c.Number, append(whole.ID[k].Values, c.Values...)}
	}
	for _, c := range []struct {
		to   **Text
		from *Text
	}{{&whole.Group, t.Group}, {&whole.Segment, t.Segment}, {&whole.Time, t.Time}} {
		if c.from == nil {
			continue
		}
		if *c.to == nil {
			*c.to = &Text{Name: c.from.Name, Number: c.from.Number}
		}
		(*c.to).Values = append((*c.to).Values, c.from.Values...)
	}
	whole.Label = append(whole.Label, t.Label...)
	whole.Weight = append(whole.Weight, t.Weight...)
	whole.Line = append(whole.Line, t.Line...)
	whole.Raw = append(whole.Raw, t.Raw...)
	return whole
}

// TestAgainstStandardWriter reads random fields written by encoding/csv.
func TestAgainstStandardWriter(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	letters := []string{"a", "b", ",", "\"", "\n", "é", ";", " x", "'"}
	for range 300 {
		var want [][]string
		for range 1 + random.IntN(8) {
			row := []string{"1"}
			for range 3 {
				field := ""
				for range random.IntN(5) {
					field += letters[random.IntN(len(letters))]
				}
				row = append(row, field)
			}
			want = append(want, row)
		}
		var text strings.Builder
		w := csv.NewWriter(&text)
		w.UseCRLF = random.IntN(2) == 1
		if err := w.WriteAll(want); err != nil {
			t.Fatal(err)
		}
		d := &delimited{lines: newLines(strings.NewReader(text.String())), delimiter: ','}
		for i := range want {
			r, err := d.next()
			if err != nil {
				t.Fatalf("%v in\n%s", err, text.String())
			}
			for k, f := range r.fields {
				if string(f) != want[i][k] {
					t.Fatalf("%q, want %q in\n%s", f, want[i][k], text.String())
				}
			}
		}
	}
}

func TestReaderHasTheNameOfItsFile(t *testing.T) {
	path := write(t, "rows.csv", "x,y\n1,1\n2\n")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewReader("", f, Options{Format: schema.Format{Label: "y"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = r.ReadAll(); err == nil || !strings.HasPrefix(err.Error(), path+":3: ") {
		t.Error(err)
	}
}
