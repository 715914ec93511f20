package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"toptau/diag"
)

// process lists the open and the written files of this process. Its lock is held while files are renamed, so
// that Abandon runs before or after all of the renames.
var process struct {
	sync.Mutex
	temps     map[string]*os.File
	dirs      []string // temporary directories
	written   []string // paths as the user wrote them
	abandoned bool
}

// errAbandoned is the error of writing after Abandon. The process ends before anyone reads it.
var errAbandoned = &diag.Error{Kind: diag.IO, Found: "the process is ending"}

// openTemp opens a temporary file and adds it to those of the process.
func openTemp(name string, flag int, mode fs.FileMode) (*os.File, error) {
	process.Lock()
	defer process.Unlock()
	if process.abandoned {
		return nil, errAbandoned
	}
	f, err := os.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err
	}
	if process.temps == nil {
		process.temps = map[string]*os.File{}
	}
	process.temps[absolute(name)] = f
	return f, nil
}

func absolute(name string) string {
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// holdsTemp reports whether this process has a temporary file open.
func holdsTemp(name string) bool {
	process.Lock()
	defer process.Unlock()
	return process.temps[absolute(name)] != nil
}

// discard closes and removes a temporary file.
func discard(f *os.File) {
	process.Lock()
	defer process.Unlock()
	discardLocked(f)
}

func discardLocked(f *os.File) {
	if name := absolute(f.Name()); process.temps[name] == f { // a sweep may have removed the name
		os.Remove(name)
		delete(process.temps, name)
	}
	f.Close()
}

// MkdirTemp creates a temporary directory that Abandon removes.
func MkdirTemp(pattern string) (string, error) {
	process.Lock()
	defer process.Unlock()
	if process.abandoned {
		return "", errAbandoned
	}
	dir, err := os.MkdirTemp("", pattern)
	if err == nil {
		process.dirs = append(process.dirs, dir)
	}
	return dir, err
}

// Abandon removes the temporary files of this process and prevents further renames. It is for the end of a
// process and may be called at any time from any goroutine.
func Abandon() {
	process.Lock()
	defer process.Unlock()
	process.abandoned = true
	for name := range process.temps {
		os.Remove(name)
	}
	for _, dir := range process.dirs {
		os.RemoveAll(dir)
	}
}

// Written returns the paths of the files that this process has published, in order, as given to Create.
func Written() []string {
	process.Lock()
	defer process.Unlock()
	return slices.Clone(process.written)
}

// Commit writes all files to the disk and then renames them in the given order. After an error no path has changed, except
// those that the error lists. A process that is killed between two renames leaves the first file new and the second old.
func Commit(files ...*File) error {
	defer func() {
		for _, f := range files {
			if !f.stays {
				f.Close()
			}
		}
	}()
	var renames []*File
	for _, f := range files {
		if err := f.flush(); err != nil {
			return writeError(f.path, err)
		}
		if f.target != "" {
			renames = append(renames, f)
		}
	}
	process.Lock()
	defer process.Unlock()
	if process.abandoned {
		return errAbandoned
	}
	return publish(renames)
}

// flush writes the content to the disk. It closes a device.
func (f *File) flush() error {
	if err := f.buffer.Flush(); err != nil || f.stays {
		return err
	}
	if f.target == "" {
		err := f.temp.Close()
		f.temp = nil
		return err
	}
	if info, err := os.Stat(f.target); err == nil {
		if err := f.temp.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	return f.temp.Sync()
}

// publish renames synced files. The process is locked.
func publish(files []*File) error {
	var written []string
	var failed error
	for _, f := range files {
		if failed = f.rename(); failed != nil {
			failed = writeError(f.path, failed)
			if len(written) > 0 {
				e := *diag.Of(failed)
				e.Hint = "already written: " + strings.Join(written, ", ")
				failed = &e
			}
			break
		}
		written = append(written, f.path)
		syncDir(filepath.Dir(f.target))
	}
	process.written = append(process.written, written...)
	return failed
}

// rename renames the temporary file to the target. The process is locked.
func (f *File) rename() error {
	name := f.temp.Name()
	if runtime.GOOS == "windows" { // an open file cannot be renamed
		f.temp.Close()
	}
	if err := os.Rename(name, f.target); err != nil {
		discardLocked(f.temp)
		f.temp = nil
		return err
	}
	delete(process.temps, absolute(name))
	f.temp.Close()
	f.temp = nil
	return nil
}
