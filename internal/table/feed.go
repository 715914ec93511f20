package table

import (
	"bytes"
	"io"
	"runtime"
)

// pace is how a file is cut and by how many it is read. It changes no result; tests use other values than paceOf's.
type pace struct {
	chunk   int  // the usual bytes of a chunk
	largest int  // bytes of a chunk whose lines are long
	ahead   int  // bytes of text that are read ahead, and one chunk more
	workers int  // who scan chunks when a whole file is read
	careful bool // leave every row to the tokenizer
	head    int  // rows that decide the kinds of columns
}

// defaultPace has chunks that, with what is read from them, fit into the second cache of a core.
func defaultPace() pace {
	return pace{chunk: 256 << 10, largest: 8 << 20, ahead: 16 << 20, workers: runtime.GOMAXPROCS(0), head: headRows}
}

// chunk is a piece of a file's text, and the rows in it if it was scanned.
type chunk struct {
	text   []byte // all lines are complete, apart from the file's last one, unless open is set
	open   bool   // it ends inside a line
	failed error  // what follows the text: nil for another chunk, or what the source ended with
	piece  piece
	plain  bool // piece holds the rows

	buffer []byte // text and padding of line ends
	ready  chan struct{}
}

// padding is how many line ends stand behind the text of a chunk, so that a scan may look ahead, and for a last line
// without an end.
const padding = 64

// padded is the text and its padding.
func (c *chunk) padded() []byte { return c.buffer[:len(c.text)+padding] }

// last reports whether the text ends the file.
func (c *chunk) last() bool { return c.failed == io.EOF }

// cutter cuts a stream behind line feeds.
type cutter struct {
	source io.Reader
	pace   pace
	rest   []byte // begins the next chunk
	failed error
}

// cut fills a chunk.
func (k *cutter) cut(c *chunk) {
	if c.buffer == nil {
		c.buffer = make([]byte, k.pace.chunk+padding)
	}
	for len(c.buffer)-padding < len(k.rest) {
		c.buffer = make([]byte, 2*len(c.buffer))
	}
	n := copy(c.buffer, k.rest)
	k.rest = k.rest[:0]
	c.open, c.plain = false, false
	for {
		for n < len(c.buffer)-padding && k.failed == nil {
			n += k.read(c.buffer[n : len(c.buffer)-padding])
		}
		end := n
		if k.failed == nil {
			end = bytes.LastIndexByte(c.buffer[:n], '\n') + 1
			if end == 0 && len(c.buffer)-padding < k.pace.largest {
				grown := make([]byte, 2*len(c.buffer)-padding)
				copy(grown, c.buffer[:n])
				c.buffer = grown
				continue
			}
		}
		if end == 0 {
			end, c.open = n, k.failed == nil
		}
		k.rest = append(k.rest, c.buffer[end:n]...)
		c.text, c.failed = c.buffer[:end], k.failed
		for i := range padding {
			c.buffer[end+i] = '\n'
		}
		return
	}
}

// read reads once.
func (k *cutter) read(to []byte) int {
	for range 100 {
		n, err := k.source.Read(to)
		k.failed = err
		if n > 0 || err != nil {
			return n
		}
	}
	k.failed = io.ErrNoProgress
	return 0
}

// feed hands out the chunks of a file in order: to the tokenizer, as a stream of bytes, and to whoever takes scanned
// rows.
type feed struct {
	cutter  cutter
	scan    func(*chunk) bool // reads the rows of a chunk if it can; nil if it never can
	current *chunk
	offset  int   // of current, taken
	bytes   int64 // of the chunks before current
	crew    *crew
}

func newFeed(source io.Reader, p pace) *feed {
	return &feed{cutter: cutter{source: source, pace: p}}
}

// Read implements io.Reader for the tokenizer.
func (f *feed) Read(p []byte) (int, error) {
	for f.current == nil || f.offset == len(f.current.text) {
		if f.current != nil && f.current.failed != nil {
			return 0, f.current.failed
		}
		f.advance(false)
	}
	n := copy(p, f.current.text[f.offset:])
	f.offset += n
	return n, nil
}

// scanned reports whether the next rows are those of the current chunk, as it was scanned. Where the tokenizer, which
// reads lines, has come to the end of a chunk, and can go on from the next as from there, it takes that one.
func (f *feed) scanned(l *lines, ready bool) bool {
	c := f.current
	switch {
	case f.scan == nil:
		return false
	case c == nil:
		return f.advance(true).plain
	case c.plain && f.offset == 0:
		return true // some of its rows may have been taken
	case c.failed != nil || c.open || f.offset < len(c.text) || l.begin < l.end || !ready:
		return false
	}
	return f.advance(true).plain
}

// advance makes the next chunk the current one, scanned if scan is set and there is a way to.
func (f *feed) advance(scan bool) *chunk {
	if f.current != nil {
		f.bytes += int64(len(f.current.text))
	}
	f.offset = 0
	if f.crew != nil {
		f.current = f.crew.next(f.current)
		return f.current
	}
	if f.current == nil {
		f.current = &chunk{}
	}
	f.cutter.cut(f.current)
	if scan {
		f.read(f.current)
	}
	return f.current
}

// read scans a chunk if its text is complete.
func (f *feed) read(c *chunk) {
	whole := !c.open && (c.failed == nil || c.last()) && len(c.text) > 0
	c.plain = whole && f.scan != nil && f.scan(c)
}

// taken marks the current chunk as read.
func (f *feed) taken() { f.offset = len(f.current.text) }

// consumed returns how many bytes of the file were handed out.
func (f *feed) consumed() int64 { return f.bytes + int64(f.offset) }

// together begins to read ahead with as many workers as the pace says and returns how to end it.
func (f *feed) together() (end func()) {
	if f.cutter.pace.workers < 2 || f.crew != nil || f.current != nil && f.current.failed != nil {
		return func() {}
	}
	f.crew = newCrew(f, f.cutter.pace.workers)
	return func() {
		f.crew.stop()
		f.crew = nil
	}
}

// progress returns how many bytes of the file the chunks up to the current one hold.
func (f *feed) progress() int64 {
	if f.current == nil {
		return 0
	}
	return f.bytes + int64(len(f.current.text))
}
