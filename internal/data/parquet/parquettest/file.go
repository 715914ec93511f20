// Package parquettest writes Parquet files for tests that no honest writer makes: pages of any content and claims, with the
// checksums and the footer that belong to them.
package parquettest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// Physical types, encodings, codecs and kinds of pages, as in the format.
const (
	Boolean, Int32, Int64, Double, ByteArray  = 0, 1, 2, 5, 6
	Plain, Dictionary, RLE, Delta, DeltaBytes = 0, 8, 3, 5, 7
	Uncompressed, Snappy, Gzip, LZ4, Zstd     = 0, 1, 2, 7, 6
	Brotli, HadoopLZ4                         = 4, 5
	DataPage, DictionaryPage, DataPageV2      = 0, 2, 3
	NoLogical, UTF8, TimestampMillis          = -1, 0, 9
)

// Column is a column with a chunk of some pages.
type Column struct {
	Name      string
	Physical  int
	Logical   int // the older field, -1: none
	Optional  bool
	Codec     int
	Encrypted bool // has the metadata of an encrypted column
	Pages     []Page
	At        int64 // offset of the chunk; 0: after the one before
	Bytes     int64 // of the chunk; 0: those of its pages
}

// Page is a page and what its header says about it.
type Page struct {
	Kind     int
	Encoding int
	Values   int
	Size     int    // bytes before compression
	Content  []byte // compressed
}

// Data returns a page of values of version 1.
func Data(encoding, values, size int, content []byte) Page {
	return Page{Kind: DataPage, Encoding: encoding, Values: values, Size: size, Content: content}
}

// DictionaryOf returns a page of a dictionary.
func DictionaryOf(values, size int, content []byte) Page {
	return Page{Kind: DictionaryPage, Encoding: Plain, Values: values, Size: size, Content: content}
}

// File returns a file with a row group.
func File(rows int64, columns []Column) []byte {
	b := []byte("PAR1")
	type place struct{ at, bytes int64 }
	places := make([]place, len(columns))
	for i, c := range columns {
		at := int64(len(b))
		for _, p := range c.Pages {
			b = append(b, p.header()...)
			b = append(b, p.Content...)
		}
		places[i] = place{at, int64(len(b)) - at}
		if c.At > 0 {
			places[i].at = c.At
		}
		if c.Bytes > 0 {
			places[i].bytes = c.Bytes
		}
	}
	var w writer
	w.integer(1, i32, 1)
	w.list(2, 1+len(columns), structure)
	w.open()
	w.text(4, "schema")
	w.integer(5, i32, int64(len(columns)))
	w.close()
	for _, c := range columns {
		w.open()
		w.integer(1, i32, int64(c.Physical))
		repetition := int64(0)
		if c.Optional {
			repetition = 1
		}
		w.integer(3, i32, repetition)
		w.text(4, c.Name)
		if c.Logical != NoLogical {
			w.integer(6, i32, int64(c.Logical))
		}
		w.close()
	}
	w.integer(3, i64, rows)
	w.list(4, 1, structure)
	w.open()
	w.list(1, len(columns), structure)
	for i, c := range columns {
		w.open()
		w.field(3, structure)
		w.open()
		w.integer(1, i32, int64(c.Physical))
		w.integer(4, i32, int64(c.Codec))
		w.integer(5, i64, rows)
		w.integer(7, i64, places[i].bytes)
		w.integer(9, i64, places[i].at)
		w.close()
		if c.Encrypted {
			w.field(8, structure)
			w.open()
			w.close()
		}
		w.close()
	}
	w.integer(3, i64, rows)
	w.close()
	w.b = append(w.b, 0)
	b = append(b, w.b...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(w.b)))
	return append(b, "PAR1"...)
}

// header returns the header of a page.
func (p *Page) header() []byte {
	var w writer
	w.integer(1, i32, int64(p.Kind))
	w.integer(2, i32, int64(p.Size))
	w.integer(3, i32, int64(len(p.Content)))
	w.integer(4, i32, int64(int32(crc32.ChecksumIEEE(p.Content))))
	switch p.Kind {
	case DataPage:
		w.field(5, structure)
		w.open()
		w.integer(1, i32, int64(p.Values))
		w.integer(2, i32, int64(p.Encoding))
		w.integer(3, i32, RLE)
	case DictionaryPage:
		w.field(7, structure)
		w.open()
		w.integer(1, i32, int64(p.Values))
		w.integer(2, i32, int64(p.Encoding))
	case DataPageV2:
		w.field(8, structure)
		w.open()
		w.integer(1, i32, int64(p.Values))
		w.integer(4, i32, int64(p.Encoding))
	}
	if len(w.ids) > 0 {
		w.close()
	}
	return append(w.b, 0)
}

