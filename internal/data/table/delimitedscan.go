package table

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"toptau/internal/core/kernel"
	"toptau/schema"
)

// delimitedScan parses chunks of delimited text without anything unusual: no quotes, only UTF-8, lines that
// end with LF or CRLF, as many fields in every row as in the first, every field of its column's kind. It
// gives up on other chunks, which the tokenizer reads instead, with its errors.
type delimitedScan struct {
	delimiter   byte
	stops       [256]bool // bytes that end a field or may make the scan give up
	columns     []columnScan
	absent      []columnScan // features that the file lacks
	late        []columnScan // features parsed after the whole row is split, because columns keeps their fields
	numeric     int          // features
	categorical int          // features
	texts       []int        // the columns that are kept as text
	label       int          // the column, or -1
	weight      int          // the column, or -1
	raw         bool
	text        bool // keep the text of rows
	direct      bool // numbers may be parsed before the end of their field is known
	narrow      bool // one column, whose missing values look like empty lines
	missing     *missingSpellings
	unlabelled  bool // labels may be missing
}

// columnScan is the treatment of a column's fields.
type columnScan struct {
	what    fieldUse
	slot    int // the number among the features of its kind
	column  int // the column of the file
	derived derivation
	run     int // adjacent columns from here on with adjacent slots, whose numbers one kernel call may parse
}

type fieldUse uint8

const (
	ignored      fieldUse = iota
	numericField          // numeric feature
	categoricalField
	keptField // its place in the text is stored
)

// newScan returns the scan for the columns of the file, nil if the delimiter may be part of a number.
func (s *delimitedRows) newScan() *delimitedScan {
	r := s.reader
	c := &delimitedScan{delimiter: s.records.delimiter, columns: make([]columnScan, len(s.names.all)),
		missing: r.missing, label: s.roles.label, weight: s.roles.weight, raw: r.options.Raw, text: r.options.Text,
		unlabelled: r.options.Unlabelled}
	if bytes.IndexByte([]byte("0123456789+-.eE"), c.delimiter) >= 0 {
		return nil
	}
	if s.reader.labelsFile != nil {
		c.label = -1
	}
	for _, stop := range []byte{c.delimiter, '\n', '\r', '"', 0} {
		c.stops[stop] = true
	}
	for i := utf8.RuneSelf; i < len(c.stops); i++ {
		c.stops[i] = true
	}
	if c.delimiter == blank {
		c.stops['\t'] = true
	}
	c.direct = !s.reader.missing.numbers && s.reader.missing.decimal == 0
	c.narrow = len(c.columns) == 1
	c.texts = slices.Clone(s.roles.ids)
	for _, i := range []int{s.roles.group, s.roles.segment, s.roles.time} {
		if i >= 0 {
			c.texts = append(c.texts, i)
		}
	}
	c.texts = append(c.texts, s.roles.kept...)
	c.planColumns(s)
	return c
}

// planColumns chooses the treatment of every column.
func (c *delimitedScan) planColumns(s *delimitedRows) {
	kept := slices.Clone(c.texts)
	for _, i := range []int{c.label, c.weight} {
		if i >= 0 {
			kept = append(kept, i)
		}
	}
	for k, i := range s.roles.features {
		if s.derived[k].part != schema.Whole { // several features have the column
			kept = append(kept, i)
		}
	}
	all := c.raw || c.weight >= 0
	for i := range c.columns {
		c.columns[i].column = i
		if all || slices.Contains(kept, i) {
			c.columns[i].what = keptField
		}
	}
	for k, i := range s.roles.features {
		f := columnScan{what: numericField, slot: c.numeric, column: i, derived: s.derived[k]}
		if s.kinds[k] == schema.Categorical {
			f = columnScan{what: categoricalField, slot: c.categorical, column: i}
			c.categorical++
		} else {
			c.numeric++
		}
		switch {
		case i < 0:
			c.absent = append(c.absent, f)
		case c.columns[i].what == ignored:
			c.columns[i] = f
		default:
			c.late = append(c.late, f)
		}
	}
	// The last column does not end with the delimiter.
	for i := len(c.columns) - 2; i >= 0 && c.direct && c.delimiter != blank; i-- {
		f, next := &c.columns[i], &c.columns[i+1]
		if f.what == numericField {
			f.run = 1
			if next.slot == f.slot+1 {
				f.run += next.run
			}
		}
	}
}

