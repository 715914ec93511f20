package serve

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"toptau/diag"
)

// keptLogs is the number of full log files that are kept: PATH.1 is the newest.
const keptLogs = 5

// logFile is a log that grows up to a size, and then goes on in a new file.
type logFile struct {
	path string
	most int64

	mu   sync.Mutex
	file *os.File
	size int64
}

// OpenLogFile opens a log to append to. A last line without its end, which a killed process or a full disk
// may have left, is removed. A Write must have whole lines.
func OpenLogFile(path string, most int64) (io.WriteCloser, error) {
	l := &logFile{path: path, most: most}
	if err := l.open(); err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: path, Found: "the log cannot be opened", Err: err}
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return err
	}
	l.file, l.size = f, 0
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	tail := make([]byte, min(info.Size(), longestLine))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return err
	}
	torn := len(tail) - 1 - bytes.LastIndexByte(tail, '\n')
	l.size = info.Size() - int64(torn)
	return f.Truncate(l.size)
}

// longestLine is longer than any line of a log.
const longestLine = 1 << 20

// Write implements io.Writer.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(b)) > l.most {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(b)
	l.size += int64(n)
	return n, err
}

// rotate renames the files and begins a new one. If that is impossible, the log goes on in the old one.
func (l *logFile) rotate() error {
	for i := keptLogs - 1; i >= 1; i-- {
		os.Rename(fmt.Sprintf("%s.%d", l.path, i), fmt.Sprintf("%s.%d", l.path, i+1))
	}
	if os.Rename(l.path, l.path+".1") != nil {
		return nil
	}
	old := l.file
	if err := l.open(); err != nil {
		l.file = old
		return err
	}
	return old.Close()
}

// Close implements io.Closer.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
