package table

import (
	"bytes"
	"io"
	"runtime"
)

// chunkPolicy sets the size of chunks and the number of goroutines that scan them. It does not change
// results. Tests use other values than defaultPolicy.
type chunkPolicy struct {
	chunk   int  // the usual number of bytes in a chunk
	largest int  // the limit of a chunk whose lines are long, in bytes
	ahead   int  // the limit of the text that is read ahead, in bytes; one more chunk may be in memory
	workers int  // goroutines that scan chunks when a whole file is read
	careful bool // leave every row to the tokenizer
	head    int  // rows that decide the kinds of columns
}

// defaultPolicy returns chunks that fit, with their parsed rows, into the second-level cache of a core. The
// limits of memory are chosen by hand.
func defaultPolicy() chunkPolicy {
	return chunkPolicy{chunk: 256 << 10, largest: 8 << 20, ahead: 16 << 20,
		workers: runtime.GOMAXPROCS(0), head: headRows}
}

// chunk is a part of a file's text, and its rows if it was scanned.
type chunk struct {
	text    []byte // complete lines, except for the file's last one, unless open is set
	open    bool   // the text ends inside a line
	failed  error  // the error that ended the source after the text; nil: another chunk follows
	rows    chunkRows
	scanned bool // rows holds the rows of the text

	buffer []byte // text and padding
	ready  chan struct{}
}

// padding is the number of line ends after the text of a chunk, so that a scan may look ahead and a last line
// has an end.
const padding = 64

// padded returns the text and its padding.
func (c *chunk) padded() []byte { return c.buffer[:len(c.text)+padding] }

// last reports whether the text ends the file.
func (c *chunk) last() bool { return c.failed == io.EOF }

// chunkCutter cuts a stream into chunks that end with a line feed.
type chunkCutter struct {
	source io.Reader
	waits  func() bool // a read of source would wait; nil: it never does
	policy chunkPolicy
	rest   []byte // the start of the next chunk
	failed error
}

// cut fills a chunk.
func (k *chunkCutter) cut(c *chunk) {
	if c.buffer == nil {
		c.buffer = make([]byte, k.policy.chunk+padding)
	}
	for len(c.buffer)-padding < len(k.rest) {
		c.buffer = make([]byte, 2*len(c.buffer))
	}
	n := copy(c.buffer, k.rest)
	k.rest = k.rest[:0]
	c.open, c.scanned = false, false
	for line := false; ; { // line: the text has the end of a line
		for n < len(c.buffer)-padding && k.failed == nil && !(line && k.waits()) {
			more := k.readOnce(c.buffer[n : len(c.buffer)-padding])
			line = line || k.waits != nil && bytes.IndexByte(c.buffer[n:n+more], '\n') >= 0
			n += more
		}
		end := n
		if k.failed == nil {
			end = bytes.LastIndexByte(c.buffer[:n], '\n') + 1
			if end == 0 && len(c.buffer)-padding < k.policy.largest {
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

// readOnce reads at least one byte, or fails.
func (k *chunkCutter) readOnce(to []byte) int {
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

// chunkQueue hands out the chunks of a file in order: as a stream of bytes to the tokenizer, and as scanned
// rows.
type chunkQueue struct {
	cutter  chunkCutter
	scan    func(*chunk) bool // parses the rows of a chunk if it can; nil: never
	current *chunk
	offset  int   // bytes of current that were read
	bytes   int64 // bytes of the chunks before current, and of the files before this one
	pool    *scanPool
}

// newChunkQueue returns the chunks of source, which reads in.
func newChunkQueue(source io.Reader, in *input, p chunkPolicy) *chunkQueue {
	q := &chunkQueue{cutter: chunkCutter{source: source, policy: p}, bytes: in.before}
	if in.live != nil {
		q.cutter.waits = in.live.waits
	}
	return q
}

// waits reports whether the next record waits for bytes of a live source: the current chunk and the
// tokenizer, which reads it, have none.
func (q *chunkQueue) waits(l *lines) bool {
	c := q.current
	return q.cutter.waits != nil && c != nil && q.offset == len(c.text) && c.failed == nil && l.isBlank() && q.cutter.waits()
}

// Read implements io.Reader for the tokenizer.
func (q *chunkQueue) Read(p []byte) (int, error) {
	for q.current == nil || q.offset == len(q.current.text) {
		if q.current != nil && q.current.failed != nil {
			return 0, q.current.failed
		}
		q.advance(false)
	}
	n := copy(p, q.current.text[q.offset:])
	q.offset += n
	return n, nil
}

// nextIsScanned reports whether the next rows are those of the current, scanned chunk. It advances to the
// next chunk if the tokenizer has read the current one to the end of a line and ready says that the line
// ended a record.
func (q *chunkQueue) nextIsScanned(l *lines, ready bool) bool {
	c := q.current
	switch {
	case q.scan == nil:
		return false
	case c == nil:
		return q.advance(true).scanned
	case c.scanned && q.offset == 0:
		return true // some of its rows may have been read
	case c.failed != nil || c.open || q.offset < len(c.text) || l.begin < l.end || !ready:
		return false
	}
	return q.advance(true).scanned
}

// advance makes the next chunk the current one. It is scanned if scan is set and its rows are usual.
func (q *chunkQueue) advance(scan bool) *chunk {
	if q.current != nil {
		q.bytes += int64(len(q.current.text))
	}
	q.offset = 0
	if q.pool != nil {
		q.current = q.pool.next(q.current)
		return q.current
	}
	if q.current == nil {
		q.current = &chunk{}
	}
	q.cutter.cut(q.current)
	if scan {
		q.scanChunk(q.current)
	}
	return q.current
}

// scanChunk scans a chunk of complete lines.
func (q *chunkQueue) scanChunk(c *chunk) {
	whole := !c.open && (c.failed == nil || c.last()) && len(c.text) > 0
	c.scanned = whole && q.scan != nil && q.scan(c)
}

// markRead marks the current chunk as read.
func (q *chunkQueue) markRead() { q.offset = len(q.current.text) }

// consumed returns the number of bytes of the file that were read.
func (q *chunkQueue) consumed() int64 { return q.bytes + int64(q.offset) }

// scanAhead starts to scan chunks ahead, with the workers of the policy, and returns a function that stops
// it.
func (q *chunkQueue) scanAhead() (stop func()) {
	if q.cutter.policy.workers < 2 || q.pool != nil || q.current != nil && q.current.failed != nil {
		return func() {}
	}
	q.pool = newScanPool(q, q.cutter.policy.workers)
	return func() {
		q.pool.stop()
		q.pool = nil
	}
}

// progress returns the number of bytes of the file up to the end of the current chunk.
func (q *chunkQueue) progress() int64 {
	if q.current == nil {
		return 0
	}
	return q.bytes + int64(len(q.current.text))
}
