package table

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/schema"
)

// trained returns the schema of a training file.
func trained(t *testing.T, text string, o Options) *schema.Schema {
	t.Helper()
	_, info := mustRead(t, text, o)
	return &info.Schema
}

func TestSchemaSurvivesJSON(t *testing.T) {
	m := trained(t, "id,a,b,y\n1,1,u,1\n2,2,?,0\n", Options{Format: schema.Format{Label: "y", ID: []string{"id"}, Missing: []string{"?"}}})
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back schema.Schema
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	wantSame(t, []string{"u"}, m.Columns[1].Dictionary)
	m.Columns[1].Dictionary = nil // for readers alone
	wantSame(t, *m, back)
	want := `{"format":"csv","header":true,"width":4,"columns":[{"name":"a","number":2,"kind":"numeric"},` +
		`{"name":"b","number":3,"kind":"categorical"}],"label":{"name":"y","number":4},` +
		`"labels":[{"value":"1","count":1},{"value":"0","count":1}],"missing":["?"],"others":[{"name":"id","number":1}],"id":["id"]}`
	wantSame(t, want, string(text))
}

func TestMatchByName(t *testing.T) {
	m := trained(t, "id,a,b,c,y\n1,1,u,5,1\n2,2,v,6,0\n3,3,u,7,0\n", Options{Format: schema.Format{Label: "y", ID: []string{"id"}}})
	x, info := mustRead(t, "c,new,y,a,b,id\n7,0,1,3,w,9\n8,0,0,4,u,8\n", Options{Format: schema.Format{ID: []string{"id"}}, Schema: m, Raw: true})
	wantSame(t, []Column{
		{Name: "a", Number: 4, Kind: schema.Numeric, Values: []float64{3, 4}},
		{Name: "b", Number: 5, Kind: schema.Categorical, Codes: []int32{2, 0}, Dictionary: []string{"u", "v", "w"}},
		{Name: "c", Number: 1, Kind: schema.Numeric, Values: []float64{7, 8}},
	}, x.Columns)
	wantSame(t, []Class{1, 0}, x.Label)
	wantSame(t, []string{"9", "8"}, x.ID[0].Values)
	wantSame(t, [][]string{{"7", "0", "1", "3", "w", "9"}, {"8", "0", "0", "4", "u", "8"}}, x.Raw)
	wantSame(t, []diag.Warning{
		{Code: "extra-columns", Text: `t: ignored, because the model does not know it: "new"`},
		{Code: "reordered-columns", Text: `t: matched by name in another order than in training: "c"`},
	}, info.Warnings)

	x, _ = mustRead(t, "a,b,c\n3,,1\n", Options{Schema: m, Unlabelled: true})
	wantSame(t, []Class{Unknown}, x.Label)
	wantSame(t, []int32{-1}, x.Columns[1].Codes)
}

func TestMatchByNumber(t *testing.T) {
	m := trained(t, "1,u,1,7,x\n2,v,0,8,y\n3,u,0,9,z\n",
		Options{Format: schema.Format{Label: "3", Drop: []string{"5"}}}) // features 1, 2, 4
	for name, c := range map[string]struct {
		text  string
		o     Options
		want  []float64 // of feature 4
		label Class
	}{
		"all":              {"5,u,1,6,q\n", Options{}, []float64{6}, Positive},
		"extra":            {"5,u,1,6,q,8\n", Options{}, []float64{6}, Positive},
		"label removed":    {"5,u,6,q\n", Options{Unlabelled: true}, []float64{6}, Unknown},
		"label in a file":  {"5,u,6,q\n", Options{Format: schema.Format{LabelsFile: write(t, "l", "1\n")}}, []float64{6}, Positive},
		"label elsewhere":  {"5,u,0,6,1\n", Options{Format: schema.Format{Label: "5"}}, []float64{6}, Positive},
		"behind the label": {"5,u,1,6\n", Options{}, []float64{6}, Positive},
		"a header":         {"a,b,c,d,e\n5,u,1,6,q\n", Options{}, []float64{6}, Positive},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Schema = m
			x, _ := mustRead(t, c.text, c.o)
			wantSame(t, []string{"1", "2", "4"}, columnNames(x))
			wantSame(t, c.want, x.Columns[2].Values)
			wantSame(t, []Class{c.label}, x.Label)
		})
	}
}

