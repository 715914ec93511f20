package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/core/kernel"
	"toptau/internal/core/text"
	"toptau/internal/data/memory"
)

// cursor reads the chunk of a column from its start.
type cursor struct {
	leaf *leaf
	meta *chunkMeta
	form Form
	file io.ReaderAt
	at   int64 // offset of the next page in the file
	left int64 // bytes of the chunk
	*cursorSpace

	rows    int     // values of the page that are left
	levels  *hybrid // definition levels; nil: all values are there
	decoder decoder // values; nil: indices
	indices *hybrid

	hasDictionary bool // the dictionary of the chunk, in the column's form:
	numbers       []float64
	texts         []string
}

// cursorSpace is memory that cursors use one after the other. What a file can make large is taken from the budget first.
type cursorSpace struct {
	budget       *budget
	page         []byte // the content of a page
	pageTaken    int    // bytes taken for page, which may be larger since an earlier budget
	dictionary   int64  // bytes taken for dictionaries
	level, index []int32
	raw          values
	text         textColumn
}

// renew prepares for another column, whose pages count from the start.
func (s *cursorSpace) renew(limit int64) {
	s.budget, s.pageTaken, s.dictionary, s.text.taken = &budget{limit: limit}, 0, 0, 0
}

// reserve makes the space for a page large enough.
func (s *cursorSpace) reserve(size int) error {
	if size > s.pageTaken {
		if err := s.budget.take(int64(size - s.pageTaken)); err != nil {
			return err
		}
		s.pageTaken = size
	}
	grow(&s.page, size)
	s.page = s.page[:cap(s.page)]
	return nil
}

// budget bounds the memory of the pages and dictionaries of all columns. What a column has taken, it keeps for its next pages,
// so whether a file fits does not depend on the order in which columns are read.
type budget struct {
	taken atomic.Int64
	limit int64
}

// Bytes of pages, dictionaries and texts that all columns of a file may hold: 96 MiB, and 16 for each byte of the file, which is
// more than files of honest writers need. Chosen by hand.
const (
	budgetBase  = 96 << 20
	budgetTimes = 16
)

// take takes n bytes.
func (b *budget) take(n int64) error {
	if n > b.limit || b.taken.Add(n) > b.limit {
		return &budgetError{b.limit}
	}
	return nil
}

// budgetError is the error of a file whose pages are too large for it.
type budgetError struct{ limit int64 }

func (e *budgetError) Error() string {
	return "pages and dictionaries that take more than " + memory.Size(e.limit) + " together"
}

// newCursor returns a cursor over the chunk of a column in the row group that is read.
func (f *File) newCursor(k int, form Form, space *cursorSpace) (*cursor, error) {
	l := &f.meta.leaves[k]
	if l.refused != "" {
		return nil, &diag.Error{Kind: diag.Data, File: f.path, Column: l.name, Found: l.refused, Expected: "numbers, texts or times",
			Fixes: []diag.Fix{{Param: "drop", Value: l.name}}}
	}
	meta := &f.meta.groups[f.group].chunks[k]
	start := meta.start()
	if meta.elsewhere {
		return nil, errors.New("a chunk in another file")
	}
	if start < int64(len(magic)) || meta.bytes > f.size-start {
		return nil, errors.New("a chunk outside the file")
	}
	return &cursor{leaf: l, meta: meta, form: form, file: f.file, at: start, left: meta.bytes, cursorSpace: space}, nil
}

// uncountedHeader bounds the header of a dictionary, which some writers have left out of the bytes of the chunk, so that its last page
// ends after it. Other readers allow as many bytes.
const uncountedHeader = 100

// The header of a page is read with some of what follows it. A header with statistics may be longer, up to maxHeader.
const (
	firstHeader = 8 << 10
	maxHeader   = 64 << 10
)

// readHead reads the next page's header and returns it with its length and the first bytes of the page.
func (c *cursor) readHead(scratch *[]byte) (h pageHead, rest []byte, err error) {
	for _, most := range []int64{firstHeader, maxHeader} {
		b := grow(scratch, int(min(c.left, most)))
		if _, err := c.file.ReadAt(b, c.at); err != nil {
			return h, nil, errors.New("the end of the file in a page")
		}
		r := &thriftReader{b: b}
		if h, err = parsePage(r); err == nil {
			head := int64(len(b) - len(r.b))
			c.at, c.left = c.at+head, c.left-head
			return h, r.b, nil
		}
	}
	return h, nil, err
}

// grow returns n bytes of *space, which it makes larger if needed.
func grow(space *[]byte, n int) []byte {
	if cap(*space) < n {
		*space = make([]byte, n)
	}
	return (*space)[:n]
}