// scan parses a chunk. It returns false if it gives up.
func (c *delimitedScan) scan(k *chunk) bool {
	p, b := &k.rows, k.padded()
	c.prepare(p, c.maxRows(k.text))
	whole := ""
	if c.text {
		whole = string(k.text)
	}
	for at := 0; at < len(k.text); {
		begin, row := at, p.count
		if p.count == p.stride || c.narrow && c.isEmpty(b, at) {
			return false
		}
		if c.delimiter == blank {
			at = c.blankRow(p, b, at)
		} else {
			at = c.row(p, b, at)
		}
		if at < 0 || !c.endRow(p, b) {
			return false
		}
		if c.text && p.count > row {
			p.text = append(p.text, withoutLineEnd(whole[begin:min(at, len(whole))]))
		}
		p.lines++
	}
	return true
}

// withoutLineEnd removes LF or CRLF.
func withoutLineEnd(line string) string {
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
}

// maxRows bounds the number of rows in a text without empty lines, so that the memory depends on its bytes,
// not its line ends. Every row except the last ends with LF. It has a delimiter after each field except the
// last, or a byte in its only field; if blanks are the delimiter it has both.
func (c *delimitedScan) maxRows(text []byte) int {
	least := len(c.columns)
	if c.delimiter == blank {
		least *= 2
	}
	return min(bytes.Count(text, []byte{'\n'})+1, (len(text)+1)/max(least, 2))
}

// prepare allocates memory for at most the given number of rows.
func (c *delimitedScan) prepare(p *chunkRows, rows int) {
	p.count, p.lines, p.taken, p.passed, p.stride = 0, 0, 0, 0, rows
	p.values = resized(p.values, rows*c.numeric)
	p.symbols = resized(p.symbols, c.categorical)
	for i := range p.symbols {
		p.symbols[i].clear(rows)
	}
	for _, f := range c.absent {
		for row := range rows {
			if f.what == numericField {
				p.values[f.slot*rows+row] = missingNumber
			} else {
				p.symbols[f.slot].codes[row] = -1
			}
		}
	}
	p.fields = resized(p.fields, len(c.columns))
	p.text = p.text[:0]
	p.texts = resized(p.texts, len(c.texts))
	for i := range p.texts {
		p.texts[i] = resized(p.texts[i], rows)
	}
	if c.raw {
		p.raw = resized(p.raw, rows)
	}
	if c.label >= 0 {
		p.labels.clear(rows)
		p.tally = p.tally[:0]
	}
	if c.weight >= 0 {
		p.weight = resized(p.weight, rows)
		p.line = resized(p.line, rows)
	}
}

func (c *delimitedScan) isEmpty(b []byte, at int) bool {
	return len(trimBlanks(b[at:c.fieldEnd(b, at)])) == 0
}

// fieldEnd returns the end of the field that begins at a place: a delimiter, the end of the line, or a byte
// at which the scan gives up, which is a quote, a NUL byte or not UTF-8. Numbers do not contain these.
func (c *delimitedScan) fieldEnd(b []byte, at int) int {
	end := at
	for !c.stops[b[end]] {
		end++
	}
	if b[end] < utf8.RuneSelf {
		return end
	}
	wide := end
	for !c.stops[b[end]] || b[end] >= utf8.RuneSelf {
		end++
	}
	if !utf8.Valid(b[wide:end]) {
		return wide
	}
	return end
}

