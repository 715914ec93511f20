package table

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/schema"
)

// wantError checks the text of an error as the command line prints it.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", want)
	}
	e := diag.Of(err)
	if e == nil {
		t.Fatalf("%T is not a *diag.Error: %v", err, err)
	}
	if got := e.Text(func(param string) string { return "--" + param }); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if strings.Contains(err.Error(), "--") {
		t.Errorf("%q has flags of the command line", err)
	}
}

// badCase is a text that is refused, with the same error in chunks of any size.
type badCase struct {
	name, text string
	o          Options
	want       string
}

func (c badCase) test(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		_, _, err := readText(c.text, c.o)
		wantError(t, err, c.want)
		_, _, err = readChunks(strings.NewReader(c.text), c.o, 1)
		wantError(t, err, c.want)
	})
}

func TestBadDelimited(t *testing.T) {
	last := Options{Format: schema.Format{Label: "last"}}
	named := Options{Format: schema.Format{Label: "y"}}
	long := strings.Repeat("1,2,3,1\n4,5,6,0\n", 6000)
	for _, c := range []badCase{
		{"empty", "", last, "t: an empty file, expected rows"},
		{"empty lines only", "\n \n\n", last, "t: an empty file, expected rows"},
		{"mark only", "\xef\xbb\xbf", last, "t: an empty file, expected rows"},
		{"header only", "a,b,y\n", named,
			"t:1: only a header line, expected rows below it (use --header no if the line is a row)"},
		{"ragged, short", "1,2,1\n3,0\n", last,
			"t:2: 2 fields, expected 3 fields as in line 1 (use --delimiter D; the detected delimiter is comma)"},
		{"ragged, long, below a header", "a,y\n1,1\n2,0,5\n", named,
			"t:3: 3 fields, expected 2 fields as in the header (use --delimiter D; the detected" +
				" delimiter is comma)"},
		{"ragged, delimiter set", "1,2,1\n3,0\n", Options{Format: schema.Format{Label: "last", Delimiter: "comma"}},
			"t:2: 2 fields, expected 3 fields as in line 1"},
		{"ragged, after the head", long + "1\n", last,
			"t:12001: 1 field, expected 4 fields as in line 1 (use --delimiter D; the detected" +
				" delimiter is comma)"},
		{"empty line inside", "1,1\n\n2,0\n", last,
			"t:2: an empty line, expected 2 fields as in the other lines (remove the line)"},
		{"text for a number", "bytes,y\n1,1\nn/a,0\n2,0\n3,0\n", named,
			`t:3: column "bytes": "n/a", expected a number (use --missing n/a or --categorical bytes)`},
		{"text for a number, after the head", long + "1,2,x y,0\n", last,
			`t:12001: column "3": "x y", expected a number (use --missing 'x y' or --categorical 3)`},
		{"text for a number, first line", "a,2,1\n3,2,0\n4,3,1\n5,3,1\n", last,
			`t:1: column "1": "a", expected a number (use --missing a, --categorical 1 or --header yes` +
				" if this line names the columns)"},
		{"empty name quoted", "my bytes,y\n1,1\n'x,0\n2,0\n3,0\n", named,
			`t:3: column "my bytes": "'x", expected a number (use --missing ''\''x' or --categorical 'my bytes')`},
		{"infinity", "x,y\n1,1\n-Inf,0\n", named,
			`t:3: column "x": "-Inf", expected a finite number (use --missing=-Inf)`},
		{"overflow", "x,y\n1,1\n1e999,0\n", named,
			`t:3: column "x": "1e999", expected a number within the range of float64 (use --missing 1e999)`},
		{"hexadecimal", "x,y\n1,1\n2,1\n0x10,0\n", named,
			`t:4: column "x": "0x10", expected a number (use --missing 0x10 or --categorical x)`},
		{"numeric by an option", "x,y\na,1\nb,0\n", Options{Format: schema.Format{Label: "y", Numeric: []string{"x"}, Header: "yes"}},
			`t:2: column "x": "a", expected a number (use --missing a or --categorical x)`},
		{"one class", "1,1\n2,1\n", last,
			`t: column "2": no negative row, the labels are "1" (2), expected rows of both classes`},
		{"one class by a rule", "1,a\n2,b\n", Options{Format: schema.Format{Label: "2", Positive: []string{"a", "b"}}},
			`t: column "2": no negative row, the labels are "a" (1), "b" (1), expected rows of both` +
				" classes (use --positive VALUE for each positive label)"},
		{"no positive by a rule", "1,a\n2,b\n", Options{Format: schema.Format{Label: "2", Positive: []string{"!a", "!b"}}},
			`t: column "2": no positive row, the labels are "a" (1), "b" (1), expected rows of both` +
				" classes (use --positive VALUE for each positive label)"},
		{"labels that need a rule", "1,g\n2,b\n3,b\n", last,
			`t: column "2": the labels "b" (2), "g" (1), expected 1 and 0, 1 and -1, or true and false` +
				" (use --positive VALUE for each positive label)"},
		{"three labels", "1,1\n2,0\n3,-1\n", last,
			`t: column "2": the labels "1" (1), "0" (1), "-1" (1), expected 1 and 0, 1 and -1, or true` +
				" and false (use --positive VALUE for each positive label)"},
		{"labels 1 and 2", "1,1\n2,2\n3,2\n", last,
			`t: column "2": the labels "2" (2), "1" (1), expected 1 and 0, 1 and -1, or true and false` +
				" (use --positive VALUE for each positive label)"},
		{"words and numbers", "1,1\n2,false\n", last,
			`t: column "2": the labels "1" (1), "false" (1), expected 1 and 0, 1 and -1, or true and` +
				" false (use --positive VALUE for each positive label)"},
		{"many labels", "1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n7,7\n8,8\n9,9\n10,10\n11,11\n12,12\n12,12\n", last,
			`t: column "2": the labels "12" (2), "1" (1), "2" (1), "3" (1), "4" (1), "5" (1), "6" (1),` +
				` "7" (1), "8" (1), "9" (1) and 2 others, expected 1 and 0, 1 and -1, or true and false (use --positive VALUE for each positive label)`},
		{"thousands of labels", distinctLabels(2500), last,
			`t: column "2": the labels "a0" (3), "a1" (1), "a2" (1), "a3" (1), "a4" (1), "a5" (1),` +
				` "a6" (1), "a7" (1), "a8" (1), "a9" (1) and more than 990 others, expected 1 and 0, 1 and -1, or true and false (use --positive VALUE for each positive label)`},
		{"a value that does not occur", "1,normal.\n2,smurf.\n", Options{Format: schema.Format{Label: "2", Positive: []string{"!normal"}}},
			`t: column "2": no label "normal", expected one of the values that occur: "normal." (1),` +
				` "smurf." (1) (did you mean "normal."?)`},
		{"a value unlike all others", "1,'1'\n2,'-1'\n", Options{Format: schema.Format{Label: "2", Positive: []string{"yes"}}},
			`t: column "2": no label "yes", expected one of the values that occur: "'1'" (1), "'-1'" (1)` +
				" (use --positive with one of them)"},
		{"an empty label", "x,y\n1,1\n2,\n", named, `t:3: column "y": an empty label, expected a label in every row`},
		{"a missing label", "x,y\n1,1\n2,?\n", Options{Format: schema.Format{Label: "y", Missing: []string{"?"}}},
			`t:3: column "y": the missing label "?", expected a label in every row`},
		{"no label option", "1,1\n2,0\n", Options{},
			"t: no label column, expected a name, a number, first or last (use --label COLUMN or" +
				" --labels-file FILE with one label per row)"},
		{"no label option, header", "a,b\n1,1\n2,0\n", Options{},
			`t: no label column, expected one of "a", "b" (use --label COLUMN or --labels-file FILE` +
				" with one label per row)"},
		{"unknown label", "a,Label\n1,1\n2,0\n", Options{Format: schema.Format{Label: "Lable"}},
			`t: --label "Lable", expected one of the columns "a", "Label" (did you mean "Label"?)`},
		{"unknown label, unlike all names", "a,b\n1,1\n2,0\n", Options{Format: schema.Format{Label: "target"}},
			`t: --label "target", expected one of the columns "a", "b"`},
		{"unknown label, no header", "1,1\n2,0\n", Options{Format: schema.Format{Label: "y"}},
			`t: --label "y", expected a column's number from 1 to 2 (use --header yes if line 1 names` +
				" the columns; no header was found)"},
		{"label beyond the last column", "1,1\n2,0\n", Options{Format: schema.Format{Label: "3"}},
			`t: --label "3", expected a column's number from 1 to 2`},
		{"unknown column to drop", "a,y\n1,1\n2,0\n", Options{Format: schema.Format{Label: "y", Drop: []string{"a,b"}}},
			`t: --drop "b", expected one of the columns "a", "y"`},
		{"column to drop beyond the last", "1,1\n2,0\n", Options{Format: schema.Format{Label: "1", Drop: []string{"2-3"}}},
			`t: --drop "2-3", expected a column's number from 1 to 2`},
		{"label dropped", "a,y\n1,1\n2,0\n", Options{Format: schema.Format{Label: "y", Drop: []string{"1-2"}}},
			`t: column "y": the same column as label and drop, expected different columns`},
		{"label as id", "x,y\n1,1\n2,0\n", Options{Format: schema.Format{Label: "y", ID: []string{"y"}}},
			`t: column "y": the same column as label and id, expected different columns`},
		{"label is weight", "a,y\n1,1\n2,0\n", Options{Format: schema.Format{Label: "y", Weight: "2"}},
			`t: column "y": the same column as label and weight, expected different columns`},
		{"categorical and numeric", "a,y\n1,1\n", Options{Format: schema.Format{Label: "y", Categorical: []string{"a"}, Numeric: []string{"1"}}},
			`t: column "a": the same column as categorical and numeric, expected different columns`},
		{"same name twice", "a,b,a,y\n1,2,3,1\n", named,
			`t:1: the name "a" for columns 1 and 3, expected different names (use --header no if the` +
				" line is a row; otherwise rename one)"},
		{"a header with numbers", "0,1,label\n1,2,1\n3,4,0\n", Options{Format: schema.Format{Label: "last", Positive: []string{"1"}}},
			`t:1: column "3": the label "label", expected a number, as the other labels are (use` +
				" --header yes if this line names the columns or --header no otherwise)"},
		{"negative weight", "x,w,y\n1,1,1\n2,-1,0\n", Options{Format: schema.Format{Label: "y", Weight: "w"}},
			`t:3: column "w": "-1", expected a weight: a finite number of at least 0`},
		{"weight is NaN", "x,w,y\n1,1,1\n2,nan,0\n", Options{Format: schema.Format{Label: "y", Weight: "w"}},
			`t:3: column "w": "nan", expected a weight: a finite number of at least 0`},
		{"weight is missing", "x,w,y\n1,1,1\n2,,0\n", Options{Format: schema.Format{Label: "y", Weight: "w"}},
			`t:3: column "w": a missing weight, expected a weight: a finite number of at least 0`},
		{"all weights 0", "x,w,y\n1,0,1\n2,0,0\n", Options{Format: schema.Format{Label: "y", Weight: "w"}},
			"t: no row with a weight above 0, expected some"},
		{"NUL", "1,2,1\n3,\x00,0\n", last, `t:2: column "2": a NUL byte, expected text (is this a binary file?)`},
		{"NUL below a header", "a,b,y\n1,2,1\n3,\x00,0\n", named,
			`t:3: column "b": a NUL byte, expected text (is this a binary file?)`},
		{"not UTF-8", "caf\xe9,y\n1,1\n2,0\n", named,
			`t:1: column "1": the byte 0xe9, expected UTF-8 text (convert the file, for example with iconv` +
				" -f ISO-8859-1 -t UTF-8)"},
		{"not UTF-8 inside", "name,y\na,1\n\"b,\",1\nZ\xfcrich,0\n", Options{Format: schema.Format{Label: "y"}},
			`t:4: column "name": the byte 0xfc, expected UTF-8 text (convert the file, for example with` +
				" iconv -f ISO-8859-1 -t UTF-8)"},
		{"unclosed quote", "name,y\n\"a\",1\n\"b,0\nc,1\n", named,
			`t:3: column "name": a quoted field that does not end, expected a closing double quote (a quote` +
				` inside a quoted field is written "")`},
		{"text after a quote", "name,y\n\"a\"b,1\n", named,
			`t:2: column "name": "b,1" after a closing double quote, expected a delimiter or the end` +
				` of the line (a quote inside a quoted field is written "")`},
		{"not UTF-8 in a quoted field", "name,y\n\"a\n\xff\",1\n", named,
			`t:3: column "name": the byte 0xff, expected UTF-8 text (convert the file, for example with` +
				" iconv -f ISO-8859-1 -t UTF-8)"},
		{"zip", "PK\x03\x04\x14\x00\x06\x00", last,
			"t: a zip archive or a spreadsheet, expected text or LIBSVM, plain or packed with gzip or" +
				" zstd (convert or unpack it first)"},
		{"UTF-16", "\xff\xfea\x00,\x00", last,
			"t: UTF-16 text, expected text or LIBSVM, plain or packed with gzip or zstd (convert or" +
				" unpack it first)"},
		{"Parquet", "PAR1\x15\x04\x15\x10", last, "t: a Parquet file as a stream, expected a path: its end is read first"},
		{"bzip2", "BZh91AY&SY", last,
			"t: a file packed with bzip2, expected text or LIBSVM, plain or packed with gzip or zstd" +
				" (convert or unpack it first)"},
		{"truncated gzip", pack(t, long, "gzip")[:200], last,
			"t:10355: the end of the file inside its gzip data, expected a complete file (copy or download" +
				" the file again)"},
		{"gzip header only", pack(t, long, "gzip")[:5], last,
			"t: the end of the file inside its gzip data, expected a complete file (copy or download the" +
				" file again)"},
		{"damaged gzip", damage(pack(t, long, "gzip")), last,
			"t:12001: damaged gzip data, expected an intact file: gzip: invalid checksum (copy or download" +
				" the file again)"},
		{"truncated zstd", pack(t, long, "zstd")[:30], last,
			"t: the end of the file inside its zstd data, expected a complete file (copy or download the" +
				" file again)"},
		{"a binary file read as text", "\x00\x00\x08\x01\x00\x00\x00\x01\x05", Options{Format: schema.Format{Format: "csv", Label: "last"}},
			`t:1: column "1": a NUL byte, expected text (is this a binary file?)`},
	} {
		c.test(t)
	}
}

