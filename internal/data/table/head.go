package table

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"toptau/diag"
)

const (
	// headRows is the number of rows that decide the header and the kinds of the columns. Fewer rows decide
	// if their text or fields take more than headBytes. With a Schema, which has the kinds, headRowsSchema
	// rows decide the header. All three are chosen by hand (a change moves results).
	headRows       = 10_000
	headRowsSchema = 100
	headBytes      = 64 << 20
)

// head describes the first records of a delimited file: the first one, which may be a header, and the kinds
// of fields in the records after it.
type head struct {
	first   row
	second  int         // the line of the second record
	rows    int         // records after the first
	counts  []kindCount // by column, of the records after the first that have as many fields
	words   bool        // no field of the first is a number or a spelling of a missing value
	repeats bool        // a field of the first is empty, equal to another one, or occurs again in its column
	ordered int         // numbers of the first if they are 0, 1, 2, ... or 1, 2, 3, ...
	again   []bool      // with them, by column: the field occurs again in the column
	points  []int       // and the number of fields in the column with a point or an exponent
	ended   error       // the error that ended the records
}

// readHead reads the head of source, which begins after a number of lines. Only a file without records is an
// error.
func readHead(r *Reader, source *replay, line int, delimiter byte) (*head, error) {
	records := &delimited{file: r.file, lines: newLines(source), delimiter: delimiter, most: MaxColumns}
	records.lines.number = line
	first, err := records.next()
	if err == io.EOF {
		return nil, &diag.Error{Kind: diag.Data, File: r.file, Found: "an empty file", Expected: "rows"}
	}
	if err != nil {
		return nil, err
	}
	source.limit = max(headBytes, source.size) // a record has its own limit
	h := &head{first: first.clone(), counts: make([]kindCount, len(first.fields))}
	h.readFirst(r.missing)
	most := r.policy.head
	if r.options.Schema != nil {
		most = headRowsSchema
	}
	if r.in.live != nil {
		most = 0 // the first record decides, however many rows have arrived
	}
	for size := first.size(); h.rows < most && size < headBytes && !h.settled(most); {
		var next *row
		if next, h.ended = records.next(); h.ended != nil {
			break
		}
		h.countRecord(next, r.missing)
		size += next.size()
	}
	return h, nil
}

// settled reports whether the rest of the head, of most records, cannot change a decision:
//
//   - in every column more than half of all values that may follow are already numbers, or already neither
//     numbers nor numbers with a decimal comma or a unit;
//   - it is known whether the first record is a header;
//   - it is known whether a first record with a text above numbers is an error.
//
// It looks only every 256 records, because it takes time for each column.
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
		case 2*(c.seen-c.numbers-c.commas-c.anyUnit) <= most+1, c.isBoolean():
			return false
		}
	}
	if h.words {
		return numeric || h.repeats
	}
	return !strays
}

// readFirst examines the first record.
func (h *head) readFirst(missing *missingSpellings) {
	different := map[string]bool{}
	h.words = true
	for _, f := range h.first.fields {
		_, what := missing.parse(f)
		h.words = h.words && !looksNumber(f) && what != number && (len(f) == 0 || !missing.has(f))
		different[string(f)] = true
		h.repeats = h.repeats || len(f) == 0
	}
	h.repeats = h.repeats || len(different) < len(h.first.fields)
	if h.ordered = inOrder(h.first.fields); h.ordered > 1 {
		h.again, h.points = make([]bool, len(h.first.fields)), make([]int, len(h.first.fields))
	}
}

// countRecord counts the fields of a record after the first.
func (h *head) countRecord(r *row, missing *missingSpellings) {
	if h.rows++; h.rows == 1 {
		h.second = r.line
	}
	for i, f := range r.fields[:min(len(r.fields), len(h.first.fields))] {
		if len(r.fields) == len(h.first.fields) {
			h.counts[i].count(f, missing)
		}
		h.repeats = h.repeats || bytes.Equal(f, h.first.fields[i])
		if h.ordered > 1 {
			h.again[i] = h.again[i] || bytes.Equal(f, h.first.fields[i])
			if bytes.ContainsAny(f, ".eE") {
				h.points[i]++
			}
		}
	}
}

// kinds returns the counts of all rows of the head, which include the first record unless it is a header.
func (h *head) kinds(header bool, missing *missingSpellings) []kindCount {
	all := append([]kindCount(nil), h.counts...)
	if !header {
		for i, f := range h.first.fields {
			all[i].count(f, missing)
		}
	}
	return all
}

// looksHeader reports whether the first record names the columns: none of its fields is a number or a
// spelling of a missing value, and one of these holds:
//
//   - a column is numeric in the other records (more than half of its values are numbers);
//   - no column is numeric, there are at least two other records, and the names are not empty, differ from
//     each other and do not occur again in their columns.
func (h *head) looksHeader() bool {
	if !h.words {
		return false
	}
	for _, c := range h.counts {
		if 2*c.numbers > c.seen || c.hasUnit() {
			return true
		}
	}
	return h.rows > 1 && !h.repeats
}

// A row of 0, 1, 2, ... is no coincidence if it has manyNumbers numbers, or three of which one does not occur again in manyRows rows.
// Chosen by hand.
const (
	manyNumbers = 8
	manyRows    = 50
)

// numbersColumns reports whether the first record may be a header of numbers, as programs write for columns without names: its numbers
// are 0, 1, 2, ... or 1, 2, 3, ..., and one is a whole number above other numbers with a point, or they are no coincidence.
func (h *head) numbersColumns() bool {
	if h.ordered < 2 {
		return false
	}
	evidence := h.ordered >= manyNumbers
	for i, again := range h.again {
		_, what := parseNumber(h.first.fields[i])
		evidence = evidence || what == number && !again && (2*h.points[i] > h.rows || h.ordered > 2 && h.rows >= manyRows)
	}
	return evidence
}

// inOrder returns the number of numbers in a record if they are 0, 1, 2, ... or 1, 2, 3, ..., otherwise 0.
func inOrder(fields [][]byte) int {
	n, first := 0, 0
	for _, f := range fields {
		k, err := strconv.Atoi(string(trimBlanks(f)))
		if err != nil && !looksNumber(f) {
			continue
		}
		if n == 0 {
			first = k
		}
		if err != nil || k != first+n || first != 0 && first != 1 {
			return 0
		}
		n++
	}
	return n
}

// minRecognised is the number of values, all of them times or addresses, that makes a column one of times or
// addresses. Chosen by hand (a change moves results): a few codes may look like either.
const minRecognised = 10

// replay reads a stream and keeps what it read, so that the stream can be read again from its start.
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

// keep stores bytes in blocks, which never move.
func (r *replay) keep(b []byte) {
	r.size += len(b)
	for len(b) > 0 {
		last := len(r.kept) - 1
		if last < 0 || len(r.kept[last]) == cap(r.kept[last]) {
			r.kept = append(r.kept, make([]byte, 0, min(max(r.size, firstBuffer), 1<<20)))
			continue
		}
		block := r.kept[last]
		n := min(len(b), cap(block)-len(block))
		r.kept[last], b = append(block, b[:n]...), b[n:]
	}
}

// again returns the stream from its start.
func (r *replay) again() io.Reader {
	if r.failed != nil {
		r.source = &failing{r.failed}
	}
	all := make([]io.Reader, 0, len(r.kept)+1)
	for _, block := range r.kept {
		all = append(all, bytes.NewReader(block))
	}
	return io.MultiReader(append(all, r.source)...)
}
