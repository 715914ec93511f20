package table

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toptau/diag"
	"toptau/schema"
)

// nextWithin returns the rows that Next returns within ten seconds.
func nextWithin(t *testing.T, r *Reader, rows int) (*Table, error) {
	t.Helper()
	type answer struct {
		table *Table
		err   error
	}
	got := make(chan answer, 1)
	go func() {
		table, err := r.Next(rows)
		got <- answer{table, err}
	}()
	select {
	case a := <-got:
		return a.table, a.err
	case <-time.After(10 * time.Second):
		t.Fatal("Next waits for more than the rows that have arrived")
		return nil, nil
	}
}

// liveCases are texts with a schema to read them by. Every line of rows is a row.
func liveCases(t *testing.T) map[string]struct {
	start string // what must arrive before the first row
	rows  []string
	o     Options
} {
	cases := map[string]struct {
		start string
		rows  []string
		o     Options
	}{}
	add := func(name, start, train string, rows []string, f schema.Format) {
		_, info := mustRead(t, train, Options{Format: f})
		cases[name] = struct {
			start string
			rows  []string
			o     Options
		}{start, rows, Options{Schema: &info.Schema, Unlabelled: true, Live: true, Text: true}}
	}
	add("csv", "a,b,y\n", "a,b,y\n1,x,0\n2,z,1\n", []string{"1,x,0", "2,x,", `3,"q ""x""",0`, "4,x,0", "5,new,1"}, schema.Format{Label: "y"})
	add("no header", "", "1,x,0\n2,z,1\n", []string{"1,x,0", "2,x,0", "3,z,0"}, schema.Format{Label: "3", Header: schema.NoHeader})
	add("libsvm", "", "1 1:2\n-1 2:3\n", []string{"1 1:2", "-1 1:3 2:0.5", "1", "-1 2:1"}, schema.Format{})
	return cases
}

// Rows are returned as they arrive, in pieces of any size, and all of them.
func TestLiveRowsDoNotWait(t *testing.T) {
	for name, c := range liveCases(t) {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				in, out := io.Pipe()
				ready := make(chan *Reader, 1)
				go func() {
					r, err := NewReader("t", in, c.o)
					if err != nil {
						t.Error(err)
					}
					ready <- r
				}()
				sent, got := 0, 0
				first := 1 + random.IntN(len(c.rows))
				text := c.start + strings.Join(c.rows[:first], "\n") + "\n"
				io.WriteString(out, text)
				sent = first
				r := <-ready
				for {
					for got < sent {
						x, err := nextWithin(t, r, 1+random.IntN(3))
						if err != nil {
							t.Fatal(err)
						}
						for i := range x.Rows() {
							if x.Text[i] != c.rows[got] {
								t.Fatalf("row %d is %q, want %q", got, x.Text[i], c.rows[got])
							}
							got++
						}
					}
					if sent == len(c.rows) {
						break
					}
					line := c.rows[sent] + "\n"
					cut := random.IntN(len(line))
					io.WriteString(out, line[:cut])
					io.WriteString(out, line[cut:])
					sent++
				}
				out.Close()
				if _, err := nextWithin(t, r, 1); err != io.EOF {
					t.Fatalf("at the end: %v", err)
				}
				r.Close()
			}
		})
	}
}

// A live source and a file have the same rows, whatever arrives at a time.
func TestLiveReadsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 3000 {
		switch random.IntN(40) {
		case 0:
			fmt.Fprintf(&text, "\"%d\",\"two\nlines\",0\r\n", i)
		case 1:
			fmt.Fprintf(&text, "%d,,1\r\n", i)
		default:
			fmt.Fprintf(&text, "%d.5,v%d,0\n", i, random.IntN(9))
		}
	}
	_, info := mustRead(t, "a,b,y\n1,v1,0\n2,v2,1\n", Options{Format: schema.Format{Label: "y"}})
	o := Options{Schema: &info.Schema, Unlabelled: true}
	want, _, err := readText(text.String(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Live = true
	for _, step := range []int{13, 999, 70_000} {
		for _, size := range []int{1, 100, 5000} {
			got, _, err := readChunks(&slowReader{text: text.String(), step: step}, o, size)
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, want, got)
		}
	}
}

// Bad rows are listed in their places, and the others read as if the bad ones were not there.
func TestBadRowsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many files")
	}
	_, info := mustRead(t, "id,a,b,y\n1,1,x,0\n2,2,x,1\n", Options{Format: schema.Format{Label: "y", ID: []string{"id"}}})
	bad := []string{"7,text,x,0", "only one", "7,1,x,0,5", "7,1,\"x\"y,0", "7,1,\xff,0", "7,1,\"open,0", "7,inf,x,0", "7,1,x\x00,0"}
	random := rand.New(rand.NewPCG(5, 6))
	for trial := range 50 {
		all, good, want := "id,a,b,y\n", "id,a,b,y\n", []string(nil)
		rows := 1 + random.IntN(400)
		for i := range rows {
			if i > 0 && random.IntN(1+trial) < 3 {
				line := bad[random.IntN(len(bad))]
				all, want = all+line+"\n", append(want, fmt.Sprint(i+len(want)+2, " ", line))
			}
			line := fmt.Sprintf("%d,%d.5,\"x, %d\",0\n", i, i, i%3)
			all, good = all+line, good+line
		}
		o := Options{Format: schema.Format{ID: []string{"id"}}, Schema: &info.Schema, Unlabelled: true, OnBadRow: KeepBadRow}
		whole, _, err := readText(good, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, live := range []bool{false, true} {
			o.Live, o.Text = live, trial%2 == 0
			r, err := NewReader("t", &slowReader{text: all, step: 1 + random.IntN(5000)}, o)
			if err != nil {
				t.Fatal(err)
			}
			var got *Table
			var lines []string
			for {
				x, err := r.Next(1 + random.IntN(100))
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range x.Bad {
					lines = append(lines, fmt.Sprint(b.Line, " ", b.Text))
					if e := diag.Of(b.Err); e == nil || e.Line != b.Line {
						t.Errorf("the error of line %d: %v", b.Line, b.Err)
					}
					if b.Before < 0 || b.Before > x.Rows() || len(b.ID) != 1 {
						t.Errorf("bad row %+v", b)
					}
				}
				x.Bad, x.Text = nil, nil
				got = join(got, x)
			}
			if strings.Join(lines, "\n") != strings.Join(want, "\n") {
				t.Fatalf("bad rows\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
			}
			got.Line, whole.Line = nil, nil
			wantSame(t, whole, got)
		}
	}
}

// Errors that no row causes end the reading.
func TestBadRowsAreNotFailures(t *testing.T) {
	_, info := mustRead(t, "a,y\n1,0\n2,1\n", Options{Format: schema.Format{Label: "y"}})
	o := Options{Schema: &info.Schema, Unlabelled: true, OnBadRow: KeepBadRow}
	_, _, err := readChunks(io.MultiReader(strings.NewReader("a,y\n1,0\n"), &failing{io.ErrClosedPipe}), o, 1)
	if err == nil || !strings.Contains(err.Error(), "closed pipe") {
		t.Errorf("%v", err)
	}
}