// TestLongLines lowers the limit of 32 MiB.
func TestLongLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1,1\n" + strings.Repeat("x", 300_000) + "\n",
			"t:2: a line longer than 32 MiB, expected a text file with lines (is this a binary file?)"},
		{"1,1\n1,\"" + strings.Repeat("x\n", 60_000) + "\"\n",
			`t:2: column "2": a quoted field that does not end, expected a closing double quote` +
				` (a quote inside a quoted field is written "")`},
	} {
		d := &delimited{file: "t", lines: newLines(strings.NewReader(c.text)), delimiter: ','}
		d.lines.limit = 30_000
		if _, err := d.next(); err != nil {
			t.Fatal(err)
		}
		_, err := d.next()
		wantError(t, err, c.want)
	}
	if testing.Short() {
		t.Skip("32 MiB")
	}
	_, _, err := readText(strings.Repeat("x", MaxLine+1), Options{Format: schema.Format{Label: "last"}})
	wantError(t, err, "t:1: a line longer than 32 MiB, expected a text file with lines (is this a binary file?)")
}

// distinctLabels returns rows whose labels are all different except for the first two.
func distinctLabels(n int) string {
	var b strings.Builder
	b.WriteString("1,a0\n1,a0\n")
	for i := range n {
		fmt.Fprintf(&b, "1,a%d\n", i)
	}
	return b.String()
}

