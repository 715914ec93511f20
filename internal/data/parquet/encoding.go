package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"

	"toptau/internal/core/kernel"
)

// Encodings of values.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingBitPacked       = 4
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingStreamSplit     = 9
)

var errPage = errors.New("a page that is not well-formed")

// values are decoded values of one of three forms.
type values struct {
	ints   []int64 // of boolean, int32s, int64s
	floats []float64
	bytes  [][]byte // of the others
}

// decoder decodes the values of a page from the first on.
type decoder interface {
	// read appends n values. It returns errPage if the page has fewer.
	read(n int, to *values) error
}

// plainValues are values of a fixed size one after the other.
type plainValues struct {
	b        []byte
	physical physical
	width    int
}

func (d *plainValues) read(n int, to *values) error {
	size := n * d.width
	if size > len(d.b) {
		return errPage
	}
	b := d.b[:size]
	d.b = d.b[size:]
	switch d.physical {
	case int32s:
		for i := 0; i < size; i += 4 {
			to.ints = append(to.ints, int64(int32(binary.LittleEndian.Uint32(b[i:]))))
		}
	case int64s:
		for i := 0; i < size; i += 8 {
			to.ints = append(to.ints, int64(binary.LittleEndian.Uint64(b[i:])))
		}
	case floats:
		first := len(to.floats)
		to.floats = slices.Grow(to.floats, n)[:first+n]
		kernel.Widen(b, to.floats[first:])
	case doubles:
		first := len(to.floats)
		to.floats = slices.Grow(to.floats, n)[:first+n]
		list := to.floats[first:]
		for i := range list {
			list[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:][:8]))
		}
	default:
		for i := 0; i < size; i += d.width {
			to.bytes = append(to.bytes, b[i:i+d.width:i+d.width])
		}
	}
	return nil
}

// plainArrays are byte arrays, each after its length.
type plainArrays struct{ b []byte }

func (d *plainArrays) read(n int, to *values) error {
	for range n {
		if len(d.b) < 4 {
			return errPage
		}
		size := int64(binary.LittleEndian.Uint32(d.b))
		if size > int64(len(d.b)-4) {
			return errPage
		}
		to.bytes = append(to.bytes, d.b[4:4+size:4+size])
		d.b = d.b[4+size:]
	}
	return nil
}

// plainBits are truth values of a bit.
type plainBits struct {
	b    []byte
	next int
}

func (d *plainBits) read(n int, to *values) error {
	if d.next+n > 8*len(d.b) {
		return errPage
	}
	for range n {
		to.ints = append(to.ints, int64(d.b[d.next/8]>>(d.next%8)&1))
		d.next++
	}
	return nil
}

// hybrid decodes runs of equal numbers and of numbers of some bits: levels, indices of a dictionary, truth values.
type hybrid struct {
	b      []byte
	width  int // bits of a number
	run    int // numbers left in a run
	value  int32
	packed []byte // the packed numbers of the run; nil: all are value
	bit    int    // of packed
}

// allEqual passes over the next n numbers and returns true if they are in one run of that value, as the levels of rows without a
// missing value are. It needs n > 0.
func (d *hybrid) allEqual(n int, value int32) (bool, error) {
	if d.run == 0 {
		if err := d.nextRun(); err != nil {
			return false, err
		}
	}
	if d.run < n || d.packed != nil || d.value != value {
		return false, nil
	}
	d.run -= n
	return true, nil
}

// readInts appends n numbers.
func (d *hybrid) readInts(n int, to []int32) ([]int32, error) {
	to = slices.Grow(to, n)
	for n > 0 {
		if d.run == 0 {
			if err := d.nextRun(); err != nil {
				return to, err
			}
			continue
		}
		k := min(n, d.run)
		if d.packed == nil {
			for range k {
				to = append(to, d.value)
			}
		} else {
			to = d.unpack(k, to)
		}
		d.run -= k
		n -= k
	}
	return to, nil
}

func (d *hybrid) nextRun() error {
	head, n := binary.Uvarint(d.b)
	if n <= 0 || head>>1 > math.MaxInt32 {
		return errPage
	}
	d.b = d.b[n:]
	if head&1 == 1 {
		groups := int(head >> 1)
		size := min(groups*d.width, len(d.b)) // the last run may be cut off
		if groups == 0 || size == 0 && d.width > 0 {
			return errPage
		}
		d.packed, d.bit, d.run = d.b[:size], 0, 8*groups
		if d.width > 0 {
			d.run = min(d.run, 8*size/d.width)
		}
		d.b = d.b[size:]
		if d.width == 0 {
			d.packed, d.value = nil, 0
		}
		return nil
	}
	size := (d.width + 7) / 8
	if head>>1 == 0 || size > len(d.b) {
		return errPage
	}
	v := uint32(0)
	for i, c := range d.b[:size] {
		v |= uint32(c) << (8 * i)
	}
	d.packed, d.value, d.run = nil, int32(v), int(head>>1)
	d.b = d.b[size:]
	return nil
}

