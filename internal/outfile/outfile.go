// Package outfile writes files that appear complete or not at all: the content goes to a temporary file beside the
// target, which takes the target's name only when everything has reached the disk.
package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"toptau/internal/fault"
)

// File is a file being written. Close without Commit discards it and leaves what stood at the path before.
type File struct {
	path   string // as the user wrote it
	target string // path with symbolic links followed, so that a link stays a link
	temp   *os.File
	buffer *bufio.Writer
}

// Create starts the file at path. It fails at once where the directory cannot be written, before any work is done.
func Create(path string) (*File, error) {
	target := path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		target = resolved
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, &fault.Error{Kind: fault.IO, File: path, Found: "a directory", Expected: "a file to write"}
		}
		// A device or a pipe cannot be replaced; it is written directly.
		device, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, writeError(path, err)
		}
		return &File{path: path, temp: device, buffer: bufio.NewWriterSize(device, 1<<16)}, nil
	}
	temp, err := createBeside(target)
	if err != nil {
		return nil, writeError(path, err)
	}
	return &File{path: path, target: target, temp: temp, buffer: bufio.NewWriterSize(temp, 1<<16)}, nil
}

// createBeside opens a new file in the target's directory. Unlike os.CreateTemp it leaves the mode to the umask.
func createBeside(target string) (*os.File, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf(".%s.%d-%d.tmp", filepath.Base(target), os.Getpid(), i)
		temp, err := os.OpenFile(filepath.Join(filepath.Dir(target), name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return temp, err
		}
	}
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
func (f *File) Commit() error {
	if err := f.buffer.Flush(); err != nil {
		return writeError(f.path, err)
	}
	if f.target == "" {
		err := f.temp.Close()
		f.temp = nil
		return err
	}
	var err error
	if info, missing := os.Stat(f.target); missing == nil {
		err = f.temp.Chmod(info.Mode().Perm())
	}
	err = errors.Join(err, f.temp.Sync(), f.temp.Close())
	if err == nil {
		err = os.Rename(f.temp.Name(), f.target)
	}
	if err != nil {
		os.Remove(f.temp.Name())
		f.temp = nil
		return writeError(f.path, err)
	}
	f.temp = nil
	return nil
}

// Close discards what was written unless Commit succeeded. It may be deferred.
func (f *File) Close() {
	if f.temp == nil {
		return
	}
	f.temp.Close()
	if f.target != "" {
		os.Remove(f.temp.Name())
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
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err // the temporary name would only confuse
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return &fault.Error{Kind: fault.IO, File: path, Found: "cannot be written", Hint: "nothing was changed", Err: err}
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
