package table

import (
	"fmt"
	"math/rand/v2"
	"testing"
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