// row parses the row that begins at a place and returns the start of the next one, -1 if it gives up.
func (c *delimitedScan) row(p *chunkRows, b []byte, at int) int {
	values, stride, stop := p.values[min(p.count, len(p.values)):], p.stride, c.delimiter
	stops := [2]byte{stop, stop}
	columns := c.columns
	for i := 0; i < len(columns); i++ {
		for b[at] == ' ' {
			at++
		}
		f := &columns[i]
		if f.run > 0 {
			n := 0
			if n, at = kernel.Decimals(b, at, stops, values[f.slot*stride:], stride, f.run); n > 0 {
				i += n - 1
				continue
			}
		}
		if i == len(columns)-1 {
			stop = '\n'
		}
		if f.what == numericField && c.direct {
			if v, end := readNumber(b, at); end > at && b[end] == stop {
				values[f.slot*stride] = v
				at = end + 1
				continue
			}
		}
		end := c.fieldEnd(b, at)
		if f.what != ignored && !c.put(p, f, b, at, end) {
			return -1
		}
		if b[end] == '\r' && stop == '\n' {
			end++
		}
		if b[end] != stop {
			return -1
		}
		at = end + 1
	}
	return at
}

// blankRow is row for fields separated by runs of blanks.
func (c *delimitedScan) blankRow(p *chunkRows, b []byte, at int) int {
	for i := range c.columns {
		f := &c.columns[i]
		for isBlank(b[at]) {
			at++
		}
		end := at
		if f.what == numericField && c.direct {
			var v float64
			if v, end = readNumber(b, at); end > at && (isBlank(b[end]) || isLineEnd(b[end])) {
				p.values[f.slot*p.stride+p.count] = v
				at = end
				continue
			}
		}
		if end = c.fieldEnd(b, at); end == at || !isBlank(b[end]) && !isLineEnd(b[end]) {
			return -1
		}
		if f.what != ignored && !c.put(p, f, b, at, end) {
			return -1
		}
		at = end
	}
	for isBlank(b[at]) {
		at++
	}
	if b[at] == '\r' {
		at++
	}
	if b[at] != '\n' {
		return -1
	}
	return at + 1
}

// put parses or keeps the field from begin to end. It returns false if the scan must give up.
func (c *delimitedScan) put(p *chunkRows, f *columnScan, b []byte, begin, end int) bool {
	for begin < end && isBlank(b[begin]) {
		begin++
	}
	for begin < end && isBlank(b[end-1]) {
		end--
	}
	switch f.what {
	case keptField:
		p.fields[f.column] = span{int32(begin), int32(end)}
	case numericField:
		if f.derived.part != schema.Whole {
			v, ok := c.missing.derivedNumber(f.derived, b[begin:end])
			p.values[f.slot*p.stride+p.count] = v
			return ok
		}
		v, what := c.missing.numberIn(f.derived.unit, b[begin:end])
		if what != number {
			return false
		}
		p.values[f.slot*p.stride+p.count] = v
	case categoricalField:
		s := &p.symbols[f.slot]
		if c.missing.has(b[begin:end]) {
			s.codes[p.count] = -1
		} else {
			s.put(b, span{int32(begin), int32(end)}, p.count)
		}
	}
	return true
}

// endRow parses the kept fields of a row: label, weight, late features and text.
func (c *delimitedScan) endRow(p *chunkRows, b []byte) bool {
	if c.label >= 0 {
		label := p.fields[c.label]
		switch missing := c.missing.has(label.of(b)); {
		case missing && !c.unlabelled:
			return false
		case missing:
			p.labels.codes[p.count] = -1
		}
	}
	if c.weight >= 0 {
		field := p.fields[c.weight].of(b)
		w, what := c.missing.parse(field)
		if what != number || w < 0 || c.missing.has(field) {
			return false
		}
		if w == 0 {
			return true
		}
		p.weight[p.count], p.line[p.count] = w, int32(p.lines)
	}
	if c.label >= 0 && !c.missing.has(p.fields[c.label].of(b)) {
		p.labels.put(b, p.fields[c.label], p.count)
	}
	for i := range c.late {
		f := &c.late[i]
		if field := p.fields[f.column]; !c.put(p, f, b, int(field.begin), int(field.end)) {
			return false
		}
	}
	for i, column := range c.texts {
		p.texts[i][p.count] = string(p.fields[column].of(b))
	}
	if c.raw {
		row := make([]string, len(p.fields))
		for i, field := range p.fields {
			row[i] = string(field.of(b))
		}
		p.raw[p.count] = row
	}
	p.count++
	return true
}
