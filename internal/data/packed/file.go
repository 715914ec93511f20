package packed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"toptau/diag"
)

// File is a packed file that is open for reading. It is safe for concurrent use. Chunks that were read last
// stay in memory, up to a limit.
//
// The methods that return values return an error of kind diag.Data if the file was damaged or became shorter.
type File struct {
	path   string
	file   *os.File
	head   header
	places []place
	sound  []atomic.Bool // by chunk: its content was checked, besides its checksum
	kept   keptChunks
	bytes  atomic.Int64 // read so far
}

// Is reports whether a file begins like a packed file.
func Is(prefix []byte) bool { return strings.HasPrefix(string(prefix), magic[:min(len(magic), 8)]) }

// maxFooter bounds the footer of a packed file, which is read into memory: 1 GiB has the places of 60 million
// chunks.
const maxFooter = 1 << 30

// New reads the footer of a packed file that is open. The File closes it. Errors are *diag.Error.
func New(file *os.File) (*File, error) {
	f := &File{path: file.Name(), file: file}
	if err := f.readFooter(); err != nil {
		file.Close()
		return nil, err
	}
	f.sound = make([]atomic.Bool, len(f.places))
	f.kept.limit = keptBytes
	return f, nil
}

// damaged is the error of a file that is not as it was written.
func (f *File) damaged(found string) *diag.Error {
	return &diag.Error{Kind: diag.Data, File: f.path, Found: found, Expected: "an intact packed file", Hint: "copy the file again, or pack its source again"}
}

// readFooter reads and checks everything but the chunks.
func (f *File) readFooter() error {
	info, err := f.file.Stat()
	if err != nil {
		return &diag.Error{Kind: diag.IO, File: f.path, Err: err}
	}
	size := info.Size()
	start := make([]byte, prefixBytes)
	if n, _ := f.file.ReadAt(start, 0); n < prefixBytes || string(start[:len(magic)]) != magic {
		return &diag.Error{Kind: diag.Data, File: f.path, Found: "not a packed file", Expected: "a file that was packed"}
	}
	if v := binary.LittleEndian.Uint32(start[len(magic):]); v != version {
		return &diag.Error{Kind: diag.Data, File: f.path, Found: fmt.Sprintf("format %d", v), Expected: fmt.Sprintf("format %d", version),
			Hint: "pack the source again with this version"}
	}
	end := make([]byte, trailerBytes)
	if _, err := f.file.ReadAt(end, max(0, size-int64(trailerBytes))); err != nil || string(end[16:]) != endMagic {
		return f.damaged("no end: the file was cut off or not completed")
	}
	offset, length := int64(binary.LittleEndian.Uint64(end)), int64(binary.LittleEndian.Uint32(end[8:]))
	if offset < int64(prefixBytes) || length > maxFooter || offset+length != size-int64(trailerBytes) {
		return f.damaged("a footer that is not before the end")
	}
	footer := make([]byte, length)
	if _, err := f.file.ReadAt(footer, offset); err != nil || crc32.Checksum(footer, castagnoli) != binary.LittleEndian.Uint32(end[12:]) {
		return f.damaged("a footer with another checksum")
	}
	if err := f.parseFooter(footer, offset); err != nil {
		return f.damaged(err.Error())
	}
	return nil
}

