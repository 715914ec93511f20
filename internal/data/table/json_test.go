package table

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/data/jsontext"
	"toptau/schema"
)

func TestJSONLines(t *testing.T) {
	x, info := mustRead(t, `{"id":"a","flow":{"bytes":1.5,"port":"80"},"proto":"tcp","y":1}`+"\n\n"+
		`{"y":0, "proto":"\u0075dp", "flow":{"port":"22","bytes":-2e3},"id":7,"tags":["a", {"b":[1]}]}`+"\r\n"+
		`{"y":false,"flow":{"bytes":null},"new":1}`+"\n"+`{"y":0,"flow":{"bytes":"12"},"proto":"n/a"}`,
		Options{Format: schema.Format{Label: "y", ID: []string{"id"}, Missing: []string{"n/a"}, Positive: []string{"1"}}, Raw: true})
	if info.Format != schema.JSONLines || !info.Header {
		t.Errorf("format %q, header %v", info.Format, info.Header)
	}
	if want := "[id flow.bytes flow.port proto y tags new]"; fmt.Sprint(info.Names) != want {
		t.Errorf("names %v, want %s", info.Names, want)
	}
	var kinds []string
	for _, c := range x.Columns {
		kinds = append(kinds, c.Name+" "+string(c.Kind))
	}
	if want := "flow.bytes numeric,flow.port categorical,proto categorical,tags categorical,new numeric"; strings.Join(kinds, ",") != want {
		t.Errorf("columns %s, want %s", strings.Join(kinds, ","), want)
	}
	if got := fmt.Sprint(x.Columns[0].Values, x.Columns[2].Codes, x.Columns[2].Dictionary, x.Columns[3].Dictionary, x.ID[0].Values, x.Label, x.Line); got !=
		`[1.5 -2000 NaN 12] [0 1 -1 -1] [tcp udp] [["a", {"b":[1]}]] [a 7  ] [1 0 0 0] [1 3 4 5]` {
		t.Error(got)
	}
}

// A model's columns that no row of the head has are missing in all rows, and a CSV model reads JSON lines.
func TestJSONLinesForASchema(t *testing.T) {
	_, info := mustRead(t, "a,b,y\n1,x,0\n2,z,1\n", Options{Format: schema.Format{Label: "y"}})
	o := Options{Schema: &info.Schema, Unlabelled: true}
	x, _ := mustRead(t, `{"b":"z"}`+"\n"+`{"b":"w","extra":{"c":1}}`+"\n", o)
	if got := fmt.Sprint(x.Columns[0].Values, x.Columns[1].Codes, x.Label); got != "[NaN NaN] [1 2] [-1 -1]" {
		t.Error(got)
	}
	_, _, err := readText(`{"c":1}`+"\n", o)
	wantError(t, err, `t: missing columns: "a", "b"; extra columns: "c", expected the 2 columns that the model needs`)
}