// Levels returns definition levels of a page of version 1: n times level.
func Levels(n, level int) []byte {
	run := append(binary.AppendUvarint(nil, uint64(n)<<1), byte(level))
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
}

// PrefixedTexts returns n texts, of which the first has prefix + 1 bytes, and each of the others has one byte of its own after
// the first bytes of the text before it.
func PrefixedTexts(n, prefix int) []byte {
	prefixes, lengths, text := make([]int64, n), make([]int64, n), bytes.Repeat([]byte{'a'}, prefix+1)
	lengths[0] = int64(prefix + 1)
	for i := 1; i < n; i++ {
		prefixes[i], lengths[i] = int64(prefix-i/26), 1
		text = append(text, byte('a'+i%26))
	}
	return slices.Concat(DeltaNumbers(prefixes), DeltaNumbers(lengths), text)
}

// DeltaNumbers returns numbers as differences of 64 bits.
func DeltaNumbers(list []int64) []byte {
	b := []byte{8, 1} // a block of eight numbers in one part
	b = binary.AppendVarint(binary.AppendUvarint(b, uint64(len(list))), list[0])
	for i := 1; i < len(list); i++ {
		if i%8 == 1 {
			b = append(b, 0, 64) // the least difference, bits
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(list[i]-list[i-1]))
	}
	return append(b, make([]byte, (8-(len(list)-1)%8)%8*8)...)
}

// Counted returns the numbers from 0 to n - 1, n - 1 being a multiple of 8, as equal differences.
func Counted(n int) []byte {
	b := binary.AppendUvarint(nil, uint64(n-1))
	b = binary.AppendUvarint(append(b, 1), uint64(n))
	return append(b, 0, 2, 0) // the first number, the least difference, bits
}

// Nested returns a file without rows whose columns are in a group.
func Nested(group string, columns int) []byte {
	return schemaFile(columns+2, func(w *writer) {
		w.open()
		w.text(4, group)
		w.integer(5, i32, int64(columns))
		w.close()
		for range columns {
			w.open()
			w.integer(1, i32, Double)
			w.text(4, "c")
			w.close()
		}
	})
}

// Schema returns a file whose schema has n empty entries.
func Schema(n int) []byte {
	return schemaFile(n+1, func(w *writer) { w.b = append(w.b, make([]byte, n)...) })
}

// schemaFile returns a file of a schema alone: a root with an entry, and what write adds.
func schemaFile(entries int, write func(w *writer)) []byte {
	var w writer
	w.list(2, entries, structure)
	w.open()
	w.integer(5, i32, 1)
	w.close()
	write(&w)
	w.b = append(w.b, 0)
	b := append([]byte("PAR1"), w.b...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(w.b))), "PAR1"...)
}

// Types of the compact protocol of Thrift.
const (
	i32       = 5
	i64       = 6
	bytesKind = 8
	listKind  = 9
	structure = 12
)

// writer writes structures in the compact protocol.
type writer struct {
	b    []byte
	last int
	ids  []int
}

func (w *writer) open() { w.ids, w.last = append(w.ids, w.last), 0 }
func (w *writer) close() {
	w.b, w.last, w.ids = append(w.b, 0), w.ids[len(w.ids)-1], w.ids[:len(w.ids)-1]
}

func (w *writer) field(id, kind int) {
	w.b = append(w.b, byte((id-w.last)<<4|kind)) // ids rise by less than 16
	w.last = id
}

func (w *writer) integer(id, kind int, v int64) {
	w.field(id, kind)
	w.b = binary.AppendVarint(w.b, v) // zigzag
}

func (w *writer) text(id int, s string) {
	w.field(id, bytesKind)
	w.b = append(binary.AppendUvarint(w.b, uint64(len(s))), s...)
}

func (w *writer) list(id, n, kind int) {
	w.field(id, listKind)
	w.b = binary.AppendUvarint(append(w.b, 0xf0|byte(kind)), uint64(n))
}
