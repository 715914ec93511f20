package table

import (
	"bytes"
	"context"
	"io"
)

const (
	// liveBytes is the size of a block that is read ahead from a live source, that of a pipe's buffer on Linux.
	liveBytes = 64 << 10

	// liveBlocks is the number of blocks read ahead. It bounds the memory; chosen by hand.
	liveBlocks = 4
)

// live reads a source in a goroutine, so that its reader knows whether a read would wait for bytes to arrive.
// This works for every source: pipes, sockets, decompressors. A read that waits ends with the
// context. The goroutine ends with the source, or with the first read that returns after stop.
type live struct {
	context context.Context // nil: reads wait for ever
	full    chan liveBlock
	free    chan []byte
	quit    chan struct{}

	block  liveBlock // the one that is read
	unread []byte    // of block
	failed error     // what ended the source, after unread
}

// liveBlock is some bytes of the source and the error that came with them.
type liveBlock struct {
	bytes []byte
	err   error
}

func newLive(ctx context.Context, source io.Reader) *live {
	l := &live{context: ctx, full: make(chan liveBlock, liveBlocks), free: make(chan []byte, liveBlocks+1),
		quit: make(chan struct{})}
	for range liveBlocks {
		l.free <- make([]byte, liveBytes)
	}
	go l.readAhead(source)
	return l
}

// readAhead fills free blocks until the source ends.
func (l *live) readAhead(source io.Reader) {
	for empty := 0; ; {
		var buffer []byte
		select {
		case buffer = <-l.free:
		case <-l.quit:
			return
		}
		n, err := source.Read(buffer)
		if empty++; n > 0 {
			empty = 0
		}
		if err == nil && empty == 100 {
			err = io.ErrNoProgress
		}
		if n == 0 && err == nil {
			l.free <- buffer
			continue
		}
		l.full <- liveBlock{buffer[:n], err} // never full: there are liveBlocks buffers
		if err != nil {
			return
		}
	}
}

// Read implements io.Reader. It returns the bytes that have arrived, and waits if there are none.
func (l *live) Read(p []byte) (int, error) {
	for len(l.unread) == 0 {
		if l.failed != nil {
			return 0, l.failed
		}
		if l.block.bytes != nil {
			l.free <- l.block.bytes[:cap(l.block.bytes)]
			l.block = liveBlock{}
		}
		var ended <-chan struct{}
		if l.context != nil {
			ended = l.context.Done()
		}
		select {
		case l.block = <-l.full:
			l.unread, l.failed = l.block.bytes, l.block.err
		case <-ended:
			return 0, l.context.Err()
		}
	}
	n := copy(p, l.unread)
	l.unread = l.unread[n:]
	return n, nil
}

// waits reports whether Read would wait.
func (l *live) waits() bool { return len(l.unread) == 0 && l.failed == nil && len(l.full) == 0 }

// stop lets the goroutine end.
func (l *live) stop() error {
	close(l.quit)
	return nil
}

// readFirstLine is readPrefix for a live source. The prefix is the first line that is not empty, so that
// nothing which is detected depends on how many bytes have arrived. Quotes in it are closed, if the first
// 256 KiB close them.
func (l *live) readFirstLine(r io.Reader) (prefix, io.Reader, error) {
	var buffer []byte
	for part := make([]byte, 4096); len(buffer) < sniffBytes; {
		if end := firstLineEnd(buffer); end > 0 {
			text := bytes.TrimPrefix(buffer, byteOrderMark)
			return prefix{bytes: text[:end-(len(buffer)-len(text))]}, io.MultiReader(bytes.NewReader(text), r), nil
		}
		n, err := r.Read(part)
		buffer = append(buffer, part[:n]...)
		if err == nil {
			continue
		}
		if err != io.EOF {
			r = &failing{err}
			if len(buffer) == 0 {
				return prefix{}, nil, err
			}
		}
		text := bytes.TrimPrefix(buffer, byteOrderMark)
		return prefix{bytes: text, whole: true}, io.MultiReader(bytes.NewReader(text), r), nil
	}
	text := bytes.TrimPrefix(buffer, byteOrderMark)
	return prefix{bytes: text}, io.MultiReader(bytes.NewReader(text), r), nil
}

// firstLineEnd returns the end of the first line with text, 0 if it is not complete.
func firstLineEnd(b []byte) int {
	begin := 0
	for begin < len(b) && (isBlank(b[begin]) || isLineEnd(b[begin])) {
		begin++
	}
	for quotes, i := 0, begin; i < len(b); i++ {
		switch {
		case b[i] == '"':
			quotes++
		case b[i] == '\n' && quotes%2 == 0:
			return i + 1
		}
	}
	return 0
}
