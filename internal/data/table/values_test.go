package table

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/internal/data/parquet"
	"toptau/schema"
)

// rowsAsWritten are the same four rows as different programs write them: a number or NaN, a flag, a category, the label.
var rowsAsWritten = map[string]string{
	"commas":  "n,flag,color,y\n1,true,red,1\n2,false,dark blue,0\nNaN,true,red,0\n4,false,green,1\n",
	"blanks":  "n, flag, color, y\n 1, True, red, 1\n 2, False, dark blue, 0\n nan, True, red , 0\n4 , False,\tgreen, 1\n",
	"quotes":  "\"n\",\"flag\",\"color\",\"y\"\n\" 1\",\" TRUE\",\" red\",\"1 \"\n2,FALSE,\" dark blue\t\",0\n\"NaN\",TRUE,\"red \",\" 0\"\n4,FALSE,green,1\n",
	"psql":    "n,flag,color,y\n1,t,red,t\n2,f,dark blue,f\nNaN,t,red,f\n4,f,green,t\n",
	"numbers": "n;flag;color;y\n1;1;red;1\n2;0;dark blue;0\n-nan;1;red;0\n4;0;green;1\n",
	"json": `{"n":1,"flag":true,"color":" red","y":true}` + "\n" + `{"n":" 2","flag":false,"color":"dark blue ","y":false}` + "\n" +
		`{"n":"NaN","flag":true,"color":"red","y":false}` + "\n" + `{"n":4,"flag":false,"color":"\tgreen","y":true}` + "\n",
	"parquet": "",
}

