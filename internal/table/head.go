package table

import (
	"bytes"
	"errors"
	"io"

	"toptau/diag"
)

const (
	// headRows is how many rows decide the header and the kinds of the columns; fewer when their text or their fields take
	// more than headBytes of memory. With a Schema, which knows the kinds, headRowsSchema rows decide the header.
	headRows       = 10_000
	headRowsSchema = 100
	headBytes      = 64 << 20
)

// head is what the first records of a delimited file show: the first of them, which may be a header, and about those
// behind it how often each column looks like numbers.
type head struct {
	first  record
	second int         // the line of the second record
	rows   int         // records behind the first
	counts []kindCount // of these, those with as many fields as the first, by column
	words  bool        // no field of the first is a number or a spelling of a missing value
	recurs bool        // with words: they are not all there and different, or one is again in its column
	ended  error       // what the records ended with
}

// readHead reads ahead, from behind a number of lines. Only a file without any record is an error.
func (s *delimitedRows) readHead(source *replay, line int, delimiter byte) (*head, error) {
	records := &delimited{file: s.reader.file, lines: newLines(source), delimiter: delimiter, most: MaxColumns}
	records.lines.number = line
	r, err := records.next()
	if err == io.EOF {
		return nil, &diag.Error{Kind: diag.Data, File: s.reader.file, Found: "an empty file", Expected: "rows"}
	}
	if err != nil {
		return nil, err
	}
	source.limit = max(headBytes, source.size) // a record has a limit of its own
	h := &head{first: r.clone(), counts: make([]kindCount, len(r.fields))}
	h.readWords(s.missing)
	most := s.reader.pace.head
	if s.reader.options.Schema != nil {
		most = headRowsSchema
	}
	for size := r.size(); h.rows < most && size < headBytes && !h.settled(most); size += r.size() {
		if r, h.ended = records.next(); h.ended != nil {
			break
		}
		h.add(r, s.missing)
	}
	return h, nil
}

// settled reports whether the rest of most records can change nothing: of every column more than half of what may be seen
// is numbers already, or is neither numbers nor decimal commas; whether the first record is a header is known; and so is
// that it is none with a label that only looks like the name of numbers below. It is asked rarely.
func (h *head) settled(most int) bool {
	if 2*h.rows <= most || h.rows%256 > 0 {
		return false
	}
	numeric, strays := false, false
	for i, c := range h.counts {
		switch {
		case 2*c.numbers > most+1:
			numeric = true
			_, what := parseNumber(h.first.fields[i])
			strays = strays || c.numbers == c.seen && what != number
		case 2*(c.seen-c.numbers-c.commas) <= most+1:
			return false
		}
	}
	if h.words {
		return numeric || h.recurs
	}
	return !strays
}

// size is the memory that counts for headBytes.
func (r *record) size() int {
	size := 0
	for _, f := range r.fields {
		size += len(f) + 24
	}
	return size
}

// clone copies a record out of the reader's buffer.
func (r *record) clone() record {
	c := record{line: r.line, starts: append([]int(nil), r.starts...)}
	for _, f := range r.fields {
		c.fields = append(c.fields, bytes.Clone(f))
	}
	return c
}

// readWords looks at the first record.
func (h *head) readWords(missing *missingSpellings) {
	different := map[string]bool{}
	h.words = true
	for _, f := range h.first.fields {
		h.words = h.words && !looksNumber(f) && (len(f) == 0 || !missing.has(f))
		different[string(f)] = true
		h.recurs = h.recurs || len(f) == 0
	}
	h.recurs = h.recurs || len(different) < len(h.first.fields)
}

// add looks at a record behind the first.
func (h *head) add(r *record, missing *missingSpellings) {
	if h.rows++; h.rows == 1 {
		h.second = r.line
	}
	for i, f := range r.fields[:min(len(r.fields), len(h.first.fields))] {
		if len(r.fields) == len(h.first.fields) {
			h.counts[i].add(f, missing)
		}
		h.recurs = h.recurs || bytes.Equal(f, h.first.fields[i])
	}
}

// kinds counts the first record, too, when it is a row.
func (h *head) kinds(header bool, missing *missingSpellings) []kindCount {
	all := append([]kindCount(nil), h.counts...)
	if !header {
		for i, f := range h.first.fields {
			all[i].add(f, missing)
		}
	}
	return all
}

// looksHeader decides whether the first record names the columns. It does when none of its fields is a number or a
// spelling of a missing value and one of these holds:
//
//   - a column is numeric in the other records (more than half of its values are numbers);
//   - no column is, there are at least two other records, and the names are not empty, differ from each other and do not
//     occur again in their columns.
func (h *head) looksHeader() bool {
	if !h.words {
		return false
	}
	for _, c := range h.counts {
		if 2*c.numbers > c.seen {
			return true
		}
	}
	return h.rows > 1 && !h.recurs
}

// kindCount is what the head of a file holds in a column.
type kindCount struct {
	seen    int // fields that are not missing
	numbers int // of these, how many look like numbers, NaN and infinity included
	commas  int // of these, how many look like numbers with a decimal comma
}

func (c *kindCount) add(field []byte, missing *missingSpellings) {
	if missing.has(field) {
		return
	}
	c.seen++
	if looksNumber(field) {
		c.numbers++
	} else if isDecimalComma(field) {
		c.commas++
	}
}

// isDecimalComma reports whether a field is a number once its only comma is a point.
func isDecimalComma(field []byte) bool {
	if bytes.Count(field, []byte{','}) != 1 {
		return false
	}
	_, what := parseNumber(bytes.Replace(field, []byte{','}, []byte{'.'}, 1))
	return what == number
}

// replay keeps what is read from a stream, which can then be read from its begin.
type replay struct {
	source io.Reader
	kept   [][]byte
	size   int // bytes kept
	limit  int // of size
	failed error
}

// errHeadFull ends a replay at its limit.
var errHeadFull = errors.New("the end of the head")

// Read implements io.Reader.
func (r *replay) Read(p []byte) (int, error) {
	if r.size >= r.limit {
		return 0, errHeadFull
	}
	n, err := r.source.Read(p[:min(len(p), r.limit-r.size)])
	r.keep(p[:n])
	r.failed = err
	return n, err
}

// keep copies bytes to pieces that are never copied again.
func (r *replay) keep(b []byte) {
	r.size += len(b)
	for len(b) > 0 {
		last := len(r.kept) - 1
		if last < 0 || len(r.kept[last]) == cap(r.kept[last]) {
			r.kept = append(r.kept, make([]byte, 0, min(max(r.size, firstBuffer), 1<<20)))
			continue
		}
		piece := r.kept[last]
		n := min(len(b), cap(piece)-len(piece))
		r.kept[last], b = append(piece, b[:n]...), b[n:]
	}
}

// again is the stream from its begin.
func (r *replay) again() io.Reader {
	if r.failed != nil {
		r.source = &failing{r.failed}
	}
	all := make([]io.Reader, 0, len(r.kept)+1)
	for _, piece := range r.kept {
		all = append(all, bytes.NewReader(piece))
	}
	return io.MultiReader(append(all, r.source)...)
}