// parseFooter reads the header and the places of the chunks.
func (f *File) parseFooter(b []byte, end int64) error {
	if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
		return errors.New("a footer without a header")
	}
	text := b[4 : 4+binary.LittleEndian.Uint32(b)]
	if err := json.Unmarshal(text, &f.head); err != nil {
		return errors.New("a header that is not JSON")
	}
	h := &f.head
	if h.Rows < 0 || h.BlockRows < SegmentRows || h.BlockRows > 1<<16 || h.BlockRows%SegmentRows != 0 || len(h.Columns) == 0 {
		return fmt.Errorf("%d rows of %d columns in blocks of %d", h.Rows, len(h.Columns), h.BlockRows)
	}
	for _, c := range h.Columns {
		if c.Kind != Numbers && c.Kind != Texts || !validName(c.Name) {
			return fmt.Errorf("a column %q of kind %q", c.Name, c.Kind)
		}
	}
	b = b[4+len(text):]
	blocks := h.Rows / int64(h.BlockRows) // divided, because products of what a file says may overflow
	if h.Rows%int64(h.BlockRows) > 0 {
		blocks++
	}
	if perBlock := len(h.Columns) * placeBytes; len(b)%perBlock != 0 || int64(len(b)/perBlock) != blocks {
		return fmt.Errorf("%d bytes of places for %d blocks of %d columns", len(b), blocks, len(h.Columns))
	}
	f.places = make([]place, len(b)/placeBytes)
	next := int64(prefixBytes)
	for i := range f.places {
		p := place{int64(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])}
		if p.offset != next || p.length > math.MaxInt32 {
			return fmt.Errorf("chunk %d is not after the one before", i+1)
		}
		next += int64(p.length)
		f.places[i], b = p, b[placeBytes:]
	}
	if next != end {
		return errors.New("chunks that do not end before the footer")
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Columns returns the columns.
func (f *File) Columns() []Column { return f.head.Columns }

// Header reports whether the columns have names instead of numbers.
func (f *File) Header() bool { return f.head.Header }

// Source returns the digest of the file that was packed, "" if it is not known.
func (f *File) Source() string { return f.head.Source }

// Rows returns the number of rows.
func (f *File) Rows() int { return int(f.head.Rows) }

// BlockRows returns the number of rows of a block. The last one may have fewer.
func (f *File) BlockRows() int { return f.head.BlockRows }

// Blocks returns the number of blocks.
func (f *File) Blocks() int { return len(f.places) / len(f.head.Columns) }

// rowsOf returns the number of rows of a block.
func (f *File) rowsOf(block int) int {
	return min(f.head.BlockRows, f.Rows()-block*f.head.BlockRows)
}

// Bytes returns the number of bytes of chunks that were read.
func (f *File) Bytes() int64 { return f.bytes.Load() }

// ColumnBytes returns the size of the chunks of a column.
func (f *File) ColumnBytes(column int) int64 {
	bytes := int64(0)
	for at := column; at < len(f.places); at += len(f.head.Columns) {
		bytes += int64(f.places[at].length)
	}
	return bytes
}

// Chunk is the values of a column in a block.
type Chunk struct {
	Dictionary []string  // of texts: the distinct values in order of appearance
	Segments   []Segment // numbers, or places in the dictionary
	memory     []byte    // of the segments
}

// Chunk returns the values of a column in a block. They must not be changed.
func (f *File) Chunk(block, column int) (*Chunk, error) {
	at := block*len(f.head.Columns) + column
	if c := f.kept.get(at); c != nil {
		return c, nil
	}
	c := &Chunk{}
	if err := f.Read(block, column, c); err != nil {
		return nil, err
	}
	f.kept.put(at, c)
	return c, nil
}

// Forget frees the chunks that Chunk keeps.
func (f *File) Forget() { f.kept.forget() }

// Read reads the values of a column in a block into c, whose memory it uses again.
func (f *File) Read(block, column int, c *Chunk) error {
	at := block*len(f.head.Columns) + column
	p := f.places[at]
	if cap(c.memory) < int(p.length) {
		c.memory = make([]byte, p.length+p.length/8)
	}
	b := c.memory[:p.length]
	if _, err := f.file.ReadAt(b, p.offset); err != nil {
		if err == io.EOF {
			return f.inBlock(block, column, "the end of the file")
		}
		e := f.inBlock(block, column, "")
		e.Kind, e.Err, e.Hint = diag.IO, err, ""
		return e
	}
	f.bytes.Add(int64(p.length))
	if crc32.Checksum(b, castagnoli) != p.sum {
		return f.inBlock(block, column, "another checksum than when it was written")
	}
	err := c.parse(b, f.head.Columns[column].Kind, f.rowsOf(block))
	if err == nil && !f.sound[at].Load() {
		if err = c.check(f.head.Columns[column].Kind); err == nil {
			f.sound[at].Store(true)
		}
	}
	if err != nil {
		return f.inBlock(block, column, err.Error())
	}
	return nil
}

// inBlock is the error of a chunk.
func (f *File) inBlock(block, column int, found string) *diag.Error {
	e := f.damaged(fmt.Sprintf("block %d of %d (rows %d to %d): %s", block+1, f.Blocks(), block*f.head.BlockRows+1,
		block*f.head.BlockRows+f.rowsOf(block), found))
	e.Column = f.head.Columns[column].Name
	return e
}

// parse reads a chunk of some rows, whose segments keep the memory of b.
func (c *Chunk) parse(b []byte, kind Kind, rows int) error {
	c.Dictionary, c.Segments = c.Dictionary[:0], c.Segments[:0]
	if kind == Texts {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)) {
			return errSegment
		}
		b = b[size:]
		for range n {
			length, size := binary.Uvarint(b)
			if size <= 0 || length > uint64(len(b)-size) {
				return errSegment
			}
			c.Dictionary = append(c.Dictionary, string(b[size:size+int(length)]))
			b = b[size+int(length):]
		}
	}
	for rows > 0 {
		n := min(rows, SegmentRows)
		s, rest, err := readSegment(b, n)
		if err != nil {
			return err
		}
		c.Segments, b, rows = append(c.Segments, s), rest, rows-n
	}
	if len(b) > 0 {
		return errSegment
	}
	return nil
}