// scratch has the compressed bytes of a page until they are decompressed.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// nextPage reads the next page with values.
func (c *cursor) nextPage() error {
	packed := scratch.Get().(*[]byte)
	defer scratch.Put(packed)
	for {
		if c.left == 0 {
			return errors.New("the end of the chunk instead of a page")
		}
		h, first, err := c.readHead(packed)
		if err != nil {
			return err
		}
		beyond := int64(h.packed) - c.left
		if beyond > 0 && (beyond > uncountedHeader || !c.hasDictionary) {
			return fmt.Errorf("a page of %d bytes, %d in the chunk", h.packed, c.left)
		}
		at := c.at
		c.at, c.left = c.at+int64(h.packed), max(0, -beyond)
		if h.kind != dataPage && h.kind != dataPageV2 && h.kind != dictionaryPage { // an index
			continue
		}
		b, err := c.readPage(&h, at, first, packed)
		if err != nil {
			return err
		}
		if h.hasCRC && crc32.ChecksumIEEE(b) != h.crc {
			return errors.New("a page with another checksum than when it was written")
		}
		if h.kind != dictionaryPage {
			return c.startPage(&h, b)
		}
		if err := c.readDictionary(&h, b); err != nil {
			return err
		}
	}
}

// readPage returns the bytes of a page without unpacking them, from the offset first: in the column's memory if they are
// not compressed, otherwise in packed.
func (c *cursor) readPage(h *pageHead, at int64, first []byte, packed *[]byte) ([]byte, error) {
	if len(first) >= h.packed && !c.isPlain(h) {
		return first[:h.packed], nil
	}
	var b []byte
	if c.isPlain(h) {
		if err := c.reserve(h.packed); err != nil {
			return nil, err
		}
		b = c.page[:h.packed]
	} else {
		b = grow(packed, h.packed) // with at most the bytes of the chunk
	}
	if _, err := c.file.ReadAt(b, at); err != nil {
		return nil, errors.New("the end of the file in a page")
	}
	return b, nil
}

// isPlain reports whether a page is not compressed.
func (c *cursor) isPlain(h *pageHead) bool { return c.meta.codec == uncompressed || !h.compressed }

// content returns the content of a page of size bytes, from its bytes in the file.
func (c *cursor) content(h *pageHead, b []byte, size int) ([]byte, error) {
	if c.isPlain(h) {
		if len(b) != size {
			return nil, errPage
		}
		return b, nil
	}
	return c.unpack(c.meta.codec, b, size)
}

// readDictionary reads the dictionary of the chunk. Its values are kept in the form of the column alone.
func (c *cursor) readDictionary(h *pageHead, b []byte) error {
	if c.hasDictionary || c.leaf.physical == boolean || h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
		return errPage
	}
	b, err := c.content(h, b, h.size)
	if err != nil {
		return err
	}
	width := cmp.Or(c.leaf.valueWidth(), 4) // of a value, or of the length of a text
	if h.values > len(b)/width {
		return fmt.Errorf("a dictionary of %d values in %d bytes", h.values, len(b))
	}
	// The decoded value, the number or text made from it, and the places in which a reader looks it up take about 64 bytes.
	const entry = 64
	if need := int64(len(b) + entry*h.values); need > c.dictionary {
		if err := c.budget.take(need - c.dictionary); err != nil {
			return err
		}
		c.dictionary = need
	}
	d, err := newDecoder(c.leaf, encodingPlain, b)
	if err != nil {
		return err
	}
	var v values
	if err := d.read(h.values, &v); err != nil {
		return err
	}
	c.hasDictionary = true
	if c.form == Numbers {
		c.numbers, err = c.leaf.numbers(&v, h.values, make([]float64, 0, h.values), 0)
		return err
	}
	c.texts = make([]string, h.values)
	for i := range c.texts {
		if c.texts[i], err = c.leaf.text(&v, i, 0); err != nil {
			return err
		}
	}
	return nil
}

