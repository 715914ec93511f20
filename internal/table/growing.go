package table

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"toptau/diag"
)

// The time between two looks at the end of a growing file is a part of the time since the last rows, so that a busy
// writer is followed closely: a row that comes a second after the last one waits 10 ms at most. Chosen by hand: a look
// takes about 5 µs, so that an idle file costs 0.02 % of a processor.
const (
	growingPart      = 100
	shortGrowingPoll = time.Millisecond
	longGrowingPoll  = 25 * time.Millisecond
)

// GrowingFile reads a file and then the rows that are appended to it, like tail -F. If the file is truncated,
// it is read from its start again. If another file gets its name, as when logs are rotated, the old one is
// read to its end and then the new one. A header that the new file repeats is not a row. Lines are numbered
// from the first one that was read. The file ends with the context, or with Close.
type GrowingFile struct {
	context context.Context
	path    string
	closed  chan struct{}
	header  atomic.Bool // the first line names the columns

	mu   sync.Mutex // guards file
	file *os.File

	offset   int64  // bytes of file that were read
	first    []byte // the first line that was read, without its end
	complete bool   // first is the whole line
	last     byte   // the last byte returned
	inject   []byte // bytes that come before those of file
	fresh    bool   // file is not the first one, and its first line has not been compared

	lastRows time.Time // when Read last returned bytes of the file
}

// OpenGrowing opens a regular file.
func OpenGrowing(ctx context.Context, path string) (*GrowingFile, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		f.Close()
		return nil, &diag.Error{Kind: diag.Usage, File: path, Found: "not a regular file", Expected: "a file that grows",
			Hint: "a pipe needs nothing: rows are scored as they arrive"}
	}
	return &GrowingFile{context: ctx, path: path, file: f, closed: make(chan struct{}), last: '\n'}, nil
}

// Name returns the path.
func (f *GrowingFile) Name() string { return f.path }

// Close ends Read.
func (f *GrowingFile) Close() error {
	close(f.closed)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}

// Read implements io.Reader. At the end of the file it waits.
func (f *GrowingFile) Read(p []byte) (int, error) {
	for {
		if n := copy(p, f.inject); n > 0 {
			f.inject = f.inject[n:]
			f.last = p[n-1]
			return n, nil
		}
		n, err := f.file.Read(p)
		f.offset += int64(n)
		switch {
		case err != nil && err != io.EOF:
			return 0, err
		case n > 0 && f.fresh:
			f.compareFirst(p[:n])
			continue
		case n > 0:
			f.keepFirst(p[:n])
			f.last, f.lastRows = p[n-1], time.Now()
			return n, nil
		}
		changed, err := f.lookAgain()
		if err != nil {
			return 0, err
		}
		if changed {
			continue
		}
		select {
		case <-time.After(f.poll()):
		case <-f.context.Done():
			return 0, f.context.Err()
		case <-f.closed:
			return 0, os.ErrClosed
		}
	}
}

// poll returns the time until the next look at the end of the file.
func (f *GrowingFile) poll() time.Duration {
	return min(max(time.Since(f.lastRows)/growingPart, shortGrowingPoll), longGrowingPoll)
}

// keepFirst keeps the first line of the file for compareFirst.
func (f *GrowingFile) keepFirst(b []byte) {
	if f.complete {
		return
	}
	end := bytes.IndexByte(b, '\n')
	if f.complete = end >= 0; !f.complete {
		end = len(b)
	}
	f.first = append(f.first, b[:end]...)
	f.complete = f.complete || len(f.first) > sniffBytes
}

// compareFirst drops the first line of a new file if it is the header of the first file.
func (f *GrowingFile) compareFirst(b []byte) {
	f.inject = append(f.inject, b...)
	end := bytes.IndexByte(f.inject, '\n')
	if end < 0 && len(f.inject) <= sniffBytes {
		// The line is still being written. Hold it back unless it differs already.
		if f.header.Load() && bytes.HasPrefix(f.first, f.inject) {
			held := f.inject
			f.inject = nil
			f.waitForLine(held)
			return
		}
	}
	f.fresh = false
	if end >= 0 && f.header.Load() && bytes.Equal(withoutCR(f.inject[:end]), withoutCR(f.first)) {
		f.inject = f.inject[end+1:]
	}
}

// waitForLine reads on until the line that begins with held is complete or differs from the first one.
func (f *GrowingFile) waitForLine(held []byte) {
	if _, err := f.file.Seek(-int64(len(held)), io.SeekCurrent); err == nil {
		f.offset -= int64(len(held))
	}
	select {
	case <-time.After(f.poll()):
	case <-f.context.Done():
	case <-f.closed:
	}
}

func withoutCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\r")) }

// lookAgain looks, at the end of the file, whether the file was truncated or replaced, and turns to its
// successor.
func (f *GrowingFile) lookAgain() (changed bool, err error) {
	select {
	case <-f.closed:
		return false, os.ErrClosed
	default:
	}
	named, err := os.Stat(f.path)
	if err != nil {
		return false, nil // renamed, and the next file does not exist yet
	}
	open, err := f.file.Stat()
	if err != nil {
		return false, err
	}
	if open.Size() > f.offset {
		return true, nil // rows that were appended since Read saw the end, also before the file was replaced
	}
	if os.SameFile(named, open) {
		if open.Size() == f.offset {
			return false, nil
		}
		if _, err := f.file.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
		f.begin()
		return true, nil
	}
	next, err := os.Open(f.path)
	if err != nil {
		return false, nil // replaced again
	}
	f.mu.Lock()
	f.file.Close()
	f.file = next
	f.mu.Unlock()
	f.begin()
	return true, nil
}

// begin prepares for the first line of a new file. An unfinished last line of the old one ends here.
func (f *GrowingFile) begin() {
	f.offset, f.fresh = 0, true
	if f.last != '\n' {
		f.inject = append(f.inject, '\n')
	}
}
