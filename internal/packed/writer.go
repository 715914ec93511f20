package packed

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/parallel"
)

// Kind is the kind of a column in a packed file.
type Kind string

const (
	Numbers Kind = "numbers" // finite, or NaN for a missing value
	Texts   Kind = "texts"   // "" for a missing value
)

// Column describes a column of a packed file.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
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

// Writer writes a packed file. It holds one block of rows in memory.
type Writer struct {
	file   *atomicfile.File
	head   header
	rows   Values // of the block that is being filled
	filled int
	offset int64
	places []place // by block, then by column
	chunks [][]byte
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
	w := &Writer{file: file, chunks: make([][]byte, len(columns))}
	w.head.Columns, w.head.Header, w.head.BlockRows = columns, header, blockRows(len(columns))
	w.rows = Values{Numbers: make([][]float64, len(columns)), Texts: make([][]string, len(columns))}
	start := binary.LittleEndian.AppendUint32([]byte(magic), version)
	if _, err := file.Write(start); err != nil {
		file.Close()
		return nil, err
	}
	w.offset = int64(len(start))
	return w, nil
}

// Add appends n rows.
func (w *Writer) Add(n int, v *Values) error {
	for first := 0; first < n; {
		take := min(n-first, w.head.BlockRows-w.filled)
		for k, c := range w.head.Columns {
			if c.Kind == Numbers {
				w.rows.Numbers[k] = append(w.rows.Numbers[k], v.Numbers[k][first:first+take]...)
			} else {
				w.rows.Texts[k] = append(w.rows.Texts[k], v.Texts[k][first:first+take]...)
			}
		}
		first, w.filled = first+take, w.filled+take
		if w.filled == w.head.BlockRows {
			if err := w.writeBlock(); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeBlock writes the rows of the block.
func (w *Writer) writeBlock() error {
	parallel.For(len(w.chunks), func(k int) {
		if w.head.Columns[k].Kind == Numbers {
			w.chunks[k] = appendNumbers(w.chunks[k][:0], w.rows.Numbers[k])
			w.rows.Numbers[k] = w.rows.Numbers[k][:0]
		} else {
			w.chunks[k] = appendTexts(w.chunks[k][:0], w.rows.Texts[k])
			w.rows.Texts[k] = w.rows.Texts[k][:0]
		}
	})
	for k, c := range w.chunks {
		if len(c) > math.MaxInt32 {
			return &diag.Error{Kind: diag.Data, Column: w.head.Columns[k].Name, Found: "more than 2 GiB of text in 65,536 rows", Expected: "shorter texts"}
		}
		w.places = append(w.places, place{w.offset, uint32(len(c)), crc32.Checksum(c, castagnoli)})
		if _, err := w.file.Write(c); err != nil {
			return err
		}
		w.offset += int64(len(c))
	}
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
	footer, err := json.Marshal(&w.head)
	if err != nil {
		return err
	}
	footer = append(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), footer...)
	for _, p := range w.places {
		footer = binary.LittleEndian.AppendUint64(footer, uint64(p.offset))
		footer = binary.LittleEndian.AppendUint32(footer, p.length)
		footer = binary.LittleEndian.AppendUint32(footer, p.sum)
	}
	if len(footer) > math.MaxInt32 {
		return fmt.Errorf("the index of a packed file has %d bytes", len(footer))
	}
	end := binary.LittleEndian.AppendUint64(nil, uint64(w.offset))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(footer)))
	end = binary.LittleEndian.AppendUint32(end, crc32.Checksum(footer, castagnoli))
	for _, b := range [][]byte{footer, append(end, endMagic...)} {
		if _, err := w.file.Write(b); err != nil {
			return err
		}
	}
	return w.file.Commit()
}

// Path returns the path of a temporary file.
func (w *Writer) Path() string { return w.file.Path() }

// Close discards the file unless Commit succeeded. It removes a temporary file.
func (w *Writer) Close() { w.file.Close() }

// appendNumbers appends the segments of a chunk of numbers: form, decimals and whether some are missing, a byte each and a fourth, then the data.
func appendNumbers(b []byte, values []float64) []byte {
	for len(values) > 0 {
		n := min(len(values), SegmentRows)
		s := NewNumbers(values[:n])
		b = s.appendTo(b)
		values = values[n:]
	}
	return b
}

// appendTexts appends a chunk of texts: the distinct ones in order of appearance, their number first and the
// length before each, and then their places as segments of whole numbers. A missing value has the place -1.
func appendTexts(b []byte, values []string) []byte {
	list, codes := Distinct(values)
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, v := range list {
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	for len(codes) > 0 {
		n := min(len(codes), SegmentRows)
		s := NewCodes(codes[:n])
		b = s.appendTo(b)
		codes = codes[n:]
	}
	return b
}

// Distinct returns the distinct texts in order of appearance, and the place of each text among them. The empty text,
// which is a missing value, has the place -1.
func Distinct(texts []string) (list []string, places []int32) {
	places = make([]int32, len(texts))
	known := map[string]int32{"": -1}
	for i, text := range texts {
		place, ok := known[text]
		if !ok {
			place = int32(len(list))
			known[text] = place
			list = append(list, text)
		}
		places[i] = place
	}
	return list, places
}

// validName reports whether a column of a packed file may have a name.
func validName(name string) bool { return name != "" && utf8.ValidString(name) }