// startPage prepares to read the values of a page.
func (c *cursor) startPage(h *pageHead, b []byte) error {
	c.rows, c.levels = h.values, nil
	if h.kind == dataPageV2 {
		levels := h.repeatBytes + h.levelBytes
		if levels > len(b) || levels > h.size {
			return errPage
		}
		if c.leaf.levels > 0 {
			c.levels = &hybrid{b: bytes.Clone(b[h.repeatBytes:levels]), width: bitsFor(c.leaf.levels)}
		}
		b, size := b[levels:], h.size-levels
		if size > 0 || len(b) > 0 {
			var err error
			if b, err = c.content(h, b, size); err != nil {
				return err
			}
		}
		return c.startValues(h.encoding, b)
	}
	b, err := c.content(h, b, h.size)
	if err != nil {
		return err
	}
	if c.leaf.levels > 0 {
		if h.levelCoding != encodingRLE {
			return fmt.Errorf("levels in encoding %d", h.levelCoding)
		}
		if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
			return errPage
		}
		n := 4 + int(binary.LittleEndian.Uint32(b))
		c.levels = &hybrid{b: b[4:n], width: bitsFor(c.leaf.levels)}
		b = b[n:]
	}
	return c.startValues(h.encoding, b)
}

func (c *cursor) startValues(encoding int, b []byte) (err error) {
	c.decoder, c.indices = nil, nil
	if encoding == encodingDictionary || encoding == encodingPlainDictionary {
		if !c.hasDictionary {
			return errors.New("a page that needs a dictionary, and none is there")
		}
		if len(b) == 0 { // only missing values
			c.indices = &hybrid{}
			return nil
		}
		if b[0] > 32 {
			return errPage
		}
		c.indices = &hybrid{b: b[1:], width: int(b[0])}
		return nil
	}
	if len(b) == 0 && encoding != encodingPlain {
		c.decoder = &plainValues{}
		return nil
	}
	c.decoder, err = newDecoder(c.leaf, encoding, b)
	return err
}

// fill reads the values of the next n rows.
func (c *cursor) fill(n int, to *Values) error {
	to.Numbers, to.Codes = to.Numbers[:0], to.Codes[:0]
	if c.form == Texts {
		c.text.start()
	}
	for done := 0; done < n; {
		if c.rows == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
			continue
		}
		k := min(n-done, c.rows)
		present := k
		if c.levels != nil {
			var err error
			if present, err = c.countPresent(k); err != nil {
				return err
			}
		}
		if err := c.decode(present, to, done); err != nil {
			return err
		}
		if present < k {
			c.spread(k, present, to)
		}
		done += k
		c.rows -= k
	}
	if c.form == Texts {
		to.Dictionary = c.text.list
	}
	return nil
}

// countPresent returns how many of the next n values are not missing. If some are, it sets c.level.
func (c *cursor) countPresent(n int) (int, error) {
	if all, err := c.levels.allEqual(n, int32(c.leaf.levels)); err != nil || all {
		return n, err
	}
	var err error
	if c.level, err = c.levels.readInts(n, c.level[:0]); err != nil {
		return 0, err
	}
	present := 0
	for _, v := range c.level {
		if int(v) == c.leaf.levels {
			present++
		}
	}
	return present, nil
}

