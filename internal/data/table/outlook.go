package table

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/memory"
)

// outlook compares, while a file is read, the memory that its table will take with the free memory. It does
// so after outlookFirst bytes of text, then whenever the text has doubled, and at the latest after
// outlookStep more bytes. Both are chosen by hand: 1 MiB is read in milliseconds.
type outlook struct {
	due     int64 // bytes of text at the next comparison
	dueRows int   // rows at the next comparison with the size of the file
}

const (
	outlookFirst = 1 << 20
	outlookStep  = 128 << 20
)

// check returns an error if the remaining rows will not fit into the free memory. t, of about some rows, was read from the first
// bytes of the text. If the size of the file is unknown, only the rows up to the next comparison count.
func (o *outlook) check(t *Table, count int, in *input, bytes int64) error {
	if rows := t.Rows(); rows >= o.dueRows {
		o.dueRows = rows + rows/4
		if err := in.checkExpansion(rows, t); err != nil {
			return err
		}
	}
	if o.due = max(o.due, outlookFirst); bytes < o.due {
		return nil
	}
	o.due = bytes + min(bytes, outlookStep)
	held, end, rows := t.bytes(), o.due, "more than %s"
	if in.size > bytes {
		end, rows = in.size, "about %s"
	}
	ratio := float64(end) / float64(bytes)
	// The garbage collector leaves about a tenth unused.
	need := int64(1.1 * (ratio - 1) * float64(held))
	what := fmt.Sprintf(rows, text.Plural(int(ratio*float64(count)), "row"))
	short := memory.Shortage(what, need, func(free int64) string {
		fit := float64(count) * (1 + float64(free)/(1.1*float64(held)))
		return fmt.Sprintf("about %s fit", text.Plural(int(fit), "row"))
	})
	if short == nil {
		return nil
	}
	short.File = in.file
	return short
}

// Rows of a file may need expandedBase bytes of memory, and expandedTimes more for each byte that the file has on the disk beyond a megabyte. A row
// and a value in it need about the bytes that the verbs take for them. The base is chosen by hand, so that a file below a megabyte takes
// less than 300 MB. Gzip packs at most 1032 bytes into one. Tables of zeros and ones with thousands of columns reach 200.
const (
	expandedBase  = 112 << 20
	expandedTimes = 1032
	expandedRow   = 96
	expandedValue = 5
)

// checkExpansion returns an error if a file has too many rows for its size: a compressed file of some kilobytes can have billions.
// t is the table of the rows, nil if they are not kept.
func (in *input) checkExpansion(rows int, t *Table) error {
	if in.stored == 0 {
		return nil
	}
	need := int64(expandedRow * rows)
	if t != nil {
		need += int64(expandedValue*rows*len(t.Columns)) + t.textBytes()
		if t.Sparse != nil {
			need += expandedValue * int64(len(t.Sparse.Index))
		}
	}
	most := max(in.allowed, expandedBase+expandedTimes*max(0, in.stored-1<<20))
	if need <= most {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: in.file,
		Found:    fmt.Sprintf("a file of %s with more than %s, which need more than %s of memory", memory.Size(in.stored), text.Plural(rows, "row"), memory.Size(most)),
		Expected: "fewer rows in a file of this size", Fixes: []diag.Fix{memory.Permission(most)}}
}

// bytes returns about the memory of a table that is still being read.
func (t *Table) bytes() int64 {
	total := t.FeatureBytes() + t.textBytes() + int64(9*len(t.Line)+8*len(t.Weight))
	for k := range t.Columns {
		const entry = 80 // bytes of a value in a dictionary and in the map of its codes, about
		total += int64(entry * len(t.Columns[k].Dictionary))
	}
	return total
}

// textBytes returns about the memory of the columns that are kept as text.
func (t *Table) textBytes() int64 {
	const text = 16 // the header of a string
	total := int64(0)
	for _, c := range t.texts() {
		for _, v := range c.Values {
			total += int64(text + len(v))
		}
	}
	for _, row := range t.Raw {
		total += 24
		for _, v := range row {
			total += int64(text + len(v))
		}
	}
	return total
}
