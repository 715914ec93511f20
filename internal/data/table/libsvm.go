package table

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/core/text"
)

// MaxFeatures is the largest index of a LIBSVM file. docs/results/hostile.csv shows what such a file costs.
const MaxFeatures = 100_000_000

// libsvmRows reads lines of LIBSVM text as sparse rows. The package documentation has the rules.
type libsvmRows struct {
	reader *Reader
	chunks *chunkQueue
	lines  *lines
	limit  int // the largest index that is kept
	begun  bool
	empty  int // the first of the empty lines before the current line; 0: none

	beyond      int // entries above the training width
	beyondFirst int // the line of the first of them
}

func newLIBSVMRows(r *Reader, _ prefix, source io.Reader) (rowSource, error) {
	o := &r.options
	label := o.Label
	if label == "first" || label == "1" {
		label = ""
	}
	if err := r.refuseColumns(label); err != nil {
		return nil, err
	}
	if len(o.Drop) > 0 {
		return nil, r.refusal("drop")
	}
	cols := o.Width
	if m := o.Schema; m != nil {
		if !m.Sparse() {
			return nil, r.wrongFormat()
		}
		cols = m.Width
	}
	s := &libsvmRows{reader: r, chunks: newChunkQueue(source, r.in, r.policy), limit: MaxFeatures}
	if cols > 0 {
		s.limit = cols
	}
	s.lines = newLines(s.chunks)
	r.table.Sparse = &Sparse{Cols: cols, Start: []int64{0}}
	r.schema.Width = cols
	if !r.policy.careful {
		s.chunks.scan = s.newScan().scan
	}
	return s, nil
}

