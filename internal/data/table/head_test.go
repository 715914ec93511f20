package table

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/schema"
)

// A head that is settled before its end decides like the whole head, even if the following records are the
// worst possible.
func TestSettledHead(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	settled := 0
	for range 300 {
		const most = 1000
		draw := func(list ...string) string { return list[r.IntN(len(list))] }
		columns := 1 + r.IntN(3)
		h := &head{counts: make([]kindCount, columns)}
		usual := make([]string, columns)
		for i := range columns {
			usual[i] = draw("1.5", "-2", "word", "1,5", "nan", "true", "F")
			h.first.fields = append(h.first.fields, []byte(draw("a", "b", "c", "1", "", "word", "inf")))
		}
		missing := newMissing(nil)
		h.readFirst(missing)
		record := func(stray string, share float64) *row {
			x := &row{line: h.rows + 2}
			for i := range columns {
				field := usual[i]
				if r.Float64() < share {
					field = stray
				}
				x.fields = append(x.fields, []byte(field))
			}
			return x
		}
		for h.rows < most && !h.settled(most) {
			h.countRecord(record(draw("", "7", "x"), 0.1), missing)
		}
		if h.rows == most {
			continue
		}
		settled++
		decide := func(h *head) (kinds []string) {
			header := h.looksHeader()
			for i, c := range h.kinds(header, missing) {
				_, what := parseNumber(h.first.fields[i])
				stray := !header && what != number && h.counts[i].seen > 0 && h.counts[i].numbers == h.counts[i].seen
				kinds = append(kinds, fmt.Sprint(header, c.isNumeric(), 2*c.commas > c.seen, stray))
			}
			return kinds
		}
		want := decide(h)
		for _, stray := range []string{"7", "word", "1,5", "", "a", "t", "false"} {
			whole := *h
			whole.counts = append([]kindCount(nil), h.counts...)
			for whole.rows < most {
				whole.countRecord(record(stray, 1), missing)
			}
			if got := decide(&whole); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("first %q, usual %q, then %q: %v instead of %v", h.first.fields, usual, stray, got, want)
			}
		}
	}
	if settled < 50 {
		t.Errorf("only %d heads were settled early", settled)
	}
}

// A header of numbers, as pandas writes it, is not read as a row: --header decides. Rows without a header that look like one are read.
func TestHeaderOfNumbers(t *testing.T) {
	decimals := strings.Repeat("2.5,1\n-0.46,0\n", 30)
	whole := strings.Repeat("7,5,1\n9,4,0\n", 30)
	wide := strings.Repeat("0,1,2,3,4,5,6,7\n1,1,2,3,4,5,6,0\n", 3)
	for text, rows := range map[string]int{
		"0,1\n" + decimals: 0, "1,2\n" + decimals: 0, "0,1,2\n" + whole: 0, "1,2,3\n" + whole: 0, "0,1,2,3,4,5,6,7\n" + wide: 0,
		",0,1\n" + strings.Repeat("0,2.5,1\n1,-0.46,0\n", 30):     0, // with an index
		"name,0,1\n" + strings.Repeat("b,2.5,1\nc,-0.46,0\n", 30): 0,
		"0,1\n0,0\n" + decimals:                                   62, // a row: 0 occurs again
		"0.0,1\n" + decimals:                                      61, // a row: names are whole
		"1,0\n" + decimals:                                        61, // a row: not in order
		"2,1\n" + decimals:                                        61, "0,1\n1,0\n0,0\n": 3, "1,2,1\n" + whole: 61, "0,1,0\n" + whole: 61,
	} {
		x, _, err := readText(text, Options{Format: schema.Format{Label: "last", Positive: []string{"!0"}}})
		if rows > 0 {
			if err != nil || x.Rows() != rows {
				t.Errorf("%.20q: %v", text, err)
			}
			continue
		}
		wantError(t, err, "t:1: numbers in order, which may be a header or a row, expected to know which "+
			"(use --header yes if they name the columns, as pandas does or --header no if they are a row)")
		for header, more := range map[schema.Header]int{"yes": 0, "no": 1} {
			x, _, err := readText(text, Options{Format: schema.Format{Label: "last", Header: header, Positive: []string{"!0"}}})
			if err != nil || x.Rows() != strings.Count(text, "\n")-1+more {
				t.Errorf("%.20q, header %s: %v", text, header, err)
			}
		}
	}
	// A model of rows without a header is not given one as a row, and one with a header of numbers reads files that have it.
	_, plain := mustRead(t, decimals, Options{Format: schema.Format{Label: "last"}})
	if _, _, err := readText("0,1\n"+decimals, Options{Schema: &plain.Schema, Unlabelled: true}); err == nil {
		t.Error("a model of rows without a header reads a header as a row")
	}
	_, named := mustRead(t, "0,1\n"+decimals, Options{Format: schema.Format{Label: "1", Header: "yes"}})
	if x, _ := mustRead(t, "0,1\n"+decimals, Options{Schema: &named.Schema}); x.Rows() != 60 {
		t.Errorf("%d rows", x.Rows())
	}
}
