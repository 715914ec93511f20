package table

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"toptau/internal/core/kernel"
)

// libsvmScan parses chunks of LIBSVM text without anything unusual: no comments, no empty lines, only text,
// lines that end with LF or CRLF, valid ascending indices, finite values. It gives up on other chunks, which
// appendLine reads instead, with its errors.
type libsvmScan struct {
	limit      int  // the largest index that is kept
	beyond     bool // larger ones are ignored
	labels     bool // the lines have labels
	unlabelled bool // labels may be absent or missing
	raw        bool
	text       bool // keep the text of rows
	missing    *missingSpellings
}

// scan parses a chunk. It returns false if it gives up.
func (c *libsvmScan) scan(k *chunk) bool {
	p, b := &k.rows, k.padded()
	c.prepare(p, min(bytes.Count(k.text, []byte{'\n'})+1, (len(k.text)+1)/2)) // no line is empty
	for at := 0; at < len(k.text); {
		if p.count == len(p.start) {
			return false
		}
		for isBlank(b[at]) {
			at++
		}
		begin := at
		if at = c.label(p, b, at); at < 0 {
			return false
		}
		if at = c.entries(p, b, at); at < 0 {
			return false
		}
		if c.raw {
			p.raw[p.count] = []string{string(trimBlanks(b[begin:at]))}
		}
		if c.text {
			p.text = append(p.text, string(trimBlanks(b[begin:at])))
		}
		if b[at] == '\r' {
			at++
		}
		if b[at] != '\n' {
			return false
		}
		at++
		p.count++
		p.lines++
	}
	return true
}

// prepare allocates memory for at most the given number of rows.
func (c *libsvmScan) prepare(p *chunkRows, rows int) {
	p.count, p.lines, p.taken, p.passed = 0, 0, 0, 0
	p.beyond, p.beyondFirst = 0, 0
	p.start = resized(p.start, rows)
	p.top = resized(p.top, rows)
	p.index, p.value, p.text = p.index[:0], p.value[:0], p.text[:0]
	p.labels.clear(rows)
	p.tally = p.tally[:0]
	if c.raw {
		p.raw = resized(p.raw, rows)
	}
}

// label parses the label of a line that begins at a place and returns the start of its entries, -1 if it
// gives up. A first token with a colon is an entry. After the label only numbers are accepted, so only the
// label needs the checks for UTF-8 and comments.
func (c *libsvmScan) label(p *chunkRows, b []byte, at int) int {
	begin := at
	for ; !isBlank(b[at]) && !isLineEnd(b[at]); at++ {
		if b[at] == '#' || b[at] == 0 || b[at] >= utf8.RuneSelf {
			return -1
		}
		if b[at] == ':' {
			if c.labels && !c.unlabelled {
				return -1
			}
			p.labels.codes[p.count] = -1
			return begin
		}
	}
	if at == begin {
		return -1 // an empty line
	}
	switch missing := c.labels && c.missing.has(b[begin:at]); {
	case missing && !c.unlabelled:
		return -1
	case missing || !c.labels:
		p.labels.codes[p.count] = -1
	default:
		p.labels.put(b, span{int32(begin), int32(at)}, p.count)
	}
	return at
}

// entries parses the entries of a line and returns the end of the line, -1 if it gives up.
func (c *libsvmScan) entries(p *chunkRows, b []byte, at int) int {
	numbers, order := &p.numbers, order{}
	for {
		for isBlank(b[at]) {
			at++
		}
		if isLineEnd(b[at]) {
			break
		}
		n, next := kernel.Decimals(b, at, [2]byte{':', ' '}, numbers[:], 1, len(numbers))
		if !c.keepAll(p, &order, numbers[:n&^1]) {
			return -1
		}
		at = next
		if n > 0 && n&1 == 0 {
			continue
		}
		index := 0
		if n > 0 {
			index = int(numbers[n-1])
		} else if index, at = scanIndexAt(b, at); b[at] != ':' {
			return -1
		} else {
			at++
		}
		var v float64
		if v, at = c.value(b, at); at < 0 || !c.keep(p, &order, index, v) {
			return -1
		}
	}
	p.start[p.count], p.top[p.count] = int32(len(p.index)), int32(order.top)
	return at
}

// order holds the last index of a row, and the last one within the training width.
type order struct{ previous, top int }

// keepAll is keep for alternating indices and values.
func (c *libsvmScan) keepAll(p *chunkRows, o *order, pairs []float64) bool {
	n, previous, limit := len(p.index), o.previous, min(c.limit, MaxFeatures)
	index := slices.Grow(p.index, len(pairs)/2)[:n+len(pairs)/2]
	value := slices.Grow(p.value, len(pairs)/2)[:len(index)]
	for ; len(pairs) > 1; pairs = pairs[2:] {
		i, v := int(pairs[0]), pairs[1]
		if i <= previous || i > limit {
			break
		}
		previous = i
		index[n], value[n] = uint32(i-1), v
		if v != 0 {
			n++
		}
	}
	p.index, p.value = index[:n], value[:n]
	if previous > o.previous {
		o.previous, o.top = previous, previous
	}
	for ; len(pairs) > 1; pairs = pairs[2:] {
		if !c.keep(p, o, int(pairs[0]), pairs[1]) {
			return false
		}
	}
	return true
}

// keep appends an entry. It returns false if the scan must give up. Index 0 also means that there is no digit
// before the colon.
func (c *libsvmScan) keep(p *chunkRows, o *order, index int, v float64) bool {
	if index <= o.previous || index > MaxFeatures || index > c.limit && !c.beyond {
		return false
	}
	o.previous = index
	if index > c.limit {
		if p.beyond == 0 {
			p.beyondFirst = p.lines
		}
		p.beyond++
		return true
	}
	if v != 0 {
		p.index = append(p.index, uint32(index-1))
		p.value = append(p.value, v)
	}
	o.top = index
	return true
}

// scanIndexAt parses at most nine digits, the length of MaxFeatures, and returns the place after them.
func scanIndexAt(b []byte, at int) (int, int) {
	x := binary.LittleEndian.Uint64(b[at:]) ^ zeros
	if nonDigits(x) == 0 {
		index, end := int(eightDigits(x)), at+8
		if digit := b[end] - '0'; digit <= 9 {
			return index*10 + int(digit), end + 1
		}
		return index, end
	}
	index, n := leadingDigits(x)
	return int(index), at + n
}

// value parses a value and returns the place after it, -1 if it gives up.
func (c *libsvmScan) value(b []byte, at int) (float64, int) {
	if digit := b[at] - '0'; digit <= 9 && (b[at+1] == ' ' || b[at+1] == '\n') {
		return float64(digit), at + 1
	}
	v, end := readNumber(b, at)
	if end > at && (isBlank(b[end]) || isLineEnd(b[end])) {
		return v, end
	}
	for end = at; !isBlank(b[end]) && !isLineEnd(b[end]); {
		end++
	}
	v, what := parseNumber(b[at:end])
	if what != number {
		return 0, -1
	}
	return v, end
}

// entriesBefore returns the number of entries in the rows before a row of LIBSVM text.
func (p *chunkRows) entriesBefore(row int) int {
	if row == 0 {
		return 0
	}
	return int(p.start[row-1])
}