func writeRowsAsWritten(t *testing.T) map[string]string {
	t.Helper()
	paths := map[string]string{}
	for name, text := range rowsAsWritten {
		paths[name] = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(paths[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(paths["parquet"])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := parquet.NewWriter(f, []parquet.WriteColumn{{Name: "n"}, {Name: "flag", Type: parquet.Boolean}, {Name: "color", Type: parquet.Text},
		{Name: "y", Type: parquet.Boolean}})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []float64{1, 2, math.NaN(), 4} {
		w.SetNumber(0, n)
		w.SetTruth(1, i%2 == 0)
		w.SetText(2, []string{"red", " dark blue", "red ", "green"}[i])
		w.SetTruth(3, i%3 == 0)
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return paths
}

// Numbers, NaN, booleans and categories with blanks around them are the same values in every format, for training and
// for a model that was trained on another format.
func TestSameValuesInEveryFormat(t *testing.T) {
	paths := writeRowsAsWritten(t)
	describe := func(x *Table) string {
		s := fmt.Sprint(x.Columns[0].Values, x.Columns[1].Values, x.Label)
		for _, code := range x.Columns[2].Codes {
			s += " " + x.Columns[2].Dictionary[code]
		}
		return s
	}
	const want = "[1 2 NaN 4] [1 0 1 0] [1 0 0 1] red dark blue red green"
	for from, path := range paths {
		x, info, err := Read(path, Options{Format: schema.Format{Label: "y"}})
		if err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		if got := describe(x); got != want {
			t.Errorf("%s: %s", from, got)
		}
		for to, path := range paths {
			x, _, err := Read(path, Options{Schema: &info.Schema})
			if err != nil {
				t.Fatalf("%s to %s: %v", from, to, err)
			}
			if got := describe(x); got != want || len(x.Columns[2].Dictionary) != 3 {
				t.Errorf("%s to %s: %s %q", from, to, got, x.Columns[2].Dictionary)
			}
		}
		flag, color := &info.Schema.Columns[1], &info.Schema.Columns[2]
		for text, want := range map[string]float64{"true": 1, " False": 0, "1": 1, "t": 1, "nan": math.NaN()} {
			if v, err := NewFieldReader(flag, nil, "").Number([]byte(text)); err != nil || v != want && v == v {
				t.Errorf("%s: field %q: %v %v", from, text, v, err)
			}
		}
		if c, err := NewFieldReader(color, nil, "").Category([]byte("\tdark blue ")); string(c) != "dark blue" || err != nil {
			t.Errorf("%s: %q %v", from, c, err)
		}
	}
}

// A column of one letter, or of booleans and other texts, has categories.
func TestBooleansAreWholeColumns(t *testing.T) {
	for text, want := range map[string]schema.Kind{
		"a,y\nf,1\nf,0\n,1\n": schema.Categorical, "a,y\nt,1\nT,0\nT,1\n": schema.Categorical, "a,y\ntrue,1\ntrue,0\n,1\n": schema.Numeric,
		"a,y\ntrue,1\nfalse,0\nunknown,1\n": schema.Categorical, "a,y\nf,1\nm,0\nt,1\n": schema.Categorical,
		"a,y\ntrue,1\n1,0\nF,1\n": schema.Numeric,
	} {
		x, _ := mustRead(t, text, Options{Format: schema.Format{Label: "y", Header: "yes"}})
		if x.Columns[0].Kind != want {
			t.Errorf("%q: %s", text, x.Columns[0].Kind)
		}
	}
	_, _, err := readText("a,y\ntrue,1\nfalse,0\nfalse,1\n", Options{Format: schema.Format{Label: "y", Header: "yes"}})
	if err != nil {
		t.Error(err)
	}
	_, info := mustRead(t, "a,y\ntrue,1\nfalse,0\n", Options{Format: schema.Format{Label: "y", Header: "yes"}})
	_, _, err = readText("a,y\ntrue,1\nmaybe,0\n", Options{Schema: &info.Schema})
	wantError(t, err, `t:3: column "a": "maybe", expected a number (use --missing maybe)`)
}

// Texts of a Parquet file are numbers where those of a CSV file are, also if they are rare among the distinct texts. A note offers the other reading.
func TestTextsThatAreNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := parquet.NewWriter(f, []parquet.WriteColumn{{Name: "number", Type: parquet.Text}, {Name: "code", Type: parquet.Text},
		{Name: "flag", Type: parquet.Text}, {Name: "y", Type: parquet.Whole}})
	if err != nil {
		t.Fatal(err)
	}
	var csv, lines strings.Builder
	csv.WriteString("number,code,flag,y\n")
	for i := range 40 {
		row := []string{fmt.Sprintf(" %d.5", i), "ok", []string{"True", "false"}[i%2], fmt.Sprint(i % 2)}
		if i%10 == 3 {
			row[1] = fmt.Sprint(400 + i) // four distinct numbers and one text
		}
		for k, v := range row[:3] {
			w.SetText(k, v)
		}
		w.SetWhole(3, int64(i%2))
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
		csv.WriteString(strings.Join(row, ",") + "\n")
		fmt.Fprintf(&lines, "{\"number\": %q, \"y\": %s}\n", row[0], row[3])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	describe := func(x *Table) (s string) {
		for _, c := range x.Columns {
			s += fmt.Sprint(c.Name, c.Kind, c.Values, c.Codes)
		}
		return s
	}
	o := Options{Format: schema.Format{Label: "y"}}
	want, info := mustRead(t, csv.String(), o)
	got, typed, err := Read(path, o)
	if err != nil || describe(got) != describe(want) {
		t.Errorf("%v: %s, want %s", err, describe(got), describe(want))
	}
	if len(info.Warnings) != 0 || len(typed.Warnings) != 1 || typed.Warnings[0].Code != "numbers-as-text" || typed.Warnings[0].Fixes[0].Param != "categorical" {
		t.Errorf("%v, %v", info.Warnings, typed.Warnings)
	}
	_, info = mustRead(t, lines.String(), o)
	if len(info.Warnings) != 1 || info.Warnings[0].Fixes[0].Param != "numeric" {
		t.Errorf("JSON: %v", info.Warnings)
	}
	for _, to := range []schema.Kind{schema.Categorical, schema.Numeric} { // no note for a choice
		o.Categorical, o.Numeric = []string{"number"}, nil
		if to == schema.Numeric {
			o.Categorical, o.Numeric = nil, []string{"number"}
		}
		if got, info, err := Read(path, o); err != nil || got.Columns[0].Kind != to || len(info.Warnings) != 0 {
			t.Errorf("%s: %v, %v", to, err, info)
		}
	}
	out := path + ".packed"
	o = Options{Format: schema.Format{Categorical: []string{"number"}}}
	files, err := OpenFiles(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(files, out, o, nil); err != nil {
		t.Fatal(err)
	}
	if got, info, err := Read(out, Options{Format: schema.Format{Label: "y"}}); err != nil || got.Columns[0].Kind != schema.Categorical || info.Warnings[0].Fixes[0].Param != "numeric" {
		t.Errorf("packed: %v, %v", err, info)
	}
}

// Line ends in quotes: CRLF is LF, and a lone CR stays one.
func TestLineEndsInQuotes(t *testing.T) {
	x, _ := mustRead(t, "a,y\r\"o\rn\",1\r\"t\r\nw\",0\r\"l\nf\",0\r\"o\rn\",1\n", Options{Format: schema.Format{Label: "y"}})
	if got, want := fmt.Sprintf("%q %v %v", x.Columns[0].Dictionary, x.Columns[0].Codes, x.Line), `["o\rn" "t\nw" "l\nf"] [0 1 2 0] [2 4 6 8]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Files may lack columns without a weight, with names and without, in every format.
func TestFilesLackUnusedColumns(t *testing.T) {
	_, info := mustRead(t, "n,same,kind,color,at,y\n1,7,x,red,2024-05-01,1\n2,7,x,blue,2024-05-02,0\n", Options{Format: schema.Format{Label: "y", Date: []string{"at"}}})
	for j := range info.Schema.Columns {
		c := &info.Schema.Columns[j]
		c.Unused = c.FileColumn() == "same" || c.FileColumn() == "kind" || c.FileColumn() == "at"
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := parquet.NewWriter(f, []parquet.WriteColumn{{Name: "color", Type: parquet.Text}, {Name: "n"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		w.SetText(0, []string{"blue", "red"}[i])
		w.SetNumber(1, float64(3+i))
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(what string, x *Table) {
		t.Helper()
		got := fmt.Sprint(x.Columns[0].Values, x.Columns[1].Values, x.Columns[2].Codes, x.Columns[3].Codes, x.Columns[4].Values, x.Columns[5].Codes)
		if want := "[3 4] [NaN NaN] [-1 -1] [1 0] [NaN NaN] [-1 -1]"; got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	for what, text := range map[string]string{"scanned": "color,n\nblue,3\nred,4\n", "quoted": "n,color\n3,\"blue\"\n4,red\n",
		"blanks": "n  color\n3  blue\n4  red\n", "json": `{"n":3,"color":"blue"}` + "\n" + `{"n":4,"color":"red"}`} {
		x, _ := mustRead(t, text, Options{Schema: &info.Schema, Unlabelled: true})
		check(what, x)
		x, _, err := readChunks(strings.NewReader(text), Options{Schema: &info.Schema, Unlabelled: true}, 1)
		if err != nil {
			t.Fatal(err)
		}
		check(what+", row by row", x)
	}
	x, _, err := Read(path, Options{Schema: &info.Schema, Unlabelled: true})
	if err != nil {
		t.Fatal(err)
	}
	check("parquet", x)
	_, _, err = readText("n,same\n3,7\n", Options{Schema: &info.Schema, Unlabelled: true})
	wantError(t, err, `t: missing columns: "color", expected the 2 columns that the model needs`)
	_, numbered := mustRead(t, "1,7,1\n2,7,0\n", Options{Format: schema.Format{Label: "1", Positive: []string{"1"}}})
	numbered.Schema.Columns[1].Unused = true
	x, _ = mustRead(t, "1,8\n2,9\n", Options{Schema: &numbered.Schema})
	if got := fmt.Sprint(x.Columns[0].Values, x.Columns[1].Values); got != "[8 9] [NaN NaN]" {
		t.Error(got)
	}
}

// Numbers with a decimal comma, or with separators of thousands, are read with --decimal, and a model reads later files so.
// Numbers of JSON have a point.
func TestDecimalMarks(t *testing.T) {
	german := "a;y\n1,5;1\n-1.234,25;0\n 1.000.000 ;0\n7;1\n"
	_, info := mustRead(t, german, Options{Format: schema.Format{Label: "y"}})
	if len(info.Warnings) != 1 || info.Warnings[0].Code != "decimal-comma" || len(info.Warnings[0].Fixes) != 2 {
		t.Error(info.Warnings)
	}
	x, info := mustRead(t, german, Options{Format: schema.Format{Label: "y", Decimal: ","}})
	if got := fmt.Sprint(x.Columns[0].Values, info.Schema.Decimal, info.Warnings); got != "[1.5 -1234.25 1e+06 7],[]" {
		t.Error(got)
	}
	for text, want := range map[string]string{"a;y\n\"2,5\";1\n3.000;0\n": "[2.5 3000]", `{"a":1.234,"y":1}` + "\n" + `{"a":"1.234","y":0}`: "[1.234 1234]"} {
		x, _ := mustRead(t, text, Options{Schema: &info.Schema})
		if got := fmt.Sprint(x.Columns[0].Values); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	_, _, err := readText("a;y\n2,5;1\n12.34;0\n", Options{Schema: &info.Schema})
	wantError(t, err, `t:3: column "a": "12.34", expected a number (use --missing 12.34)`)
	x, _ = mustRead(t, "a;y\n1,234.5;1\n12,345;0\n3;0\n", Options{Format: schema.Format{Label: "y", Decimal: "."}})
	if got := fmt.Sprint(x.Columns[0].Values); got != "[1234.5 12345 3]" {
		t.Error(got)
	}
	_, _, err = readText("a;y\n1;1\n", Options{Format: schema.Format{Label: "y", Decimal: ";"}})
	wantError(t, err, `--decimal ";", expected the decimal mark of numbers: , or .`)
	for text, want := range map[string]string{"1,5": "1.5", "-1.234.567,8": "-1234567.8", "1.5": "..", "1234.567": "..", ".5": "..", "1.234": "1234", "12": "12", ",5": ".5", "1,2,3": "1.2,3"} {
		if got := string(withPoint([]byte(text), ',')); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Files as spreadsheets and programs write them: a line that names the delimiter, and comments before the rows.
func TestLinesBeforeTheHeader(t *testing.T) {
	for text, want := range map[string]string{
		"sep=;\na;y\n1,5;1\n2;0\n":                         "a [1 2] 3",
		"sep=,\r\na,y\r\n1,1\r\n2,0\r\n":                   "a [1 2] 3",
		"\"sep=\t\"\na\ty\n1\t1\n2\t0\n":                   "a [1 2] 3",
		"# written by x, y and z\n# 2024\na,y\n1,1\n2,0\n": "a [1 2] 4",
		"# two fields\n#a,y\n1,1\n2,0\n":                   "#a [1 2] 3",
		"#a,y\n1,1\n2,0\n":                                 "#a [1 2] 2",
		"# a comment\na;b;y\n1;2;1\n2;3;0\n":               "a [1 2] 3",
		"sep\ty\n1\t1\n2\t0\n":                             "sep [1 2] 2",
	} {
		o := Options{Format: schema.Format{Label: "last", Decimal: ","}}
		x, _ := mustRead(t, text, o)
		if strings.HasPrefix(want, "a [1 2]") && strings.Contains(text, "1,5;") {
			want = "a [1.5 2] 3"
		}
		if got := fmt.Sprint(x.Columns[0].Name, " ", x.Columns[0].Values, " ", x.Line[0]); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	named := Options{Format: schema.Format{Label: "y"}}
	_, _, err := readText("a,y\n1,1\n2,0\na,y\n3,1\n", named)
	wantError(t, err, `t:4: a second header line, expected rows (remove it; files are joined by giving all of them, not by cat)`)
	_, _, err = readText("a,y\n1,1\n2,0\n# end\n", named)
	wantError(t, err, `t:4: 1 field, expected 2 fields as in the header (lines of comments are skipped before the first row only)`)
}

func TestUnitsAndDatesAsWritten(t *testing.T) {
	csv, info := mustRead(t, "rate,price,mixed,y\n12.5%,$ 3.20,$3,1\n7%,-$4,3 €,0\n8 %,,€ 4,1\n9,$1e3,5 €,1\n", Options{Format: schema.Format{Label: "y"}})
	if len(info.Warnings) != 1 || info.Warnings[0].Code != "units" || !strings.Contains(info.Warnings[0].Text, "mixed") {
		t.Error(info.Warnings)
	}
	json, _ := mustRead(t, `{"rate":"12.5%","price":"$ 3.20","mixed":"$3","y":1}
{"rate":"7%","price":"-$4","mixed":"3 €","y":0}
{"rate":"8 %","price":null,"mixed":"€ 4","y":1}
{"rate":9,"price":"$1e3","mixed":"5 €","y":1}
`, Options{Format: schema.Format{Label: "y"}})
	again, _ := mustRead(t, "y,mixed,price,rate\n1,$3,3.20 $,12.5\n0,3 €,-$4,7.0%\n1,€ 4,,8\n1,5 €,1000,9%\n", Options{Schema: &info.Schema})
	for _, x := range []*Table{csv, json, again} {
		if got, want := fmt.Sprint(x.Columns[0].Values, x.Columns[1].Values, x.Columns[0].Unit, x.Columns[1].Unit), "[12.5 7 8 9] [3.2 -4 NaN 1000]%$"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if v, err := NewFieldReader(&info.Schema.Columns[0], nil, ",").Number([]byte("-1.012,5 %")); v != -1012.5 || err != nil {
		t.Error(v, err)
	}
	_, _, err := readText("rate,price,mixed,y\n12.5%,3 €,$3,1\n", Options{Schema: &info.Schema})
	wantError(t, err, `t:2: column "price": "3 €", expected a number, with or without $ (use --missing '3 €')`)
	for text, want := range map[string]string{"01.03.2026": "2026-03-01", "31.12.1999 23:59": "1999-12-31T23:59", "29.02.2024T01:02:03+02:00": "2024-02-29T01:02:03+02:00"} {
		a, nanos, ok := ParseDate(text)
		b, _, _ := ParseDate(want)
		if !ok || a != b || nanos != 0 {
			t.Errorf("%s: %d, want %d", text, a, b)
		}
	}
	for _, text := range []string{"31.02.2024", "1.3.2026", "01.03.26", "01.13.2026", "01.03.2026.", "ab.cd.efgh"} {
		if _, _, ok := ParseDate(text); ok {
			t.Errorf("%q is a date", text)
		}
	}
}

// A number is one category, group and segment however a program writes it, and a text is what is written. Ids keep their text.
func TestNumbersAsCategories(t *testing.T) {
	const rows = `{"id":1000000,"site":8,"code":3,"y":1}` + "\n" + `{"id":4000123412340000017,"site":8.0,"code":3.0,"y":0}` + "\n" + `{"id":3.10,"code":30e-1,"y":0}` + "\n" +
		`{"id":"x","code":"3","y":0}` + "\n" + `{"id":"","code":-0.0,"y":0}` + "\n"
	o := Options{Format: schema.Format{Label: "y", Categorical: []string{"code"}, ID: []string{"id"}, Segment: "site", Kept: []string{"code"}}}
	x, _ := mustRead(t, rows, o)
	got := fmt.Sprint(x.Columns[0].Codes, x.Columns[0].Dictionary, x.Segment.Values, x.ID[0].Values, x.Kept[0].Values)
	if want := "[0 0 0 0 1] [3 0] [8 8   ] [1000000 4000123412340000017 3.10 x ] [3 3.0 30e-1 3 -0.0]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// A model of texts with a point, which a program wrote for a column of doubles.
	for _, c := range []struct{ known, other string }{{"3", "3.0"}, {"3.0", "3"}} {
		_, info := mustRead(t, "code,y\n"+c.known+",1\n"+c.known+",0\n", Options{Format: schema.Format{Label: "y", Header: "yes", Categorical: []string{"code"}}})
		x, _ := mustRead(t, `{"code":3,"y":1}`+"\n"+`{"code":3.0,"y":0}`+"\n"+`{"code":"`+c.other+`","y":0}`+"\n",
			Options{Schema: &info.Schema})
		if got := fmt.Sprint(x.Columns[0].Codes, x.Columns[0].Dictionary); got != fmt.Sprintf("[0 0 1] [%s %s]", c.known, c.other) {
			t.Errorf("a model of %s: %s", c.known, got)
		}
		r := NewFieldReader(&schema.Column{Salt: "s"}, nil, "")
		hash := HashName("s", c.known)
		if text := r.NumberText([]byte("3"), func(b []byte) bool { return string(b) == hash }); string(text) != c.known {
			t.Errorf("a hash of %s: %s", c.known, text)
		}
	}
	path := filepath.Join(t.TempDir(), "codes.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, _ := parquet.NewWriter(f, []parquet.WriteColumn{{Name: "code"}, {Name: "id", Type: parquet.Whole}, {Name: "y", Type: parquet.Boolean}})
	for i, v := range []float64{3, 1000000, 0.5} {
		w.SetNumber(0, v)
		w.SetWhole(1, 4000123412340000000+int64(i))
		w.SetTruth(2, i == 0)
		w.EndRow()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o.Segment = ""
	y, _, err := Read(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(y.Columns[0].Dictionary, y.ID[0].Values), "[3 1000000 0.5] [4000123412340000000 4000123412340000001 4000123412340000002]"; got != want {
		t.Errorf("Parquet: %s, want %s", got, want)
	}
}

// Numbers as people write them are named, with the form to write. No advice makes a gap of a debit.
func TestNumbersForPeople(t *testing.T) {
	o := Options{Format: schema.Format{Label: "y", Header: "yes"}}
	for field, want := range map[string]string{"1\u00a0123": "1123", "1 123,5": "1123.5", "1'123.5": "1123.5", "1\u202f123\u202f456": "1123456", "(774.82)": "-774.82",
		"774.82-": "-774.82", "\u2212774.82": "-774.82", "($1,774.82)": "-1774.82", "12": "", "1.5": "", "1,5": "", "3 €": "", "10 5": "", "a 123": "", "-": "", "()": "", "12-05": ""} {
		if got, ok := plainNumber([]byte(field)); got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
		if want == "" {
			continue
		}
		x, info := mustRead(t, strings.Repeat("\""+field+"\",1\n7,0\n\""+field+"\",0\n", 3), Options{Format: schema.Format{Label: "last", Header: "no"}})
		if len(info.Warnings) != 1 || x.Columns[0].Kind != schema.Categorical || !strings.HasSuffix(info.Warnings[0].Text,
			fmt.Sprintf("its values look like numbers; write %q as %s", field, want)) {
			t.Errorf("%q: %v", field, info.Warnings)
		}
		_, _, err := readText("a,y\n1,1\n2,0\n\""+field+"\",0\n", o)
		if err == nil || !strings.Contains(err.Error(), "expected a number (write it as "+want+")") {
			t.Errorf("%q: %v", field, err)
		}
	}
	_, _, err := readText("a,y\n1,1\n2,0\n\"1,234\",0\n", o)
	wantError(t, err, `t:4: column "a": "1,234", expected a number (use --decimal , if the comma is the decimal mark, --decimal . if it separates groups of three digits or --categorical a)`)
	_, info := mustRead(t, "a,b,y\nred,1-2,1\n10 5,(x),0\n", o)
	if len(info.Warnings) > 0 {
		t.Error(info.Warnings)
	}
}