func TestMatchNothing(t *testing.T) {
	named := trained(t, "a,b,c,d,y\n1,1,1,1,1\n2,2,2,2,0\n", Options{Format: schema.Format{Label: "y"}})
	numbered := trained(t, "1,2,3,1\n2,3,4,0\n", Options{Format: schema.Format{Label: "last"}})
	sparse := trained(t, "1 1:1 4:1\n0 2:1\n", Options{})
	for _, c := range []struct {
		name, text string
		o          Options
		want       string
	}{
		{"missing, extra, reordered", "b,a,new,y\n1,2,3,1\n", Options{Schema: named},
			`t: missing columns: "c", "d"; extra columns: "new"; columns in another order: "a", expected the 4 columns` +
				" that the model needs"},
		{"no header", "1,1,1,1,1\n", Options{Schema: named},
			"t:1: a first line without the model's column names, expected a header" +
				" (use --header no to match columns by number)"},
		{"too few by number", "1,2\n", Options{Schema: numbered, Unlabelled: true},
			`t: missing columns: "3", expected the 3 columns that the model needs`},
		{"no label", "a,b,c,d,Y\n1,1,1,1,1\n", Options{Schema: named},
			`t: no label column "y", expected one of the columns "a", "b", "c", "d", "Y" (use --label` +
				` COLUMN or --labels-file FILE; did you mean "Y"?)`},
		{"label bad", "a,b,c,d,y\n1,1,1,1,g\n", Options{Schema: named},
			`t: column "y": the labels "g" (1), expected 1 and 0, 1 and -1, or true and false (use` +
				" --positive VALUE for each positive label)"},
		{"a positive value that does not occur", "a,b,c,d,y\n1,1,1,1,g\n", Options{Format: schema.Format{Positive: []string{"h"}}, Schema: named},
			`t: column "y": no label "h", expected one of the values that occur: "g" (1) (use --positive with one of them)`},
		{"text for a number", "a,b,c,d,y\n1,1,x,1,1\n", Options{Schema: named},
			`t:2: column "c": "x", expected a number (use --missing x)`},
		{"sparse for columns", "1 1:1\n", Options{Schema: named},
			"t: a LIBSVM file, expected a file with columns, as the model was trained on"},
		{"columns for sparse", "1,2\n", Options{Schema: sparse},
			"t: delimited text, expected a LIBSVM file, as the model was trained on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readText(c.text, c.o)
			wantError(t, err, c.want)
		})
	}
	if x, _ := mustRead(t, "5,6,7,8,1\n", Options{Format: schema.Format{Header: "no"}, Schema: named}); x.Columns[3].Values[0] != 8 {
		t.Error("not matched by number")
	}
}

func TestSparseBeyondTraining(t *testing.T) {
	m := trained(t, "1 1:1 4:1\n0 2:1\n", Options{})
	x, info := mustRead(t, "1 1:2 5:1\n0 4:1 7:1 8:1\n1\n", Options{Schema: m})
	wantSame(t, &Sparse{Cols: 4, Start: []int64{0, 1, 2, 2}, Index: []uint32{0, 3}, Value: []float64{2, 1}}, x.Sparse)
	wantSame(t, []diag.Warning{{Code: "extra-features", Text: "t: 3 values beyond the model's 4 features ignored, the first in line 1"}},
		info.Warnings)
}

// TestOneClassForAModel reads a file for a model, which may have rows of a single class.
func TestOneClassForAModel(t *testing.T) {
	m := trained(t, "1,normal\n2,dos\n", Options{Format: schema.Format{Label: "2", Positive: []string{"!normal"}}})
	x, _ := mustRead(t, "1,smurf\n2,dos\n", Options{Schema: m})
	wantSame(t, []Class{1, 1}, x.Label)
}

func TestUnknownValuesAreBounded(t *testing.T) {
	m := trained(t, "1,u,1\n2,v,0\n", Options{Format: schema.Format{Label: "3"}})
	var b strings.Builder
	for i := range unknownLimit + 5 {
		fmt.Fprintf(&b, "1,new%d\n", i)
	}
	x, _ := mustRead(t, b.String(), Options{Schema: m, Unlabelled: true})
	c := x.Columns[1]
	if len(c.Dictionary) != 2+unknownLimit+1 || c.Dictionary[len(c.Dictionary)-1] != "" {
		t.Errorf("%d values", len(c.Dictionary))
	}
	wantSame(t, []int32{2, 3}, c.Codes[:2])
	wantSame(t, []int32{2 + unknownLimit - 1, 2 + unknownLimit, 2 + unknownLimit}, c.Codes[unknownLimit-1:unknownLimit+2])
}

func TestOutOfOrder(t *testing.T) {
	for _, c := range []struct{ places, want []int }{
		{[]int{0, 1, 2}, nil},
		{[]int{5, 1, 2}, []int{0}},
		{[]int{0, 9, -1, 2, 3}, []int{1}},
		{[]int{2, 1, 0}, []int{0, 1}},
		{nil, nil},
		{[]int{-1}, nil},
	} {
		wantSame(t, c.want, outOfOrder(c.places))
	}
}

// TestErrorsStay calls a reader again after its error.
func TestErrorsStay(t *testing.T) {
	r, err := NewReader("t", strings.NewReader("1,1\n2,0\nx,0\n4,1\n"), Options{Format: schema.Format{Label: "2"}})
	if err != nil {
		t.Fatal(err)
	}
	if x, err := r.Next(2); err != nil || x.Rows() != 2 {
		t.Fatal(err)
	}
	_, first := r.Next(1)
	_, again := r.Next(1)
	if diag.Of(first) == nil || again != first || r.Close() != nil || r.Close() != nil {
		t.Error(first, again)
	}
}

// rows is a source of n rows of text.
type rows struct {
	n, i int
	left []byte
}

func (r *rows) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		if r.i == r.n {
			return 0, io.EOF
		}
		r.i++
		r.left = fmt.Appendf(r.left[:0], "%d,host%d,%d,0.25\n", r.i%2, r.i, r.i*7919%10007)
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// TestMemoryIsConstant streams rows with new values and compares the heap at the start and at the end.
func TestMemoryIsConstant(t *testing.T) {
	m := trained(t, "1,h,5,1.5\n0,g,5,2\n", Options{Format: schema.Format{Label: "first"}})
	r, err := NewReader("t", &rows{n: 150_000}, Options{Format: schema.Format{ID: []string{"2"}}, Schema: m, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	var early int64
	for n := 0; ; {
		x, err := r.Next(1000)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n += x.Rows(); n == 80_000 {
			early = heap()
		}
	}
	if late := heap(); late > early+4<<20 {
		t.Errorf("%d bytes after 80,000 rows, %d at the end", early, late)
	}
	runtime.KeepAlive(r)
}