// appendRows implements rowSource.
func (s *libsvmRows) appendRows(t *Table, limit int) error {
	whole := limit == math.MaxInt
	if whole {
		defer s.chunks.scanAhead()()
	}
	for t.Rows()+len(t.Bad) < limit {
		if t.Rows()+len(t.Bad) > 0 && s.chunks.waits(s.lines) {
			return nil
		}
		if whole {
			if err := s.reader.outlook.check(t, t.Rows(), s.reader.in, s.chunks.consumed()); err != nil {
				return err
			}
		}
		if s.nextIsScanned() {
			if whole {
				p := &s.chunks.current.rows
				s.reserve(t, p.count, len(p.index), s.chunks.progress())
			}
			if err := s.appendChunk(t, limit); err != nil {
				return err
			}
			continue
		}
		before := s.lines.number
		s.lines.passEmpty(blank)
		if s.empty == 0 && s.lines.number > before {
			s.empty = before + 1
		}
		line, err := s.lines.next()
		if err != nil {
			if err == io.EOF && !s.begun {
				return &diag.Error{Kind: diag.Data, File: s.reader.file, Found: "an empty file", Expected: "rows"}
			}
			return lineFailure(s.reader.file, s.lines, err)
		}
		if err := s.appendLine(t, line); err != nil {
			err = s.reader.keepBadRow(t, err, BadRow{Line: s.lines.number, Text: string(line)})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// appendLine appends the row of a line, if it has one.
func (s *libsvmRows) appendLine(t *Table, line []byte) error {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		return s.wrong("a NUL byte", "text", "is this a binary file?")
	}
	if !utf8.Valid(line) {
		return s.wrong("bytes that are not UTF-8", "UTF-8 text", "")
	}
	text, comment := line, false
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		text, comment = line[:i], true
	}
	text = trimBlanks(text)
	if len(text) == 0 {
		if !comment && s.empty == 0 {
			s.empty = s.lines.number
		}
		return nil
	}
	if s.empty > 0 && s.begun && !s.reader.options.keepsBadRows() {
		return &diag.Error{Kind: diag.Data, File: s.reader.file, Line: s.empty, Found: "an empty line",
			Expected: "a label, with or without features"}
	}
	s.begun, s.empty = true, 0
	return s.appendRow(t, text)
}

// appendRow appends a row: a label and entries.
func (s *libsvmRows) appendRow(t *Table, text []byte) error {
	token, rest := cutToken(text)
	var label []byte
	if bytes.IndexByte(token, ':') < 0 {
		label = token
		token, rest = cutToken(rest)
	}
	label, err := s.labelOf(label)
	if e, ok := err.(*diag.Error); ok && len(token) > 0 && looksWeighted(token, rest) {
		e.Hint = "a weight after the label, as in 1:0.5, is not read: write weights as a column of CSV or Parquet"
	}
	if err != nil {
		return err
	}
	x := t.Sparse
	previous := 0
	for len(token) > 0 {
		index, value, err := s.parsePair(token)
		if err != nil {
			return err
		}
		if index <= previous {
			return s.disorder(index, previous)
		}
		previous = index
		s.keepEntry(x, index, value)
		token, rest = cutToken(rest)
	}
	x.Start = append(x.Start, int64(len(x.Index)))
	t.Label = append(t.Label, s.reader.countLabel(label))
	if s.reader.options.Raw {
		t.Raw = append(t.Raw, []string{string(text)})
	}
	t.Line = append(t.Line, s.lines.number)
	if s.reader.options.Text {
		t.Text = append(t.Text, string(text))
	}
	return nil
}

// looksWeighted reports whether the first pair of a row is a label and its weight: index 0, or one that is not below the next.
func looksWeighted(token, rest []byte) bool {
	index := func(pair []byte) int {
		before, _, _ := bytes.Cut(pair, []byte{':'})
		n, _ := scanIndex(before)
		return n
	}
	next, _ := cutToken(rest)
	return index(token) == 0 || len(next) > 0 && index(next) <= index(token)
}

// labelOf returns the label of a row: the next one of the labels file if there is one, otherwise the one
// before the entries; nil if it is missing.
func (s *libsvmRows) labelOf(written []byte) (label []byte, err error) {
	label = written
	if s.reader.labelsFile != nil {
		if label, err = s.reader.labelsFile.nextFor(s.reader.file); err != nil {
			return nil, err
		}
	}
	if label == nil && !s.reader.options.Unlabelled {
		return nil, s.wrong("a row without a label", "a label before the first feature", "")
	}
	if label != nil && s.reader.missing.has(label) {
		if !s.reader.options.Unlabelled {
			return nil, s.wrong("the missing label "+diag.Quote(string(label)), "a label in every row", "")
		}
		label = nil
	}
	return label, nil
}

// keepEntry appends an entry unless it is 0 or beyond the model's features.
func (s *libsvmRows) keepEntry(x *Sparse, index int, value float64) {
	if index > s.limit {
		if s.beyond == 0 {
			s.beyondFirst = s.lines.number
		}
		s.beyond++
		return
	}
	s.widen(x, index)
	if value != 0 {
		x.Index = append(x.Index, uint32(index-1))
		x.Value = append(x.Value, value)
	}
}

// widen extends the features to an index.
func (s *libsvmRows) widen(x *Sparse, index int) {
	if index > x.Cols {
		x.Cols = index
		s.reader.schema.Width = index
	}
}

// cutToken returns the first token of text, which does not begin with a blank, and the text after it.
func cutToken(text []byte) (token, rest []byte) {
	i := 0
	for i < len(text) && !isBlank(text[i]) {
		i++
	}
	token, rest = text[:i], text[i:]
	for len(rest) > 0 && isBlank(rest[0]) {
		rest = rest[1:]
	}
	return token, rest
}

// parsePair parses index:value.
func (s *libsvmRows) parsePair(token []byte) (int, float64, error) {
	colon := bytes.IndexByte(token, ':')
	if colon < 0 {
		return 0, 0, s.wrong(diag.Quote(string(token)), "index:value", "")
	}
	index, ok := scanIndex(token[:colon])
	switch {
	case !ok:
		hint := ""
		if string(token[:colon]) == "qid" {
			hint = "query ids of ranking files are not read: remove them"
		}
		return 0, 0, s.wrong(diag.Quote(string(token)), "index:value with a whole number as index", hint)
	case index == 0:
		return 0, 0, s.wrong("index 0", "indices from 1", "add 1 to every index of the file")
	case index > MaxFeatures:
		return 0, 0, s.wrong("index "+diag.Quote(string(token[:colon])),
			"indices of at most "+text.Count(MaxFeatures), "")
	case index > s.limit && s.reader.options.Schema == nil:
		e := s.wrong(fmt.Sprintf("index %d", index), fmt.Sprintf("indices of at most %d", s.limit), "")
		e.Fixes = []diag.Fix{{Param: "width", Value: "N", When: "to allow more"}}
		return 0, 0, e
	}
	v, what := parseNumber(token[colon+1:])
	if what == number {
		return index, v, nil
	}
	e := s.wrong(diag.Quote(string(token[colon+1:])), "a finite number",
		"a missing value cannot be written here")
	e.Column = strconv.Itoa(index)
	return 0, 0, e
}

// scanIndex parses digits. For a number above MaxFeatures it returns another one above MaxFeatures.
func scanIndex(b []byte) (int, bool) {
	if len(b) == 0 {
		return 0, false
	}
	index := 0
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		if index <= MaxFeatures {
			index = index*10 + int(c)
		}
	}
	return min(index, math.MaxInt32), true
}

