package parquet

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"toptau/internal/kernel"
)

// cursor reads the chunk of a column from its start.
type cursor struct {
	leaf *leaf
	meta *chunkMeta
	left int64 // bytes of the chunk
	*cursorSpace

	page    int     // values of the page that are left
	levels  *hybrid // definition levels; nil: all values are there
	decoder decoder // values; nil: indices
	indices *hybrid

	dictionary *values // of the chunk; nil: none
	numbers    []float64
	texts      []string
}

// cursorSpace is memory that the cursors of a column use one after the other, for all row groups.
type cursorSpace struct {
	in           *bufio.Reader
	unpacker     unpacker
	packed       []byte // a page
	level, index []int32
	raw          values
	text         textColumn
}

// newCursor returns a cursor over a chunk.
func (f *File) newCursor(k int, meta *chunkMeta) (*cursor, error) {
	start := meta.data
	if meta.dict > 0 {
		start = min(start, meta.dict)
	}
	if meta.elsewhere {
		return nil, errors.New("a chunk in another file")
	}
	if start < int64(len(magic)) || meta.bytes > f.size-start {
		return nil, errors.New("a chunk outside the file")
	}
	if f.spaces[k] == nil {
		f.spaces[k] = &cursorSpace{in: bufio.NewReaderSize(nil, mostHeader)}
	}
	c := &cursor{leaf: &f.meta.leaves[k], meta: meta, left: meta.bytes, cursorSpace: f.spaces[k]}
	c.in.Reset(io.NewSectionReader(f.file, start, meta.bytes))
	return c, nil
}

// mostHeader bounds the header of a page, which may have statistics.
const mostHeader = 64 << 10

// nextPage reads the next page with values.
func (c *cursor) nextPage() error {
	for {
		b, err := c.in.Peek(int(min(c.left, mostHeader)))
		if err != nil && len(b) == 0 || c.left == 0 {
			return errors.New("the end of the chunk instead of a page")
		}
		r := &thriftReader{b: b}
		h, err := parsePage(r)
		if err != nil {
			return err
		}
		head := len(b) - len(r.b)
		if h.size > mostPage || h.packed > mostPage || int64(head+h.packed) > c.left {
			return fmt.Errorf("a page of %d bytes, %d in the file", h.size, h.packed)
		}
		c.left -= int64(head + h.packed)
		if _, err := c.in.Discard(head); err != nil {
			return err
		}
		switch h.kind {
		case dataPage, dataPageV2, dictionaryPage:
		default: // an index
			if _, err := c.in.Discard(h.packed); err != nil {
				return err
			}
			continue
		}
		if cap(c.packed) < h.packed {
			c.packed = make([]byte, h.packed)
		}
		b = c.packed[:h.packed]
		if _, err := io.ReadFull(c.in, b); err != nil {
			return errors.New("the end of the file in a page")
		}
		if h.hasCRC && crc32.ChecksumIEEE(b) != h.crc {
			return errors.New("a page with another checksum than when it was written")
		}
		if h.kind != dictionaryPage {
			return c.beginPage(&h, b)
		}
		if err := c.readDictionary(&h, b); err != nil {
			return err
		}
	}
}

// readDictionary reads the dictionary of the chunk.
func (c *cursor) readDictionary(h *pageHead, b []byte) error {
	if c.dictionary != nil || h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
		return errPage
	}
	b, err := c.unpacker.unpack(c.meta.codec, b, h.size)
	if err != nil {
		return err
	}
	if h.values > 8*len(b) {
		return errPage
	}
	d, err := newDecoder(c.leaf, encodingPlain, append([]byte(nil), b...))
	if err != nil {
		return err
	}
	c.dictionary = &values{}
	return d.read(h.values, c.dictionary)
}

// beginPage prepares to read the values of a page.
func (c *cursor) beginPage(h *pageHead, b []byte) error {
	c.page, c.levels = h.values, nil
	if h.kind == dataPageV2 {
		if h.repeatBytes+h.levelBytes > len(b) || h.repeatBytes+h.levelBytes > h.size {
			return errPage
		}
		levels := b[h.repeatBytes : h.repeatBytes+h.levelBytes]
		b = b[h.repeatBytes+h.levelBytes:]
		if c.leaf.levels > 0 {
			c.levels = &hybrid{b: append([]byte(nil), levels...), width: bitsFor(c.leaf.levels)}
		}
		packed := c.meta.codec
		if !h.compressed {
			packed = uncompressed
		}
		size := h.size - h.repeatBytes - h.levelBytes
		var err error
		if size == 0 && len(b) == 0 {
			b = nil
		} else if b, err = c.unpacker.unpack(packed, b, size); err != nil {
			return err
		}
		return c.beginValues(h.encoding, b)
	}
	b, err := c.unpacker.unpack(c.meta.codec, b, h.size)
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
	return c.beginValues(h.encoding, b)
}

