// Package atomicfile writes files that appear complete or not at all: the content goes to a temporary file next to the
// target, which takes the target's name only when everything has reached the disk. Several files can be published
// together (Commit). Temporary files of processes that were killed are removed by the next process that writes into the
// same directory; docs/files.md describes the whole protocol.
package atomicfile

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"toptau/diag"
)

// File is a file being written. Close without Commit discards it and leaves what stood at the path before.
type File struct {
	path   string // as the user wrote it
	target string // path with symbolic links followed, so that a link stays a link; "" for a device or a pipe
	temp   *os.File
	buffer *bufio.Writer
}

// Create starts the file at path. It fails at once where the directory cannot be written, before any work is done.
func Create(path string) (*File, error) {
	target, err := follow(path)
	if err != nil {
		return nil, writeError(path, err)
	}
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(target); err == nil {
		if info.IsDir() {
			return nil, &diag.Error{Kind: diag.IO, File: path, Found: "a directory", Expected: "a file to write"}
		}
		if !info.Mode().IsRegular() { // a device or a pipe cannot be replaced; it is written directly
			device, err := os.OpenFile(target, os.O_WRONLY, 0)
			if err != nil {
				return nil, writeError(path, err)
			}
			return &File{path: path, temp: device, buffer: bufio.NewWriterSize(device, 1<<16)}, nil
		}
		mode = info.Mode().Perm()
	}
	sweepOnce(filepath.Dir(target))
	temp, err := createBeside(target, tempSuffix, mode)
	if err != nil {
		return nil, writeError(path, err)
	}
	return &File{path: path, target: target, temp: temp, buffer: bufio.NewWriterSize(temp, 1<<16)}, nil
}

// follow returns the file that path names after all symbolic links, also where the last one leads to no file yet.
func follow(path string) (string, error) {
	const most = 40 // links, as in the kernel
	for range most {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) { // not Join: it would cut a link's name out before ".."
			to = filepath.Dir(path) + string(filepath.Separator) + to
		}
		path = to
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many levels of symbolic links")}
}

// Write buffers b; errors may surface as late as Commit.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.buffer.Write(b)
	if err != nil {
		err = writeError(f.path, err)
	}
	return n, err
}

// Commit flushes everything to the disk and gives the file its name. After an error the path holds what it held before.
func (f *File) Commit() error { return Commit(f) }

// Close discards what was written unless Commit succeeded. It may be deferred.
func (f *File) Close() {
	if f.temp == nil {
		return
	}
	if f.target == "" {
		f.temp.Close()
	} else {
		discard(f.temp)
	}
	f.temp = nil
}

// Write is Create, one Write and Commit.
func Write(path string, content []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Commit()
}

func writeError(path string, err error) error {
	if already := diag.Of(err); already != nil {
		return err
	}
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err // the temporary name would only confuse
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return &diag.Error{Kind: diag.IO, File: path, Found: "cannot be written", Hint: "nothing was changed", Err: err}
}

// Check reports, before long work, whether files could be created at these paths. Empty paths and "-" are passed over.
func Check(paths ...string) error {
	for _, path := range paths {
		if path == "" || path == "-" {
			continue
		}
		f, err := Create(path)
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

// Exists reports whether path leads to a regular file.
func Exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Same reports whether two paths lead to the same regular file, by any links, or would once they are written.
func Same(a, b string) bool {
	first, err := os.Stat(a)
	second, missing := os.Stat(b)
	switch {
	case err == nil && missing == nil:
		return first.Mode().IsRegular() && os.SameFile(first, second)
	case err == nil || missing == nil:
		return false
	}
	if a, err = follow(a); err != nil {
		return false
	}
	if b, err = follow(b); err != nil {
		return false
	}
	if first, err = os.Stat(filepath.Dir(a)); err != nil {
		return false
	}
	second, err = os.Stat(filepath.Dir(b))
	return err == nil && os.SameFile(first, second) && sameName(filepath.Base(a), filepath.Base(b))
}

// sameName compares names as the usual file system of the platform does.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
