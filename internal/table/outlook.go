package table

import (
	"fmt"

	"toptau/internal/memory"
)

// outlook compares the memory that a whole file will take with what is free, while the file is read: first after outlookFirst
// bytes of text, which is before most of the work, then as often as the text has doubled, at the latest after outlookStep more.
type outlook struct {
	due int64 // bytes of text at which to look next
}

const (
	outlookFirst = 1 << 20
	outlookStep  = 128 << 20
)

// check returns an error if the rows that follow those of t will not fit. bytes is the text that t was read from; in says how
// much there should be, otherwise the step to the next look counts.
func (o *outlook) check(t *Table, in *input, bytes int64) error {
	if o.due = max(o.due, outlookFirst); bytes < o.due {
		return nil
	}
	o.due = bytes + min(bytes, outlookStep)
	held, end, rows := t.bytes(), o.due, "more than %s"
	if in.size > bytes {
		end, rows = in.size, "about %s"
	}
	share := float64(end) / float64(bytes)
	// A tenth more is what the collector leaves unused.
	need := int64(1.1 * (share - 1) * float64(held))
	what := fmt.Sprintf(rows, plural(int(share*float64(t.Rows())), "row"))
	short := memory.Shortage(what, need, func(free int64) string {
		fit := float64(t.Rows()) * (1 + float64(free)/(1.1*float64(held)))
		return fmt.Sprintf("about %s fit", plural(int(fit), "row"))
	})
	if short == nil {
		return nil
	}
	short.File = in.file
	return short
}

// bytes is about the memory of a table whose rows are still being read.
func (t *Table) bytes() int64 {
	const text = 16 // the header of a string
	total := t.FeatureBytes() + int64(9*len(t.Line)+8*len(t.Weight))
	for k := range t.Columns {
		const entry = 80 // of a dictionary and of the map beside it
		total += int64(entry * len(t.Columns[k].Dictionary))
	}
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