func (c *cursor) beginValues(encoding int, b []byte) (err error) {
	c.decoder, c.indices = nil, nil
	if encoding == encodingDictionary || encoding == encodingPlainDictionary {
		if c.dictionary == nil {
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
func (c *cursor) fill(n int, form Form, to *Values) error {
	to.Numbers, to.Codes = to.Numbers[:0], to.Codes[:0]
	if form == Texts {
		c.text.begin()
	}
	for done := 0; done < n; {
		if c.page == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
			continue
		}
		k := min(n-done, c.page)
		present := k
		if c.levels != nil {
			var err error
			if present, err = c.countPresent(k); err != nil {
				return err
			}
		}
		if err := c.decode(present, form, to, done); err != nil {
			return err
		}
		if present < k {
			c.spread(k, present, form, to)
		}
		done += k
		c.page -= k
	}
	if form == Texts {
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
func (c *cursor) decode(n int, form Form, to *Values, row int) error {
	var err error
	if c.decoder != nil {
		c.raw.ints, c.raw.floats, c.raw.bytes = c.raw.ints[:0], c.raw.floats[:0], c.raw.bytes[:0]
		if err = c.decoder.read(n, &c.raw); err != nil {
			return err
		}
		if form == Texts {
			to.Codes, err = c.text.addAll(c.leaf, &c.raw, n, to.Codes, row)
		} else {
			to.Numbers, err = c.leaf.numbers(&c.raw, n, to.Numbers, row)
		}
		return err
	}
	if c.index, err = c.indices.readInts(n, c.index[:0]); err != nil {
		return err
	}
	size, most := c.dictionary.size(), uint32(0)
	for _, i := range c.index {
		most = max(most, uint32(i))
	}
	if n > 0 && int64(most) >= int64(size) {
		return errPage
	}
	if form == Texts {
		if err := c.dictionaryTexts(row); err != nil {
			return err
		}
		first := len(to.Codes)
		to.Codes = slices.Grow(to.Codes, n)[:first+n]
		for i, v := range c.index {
			to.Codes[first+i] = c.text.base + v
		}
		return nil
	}
	if c.numbers == nil {
		if c.numbers, err = c.leaf.numbers(c.dictionary, size, make([]float64, 0, size), row); err != nil {
			return err
		}
	}
	first := len(to.Numbers)
	to.Numbers = slices.Grow(to.Numbers, n)[:first+n]
	for i, v := range c.index {
		to.Numbers[first+i] = c.numbers[v]
	}
	return nil
}

func (v *values) size() int { return len(v.ints) + len(v.floats) + len(v.bytes) }

// spread moves the last values to their rows among the missing ones.
func (c *cursor) spread(k, present int, form Form, to *Values) {
	if form == Texts {
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
		if low, high, ordered := kernel.Extent(v.floats); !ordered || math.IsInf(low, 0) || math.IsInf(high, 0) {
			for i, x := range v.floats {
				if math.IsInf(x, 0) {
					return nil, &valueError{row: row + i, found: fmt.Sprint(x), expected: "a finite number"}
				}
			}
		}
		return append(to, v.floats...), nil
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
	codes   map[string]int32 // of texts that are not in the chunk's dictionary
	numbers map[int64]int32  // likewise, by the number that a text stands for
	base    int32            // place of the chunk's dictionary in list; -1: not there
}

// begin begins a list of texts.
func (t *textColumn) begin() {
	t.list, t.base = t.list[:0], -1
	clear(t.codes)
	clear(t.numbers)
}

// dictionaryTexts makes the dictionary of the chunk part of the list.
func (c *cursor) dictionaryTexts(row int) error {
	if c.text.base >= 0 {
		return nil
	}
	if c.texts == nil {
		n := c.dictionary.size()
		c.texts = make([]string, n)
		for i := range n {
			text, err := c.leaf.text(c.dictionary, i, row)
			if err != nil {
				return err
			}
			c.texts[i] = text
		}
	}
	c.text.base = int32(len(c.text.list))
	c.text.list = append(c.text.list, c.texts...)
	return nil
}

// addAll appends the codes of n values.
func (t *textColumn) addAll(l *leaf, v *values, n int, to []int32, row int) ([]int32, error) {
	if t.codes == nil {
		t.codes, t.numbers = map[string]int32{}, map[int64]int32{}
	}
	for i := range n {
		var code int32
		var known bool
		if l.physical == byteArrays && l.logical != decimal {
			code, known = t.codes[string(v.bytes[i])]
		} else if len(v.ints) > 0 {
			code, known = t.numbers[v.ints[i]]
		}
		if !known {
			text, err := l.text(v, i, row+i)
			if err != nil {
				return nil, err
			}
			code = int32(len(t.list))
			t.list = append(t.list, text)
			if len(v.ints) > 0 {
				t.numbers[v.ints[i]] = code
			} else {
				t.codes[text] = code
			}
		}
		to = append(to, code)
	}
	return to, nil
}

// text returns value i as text.
func (l *leaf) text(v *values, i, row int) (string, error) {
	switch {
	case l.logical == timestamp:
		return momentText(v.ints[i], l.unit, l.utc), nil
	case l.logical == date:
		return time.Unix(v.ints[i]*86400, 0).UTC().Format(time.DateOnly), nil
	case l.logical == timeOfDay:
		return time.Unix(0, 0).UTC().Add(time.Duration(v.ints[i]) * time.Duration(1e9/l.unit)).Format("15:04:05.999999999"), nil
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
		return strconv.FormatFloat(x[0], 'g', -1, 64), nil
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
	form := "2006-01-02T15:04:05.999999999"
	if utc {
		form += "Z"
	}
	return time.Unix(seconds, rest*(1e9/unit)).UTC().Format(form)
}