// decode appends n values that are not missing.
func (c *cursor) decode(n int, to *Values, row int) error {
	if c.indices == nil {
		step := n
		if d, ok := c.decoder.(*deltaArrays); ok && d.prefixes != nil {
			step = 16 // each may have maxText bytes
		}
		for done := 0; done < n; done += step {
			if err := c.decodeValues(min(step, n-done), to, row+done); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if c.index, err = c.indices.readInts(n, c.index[:0]); err != nil {
		return err
	}
	most := uint32(0)
	for _, i := range c.index {
		most = max(most, uint32(i))
	}
	if n > 0 && int64(most) >= int64(len(c.numbers)+len(c.texts)) {
		return errPage
	}
	if c.form == Texts {
		if c.text.base < 0 {
			c.text.base = int32(len(c.text.list))
			c.text.list = append(c.text.list, c.texts...)
		}
		first := len(to.Codes)
		to.Codes = slices.Grow(to.Codes, n)[:first+n]
		for i, v := range c.index {
			to.Codes[first+i] = c.text.base + v
		}
		return nil
	}
	first := len(to.Numbers)
	to.Numbers = slices.Grow(to.Numbers, n)[:first+n]
	for i, v := range c.index {
		to.Numbers[first+i] = c.numbers[v]
	}
	return nil
}

// decodeValues appends n values that are not indices.
func (c *cursor) decodeValues(n int, to *Values, row int) error {
	if c.form == Numbers && c.leaf.isFloat() { // decoded where they are needed
		first, v := len(to.Numbers), values{floats: to.Numbers}
		if err := c.decoder.read(n, &v); err != nil {
			return err
		}
		to.Numbers = v.floats
		return checkFinite(v.floats[first:], row)
	}
	c.raw.ints, c.raw.floats, c.raw.bytes = c.raw.ints[:0], c.raw.floats[:0], c.raw.bytes[:0]
	err := c.decoder.read(n, &c.raw)
	if err != nil {
		return err
	}
	if c.form == Texts {
		to.Codes, err = c.addTexts(n, to.Codes, row)
	} else {
		to.Numbers, err = c.leaf.numbers(&c.raw, n, to.Numbers, row)
	}
	return err
}

// spread moves the last values to their rows among the missing ones.
func (c *cursor) spread(k, present int, to *Values) {
	if c.form == Texts {
		to.Codes = spread(to.Codes, k, present, c.level, c.leaf.levels, -1)
	} else {
		to.Numbers = spread(to.Numbers, k, present, c.level, c.leaf.levels, math.NaN())
	}
}

func spread[T any](list []T, k, present int, level []int32, full int, missing T) []T {
	first := len(list) - present
	for range k - present {
		list = append(list, missing)
	}
	next := first + present - 1
	for i := k - 1; i >= 0; i-- {
		if int(level[i]) == full {
			list[first+i] = list[next]
			next--
		} else {
			list[first+i] = missing
		}
	}
	return list
}

// numbers appends n values as numbers.
func (l *leaf) numbers(v *values, n int, to []float64, row int) ([]float64, error) {
	switch l.physical {
	case floats, doubles:
		return append(to, v.floats...), checkFinite(v.floats, row)
	case boolean, int32s, int64s:
		return l.wholes(v.ints, to, row)
	}
	for i, b := range v.bytes {
		if l.logical == float16 {
			x := half(binary.LittleEndian.Uint16(b))
			if math.IsInf(x, 0) {
				return nil, &valueError{row: row + i, found: fmt.Sprint(x), expected: "a finite number"}
			}
			to = append(to, x)
			continue
		}
		unscaled, ok := bigEndian(b)
		if !ok || unscaled > largestWhole || unscaled < -largestWhole {
			return nil, &valueError{row: row + i, found: "a decimal of more than 15 digits", expected: "fewer, which a number can hold"}
		}
		to = append(to, float64(unscaled)/math.Pow10(l.scale))
	}
	return to, nil
}

// isFloat reports whether the values are floating-point numbers.
func (l *leaf) isFloat() bool { return l.physical == floats || l.physical == doubles }

// checkFinite returns an error if one of some values, the first of which is that of a row, is infinite.
func checkFinite(list []float64, row int) error {
	if low, high, ordered := kernel.Extent(list); ordered && !math.IsInf(low, -1) && !math.IsInf(high, 1) {
		return nil
	}
	for i, x := range list {
		if math.IsInf(x, 0) {
			return &valueError{row: row + i, found: fmt.Sprint(x), expected: "a finite number"}
		}
	}
	return nil
}

// wholes appends whole numbers, scaled if they are decimals.
func (l *leaf) wholes(ints []int64, to []float64, row int) ([]float64, error) {
	power := math.Pow10(l.scale)
	for i, v := range ints {
		if l.logical == unsigned && l.physical == int32s {
			v = int64(uint32(v))
		}
		if v > largestWhole || v < -largestWhole || l.logical == unsigned && v < 0 {
			return nil, &valueError{row: row + i, found: "the whole number " + l.wholeText(v), expected: "at most 2^53 in size, which a number can hold", asText: true}
		}
		to = append(to, float64(v)/power)
	}
	return to, nil
}

func (l *leaf) wholeText(v int64) string {
	if l.logical == unsigned {
		if l.physical == int32s {
			return strconv.FormatUint(uint64(uint32(v)), 10)
		}
		return strconv.FormatUint(uint64(v), 10)
	}
	return strconv.FormatInt(v, 10)
}

// bigEndian returns a signed number of up to 8 significant bytes.
func bigEndian(b []byte) (int64, bool) {
	v := int64(0)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v = -1
	}
	for i, c := range b {
		if len(b)-i > 8 {
			if int64(int8(c)) != v {
				return 0, false
			}
			continue
		}
		if len(b)-i == 8 && len(b) > 8 && (c&0x80 != 0) != (v < 0) {
			return 0, false
		}
		v = v<<8 | int64(c)
	}
	return v, true
}

// half returns a number of 16 bits.
func half(b uint16) float64 {
	sign, exponent, fraction := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// textColumn collects the distinct texts of some rows.
type textColumn struct {
	list    []string
	bytes   int64            // of list, without the chunk's dictionary
	taken   int64            // from the budget
	codes   map[string]int32 // of texts that are not in the chunk's dictionary, by their bytes in the file
	numbers map[int64]int32  // likewise, by the number that a text stands for
	base    int32            // place of the chunk's dictionary in list; -1: not there
}

// start starts a list of texts.
func (t *textColumn) start() {
	t.list, t.bytes, t.base = t.list[:0], 0, -1
	clear(t.codes)
	clear(t.numbers)
}

// addTexts appends the codes of the n raw values.
func (c *cursor) addTexts(n int, to []int32, row int) ([]int32, error) {
	t, l, v := &c.text, c.leaf, &c.raw
	if t.codes == nil {
		t.codes, t.numbers = map[string]int32{}, map[int64]int32{}
	}
	for i := range n {
		var code int32
		var known bool
		if len(v.bytes) > 0 {
			code, known = t.codes[string(v.bytes[i])]
		} else if len(v.ints) > 0 {
			code, known = t.numbers[v.ints[i]]
		}
		if !known {
			text, err := l.text(v, i, row+i)
			if err != nil {
				return nil, err
			}
			if t.bytes += int64(len(text)); t.bytes > t.taken {
				step := max(t.bytes-t.taken, 64<<10)
				if err := c.budget.take(step); err != nil {
					return nil, err
				}
				t.taken += step
			}
			code = int32(len(t.list))
			t.list = append(t.list, text)
			switch {
			case len(v.ints) > 0:
				t.numbers[v.ints[i]] = code
			case l.form() == Texts && l.physical == byteArrays: // the text is the bytes
				t.codes[text] = code
			case len(v.bytes) > 0:
				t.codes[string(v.bytes[i])] = code
			}
		}
		to = append(to, code)
	}
	return to, nil
}

// text returns value i as text.
func (l *leaf) text(v *values, i, row int) (string, error) {
	switch {
	case l.physical == int96s:
		return julianText(v.bytes[i], row)
	case l.logical == timestamp:
		return momentText(v.ints[i], l.unit, l.utc), nil
	case l.logical == date:
		return time.Unix(v.ints[i]*86400, 0).UTC().Format(time.DateOnly), nil
	case l.logical == timeOfDay:
		if v.ints[i] < 0 || v.ints[i]/l.unit >= 86400 {
			return "", &valueError{row: row, found: fmt.Sprintf("the time of day %d/%d seconds", v.ints[i], l.unit), expected: "one of 24 hours"}
		}
		return time.Unix(0, v.ints[i]*(1e9/l.unit)).UTC().Format("15:04:05.999999999"), nil
	case l.logical == uuid:
		h := hex.EncodeToString(v.bytes[i])
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
	case l.logical != decimal && (l.physical == int32s || l.physical == int64s || l.physical == boolean):
		return l.wholeText(v.ints[i]), nil
	case l.form() == Numbers:
		one := &values{}
		switch {
		case len(v.ints) > 0:
			one.ints = v.ints[i : i+1]
		case len(v.floats) > 0:
			one.floats = v.floats[i : i+1]
		default:
			one.bytes = v.bytes[i : i+1]
		}
		x, err := l.numbers(one, 1, nil, row)
		if err != nil {
			return "", err
		}
		if x[0] != x[0] {
			return "", nil
		}
		return text.Decimal(x[0]), nil
	}
	b := v.bytes[i]
	if !utf8.Valid(b) {
		return "", &valueError{row: row, found: "bytes that are not UTF-8", expected: "UTF-8 text"}
	}
	for _, c := range b {
		if c == 0 {
			return "", &valueError{row: row, found: "a NUL byte", expected: "text"}
		}
	}
	return string(b), nil
}

// momentText returns a time in the form in which text files have it, with a zone if it is UTC.
func momentText(v, unit int64, utc bool) string {
	seconds, rest := v/unit, v%unit
	if rest < 0 {
		seconds, rest = seconds-1, rest+unit
	}
	form := momentForm
	if utc {
		form += "Z"
	}
	return time.Unix(seconds, rest*(1e9/unit)).UTC().Format(form)
}

const momentForm = "2006-01-02T15:04:05.999999999"

// julianText returns a time of 96 bits: nanoseconds of a day, then its Julian number. No 64 bits hold all of them.
func julianText(b []byte, row int) (string, error) {
	const epoch, inDay = 2440588, 86400e9 // the Julian day of 1970-01-01; nanoseconds
	day, nanos := int64(int32(binary.LittleEndian.Uint32(b[8:]))), binary.LittleEndian.Uint64(b)
	if day < 0 || nanos >= inDay { // a writer has exceeded its 64 bits
		return "", &valueError{row: row, found: fmt.Sprintf("nanosecond %d of the Julian day %d", int64(nanos), day), expected: "a time from day 0 on"}
	}
	return time.Unix((day-epoch)*86400, int64(nanos)).UTC().Format(momentForm), nil
}