// damage changes a byte of the checksum at the end.
func damage(text string) string {
	b := []byte(text)
	b[len(b)-6] ^= 1
	return string(b)
}

func TestBadLIBSVM(t *testing.T) {
	fine := "1 1:1\n0 2:1\n"
	svm := Options{Format: schema.Format{Format: "libsvm"}}
	for _, c := range []badCase{
		{"empty", "", svm, "t: an empty file, expected rows"},
		{"comments only", "# a\n# b\n", svm, "t: an empty file, expected rows"},
		{"index zero", fine + "1 0:1\n", Options{},
			"t:3: index 0, expected indices from 1 (add 1 to every index of the file)"},
		{"out of order", fine + "1 3:1 2:1\n", Options{},
			"t:3: index 2 after 3, expected ascending indices (sort the entries of every row)"},
		{"twice", fine + "1 3:1 3:1\n", Options{}, "t:3: index 3 twice, expected each index once in a row"},
		{"huge index", fine + "1 100000001:1\n", Options{},
			`t:3: index "100000001", expected indices of at most 100,000,000`},
		{"overflowing index", fine + "1 99999999999999999999999999:1\n", Options{},
			`t:3: index "99999999999999999999999999", expected indices of at most 100,000,000`},
		{"negative index", fine + "1 -3:1\n", Options{},
			`t:3: "-3:1", expected index:value with a whole number as index`},
		{"text as index", fine + "1 x:1\n", Options{},
			`t:3: "x:1", expected index:value with a whole number as index`},
		{"query", fine + "1 qid:3 1:1\n", Options{},
			`t:3: "qid:3", expected index:value with a whole number as index (query ids of ranking files are not read: remove them)`},
		{"text as value", fine + "1 3:x\n", Options{},
			`t:3: column "3": "x", expected a finite number (a missing value cannot be written here)`},
		{"no value", fine + "1 3:\n", Options{},
			`t:3: column "3": "", expected a finite number (a missing value cannot be written here)`},
		{"NaN", fine + "1 3:nan\n", Options{},
			`t:3: column "3": "nan", expected a finite number (a missing value cannot be written here)`},
		{"overflow", fine + "1 3:1e400\n", Options{},
			`t:3: column "3": "1e400", expected a finite number (a missing value cannot be written here)`},
		{"no colon", fine + "1 3\n", Options{}, `t:3: "3", expected index:value`},
		{"beyond the width option", fine + "1 3:1\n", Options{Format: schema.Format{Width: 2}},
			"t:3: index 3, expected indices of at most 2 (use --width N to allow more)"},
		{"empty line inside", "1 1:1\n\n0 2:1\n", Options{},
			"t:2: an empty line, expected a label, with or without features"},
		{"no label", fine + "2:1\n", Options{},
			"t:3: a row without a label, expected a label before the first feature"},
		{"no feature", "1\n-1\n", svm, "t: no feature in any row, expected index:value pairs after the labels"},
		{"one class", "1 1:1\n1 2:1\n", Options{},
			`t: no negative row, the labels are "1" (2), expected rows of both classes`},
		{"labels that need a rule", "1 1:1\n2 2:1\n", Options{},
			`t: the labels "1" (1), "2" (1), expected 1 and 0, 1 and -1, or true and false (use` +
				" --positive VALUE for each positive label)"},
		{"NUL", fine + "1 \x00:1\n", Options{}, "t:3: a NUL byte, expected text (is this a binary file?)"},
		{"not UTF-8", fine + "1 3:\xff\n", Options{}, "t:3: bytes that are not UTF-8, expected UTF-8 text"},
		{"weight", fine, Options{Format: schema.Format{Weight: "2"}},
			"--weight with a LIBSVM file, expected delimited text"},
		{"label", fine, Options{Format: schema.Format{Label: "y"}},
			"--label with a LIBSVM file, expected delimited text"},
		{"drop", fine, Options{Format: schema.Format{Drop: []string{"2"}}}, "--drop with a LIBSVM file, expected delimited text"},
		{"truncated gzip", pack(t, fine, "gzip")[:25], Options{},
			"t:3: the end of the file inside its gzip data, expected a complete file (copy or download the" +
				" file again)"},
	} {
		c.test(t)
	}
}