func TestBadJSONLines(t *testing.T) {
	o := Options{Format: schema.Format{Label: "y"}}
	start := `{"a":1,"y":0}` + "\n"
	for _, c := range []badCase{
		{"list", `[{"a":1}]`, o, "t: a JSON list, expected JSON lines: an object a line (convert it, for example with jq -c '.[]')"},
		{"cut", start + `{"a":1,`, o, `t:2: the end of the line at byte 8 of the line, expected a key in double quotes (JSON lines has one object a line)`},
		{"broken over lines", "{\n\"a\":1}", o, `t:1: the end of the line at byte 2 of the line, expected a key in double quotes (JSON lines has one object a line)`},
		{"garbage", start + `garbage`, o, `t:2: "garbage" at byte 1 of the line, expected an object: { (JSON lines has one object a line)`},
		{"more", start + `{"a":1} {}`, o, `t:2: "{}" at byte 9 of the line, expected the end of the line (each line has one object)`},
		{"twice", start + `{"a":1,"a":2,"y":0}`, o, `t:2: column "a": a key that occurs twice, expected different keys`},
		{"nested twice", start + `{"f":{"g":1},"f.g":2}`, o, `t:2: column "f.g": a key that occurs twice, expected different keys`},
		{"text", start + start + `{"a":"x","y":1}`, o, `t:3: column "a": "x", expected a number (use --missing x or --categorical a)`},
		{"number", start + `{"a":01,"y":1}`, o, `t:2: column "a": "1,\"y\":1}" at byte 7 of the line, expected no digit after a leading zero (write the number in quotes if it is a code)`},
		{"escape", start + `{"a":"\q","y":1}`, o, `t:2: column "a": "q\",\"y\":1}" at byte 8 of the line, expected an escape`},
		{"surrogate", start + `{"a":"\ud800x","y":1}`, o, `t:2: column "a": "x\",\"y\":1}" at byte 13 of the line, expected a pair of surrogates`},
		{"deep", start + strings.Repeat(`{"a":`, 70), o, ``},
		{"range", start + `{"a":1e999,"y":1}`, o, `t:2: column "a": "1e999", expected a number within the range of float64 (use --missing 1e999)`},
		{"no label", `{"a":1}` + "\n", o, `t: --label "y", expected one of the columns "a"`},
		{"utf8", start + "{\"a\":\"\xff\"}", o, `t:2: bytes that are not UTF-8, expected UTF-8 text`},
		{"no header", start, Options{Format: schema.Format{Label: "y", Header: schema.NoHeader}}, `--header no, with JSON lines, expected names, which every object has`},
	} {
		if c.name == "deep" {
			if _, _, err := readText(c.text, c.o); err == nil || !strings.Contains(err.Error(), "at most 64 levels") {
				t.Error(err)
			}
			continue
		}
		c.test(t)
	}
}

// flatten returns the values of an object as the reader does, through encoding/json.
func flatten(prefix string, object map[string]any, to map[string]string) {
	for key, value := range object {
		switch v := value.(type) {
		case map[string]any:
			flatten(prefix+key+".", v, to)
		case string:
			to[prefix+key] = v
		case json.Number:
			to[prefix+key] = v.String()
		case bool:
			to[prefix+key] = fmt.Sprint(v)
		case nil:
			to[prefix+key] = ""
		default:
			to[prefix+key] = "list"
		}
	}
}

// The scanner reads what encoding/json reads.
func checkJSONScan(t *testing.T, line string) {
	got := map[string]string{}
	twice := false
	s := jsonScanner{emit: func(path []byte, kind jsontext.Kind, text []byte) error {
		_, known := got[string(path)]
		twice = twice || known
		if got[string(path)] = string(text); kind == jsontext.List {
			got[string(path)] = "list"
		}
		return nil
	}}
	err := s.scan([]byte(line))
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var object map[string]any
	if err != nil || twice || strings.ContainsAny(line, "\n\r") {
		return
	}
	if wrong := d.Decode(&object); wrong != nil || d.More() {
		t.Fatalf("%q is accepted, but %v", line, wrong)
	}
	for path := range got {
		for other := range got {
			if strings.HasPrefix(other, path+".") {
				return // a key that is an object and another value
			}
		}
	}
	want := map[string]string{}
	flatten("", object, want)
	if strings.ToValidUTF8(line, "") == line && !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: got %q, want %q", line, got, want)
	}
}

