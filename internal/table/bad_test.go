package table

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/internal/fault"
)

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", want)
	}
	if fault.Of(err) == nil {
		t.Errorf("%T is not a *fault.Error", err)
	}
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

// badCase is a text that is refused, always with the same words, whatever the size of the chunks.
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
	last := Options{Label: "last"}
	named := Options{Label: "y"}
	long := strings.Repeat("1,2,3,1\n4,5,6,0\n", 6000)
	for _, c := range []badCase{
		{"empty", "", last, ""},
		{"empty lines only", "\n \n\n", last, ""},
		{"mark only", "\xef\xbb\xbf", last, ""},
		{"header only", "a,b,y\n", named, ""},
		{"ragged, short", "1,2,1\n3,0\n", last, ""},
		{"ragged, long, below a header", "a,y\n1,1\n2,0,5\n", named, ""},
		{"ragged, delimiter told", "1,2,1\n3,0\n", Options{Label: "last", Delimiter: "comma"}, ""},
		{"ragged, far", long + "1\n", last, ""},
		{"empty line inside", "1,1\n\n2,0\n", last, ""},
		{"text for a number", "bytes,y\n1,1\nn/a,0\n2,0\n3,0\n", named, ""},
		{"text for a number, far", long + "1,2,x y,0\n", last, ""},
		{"text for a number, first line", "a,2,1\n3,2,0\n4,3,1\n5,3,1\n", last, ""},
		{"empty name quoted", "my bytes,y\n1,1\n'x,0\n2,0\n3,0\n", named, ""},
		{"NaN", "x,y\n1,1\nNaN,0\n", named, ""},
		{"infinity", "x,y\n1,1\n-Inf,0\n", named, ""},
		{"overflow", "x,y\n1,1\n1e999,0\n", named, ""},
		{"hexadecimal", "x,y\n1,1\n2,1\n0x10,0\n", named, ""},
		{"told to be numeric", "x,y\na,1\nb,0\n", Options{Label: "y", Numeric: []string{"x"}, Header: "yes"}, ""},
		{"one class", "1,1\n2,1\n", last, ""},
		{"one class by a rule", "1,a\n2,b\n", Options{Label: "2", Positive: []string{"a", "b"}}, ""},
		{"no positive by a rule", "1,a\n2,b\n", Options{Label: "2", Positive: []string{"!a", "!b"}}, ""},
		{"labels that need a rule", "1,g\n2,b\n3,b\n", last, ""},
		{"three labels", "1,1\n2,0\n3,-1\n", last, ""},
		{"labels 1 and 2", "1,1\n2,2\n3,2\n", last, ""},
		{"words and numbers", "1,1\n2,false\n", last, ""},
		{"many labels", "1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n7,7\n8,8\n9,9\n10,10\n11,11\n12,12\n12,12\n", last, ""},
		{"thousands of labels", distinctLabels(2500), last, ""},
		{"a value that does not occur", "1,normal.\n2,smurf.\n", Options{Label: "2", Positive: []string{"!normal"}}, ""},
		{"a value nothing like others", "1,'1'\n2,'-1'\n", Options{Label: "2", Positive: []string{"yes"}}, ""},
		{"an empty label", "x,y\n1,1\n2,\n", named, ""},
		{"a missing label", "x,y\n1,1\n2,?\n", Options{Label: "y", Missing: []string{"?"}}, ""},
		{"no label told", "1,1\n2,0\n", Options{}, ""},
		{"no label told, header", "a,b\n1,1\n2,0\n", Options{}, ""},
		{"label not there", "a,Label\n1,1\n2,0\n", Options{Label: "Lable"}, ""},
		{"label not there, far off", "a,b\n1,1\n2,0\n", Options{Label: "target"}, ""},
		{"label not there, no header", "1,1\n2,0\n", Options{Label: "y"}, ""},
		{"label beyond the last column", "1,1\n2,0\n", Options{Label: "3"}, ""},
		{"drop not there", "a,y\n1,1\n2,0\n", Options{Label: "y", Drop: []string{"a,b"}}, ""},
		{"drop beyond", "1,1\n2,0\n", Options{Label: "1", Drop: []string{"2-3"}}, ""},
		{"label dropped", "a,y\n1,1\n2,0\n", Options{Label: "y", Drop: []string{"1-2"}}, ""},
		{"label is weight", "a,y\n1,1\n2,0\n", Options{Label: "y", Weight: "2"}, ""},
		{"symbolic and numeric", "a,y\n1,1\n", Options{Label: "y", Symbolic: []string{"a"}, Numeric: []string{"1"}}, ""},
		{"no feature", "a,y\n1,1\n2,0\n", Options{Label: "y", ID: []string{"a"}}, ""},
		{"same name twice", "a,b,a,y\n1,2,3,1\n", named, ""},
		{"name is another's number", "a,,2,y\n1,2,3,1\n", named, ""},
		{"a header with numbers", "0,1,label\n1,2,1\n3,4,0\n", Options{Label: "last", Positive: []string{"1"}}, ""},
		{"negative weight", "x,w,y\n1,1,1\n2,-1,0\n", Options{Label: "y", Weight: "w"}, ""},
		{"weight is NaN", "x,w,y\n1,1,1\n2,nan,0\n", Options{Label: "y", Weight: "w"}, ""},
		{"weight is missing", "x,w,y\n1,1,1\n2,,0\n", Options{Label: "y", Weight: "w"}, ""},
		{"all weights 0", "x,w,y\n1,0,1\n2,0,0\n", Options{Label: "y", Weight: "w"}, ""},
		{"NUL", "1,2,1\n3,\x00,0\n", last, ""},
		{"NUL below a header", "a,b,y\n1,2,1\n3,\x00,0\n", named, ""},
		{"not UTF-8", "caf\xe9,y\n1,1\n2,0\n", named, ""},
		{"not UTF-8 inside", "name,y\na,1\n\"b,\",1\nZ\xfcrich,0\n", Options{Label: "y"}, ""},
		{"unclosed quote", "name,y\n\"a\",1\n\"b,0\nc,1\n", named, ""},
		{"text behind a quote", "name,y\n\"a\"b,1\n", named, ""},
		{"not UTF-8 in a quoted field", "name,y\n\"a\n\xff\",1\n", named, ""},
		{"zip", "PK\x03\x04\x14\x00\x06\x00", last, ""},
		{"UTF-16", "\xff\xfea\x00,\x00", last, ""},
		{"Parquet", "PAR1\x15\x04\x15\x10", last, ""},
		{"bzip2", "BZh91AY&SY", last, ""},
		{"long line", strings.Repeat("x", MaxLine+1), last, ""},
		{"long quoted field", "1,1\n\"" + strings.Repeat("x\n", MaxLine/2+1), last, ""},
		{"truncated gzip", pack(t, long, "gzip")[:200], last, ""},
		{"gzip header only", pack(t, long, "gzip")[:5], last, ""},
		{"damaged gzip", damage(pack(t, long, "gzip")), last, ""},
		{"truncated zstd", pack(t, long, "zstd")[:60], last, ""},
		{"IDX read as text", "\x00\x00\x08\x01\x00\x00\x00\x01\x05", Options{Format: "csv", Label: "last"}, ""},
	} {
		c.test(t)
	}
}

// distinctLabels is rows of which every label but the first two is different.
func distinctLabels(n int) string {
	var b strings.Builder
	b.WriteString("1,a0\n1,a0\n")
	for i := range n {
		b.WriteString("1,a" + thousands(i)[:len(thousands(i))%5] + strings.Repeat("b", i) + "\n")
	}
	return b.String()
}

// damage changes a byte of the checksum at the end.
func damage(text string) string {
	b := []byte(text)
	b[len(b)-6] ^= 1
	return string(b)
}

var _ = io.EOF
var _ = os.Args
var _ = filepath.Join