func TestBadLabelsFile(t *testing.T) {
	data := "1 2\n3 4\n5 6\n"
	for _, c := range []struct{ name, labels, want string }{
		{"too few", "1\n0\n", ": 2 labels, expected one for each row of t, which has more"},
		{"too many", "1\n0\n1\n0\n", ": 4 labels, expected one for each row of t, which has 3 rows"},
		{"none", "", ": no labels, expected one for each row of t, which has more"},
		{"an empty line", "1\n\n0\n1\n",
			`:2: an empty line, expected 1 field as in the other lines (a missing value is written "")`},
		{"an empty label", "1\n\"\"\n0\n", ":2: an empty label, expected a label in every line"},
		{"text", "1\n2\n3\n", `: the labels "1" (1), "2" (1), "3" (1), expected 1 and 0, 1 and -1, or true and false` +
			" (use --positive VALUE for each positive label)"},
		{"one class", "1\n1\n1\n", `: no negative row, the labels are "1" (3), expected rows of both classes`},
		{"truncated gzip", pack(t, "1\n0\n1\n", "gzip")[:15],
			":3: the end of the file inside its gzip data, expected a complete file (copy or download the" +
				" file again)"},
		{"NUL", "1\n\x00\n1\n", ":2: column \"1\": a NUL byte, expected text (is this a binary file?)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "labels", c.labels)
			_, _, err := readText(data, Options{Format: schema.Format{LabelsFile: path}})
			wantError(t, err, path+c.want)
		})
	}
}

