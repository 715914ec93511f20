package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

const (
	// MaxLine is the longest line or quoted record in bytes: 32 MiB. A buffer that doubles has three times as much, and the head of a file is
	// read twice: a small file may take 300 MB in all.
	MaxLine = 32 << 20

	// firstBuffer is the initial size of a line buffer, which grows for longer lines.
	firstBuffer = 64 << 10
)

var errLongLine = errors.New("a line beyond the limit")

// lines splits a stream into lines that end with LF, CRLF or a lone CR, in any mixture, and counts them. Its
// memory is proportional to the longest line.
type lines struct {
	source io.Reader
	limit  int // longest line in bytes

	buffer []byte
	begin  int   // the start of the current line in buffer
	end    int   // the end of the bytes in buffer
	seen   int   // buffer[begin:seen] has no end of line
	lf     int   // the first LF at or after begin, or -1
	noLF   int   // if lf is -1: there is no LF before this place
	failed error // the error that ended the source
	number int   // of the last line returned, 1-based
	passed int64 // bytes of the empty lines that were skipped
	cr     bool  // the last line returned ended with a lone CR
}

func newLines(source io.Reader) *lines {
	return &lines{source: source, limit: MaxLine, lf: -1}
}

// linesOf splits text that is in memory already.
func linesOf(text []byte) *lines {
	return &lines{limit: MaxLine, buffer: text, end: len(text), lf: -1, failed: io.EOF}
}

// next returns a line without its end, valid until the following call. Its errors are io.EOF after the last
// line, errLongLine, and the source's. Text after the last end of line is a line.
func (l *lines) next() ([]byte, error) {
	for {
		if line, ok := l.cut(); ok {
			l.number++
			return line, nil
		}
		if l.failed != nil {
			if l.failed == io.EOF && l.begin < l.end {
				line := l.buffer[l.begin:l.end]
				l.advance(l.end)
				l.number++
				return line, nil
			}
			return nil, l.failed
		}
		if l.end-l.begin > l.limit {
			return nil, errLongLine
		}
		l.fill()
	}
}

// passEmpty skips and counts the lines that hold only blanks. A tab that is the delimiter does not count as a
// blank. At most one line at a time is in memory.
func (l *lines) passEmpty(delimiter byte) {
	for at := l.begin; ; {
		for at < l.end && isBlank(l.buffer[at]) && (l.buffer[at] != delimiter || delimiter == blank) {
			at++
		}
		last := at+1 >= l.end // LF may follow a CR that ends the buffer
		switch {
		case at < l.end && l.buffer[at] == '\n':
			n := lineFeeds(l.buffer[at:l.end])
			l.number += n
			at += n
			l.pass(at)
		case at < l.end && l.buffer[at] == '\r' && (!last || l.failed != nil):
			if at++; at < l.end && l.buffer[at] == '\n' {
				at++
			}
			l.number++
			l.pass(at)
		case at < l.end && l.buffer[at] != '\r':
			return
		case l.failed != nil || l.end-l.begin > l.limit:
			return
		default:
			ahead := at - l.begin
			l.fill()
			at = l.begin + ahead
		}
	}
}

// pass skips what is before i.
func (l *lines) pass(i int) {
	l.passed += int64(i - l.begin)
	l.advance(i)
}

// lineFeeds returns the number of LFs at the start of b.
func lineFeeds(b []byte) int {
	const all = 0x0a0a0a0a0a0a0a0a
	n := 0
	for n+8 <= len(b) && binary.LittleEndian.Uint64(b[n:]) == all {
		n += 8
	}
	for n < len(b) && b[n] == '\n' {
		n++
	}
	return n
}

// cut returns the current line if its end is in the buffer. The place of the next LF is stored, so that every
// byte is searched once for LF and once for CR.
func (l *lines) cut() ([]byte, bool) {
	if l.lf < 0 {
		if i := bytes.IndexByte(l.buffer[l.noLF:l.end], '\n'); i >= 0 {
			l.lf = l.noLF + i
		} else {
			l.noLF = l.end
		}
	}
	stop := l.end
	if l.lf >= 0 {
		stop = l.lf
	}
	if i := bytes.IndexByte(l.buffer[l.seen:stop], '\r'); i >= 0 {
		cr := l.seen + i
		after := cr + 1
		if after == l.end && l.failed == nil {
			l.seen = cr // LF may follow
			return nil, false
		}
		if l.cr = after == l.end || l.buffer[after] != '\n'; !l.cr {
			after++
		}
		line := l.buffer[l.begin:cr]
		l.advance(after)
		return line, true
	}
	if l.lf >= 0 {
		line := l.buffer[l.begin:l.lf]
		l.cr = false
		l.advance(l.lf + 1)
		return line, true
	}
	l.seen = stop
	return nil, false
}

// hasLine reports whether the buffer has the end of a line.
func (l *lines) hasLine() bool {
	return l.lf >= 0 || bytes.IndexByte(l.buffer[min(l.noLF, l.end):l.end], '\n') >= 0
}

// isBlank reports whether the buffer has only blanks and line ends.
func (l *lines) isBlank() bool {
	for _, c := range l.buffer[l.begin:l.end] {
		if !isBlank(c) && !isLineEnd(c) {
			return false
		}
	}
	return true
}

// unread gives the lines of text back, so that next returns them again. number is that of the line before.
func (l *lines) unread(text []byte, number int) {
	l.buffer = append(bytes.Clone(text), l.buffer[l.begin:l.end]...)
	l.begin, l.seen, l.noLF, l.lf, l.end, l.number = 0, 0, 0, -1, len(l.buffer), number
}

// advance begins the next line at i.
func (l *lines) advance(i int) {
	l.begin, l.seen = i, i
	if l.lf < i {
		l.lf = -1
	}
	l.noLF = max(l.noLF, i)
}

// rest returns the stream after the last line.
func (l *lines) rest() io.Reader {
	after := l.source
	if l.failed != nil {
		after = &failing{l.failed}
	}
	return io.MultiReader(bytes.NewReader(l.buffer[l.begin:l.end]), after)
}

// fill reads at least one byte, or fails. It moves or enlarges the buffer if that is full.
func (l *lines) fill() {
	if l.begin > 0 {
		copy(l.buffer, l.buffer[l.begin:l.end])
		l.end -= l.begin
		l.seen -= l.begin
		l.noLF -= l.begin
		if l.lf >= 0 {
			l.lf -= l.begin
		}
		l.begin = 0
	}
	if l.end == len(l.buffer) {
		most := max(l.limit, firstBuffer) + firstBuffer // next refuses a line before it takes more
		grown := make([]byte, min(max(firstBuffer, 2*len(l.buffer)), most))
		copy(grown, l.buffer[:l.end])
		l.buffer = grown
	}
	n, err := 0, error(nil)
	for tries := 0; n == 0 && err == nil; tries++ {
		if tries == 100 {
			err = io.ErrNoProgress
			break
		}
		n, err = l.source.Read(l.buffer[l.end:])
	}
	l.end += n
	l.failed = err
}

func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }
