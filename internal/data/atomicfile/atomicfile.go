// Package atomicfile writes files that appear complete or not at all. The content goes to a temporary file
// next to the target, which is renamed to the target when all of it is on the disk. The next process that writes
// into a directory removes the temporary files of killed processes there. docs/reference/files.md describes the protocol.
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

// File is a file being written. Close without Commit discards it, and the path keeps its content.
type File struct {
	path   string // as the user wrote it
	target string // path after all symlinks, so that a link stays a link; "" for a device, a pipe or a temporary file
	stays  bool   // a temporary file, which has no other name
	temp   *os.File
	buffer *bufio.Writer
}

// Create starts to write the file at path. It fails at once if the directory cannot be written.
func Create(path string) (*File, error) {
	target, err := followLinks(path)
	if err != nil {
		return nil, writeError(path, err)
	}
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(target); err == nil {
		if info.IsDir() {
			return nil, &diag.Error{Kind: diag.IO, File: path, Found: "a directory", Expected: "a file to write"}
		}
		if !info.Mode().IsRegular() { // a device or a pipe is written directly
			device, err := os.OpenFile(target, os.O_WRONLY, 0)
			if err != nil {
				return nil, writeError(path, err)
			}
			return &File{path: path, temp: device, buffer: bufio.NewWriterSize(device, 1<<16)}, nil
		}
		mode = info.Mode().Perm()
	}
	sweepOnce(filepath.Dir(target))
	temp, err := createTemp(target, mode)
	if err != nil {
		return nil, writeError(path, err)
	}
	return &File{path: path, target: target, temp: temp, buffer: bufio.NewWriterSize(temp, 1<<16)}, nil
}

// Temporary starts to write a file in the system's directory for temporary files. After Commit its content is at Path. Close
// removes it, and so do Abandon and the next process that writes there.
func Temporary(name string) (*File, error) {
	path := filepath.Join(os.TempDir(), name)
	sweepOnce(os.TempDir())
	temp, err := createTemp(path, 0o600)
	if err != nil {
		return nil, writeError(path, err)
	}
	return &File{path: temp.Name(), temp: temp, stays: true, buffer: bufio.NewWriterSize(temp, 1<<16)}, nil
}

// Path returns the path of the file as the user wrote it, or that of a temporary file.
func (f *File) Path() string { return f.path }

// followLinks returns the file at path after all symlinks. It need not exist.
func followLinks(path string) (string, error) {
	const most = 40 // links, the limit of the Linux kernel
	for range most {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) { // not Join, which would remove a link before ".."
			to = filepath.Dir(path) + string(filepath.Separator) + to
		}
		path = to
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many levels of symlinks")}
}

// Write buffers b. Errors may only show in Commit.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.buffer.Write(b)
	if err != nil {
		err = writeError(f.path, err)
	}
	return n, err
}

// Commit writes everything to the disk and renames the file. After an error the path has its former content.
func (f *File) Commit() error { return Commit(f) }

// Close discards the file unless Commit succeeded. It may be deferred.
func (f *File) Close() {
	if f.temp == nil {
		return
	}
	if f.target == "" && !f.stays {
		f.temp.Close()
	} else {
		discard(f.temp)
	}
	f.temp = nil
}

// Write writes a file with the given content.
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

// writeError returns a failure to write path. Errors that have a *diag.Error stay as they are.
func writeError(path string, err error) error {
	if already := diag.Of(err); already != nil {
		return err
	}
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err // without the temporary name
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return &diag.Error{Kind: diag.IO, File: path, Found: "cannot be written", Hint: "nothing was changed",
		Err: err}
}

// Check returns an error if a file cannot be created at one of the paths. It is for use before long work.
// Empty paths and "-" are skipped.
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

// Same reports whether two paths lead to the same regular file, by any links, now or after they are written.
func Same(a, b string) bool {
	first, err := os.Stat(a)
	second, missing := os.Stat(b)
	switch {
	case err == nil && missing == nil:
		return first.Mode().IsRegular() && os.SameFile(first, second)
	case err == nil || missing == nil:
		return false
	}
	if a, err = followLinks(a); err != nil {
		return false
	}
	if b, err = followLinks(b); err != nil {
		return false
	}
	if first, err = os.Stat(filepath.Dir(a)); err != nil {
		return false
	}
	second, err = os.Stat(filepath.Dir(b))
	return err == nil && os.SameFile(first, second) && sameName(filepath.Base(a), filepath.Base(b))
}

// sameName compares names like the usual file system of the platform.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