func TestBadFiles(t *testing.T) {
	folder := t.TempDir()
	_, _, err := Read(folder, Options{})
	wantError(t, err, folder+`: a directory without files, expected files with rows`+
		` (names that begin with "." or "_", and folders without a key as in day=2026-01-01, are left out)`)
	gone := filepath.Join(folder, "gone.csv")
	_, _, err = Read(gone, Options{})
	wantError(t, err, gone+": no such file or directory")
	if diag.Of(err).Kind != diag.IO || !errors.Is(err, fs.ErrNotExist) {
		t.Error(diag.Of(err).Kind, errors.Unwrap(err))
	}
	_, _, err = Read(write(t, "a", "1,1\n2,0\n"), Options{Format: schema.Format{LabelsFile: gone}})
	wantError(t, err, gone+": no such file or directory")
	locked := write(t, "locked", "1,1\n")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(locked); err == nil { // as root
		f.Close()
		return
	}
	_, _, err = Read(locked, Options{})
	wantError(t, err, locked+": permission denied")
}

func TestBadSource(t *testing.T) {
	for _, text := range []string{"", "1,1\n2,0\n", strings.Repeat("1,1\n2,0\n", sniffBytes/4)} {
		source := io.MultiReader(strings.NewReader(text), &failing{errors.New("cable pulled")})
		_, _, err := readChunks(source, Options{Format: schema.Format{Label: "last"}}, 10)
		if err == nil || !strings.HasSuffix(err.Error(), "cable pulled") || diag.Of(err).Kind != diag.IO {
			t.Errorf("%v", err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	const delimiters = ", expected one ASCII character, comma, semicolon, tab, pipe, blank or auto"
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Format: schema.Format{Format: "xls"}}, `--format "xls", expected one of auto, csv, jsonl, libsvm, parquet, packed`},
		{Options{Format: schema.Format{Header: "maybe"}}, `--header "maybe", expected auto, yes or no`},
		{Options{Format: schema.Format{Delimiter: ",,"}}, `--delimiter ",,"` + delimiters},
		{Options{Format: schema.Format{Delimiter: "\""}}, `--delimiter "\""` + delimiters},
		{Options{Format: schema.Format{Label: "1", LabelsFile: "x"}}, "a label column and a labels file, expected one of the two"},
		{Options{Format: schema.Format{Positive: []string{"a", "!b"}}},
			"--positive with and without '!', expected either labels, or '!' before each of them"},
		{Options{Format: schema.Format{Positive: []string{""}}}, `--positive "", expected a value of the label`},
		{Options{Format: schema.Format{Width: -1}}, `--width "-1", expected a number of features from 1 to 100,000,000`},
	} {
		_, _, err := readText("1,1\n", c.o)
		wantError(t, err, c.want)
		if diag.Of(err).Kind != diag.Usage {
			t.Error(diag.Of(err).Kind)
		}
	}
}

