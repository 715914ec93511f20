package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

const (
	// MaxLine is the longest line or quoted record in bytes: 64 MiB.
	MaxLine = 64 << 20

	// firstBuffer is the size a line buffer begins with; it grows for longer lines.
	firstBuffer = 64 << 10
)

var errLongLine = errors.New("a line beyond the limit")

// lines cuts a stream into lines that end with LF, CRLF or a lone CR, in any mixture, and counts them. Its memory is
// the longest line.
type lines struct {
	source io.Reader
	limit  int // longest line in bytes

	buffer []byte
	begin  int   // of the current line in buffer
	end    int   // of what has been read into buffer
	seen   int   // no end of line stands in buffer[begin:seen]
	lf     int   // the first LF at or after begin, or -1
	noLF   int   // when lf is -1: no LF stands before this place
	failed error // what the source ended with
	number int   // of the last line returned, 1-based
}

func newLines(source io.Reader) *lines {
	return &lines{source: source, limit: MaxLine, lf: -1}
}

// next returns a line without its end, valid until the following call, io.EOF after the last one, errLongLine, or what
// the source failed with. Whatever stands behind the last end of line is a line unless it is empty.
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

// passEmpty passes the lines before the next one that holds something besides blanks, and counts them. A delimiter is no
// blank, unless it is blank itself. However many lines there are, it keeps one of them at a time.
func (l *lines) passEmpty(delimiter byte) {
	for at := l.begin; ; {
		for at < l.end && isBlank(l.buffer[at]) && (l.buffer[at] != delimiter || delimiter == blank) {
			at++
		}
		last := at+1 >= l.end // of what has been read: a CR may be followed by LF
		switch {
		case at < l.end && l.buffer[at] == '\n':
			n := lineFeeds(l.buffer[at:l.end])
			l.number += n
			at += n
			l.advance(at)
		case at < l.end && l.buffer[at] == '\r' && (!last || l.failed != nil):
			if at++; at < l.end && l.buffer[at] == '\n' {
				at++
			}
			l.number++
			l.advance(at)
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

// lineFeeds counts the LFs that b begins with.
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

// cut finds the end of the current line in the buffer. LF is looked for once for the whole buffer and remembered, so
// that neither LF nor CR files are searched more than once.
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
			l.seen = cr // whether LF follows is not known yet
			return nil, false
		}
		if after < l.end && l.buffer[after] == '\n' {
			after++
		}
		line := l.buffer[l.begin:cr]
		l.advance(after)
		return line, true
	}
	if l.lf >= 0 {
		line := l.buffer[l.begin:l.lf]
		l.advance(l.lf + 1)
		return line, true
	}
	l.seen = stop
	return nil, false
}

// advance begins the next line at i.
func (l *lines) advance(i int) {
	l.begin, l.seen = i, i
	if l.lf < i {
		l.lf = -1
	}
	l.noLF = max(l.noLF, i)
}

// rest is the stream behind the last line.
func (l *lines) rest() io.Reader {
	behind := l.source
	if l.failed != nil {
		behind = &failing{l.failed}
	}
	return io.MultiReader(bytes.NewReader(l.buffer[l.begin:l.end]), behind)
}

// fill reads once, after making room.
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