func FuzzJSONLines(f *testing.F) {
	for _, text := range []string{`{"a":1,"b":{"c":"x\u00e9\ud83d\ude00"},"d":[1,"]",{}],"e":null}`, `{"":-0.5e+3,"a":{"":{}}}`, "{\"y\":1}\n{\"y\":0,\"a\":\"\"}", `{"a":tru}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkJSONScan(t, text)
		for _, o := range []Options{{Format: schema.Format{Format: schema.JSONLines, Label: "y"}}, {Format: schema.Format{Format: schema.JSONLines}, Unlabelled: true}} {
			checkReading(t, text, o)
		}
		o := Options{Format: schema.Format{Format: schema.JSONLines}, Unlabelled: true, OnBadRow: KeepBadRow, Text: true}
		readChunks(strings.NewReader(text), o, 2)
	})
}

func TestJSONScanAgainstTheStandardLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many files")
	}
	random := rand.New(rand.NewPCG(9, 10))
	pieces := []string{"{", "}", "[", "]", `"a"`, `"b\n"`, `"é\u0041"`, ":", ",", "1", "-0.5e3", "01", "true", "null", " ", `"c":`, `{"d":1}`, `\`, "\""}
	for range 200000 {
		var b strings.Builder
		b.WriteString(`{"k":`)
		for range random.IntN(7) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		b.WriteString("}")
		checkJSONScan(t, b.String())
	}
}

// A number that is read in one go has the grammar of JSON and the value of the text, where other text follows and where none does.
func TestJSONNumbersAgainstTheStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	pieces := []string{"-", "0", "7", "00", "123456789", ".", ".", "e", "E-", "e+1", "5", "250", "999999999999"}
	valid := 0
	for i := range 20000 {
		var b strings.Builder
		for range 1 + random.IntN(5) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		number := b.String()
		want, err := strconv.ParseFloat(number, 64)
		if err != nil && json.Valid([]byte(number)) {
			continue // beyond the range
		}
		var got float64
		var emitted string
		s := jsonScanner{}
		s.emit = func(_ []byte, _ jsontext.Kind, text []byte) error {
			if got = s.number; got != got {
				got, _ = parseNumber(text)
			}
			emitted = string(text)
			return nil
		}
		ok := s.scan([]byte(`{"k":`+number+`}`+strings.Repeat(" ", i%40))) == nil
		if ok != json.Valid([]byte(number)) || ok && (emitted != number || math.Float64bits(got) != math.Float64bits(want)) {
			t.Fatalf("%q: read %v as %v from %q, want %v", number, ok, got, emitted, want)
		}
		if ok {
			valid++
		}
	}
	if valid < 1000 {
		t.Errorf("%d numbers of JSON", valid)
	}
}

// A number of the row before is not one of a row without it, nor is a spelling of a missing value.
func TestJSONNumbersOfOtherRows(t *testing.T) {
	for _, missing := range []string{"n/a", "-9"} {
		x, _ := mustRead(t, "{\"a\":1,\"y\":1}\n{\"y\":0}\n{\"a\":null,\"y\":0}\n{\"a\":\""+missing+"\",\"y\":1}\n{\"a\":2,\"y\":1}\n{\"a\":-9,\"y\":1}\n",
			Options{Format: schema.Format{Label: "y", Missing: []string{missing}}})
		want := "[1 NaN NaN NaN 2 -9]"
		if missing == "-9" {
			want = "[1 NaN NaN NaN 2 NaN]"
		}
		if got := fmt.Sprint(x.Columns[0].AllValues()); got != want {
			t.Errorf("missing %s: %s, want %s", missing, got, want)
		}
	}
}

// Rows that lack nearly all keys are refused for training, before their table takes much more than the file.
func TestJSONLinesOfDifferentKeys(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "{\"k%d\":%d,\"y\":%d}\n\n", i, i, i%2)
	}
	_, _, err := readText(b.String(), Options{Format: schema.Format{Label: "y"}})
	wantError(t, err, `t:3123: 3,000 keys as features in rows of 19 bytes on average, expected keys that most rows have`+
		` (use --drop KEYS; or write rows that lack most features as LIBSVM, index:value)`)
	x, info := mustRead(t, "{\"k1\":1,\"k2\":2,\"y\":1}\n\n{\"k1\":2,\"k2\":2,\"y\":0}\n", Options{Format: schema.Format{Label: "y"}})
	if fmt.Sprint(x.Line) != "[1 3]" {
		t.Error(x.Line)
	}
	x, _, err = readText(b.String(), Options{Schema: &info.Schema})
	if err != nil || x.Rows() != 3000 || x.Columns[0].Value(1) != 1 || x.Columns[0].Value(2) == x.Columns[0].Value(2) {
		t.Error(err, x.Rows())
	}
}