// unpack appends n numbers of the run.
func (d *hybrid) unpack(n int, to []int32) []int32 {
	mask := uint64(1)<<d.width - 1
	first := len(to)
	to = slices.Grow(to, n)[:first+n]
	bit, list := d.bit, to[first:]
	for i := range list {
		var word uint64
		if at := bit / 8; at+8 <= len(d.packed) {
			word = binary.LittleEndian.Uint64(d.packed[at:])
		} else {
			for i, c := range d.packed[at:] {
				word |= uint64(c) << (8 * i)
			}
		}
		list[i] = int32(uint32(word >> (bit % 8) & mask))
		bit += d.width
	}
	d.bit = bit
	return to
}

// read is decoder.read for truth values.
func (d *hybrid) read(n int, to *values) error {
	list, err := d.readInts(n, nil)
	for _, v := range list {
		to.ints = append(to.ints, int64(v))
	}
	return err
}

// delta decodes whole numbers by their differences (DELTA_BINARY_PACKED). A block has the smallest of its differences and is divided into
// parts of equal size, each with the width in bits of what its differences exceed that by.
type delta struct {
	b        []byte // what is not read yet
	narrow   bool   // numbers of 32 bits, in which sums wrap
	block    int    // numbers in a block
	parts    int    // of a block
	left     int    // numbers that are not returned yet
	value    int64  // the last number
	first    bool   // the first number, which is no difference, is not returned yet
	smallest int64  // difference of the block
	widths   []byte // of the parts of the block
	begun    int    // parts of the block; all: the next number begins a block
	partLeft int    // numbers of the part that are not returned yet
	bit      int    // place of the next number in the part
}

// newDelta reads the header of a page of numbers, which are narrow if they have 32 bits.
func newDelta(b []byte, narrow bool) (*delta, error) {
	d := &delta{b: b, narrow: narrow, first: true}
	for _, to := range []*int{&d.block, &d.parts, &d.left} {
		var err error
		if *to, err = d.uvarint(); err != nil {
			return nil, err
		}
	}
	if d.parts == 0 || d.parts > 1<<16 || d.block%d.parts != 0 || d.block/d.parts%8 != 0 || d.block == 0 {
		return nil, errPage
	}
	var err error
	if d.value, err = d.varint(); d.narrow && d.value != int64(int32(d.value)) {
		return nil, errPage
	}
	d.begun = d.parts
	return d, err
}

func (d *delta) uvarint() (int, error) {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > math.MaxInt32 {
		return 0, errPage
	}
	d.b = d.b[n:]
	return int(v), nil
}

func (d *delta) varint() (int64, error) {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		return 0, errPage
	}
	d.b = d.b[n:]
	return int64(v>>1) ^ -int64(v&1), nil
}

// next returns the next number.
func (d *delta) next() (int64, error) {
	if d.left == 0 {
		return 0, errPage
	}
	d.left--
	if d.first {
		d.first = false
		return d.value, nil
	}
	if d.partLeft == 0 {
		if err := d.nextPart(); err != nil {
			return 0, err
		}
	}
	width := int(d.widths[d.begun-1])
	v, ok := bitsAt(d.b, d.bit, width)
	if !ok {
		return 0, errPage
	}
	d.bit += width
	if d.partLeft--; d.partLeft == 0 {
		d.b = d.b[min(len(d.b), d.block/d.parts*width/8):]
		d.bit = 0
	}
	if d.value += d.smallest + int64(v); d.narrow {
		d.value = int64(int32(d.value))
	}
	return d.value, nil
}

// nextPart starts a part, and a block if the last one is complete.
func (d *delta) nextPart() (err error) {
	if d.begun == d.parts {
		if d.smallest, err = d.varint(); err != nil {
			return err
		}
		if len(d.b) < d.parts {
			return errPage
		}
		d.widths, d.b, d.begun = d.b[:d.parts], d.b[d.parts:], 0
	}
	if d.widths[d.begun] > 64 {
		return errPage
	}
	d.begun++
	d.partLeft, d.bit = d.block/d.parts, 0
	return nil
}

// bitsAt returns a number of some bits, at most 64.
func bitsAt(b []byte, bit, width int) (v uint64, ok bool) {
	if width == 0 {
		return 0, true
	}
	if bit+width > 8*len(b) {
		return 0, false
	}
	for done := 0; done < width; {
		at := bit + done
		n := min(8-at%8, width-done)
		v |= uint64(b[at/8]>>(at%8)) & (1<<n - 1) << done
		done += n
	}
	return v, true
}

