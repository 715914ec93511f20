package table

import (
	"fmt"

	"toptau/internal/memory"
	"toptau/internal/text"
)

// outlook compares, while a file is read, the memory that its table will take with the free memory. It does
// so after outlookFirst bytes of text, then whenever the text has doubled, and at the latest after
// outlookStep more bytes. Both are chosen by hand: 1 MiB is read in milliseconds.
type outlook struct {
	due int64 // bytes of text at the next comparison
}

const (
	outlookFirst = 1 << 20
	outlookStep  = 128 << 20
)

// check returns an error if the remaining rows will not fit into the free memory. t was read from the first
// bytes of the text. If the size of the file is unknown, only the rows up to the next comparison count.
func (o *outlook) check(t *Table, in *input, bytes int64) error {
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
	what := fmt.Sprintf(rows, text.Plural(int(ratio*float64(t.Rows())), "row"))
	short := memory.Shortage(what, need, func(free int64) string {
		fit := float64(t.Rows()) * (1 + float64(free)/(1.1*float64(held)))
		return fmt.Sprintf("about %s fit", text.Plural(int(fit), "row"))
	})
	if short == nil {
		return nil
	}
	short.File = in.file
	return short
}

// bytes returns about the memory of a table that is still being read.
func (t *Table) bytes() int64 {
	const text = 16 // the header of a string
	total := t.FeatureBytes() + int64(9*len(t.Line)+8*len(t.Weight))
	for k := range t.Columns {
		const entry = 80 // bytes of a value in a dictionary and in the map of its codes, about
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
