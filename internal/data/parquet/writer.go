package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"toptau/internal/data/packed"
)

// Type is the type of a column that is written.
type Type int

const (
	Double Type = iota // NaN is a missing value
	Whole              // 64 bits
	Boolean
	Text // "" is a missing value
)

// WriteColumn describes a column that is written. Its values are optional.
type WriteColumn struct {
	Name string
	Type Type
}

// groupRows is the number of rows of a row group that is written: large enough for few groups and small enough for the
// memory of a stream. pageRows is that of a page.
const (
	groupRows = 1 << 17
	pageRows  = 1 << 14
)

// Writer writes a Parquet file with zstd. It holds one row group in memory.
type Writer struct {
	to      io.Writer
	columns []WriteColumn
	offset  int64
	rows    int64
	held    int // rows of the group
	values  []columnValues
	groups  [][]writtenChunk
	sizes   []int64 // rows of the groups
	zstd    *zstd.Encoder
}

// columnValues are the values of a column in the row group.
type columnValues struct {
	numbers []float64
	wholes  []int64
	truths  []int8 // -1: missing
	texts   []string
}

// writtenChunk is a chunk that was written.
type writtenChunk struct {
	offset, dictionary int64 // dictionary 0: none
	packed, size       int64
	values             int64
}

// NewWriter starts a file.
func NewWriter(to io.Writer, columns []WriteColumn) (*Writer, error) {
	w := &Writer{to: to, columns: columns, values: make([]columnValues, len(columns))}
	var err error
	// One thread, so that the bytes do not depend on their number.
	if w.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
		return nil, err
	}
	return w, w.write([]byte(magic))
}

func (w *Writer) write(b []byte) error {
	_, err := w.to.Write(b)
	w.offset += int64(len(b))
	return err
}

// SetNumber, SetWhole, SetTruth and SetText append the value of a column in the current row.
func (w *Writer) SetNumber(column int, v float64) {
	w.values[column].numbers = append(w.values[column].numbers, v)
}

func (w *Writer) SetWhole(column int, v int64) {
	w.values[column].wholes = append(w.values[column].wholes, v)
}

func (w *Writer) SetTruth(column int, v bool) {
	truth := int8(0)
	if v {
		truth = 1
	}
	w.values[column].truths = append(w.values[column].truths, truth)
}

// SetNoTruth appends a missing value to a column of truth values.
func (w *Writer) SetNoTruth(column int) {
	w.values[column].truths = append(w.values[column].truths, -1)
}

func (w *Writer) SetText(column int, v string) {
	w.values[column].texts = append(w.values[column].texts, v)
}

// EndRow ends a row, all of whose columns have been set.
func (w *Writer) EndRow() error {
	if w.held++; w.held < groupRows {
		return nil
	}
	return w.writeGroup()
}

// Close writes the rest of the rows and the footer. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.held > 0 {
		if err := w.writeGroup(); err != nil {
			return err
		}
	}
	footer := w.footer()
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(footer, magic...))
}

func (w *Writer) writeGroup() error {
	var chunks []writtenChunk
	for k := range w.columns {
		c, err := w.writeChunk(k)
		if err != nil {
			return err
		}
		chunks = append(chunks, c)
		v := &w.values[k]
		v.numbers, v.wholes, v.truths, v.texts = v.numbers[:0], v.wholes[:0], v.truths[:0], v.texts[:0]
	}
	w.groups, w.sizes = append(w.groups, chunks), append(w.sizes, int64(w.held))
	w.rows += int64(w.held)
	w.held = 0
	return nil
}