// disorder is the error of an index that is not larger than the one before it.
func (s *libsvmRows) disorder(index, previous int) error {
	if index == previous {
		return s.wrong(fmt.Sprintf("index %d twice", index), "each index once in a row", "")
	}
	return s.wrong(fmt.Sprintf("index %d after %d", index, previous), "ascending indices",
		"sort the entries of every row")
}

func (s *libsvmRows) wrong(found, expected, hint string) *diag.Error {
	return &diag.Error{Kind: diag.Data, File: s.reader.file, Line: s.lines.number,
		Found: found, Expected: expected, Hint: hint}
}

// columnNames implements rowSource. Table.Raw has a row as one field.
func (s *libsvmRows) columnNames() []string { return []string{string(s.reader.format.name)} }

// join implements rowSource.
func (s *libsvmRows) join(first rowSource) {
	s.reader.schema.Width = first.(*libsvmRows).reader.schema.Width
}

// checkEnd implements rowSource.
func (s *libsvmRows) checkEnd() error {
	if s.reader.schema.Width > 0 {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: s.reader.file, Found: "no feature in any row",
		Expected: "index:value pairs after the labels"}
}

// finish implements rowSource.
func (s *libsvmRows) finish() {
	if s.beyond > 0 {
		s.reader.warn("extra-features", fmt.Sprintf(
			"%s: %s beyond the model's %d features ignored, the first in line %d",
			s.reader.file, text.Plural(s.beyond, "value"), s.limit, s.beyondFirst))
	}
}

// nextIsScanned reports whether the next rows are those of a scanned chunk.
func (s *libsvmRows) nextIsScanned() bool { return s.chunks.nextIsScanned(s.lines, s.empty == 0) }

// appendChunk appends rows of the current chunk until t has limit rows.
func (s *libsvmRows) appendChunk(t *Table, limit int) error {
	c, x := s.chunks.current, t.Sparse
	p, first, before := &c.rows, c.rows.taken, s.lines.number
	s.begun = true
	if first == 0 && p.beyond > 0 {
		if s.beyond == 0 {
			s.beyondFirst = before + p.beyondFirst + 1
		}
		s.beyond += p.beyond
	}
	begin := p.entriesBefore(first)
	shift := int64(len(x.Index)) - int64(begin)
	for ; p.taken < p.count && t.Rows()+len(t.Bad) < limit; p.taken++ {
		s.lines.number = before + p.taken - first + 1
		class, err := s.classOf(p, c.text)
		if err != nil {
			return err
		}
		s.widen(x, int(p.top[p.taken]))
		x.Start = append(x.Start, shift+int64(p.start[p.taken]))
		t.Label = append(t.Label, class)
		t.Line = append(t.Line, s.lines.number)
	}
	end := p.entriesBefore(p.taken)
	x.Index = append(x.Index, p.index[begin:end]...)
	x.Value = append(x.Value, p.value[begin:end]...)
	if s.reader.options.Raw {
		t.Raw = append(t.Raw, p.raw[first:p.taken]...)
	}
	if s.reader.options.Text {
		t.Text = append(t.Text, p.text[first:p.taken]...)
	}
	if p.taken == p.count {
		s.chunks.markRead()
	}
	return nil
}