// size returns about the memory of the chunk.
func (c *Chunk) size() int64 {
	const text = 16 // the header of a string
	return int64(cap(c.memory) + text*len(c.Dictionary))
}

// check checks what readers rely on: numbers are finite or NaN, texts are UTF-8, and places are in the dictionary.
func (c *Chunk) check(kind Kind) error {
	var numbers [SegmentRows]float64
	var wholes [SegmentRows]int32
	for i := range c.Segments {
		s := &c.Segments[i]
		n := s.Rows()
		if kind == Numbers {
			for _, v := range s.Numbers(0, n, numbers[:]) {
				if math.IsInf(v, 0) {
					return errors.New("a number that is not finite")
				}
			}
			continue
		}
		if s.form > decimal32 || s.power != 1 {
			return errSegment
		}
		s.Wholes(0, wholes[:n])
		for _, v := range wholes[:n] {
			if v < -1 || int(v) >= len(c.Dictionary) {
				return errors.New("a text that is not in the dictionary")
			}
		}
	}
	for _, v := range c.Dictionary {
		if !utf8.ValidString(v) {
			return errors.New("text that is not UTF-8")
		}
	}
	return nil
}

// keptBytes is the memory for chunks that were read last. A block has about 4 MiB, so that each of 8 goroutines has
// the columns of a block. Chosen by hand.
const keptBytes = 32 << 20

// keptChunks are the chunks that were read last.
type keptChunks struct {
	mu    sync.Mutex
	limit int64
	bytes int64
	at    map[int]*Chunk
	order []int // by the time of reading, the first one longest ago
}

func (k *keptChunks) get(at int) *Chunk {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.at[at]
}

func (k *keptChunks) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at, k.order, k.bytes = nil, nil, 0
}

func (k *keptChunks) put(at int, c *Chunk) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == nil {
		k.at = map[int]*Chunk{}
	}
	if k.at[at] != nil {
		return
	}
	k.at[at], k.order, k.bytes = c, append(k.order, at), k.bytes+c.size()
	for k.bytes > k.limit && len(k.order) > 1 {
		old := k.order[0]
		k.bytes -= k.at[old].size()
		delete(k.at, old)
		k.order = k.order[1:]
	}
}