// writeChunk writes the pages of a column.
func (w *Writer) writeChunk(k int) (c writtenChunk, err error) {
	v := &w.values[k]
	c.values = int64(w.held)
	encoding := encodingPlain
	var places []int32
	width := 0
	if w.columns[k].Type == Text {
		var list []string
		if list, places = packed.Distinct(v.texts); 2*len(list) < len(v.texts) {
			encoding, width = encodingDictionary, bits.Len(uint(max(0, len(list)-1)))
			c.dictionary = w.offset
			var page []byte
			for _, text := range list {
				page = appendArray(page, text)
			}
			if err := w.writePage(&c, dictionaryPage, len(list), encodingPlain, page); err != nil {
				return c, err
			}
		}
	}
	c.offset = w.offset
	for first := 0; first < w.held; first += pageRows {
		n := min(pageRows, w.held-first)
		page := appendLevels(nil, n, func(i int) bool { return !v.missing(w.columns[k].Type, first+i) })
		if encoding == encodingDictionary {
			page = append(page, byte(width))
			var present []int32
			for _, place := range places[first : first+n] {
				if place >= 0 {
					present = append(present, place)
				}
			}
			page = appendHybrid(page, present, width)
		} else {
			page = v.appendPlain(page, w.columns[k].Type, first, n)
		}
		if err := w.writePage(&c, dataPage, n, encoding, page); err != nil {
			return c, err
		}
	}
	return c, nil
}

// missing reports whether a value is missing.
func (v *columnValues) missing(t Type, i int) bool {
	return t == Double && math.IsNaN(v.numbers[i]) || t == Boolean && v.truths[i] < 0 || t == Text && v.texts[i] == ""
}

