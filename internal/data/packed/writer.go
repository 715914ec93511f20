package packed

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/core/parallel"
	"toptau/internal/data/atomicfile"
)

// Kind is the kind of a column in a packed file.
type Kind string

const (
	Numbers Kind = "numbers" // finite, or NaN for a missing value
	Texts   Kind = "texts"   // "" for a missing value
)

// Column describes a column of a packed file.
type Column struct {
	Name      string `json:"name"`
	Kind      Kind   `json:"kind"`
	Numeric   bool   `json:"numeric,omitempty"`   // texts of numbers, such as 007, that a number would not give back
	Respelled bool   `json:"respelled,omitempty"` // numbers whose texts in the source are not kept, such as 1.50
}

// header is what the footer of a packed file says in JSON.
type header struct {
	Columns   []Column `json:"columns"`
	Header    bool     `json:"header"` // the columns had names in the source
	Rows      int64    `json:"rows"`
	BlockRows int      `json:"block_rows"`
	Source    string   `json:"source,omitempty"` // SHA-256 of the uncompressed bytes of the file that was packed
}

// Values are some rows, column by column: a column of numbers has Numbers, one of texts Texts.
type Values struct {
	Numbers [][]float64
	Texts   [][]string
}

const (
	magic        = "toptau.pack\n"
	endMagic     = "ttp\n"
	version      = 1
	prefixBytes  = len(magic) + 4
	trailerBytes = 8 + 4 + 4 + len(endMagic) // offset, length and checksum of the footer
	placeBytes   = 8 + 4 + 4                 // offset, length and checksum of a chunk
)

// blockBytes is about the size of a block, which bounds what a reader needs in memory. At 28 columns of four
// bytes a chunk then has 128 KiB, enough for one read of a disk. Chosen by hand.
const blockBytes = 4 << 20