// Files that are often taken for something else are refused with what to write instead.
func TestBadFilesSayWhatToWrite(t *testing.T) {
	for text, want := range map[string]string{
		"1:2 1:2.616 2:1.3\n0:1 1:0.573 2:-1.1\n": `t:1: a row without a label, expected a label before the first feature ` +
			"(a weight after the label, as in 1:0.5, is not read: write weights as a column of CSV or Parquet)",
		"1 qid:0 1:2.616 2:1.3\n0 qid:0 1:0.573\n":        `t:1: "qid:0", expected index:value with a whole number as index (query ids of ranking files are not read: remove them)`,
		`{"a":1,"y":1}` + "\n" + `{"a":NaN,"y":0}` + "\n": `t:2: column "a": "NaN,\"y\":0}" at byte 6 of the line, expected a value: JSON has no NaN and no infinity, write null`,
		`{"a":1,"y":1}` + "\n" + `{"a":Infinity}` + "\n":  `t:2: column "a": "Infinity}" at byte 6 of the line, expected a value: JSON has no NaN and no infinity, write null`,
		`{"a":1,"y":1}` + "\n" + `{"a":x}` + "\n":         `t:2: column "a": "x}" at byte 6 of the line, expected a value`,
	} {
		_, _, err := readText(text, Options{Format: schema.Format{Label: "y"}})
		if strings.HasPrefix(text, "1") {
			_, _, err = readText(text, Options{})
		}
		wantError(t, err, want)
	}
	if x, _ := mustRead(t, "1 1:2 2:1\n0 1:1\n", Options{}); x.Rows() != 2 || x.Sparse.Cols != 2 {
		t.Error("a LIBSVM file is read otherwise")
	}
}
