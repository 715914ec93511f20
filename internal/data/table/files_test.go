package table

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/schema"
)

// writeFiles writes files into a new directory.
func writeFiles(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, text := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%02d.csv", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Several files are the same table as their rows in one file.
func TestFilesAreOneTable(t *testing.T) {
	random, trials := rand.New(rand.NewPCG(7, 8)), 30
	if testing.Short() {
		trials = 6
	}
	for trial := range trials {
		header, o := "a,b,c,y\n", Options{Format: schema.Format{Label: "y", ID: []string{"c"}}}
		if trial%3 == 1 {
			header, o = "", Options{Format: schema.Format{Label: "4", Header: schema.NoHeader}}
		}
		line := func(i int) string {
			return fmt.Sprintf("%d.5,v%d,\"x, %d\",%d\n", i, random.IntN(50), i, i%2)
		}
		if trial%3 == 2 {
			header, o = "", Options{}
			line = func(i int) string { return fmt.Sprintf("%d %d:%d.25\n", i%2, 1+random.IntN(9), i) }
		}
		o.Packed = trial%2 == 0
		whole, files := header, []string{header}
		for i := range 3000 {
			if i > 50 && random.IntN(500) == 0 {
				files = append(files, header)
			}
			row := line(i)
			whole += row
			files[len(files)-1] += row
		}
		want, wantInfo, err := readText(whole, o)
		if err != nil {
			t.Fatal(err)
		}
		dir := writeFiles(t, files...)
		got, info, err := Read(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if info.Rows != wantInfo.Rows || info.Positives != wantInfo.Positives {
			t.Fatalf("%d rows, %d positive, want %d and %d", info.Rows, info.Positives, wantInfo.Rows, wantInfo.Positives)
		}
		if d := info.Schema.Width - wantInfo.Schema.Width; d != 0 {
			t.Errorf("width %d, want %d", info.Schema.Width, wantInfo.Schema.Width)
		}
		if len(files) > 1 && got.FileOf(got.Rows()-1) != filepath.Join(dir, fmt.Sprintf("f%02d.csv", len(files)-1)) {
			t.Errorf("the last row is in %s", got.FileOf(got.Rows()-1))
		}
		for _, x := range []*Table{want, got} {
			x.File, x.Parts, x.Line, x.first, x.adjacent = "", nil, make([]int, x.Rows()), 0, 0
		}
		wantSame(t, want, got)
	}
}

// Rows of several files are returned in chunks, with the name of the file as a column.
func TestFileColumn(t *testing.T) {
	dir := writeFiles(t, "a,y\n1,0\n2,1\n", "y,a\n", "y,a,z\n0,3,9\n")
	files, err := OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader("", files, Options{Format: schema.Format{Label: "y", ID: []string{"file"}, Group: "file", FileColumn: "file"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		x, err := r.Next(1)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Rows() {
			got = append(got, fmt.Sprint(filepath.Base(x.ID[0].Values[i]), x.Columns[0].Values[i], x.LineOf(i), x.Group.Values[i] == x.FileOf(i)))
		}
	}
	if want := "f00.csv1 2 true f00.csv2 3 true f02.csv3 2 true"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	if w := r.Warnings(); len(w) != 1 || !strings.Contains(w[0].Text, "f02.csv: ignored, because") {
		t.Errorf("warnings %v", w)
	}
}

func TestBadSetsOfFiles(t *testing.T) {
	o := Options{Format: schema.Format{Label: "y"}}
	for _, c := range []struct {
		files []string
		path  string
		o     Options
		want  string
	}{
		{[]string{"a,y\n1,0\n2,1\n", "b,y\n1,0\n"}, "", o, `DIR/f01.csv: missing columns: "a"; extra columns: "b", expected the columns of DIR/f00.csv`},
		{[]string{"a,y\n1,0\n2,1\n", "a,y\nx,0\n"}, "", o, `DIR/f01.csv:2: column "a": "x", expected a number (use --missing x or --categorical a)`},
		{[]string{"a,y\n1,0\n2,1\n", "1 1:2\n0 2:1\n"}, "", o, `DIR/f01.csv: a LIBSVM file, expected delimited text, as in DIR/f00.csv`},
		{[]string{"a,y\n1,0\n2,1\n", "1,2\n"}, "", o, `DIR/f01.csv:1: a first line without the column names of DIR/f00.csv, expected a header`},
		{[]string{"a,y\n1,0\n", "a,y\n2,0\n"}, "", o, `DIR/f00.csv: column "y": no positive row, the labels are "0" (2), expected rows of both classes`},
		{nil, "", o, `DIR: a directory without files, expected files with rows` +
			` (names that begin with "." or "_", and folders without a key as in day=2026-01-01, are left out)`},
		{nil, "/*.csv", o, `DIR/*.csv: no file that matches, expected at least one`},
		{[]string{"a,y\n1,0\n"}, "", Options{Format: schema.Format{Label: "y", FileColumn: "a"}}, `DIR/f00.csv: --file-column "a", expected a name that no column has`},
	} {
		dir := writeFiles(t, c.files...)
		_, _, err := Read(dir+c.path, c.o)
		wantError(t, err, strings.ReplaceAll(c.want, "DIR", dir))
	}
}