// appendPlain appends the values of n rows that are not missing.
func (v *columnValues) appendPlain(b []byte, t Type, first, n int) []byte {
	switch t {
	case Double:
		for _, x := range v.numbers[first : first+n] {
			if !math.IsNaN(x) {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
			}
		}
	case Whole:
		for _, x := range v.wholes[first : first+n] {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	case Boolean:
		bit := 0
		for _, x := range v.truths[first : first+n] {
			if x < 0 {
				continue
			}
			if bit%8 == 0 {
				b = append(b, 0)
			}
			b[len(b)-1] |= byte(x) << (bit % 8)
			bit++
		}
	default:
		for _, x := range v.texts[first : first+n] {
			if x != "" {
				b = appendArray(b, x)
			}
		}
	}
	return b
}

func appendArray(b []byte, text string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
}

// appendLevels appends definition levels of 0 and 1 after their length.
func appendLevels(b []byte, n int, there func(i int) bool) []byte {
	levels := make([]int32, n)
	for i := range levels {
		if there(i) {
			levels[i] = 1
		}
	}
	at := len(b)
	b = appendHybrid(append(b, 0, 0, 0, 0), levels, 1)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// appendHybrid appends numbers of some bits: runs of at least eight equal ones, and others packed in groups of eight.
func appendHybrid(b []byte, list []int32, width int) []byte {
	for len(list) > 0 {
		run := 1
		for run < len(list) && list[run] == list[0] {
			run++
		}
		if run >= 8 || run == len(list) {
			b = binary.AppendUvarint(b, uint64(run)<<1)
			for i := range (width + 7) / 8 {
				b = append(b, byte(list[0]>>(8*i)))
			}
			list = list[run:]
			continue
		}
		// Packed groups end where a run of eight begins at the start of a group.
		n := 8
		for n < len(list) && !equalEight(list[n:]) {
			n += 8
		}
		b = binary.AppendUvarint(b, uint64(n/8)<<1|1)
		var word uint64
		filled := 0
		for i := range n {
			v := uint64(0)
			if i < len(list) {
				v = uint64(uint32(list[i]))
			}
			word |= v << filled
			for filled += width; filled >= 8; filled -= 8 {
				b = append(b, byte(word))
				word >>= 8
			}
		}
		list = list[min(n, len(list)):]
	}
	return b
}

// equalEight reports whether a list begins with eight equal numbers.
func equalEight(list []int32) bool {
	if len(list) < 8 {
		return false
	}
	for _, v := range list[1:8] {
		if v != list[0] {
			return false
		}
	}
	return true
}

// maxPage bounds a page that is written. Pages aim at a megabyte, and only very long texts make larger ones.
const maxPage = 256 << 20

// writePage writes a page with its header.
func (w *Writer) writePage(c *writtenChunk, kind, values, encoding int, page []byte) error {
	if len(page) > maxPage {
		return fmt.Errorf("a page of %d bytes", len(page))
	}
	packed := w.zstd.EncodeAll(page, nil)
	t := &thriftWriter{}
	t.open()
	t.integer(1, thriftI32, int64(kind))
	t.integer(2, thriftI32, int64(len(page)))
	t.integer(3, thriftI32, int64(len(packed)))
	if kind == dictionaryPage {
		t.structure(7)
		t.integer(1, thriftI32, int64(values))
		t.integer(2, thriftI32, int64(encoding))
	} else {
		t.structure(5)
		t.integer(1, thriftI32, int64(values))
		t.integer(2, thriftI32, int64(encoding))
		t.integer(3, thriftI32, encodingRLE)
		t.integer(4, thriftI32, encodingRLE)
	}
	t.close()
	t.close()
	c.packed += int64(len(t.b) + len(packed))
	c.size += int64(len(t.b) + len(page))
	if err := w.write(t.b); err != nil {
		return err
	}
	return w.write(packed)
}

var writtenTypes = map[Type]physical{Double: doubles, Whole: int64s, Boolean: boolean, Text: byteArrays}

// footer returns the metadata of the file.
func (w *Writer) footer() []byte {
	t := &thriftWriter{}
	t.open()
	t.integer(1, thriftI32, 2)
	t.list(2, len(w.columns)+1, thriftStruct)
	t.open()
	t.text(4, "schema")
	t.integer(5, thriftI32, int64(len(w.columns)))
	t.close()
	for _, c := range w.columns {
		t.open()
		t.integer(1, thriftI32, int64(writtenTypes[c.Type]))
		t.integer(3, thriftI32, 1) // optional
		t.text(4, c.Name)
		if c.Type == Text {
			t.integer(6, thriftI32, 0)
			t.structure(10)
			t.structure(1)
			t.close()
			t.close()
		}
		t.close()
	}
	t.integer(3, thriftI64, w.rows)
	t.list(4, len(w.groups), thriftStruct)
	for g, chunks := range w.groups {
		t.open()
		total := int64(0)
		t.list(1, len(chunks), thriftStruct)
		for k := range chunks {
			total += chunks[k].size
			w.chunkMeta(t, k, &chunks[k])
		}
		t.integer(2, thriftI64, total)
		t.integer(3, thriftI64, w.sizes[g])
		t.close()
	}
	t.text(6, "toptau")
	t.close()
	return t.b
}

// chunkMeta appends the metadata of a chunk.
func (w *Writer) chunkMeta(t *thriftWriter, k int, c *writtenChunk) {
	t.open()
	first := c.offset
	if c.dictionary > 0 {
		first = c.dictionary
	}
	t.integer(2, thriftI64, first)
	t.structure(3)
	t.integer(1, thriftI32, int64(writtenTypes[w.columns[k].Type]))
	encodings := []int64{encodingPlain, encodingRLE}
	if c.dictionary > 0 {
		encodings = append(encodings, encodingDictionary)
	}
	t.list(2, len(encodings), thriftI32)
	for _, e := range encodings {
		t.b = binary.AppendUvarint(t.b, zigzag(e))
	}
	t.list(3, 1, thriftBinary)
	t.bytes(w.columns[k].Name)
	t.integer(4, thriftI32, int64(zstdCodec))
	t.integer(5, thriftI64, c.values)
	t.integer(6, thriftI64, c.size)
	t.integer(7, thriftI64, c.packed)
	t.integer(9, thriftI64, c.offset)
	if c.dictionary > 0 {
		t.integer(11, thriftI64, c.dictionary)
	}
	t.close()
	t.close()
}