func (d *delta) read(n int, to *values) error {
	for range n {
		v, err := d.next()
		if err != nil {
			return err
		}
		to.ints = append(to.ints, v)
	}
	return nil
}

// rest passes over the numbers that are left and returns the bytes after them.
func (d *delta) rest() ([]byte, error) {
	for d.left > 0 {
		if _, err := d.next(); err != nil {
			return nil, err
		}
	}
	if d.partLeft > 0 { // the last part is padded
		d.b = d.b[min(len(d.b), d.block/d.parts*int(d.widths[d.begun-1])/8):]
	}
	return d.b, nil
}

// deltaArrays are byte arrays after their lengths, which are coded as differences (DELTA_LENGTH_BYTE_ARRAY). With
// prefixes, each begins like the one before (DELTA_BYTE_ARRAY).
type deltaArrays struct {
	lengths  *delta
	prefixes *delta // nil: none
	b        []byte
	last     []byte
}

func newDeltaArrays(b []byte, prefixes bool) (*deltaArrays, error) {
	d := &deltaArrays{}
	after := func() (*delta, error) {
		list, err := newDelta(b, true)
		if err != nil {
			return nil, err
		}
		copied := *list
		b, err = copied.rest()
		return list, err
	}
	var err error
	if prefixes {
		if d.prefixes, err = after(); err != nil {
			return nil, err
		}
	}
	if d.lengths, err = after(); err != nil {
		return nil, err
	}
	d.b = b
	return d, nil
}

func (d *deltaArrays) read(n int, to *values) error {
	for range n {
		length, err := d.lengths.next()
		if err != nil {
			return err
		}
		if length < 0 || length > int64(len(d.b)) {
			return errPage
		}
		v := d.b[:length:length]
		d.b = d.b[length:]
		if d.prefixes != nil {
			prefix, err := d.prefixes.next()
			if err != nil {
				return err
			}
			if prefix < 0 || prefix > int64(len(d.last)) || prefix+length > maxText {
				return errPage
			}
			v = append(d.last[:prefix:prefix], v...)
			d.last = v
		}
		to.bytes = append(to.bytes, v)
	}
	return nil
}

// maxText bounds a text that is put together from prefixes, so that a short page does not become long.
const maxText = 1 << 16

// streamSplit has all first bytes of the values, then all second ones, and so on.
type streamSplit struct {
	b        []byte
	physical physical
	width    int
	count    int
	next     int
}

func (d *streamSplit) read(n int, to *values) error {
	if d.next+n > d.count {
		return errPage
	}
	whole := make([]byte, n*d.width)
	for j := range d.width {
		from := d.b[j*d.count+d.next:]
		for i := range n {
			whole[i*d.width+j] = from[i]
		}
	}
	d.next += n
	return (&plainValues{whole, d.physical, d.width}).read(n, to)
}

// valueWidth returns the bytes of a value of a fixed size, 0 for others.
func (l *leaf) valueWidth() int {
	return map[physical]int{int32s: 4, int64s: 8, int96s: 12, floats: 4, doubles: 8, fixedArrays: l.width}[l.physical]
}

// newDecoder returns the decoder of a page with an encoding other than that of a dictionary.
func newDecoder(l *leaf, encoding int, b []byte) (decoder, error) {
	width := l.valueWidth()
	switch {
	case encoding == encodingPlain && l.physical == boolean:
		return &plainBits{b: b}, nil
	case encoding == encodingPlain && l.physical == byteArrays:
		return &plainArrays{b}, nil
	case encoding == encodingPlain:
		return &plainValues{b, l.physical, width}, nil
	case encoding == encodingRLE && l.physical == boolean:
		if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
			return nil, errPage
		}
		return &hybrid{b: b[4 : 4+binary.LittleEndian.Uint32(b)], width: 1}, nil
	case encoding == encodingDelta && (l.physical == int32s || l.physical == int64s):
		return newDelta(b, l.physical == int32s)
	case encoding == encodingDeltaLength && l.physical == byteArrays:
		return newDeltaArrays(b, false)
	case encoding == encodingDeltaBytes && (l.physical == byteArrays || l.physical == fixedArrays):
		return newDeltaArrays(b, true)
	case encoding == encodingStreamSplit && width > 0:
		return &streamSplit{b: b, physical: l.physical, width: width, count: len(b) / width}, nil
	}
	return nil, errPage
}

// bitsFor returns the number of bits of numbers up to most.
func bitsFor(most int) int { return bits.Len(uint(most)) }