// blockRows returns the number of rows of a block: whole segments, at least one.
func blockRows(columns int) int {
	const most = 1 << 16
	rows := blockBytes / (4 * max(columns, 1))
	return max(SegmentRows, min(most, rows/SegmentRows*SegmentRows))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// place is where a chunk is in the file.
type place struct {
	offset int64
	length uint32
	sum    uint32
}

// Writer writes a packed file. It holds one block of rows in memory: eight bytes for a number, four for a text
// and the distinct texts.
type Writer struct {
	file    *atomicfile.File
	head    header
	columns []openChunk // of the block that is being filled
	filled  int         // rows
	encoded [encodedAtOnce][]byte
	offset  int64
	places  [][]byte // by block: the places of its chunks, by column, as in the footer
}

// openChunk has the values of a column in the block that is being filled. Its slices have the capacity of a whole block, so
// that a file of many columns leaves no garbage.
type openChunk struct {
	numbers []float64
	codes   []int32 // texts by their places in the dictionary
	texts   dictionary
}

// Create starts to write a packed file, which appears when Close succeeds. header says that the columns have
// names, not numbers. Errors are *diag.Error.
func Create(path string, columns []Column, header bool) (*Writer, error) {
	file, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	return newWriter(file, columns, header)
}

// CreateTemporary starts to write a packed file in the system's directory for temporary files. Commit makes it readable at Path,
// until Close removes it.
func CreateTemporary(name string, columns []Column, header bool) (*Writer, error) {
	file, err := atomicfile.Temporary(name)
	if err != nil {
		return nil, err
	}
	return newWriter(file, columns, header)
}

func newWriter(file *atomicfile.File, columns []Column, header bool) (*Writer, error) {
	w := &Writer{file: file}
	w.head.Columns, w.head.Header, w.head.BlockRows = columns, header, blockRows(len(columns))
	w.columns = openChunks(columns, w.head.BlockRows)
	start := binary.LittleEndian.AppendUint32([]byte(magic), version)
	if _, err := file.Write(start); err != nil {
		file.Close()
		return nil, err
	}
	w.offset = int64(len(start))
	return w, nil
}

// openChunks returns empty chunks for blocks of some rows. The system provides their memory when it is used.
func openChunks(columns []Column, rows int) []openChunk {
	chunks, numbers := make([]openChunk, len(columns)), 0
	for _, c := range columns {
		if c.Kind == Numbers {
			numbers++
		}
	}
	values, codes := make([]float64, numbers*rows), make([]int32, (len(columns)-numbers)*rows)
	for k, c := range columns {
		if c.Kind == Numbers {
			chunks[k].numbers, values = values[:0:rows], values[rows:]
		} else {
			chunks[k].codes, codes = codes[:0:rows], codes[rows:]
		}
	}
	return chunks
}

// Add appends n rows.
func (w *Writer) Add(n int, v *Values) error {
	for next := 0; next < n; {
		first, last := next, min(n, next+w.head.BlockRows-w.filled)
		parallel.Ranges(len(w.columns), func(from, to int) {
			for k := from; k < to; k++ {
				c := &w.columns[k]
				if w.head.Columns[k].Kind == Numbers {
					c.numbers = append(c.numbers, v.Numbers[k][first:last]...)
				} else {
					c.codes = c.texts.appendPlaces(c.codes, v.Texts[k][first:last])
				}
			}
		})
		w.filled += last - first
		next = last
		if w.filled == w.head.BlockRows {
			if err := w.writeBlock(); err != nil {
				return err
			}
		}
	}
	return nil
}

// encodedAtOnce is the number of chunks that are encoded in parallel before they are written. Chosen by hand.
const encodedAtOnce = 64

// writeBlock writes the rows of the block.
func (w *Writer) writeBlock() error {
	places := make([]byte, 0, placeBytes*len(w.columns))
	for first := 0; first < len(w.columns); first += encodedAtOnce {
		columns := w.columns[first:min(first+encodedAtOnce, len(w.columns))]
		parallel.For(len(columns), func(k int) { w.encoded[k] = columns[k].encode(w.encoded[k][:0]) })
		for k := range columns {
			b := w.encoded[k]
			if len(b) > math.MaxInt32 {
				return &diag.Error{Kind: diag.Data, Column: w.head.Columns[first+k].Name, Found: "more than 2 GiB of text in 65,536 rows", Expected: "shorter texts"}
			}
			places = binary.LittleEndian.AppendUint64(places, uint64(w.offset))
			places = binary.LittleEndian.AppendUint32(places, uint32(len(b)))
			places = binary.LittleEndian.AppendUint32(places, crc32.Checksum(b, castagnoli))
			if _, err := w.file.Write(b); err != nil {
				return err
			}
			w.offset += int64(len(b))
		}
	}
	w.places = append(w.places, places)
	w.head.Rows += int64(w.filled)
	w.filled = 0
	return nil
}

// Rows returns the number of rows so far.
func (w *Writer) Rows() int { return int(w.head.Rows) + w.filled }

// Commit completes the file. source is the digest of the packed file's source, "" if it is not known.
func (w *Writer) Commit(source string) error {
	if w.filled > 0 {
		if err := w.writeBlock(); err != nil {
			return err
		}
	}
	w.head.Source = source
	description, err := json.Marshal(&w.head)
	if err != nil {
		return err
	}
	footer := append([][]byte{binary.LittleEndian.AppendUint32(nil, uint32(len(description))), description}, w.places...)
	size, sum := 0, uint32(0)
	for _, b := range footer {
		if size += len(b); size > math.MaxInt32 {
			return fmt.Errorf("the index of a packed file has more than %d bytes", math.MaxInt32)
		}
		sum = crc32.Update(sum, castagnoli, b)
		if _, err := w.file.Write(b); err != nil {
			return err
		}
	}
	end := binary.LittleEndian.AppendUint64(nil, uint64(w.offset))
	end = binary.LittleEndian.AppendUint32(end, uint32(size))
	end = binary.LittleEndian.AppendUint32(end, sum)
	if _, err := w.file.Write(append(end, endMagic...)); err != nil {
		return err
	}
	return w.file.Commit()
}

// Path returns the path of a temporary file.
func (w *Writer) Path() string { return w.file.Path() }

// Close discards the file unless Commit succeeded. It removes a temporary file.
func (w *Writer) Close() { w.file.Close() }

// encode appends the bytes of the chunk and empties it.
func (c *openChunk) encode(b []byte) []byte {
	if c.numbers != nil {
		b = appendNumbers(b, c.numbers)
	} else {
		b = appendCodes(c.texts.appendTo(b), c.codes)
	}
	c.numbers, c.codes = c.numbers[:0], c.codes[:0]
	c.texts.clear()
	return b
}

// appendNumbers appends the segments of a chunk of numbers: form, decimals and whether some are missing, a byte each and a
// fourth, then the data.
func appendNumbers(b []byte, values []float64) []byte {
	var space [4 * SegmentRows]byte
	for part := range slices.Chunk(values, SegmentRows) {
		s := numbersIn(part, space[:])
		b = s.appendTo(b)
	}
	return b
}

// appendCodes appends the segments of a chunk of texts.
func appendCodes(b []byte, codes []int32) []byte {
	var space [4 * SegmentRows]byte
	for part := range slices.Chunk(codes, SegmentRows) {
		s := codesIn(part, space[:])
		b = s.appendTo(b)
	}
	return b
}

// dictionary has the distinct texts of some rows in order of appearance. The empty text, which is a missing value, has
// the place -1.
type dictionary struct {
	list   []string
	places map[string]int32
}

// appendPlaces appends the places of texts.
func (d *dictionary) appendPlaces(to []int32, texts []string) []int32 {
	for _, text := range texts {
		place, known := int32(-1), text == ""
		if !known {
			place, known = d.places[text]
		}
		if !known {
			if d.places == nil {
				d.places = map[string]int32{}
			}
			place = int32(len(d.list))
			d.places[text] = place
			d.list = append(d.list, text)
		}
		to = append(to, place)
	}
	return to
}

// appendTo appends the number of texts, then each with its length before it.
func (d *dictionary) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(d.list)))
	for _, text := range d.list {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

func (d *dictionary) clear() {
	clear(d.list)
	clear(d.places)
	d.list = d.list[:0]
}

// Distinct returns the distinct texts in order of appearance, and the place of each text among them. The empty text,
// which is a missing value, has the place -1.
func Distinct(texts []string) (list []string, places []int32) {
	var d dictionary
	places = d.appendPlaces(make([]int32, 0, len(texts)), texts)
	return d.list, places
}

// validName reports whether a column of a packed file may have a name.
func validName(name string) bool { return name != "" && utf8.ValidString(name) }