// classOf returns the class of the next row.
func (s *libsvmRows) classOf(p *chunkRows, text []byte) (Class, error) {
	if s.reader.labelsFile == nil {
		return p.classOf(s.reader.labels, text, p.taken), nil
	}
	label, err := s.labelOf(nil)
	if err != nil {
		return Unknown, err
	}
	return s.reader.countLabel(label), nil
}

// reserve reserves memory for more rows and entries, for all of them if the size of the file is known.
func (s *libsvmRows) reserve(t *Table, rows, entries int, bytes int64) {
	x := t.Sparse
	if need := t.Rows() + rows; need > cap(t.Line) {
		n := s.reader.in.expect(need, cap(t.Line), bytes)
		t.Line, t.Label, x.Start = withCapacity(t.Line, n), withCapacity(t.Label, n), withCapacity(x.Start, n+1)
		if s.reader.options.Raw {
			t.Raw = withCapacity(t.Raw, n)
		}
	}
	if need := len(x.Index) + entries; need > cap(x.Index) {
		n := s.reader.in.expect(need, cap(x.Index), bytes)
		x.Index, x.Value = withCapacity(x.Index, n), withCapacity(x.Value, n)
	}
}

func (s *libsvmRows) newScan() *libsvmScan {
	o := &s.reader.options
	return &libsvmScan{limit: s.limit, beyond: o.Schema != nil, labels: s.reader.labelsFile == nil,
		unlabelled: o.Unlabelled, raw: o.Raw, text: o.Text, missing: s.reader.missing}
}

// looksLIBSVM reports whether more than half of the first lines are index:value pairs, with or without a
// label without a colon before them, and at least one line has a pair. A delimiter in the options excludes
// LIBSVM.
func looksLIBSVM(p prefix, o *Options) bool {
	if !o.detectsDelimiter() {
		return false
	}
	good, bad, pairs := 0, 0, 0
	for _, line := range p.lines(1000) {
		if i := bytes.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		tokens := bytes.Fields(line)
		if len(tokens) == 0 {
			continue
		}
		n := 0
		for _, t := range tokens {
			if looksPair(t) || bytes.HasPrefix(t, []byte("qid:")) { // which is refused by name
				n++
			}
		}
		if n == len(tokens) || n == len(tokens)-1 && looksLabel(tokens[0]) {
			good++
			pairs += n
		} else {
			bad++
		}
	}
	return good > bad && pairs > 0
}

// looksLabel reports whether a token may be a label of LIBSVM. Several labels are whole numbers with commas between
// them; other texts with commas are fields, of which the last has a blank before a time such as 10:05.
func looksLabel(token []byte) bool {
	if bytes.IndexByte(token, ':') >= 0 {
		return false
	}
	return bytes.IndexByte(token, ',') < 0 || len(bytes.Trim(token, "+-0123456789,")) == 0 && !bytes.ContainsAny(token[1:], "+-")
}

// looksPair reports whether a token is digits, a colon and a value that may be a number.
func looksPair(token []byte) bool {
	index, value, ok := bytes.Cut(token, []byte{':'})
	if !ok || len(index) == 0 || bytes.ContainsAny(value, ":,;|\"") {
		return false
	}
	for i, c := range index {
		if (c < '0' || c > '9') && !(i == 0 && c == '-') {
			return false
		}
	}
	return true
}
