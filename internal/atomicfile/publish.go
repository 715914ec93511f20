package atomicfile

import (
	"encoding/json"
	"errors"
	"io"
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

// Commit publishes files together or not at all: it writes all of them to the disk and then renames them in
// the given order. After an error no path has changed, except those that the error lists.
//
// Two names cannot change in one step. For files of one directory a journal is written first, a small file
// that lists the renames. If the process is killed between two renames, the next process that writes into the
// directory or calls Recover finishes them. Files in different directories have no journal, and a process
// killed within these microseconds leaves only the first of them new.
func Commit(files ...*File) error {
	defer func() {
		for _, f := range files {
			f.Close()
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
	if len(renames) == 0 {
		return nil
	}
	journal, err := newJournal(renames)
	if err != nil {
		return writeError(renames[0].path, err)
	}
	process.Lock()
	defer process.Unlock()
	if process.abandoned {
		return errAbandoned
	}
	return publish(renames, journal)
}

// flush writes the content to the disk. It closes a device.
func (f *File) flush() error {
	if err := f.buffer.Flush(); err != nil {
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

// rename is a rename in a journal. Both names are in its directory.
type rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// beforeRename is called before each rename. Tests stop there.
var beforeRename = func(i int) {}

// publish renames synced files. The process is locked. journal may be nil.
func publish(files []*File, journal *os.File) error {
	dir := filepath.Dir(files[0].target)
	published := ""
	if journal != nil {
		defer discardLocked(journal)
		published = strings.TrimSuffix(journal.Name(), tempSuffix) + journalSuffix
		if err := os.Rename(journal.Name(), published); err != nil {
			return writeError(files[0].path, err)
		}
		syncDir(dir)
	}
	var written []string
	var failed error
	for i, f := range files {
		beforeRename(i)
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
	}
	process.written = append(process.written, written...)
	syncDir(dir)
	if published != "" {
		os.Remove(published)
	}
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

// newJournal writes the list of renames to a temporary file, which is locked until it is closed. It returns
// nil for a single file and for files in different directories.
func newJournal(files []*File) (*os.File, error) {
	dir := filepath.Dir(files[0].target)
	elsewhere := func(f *File) bool { return filepath.Dir(f.target) != dir }
	if len(files) == 1 || slices.ContainsFunc(files, elsewhere) {
		return nil, nil
	}
	list := make([]rename, len(files))
	for i, f := range files {
		list[i] = rename{filepath.Base(f.temp.Name()), filepath.Base(f.target)}
	}
	content, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	journal, err := createTemp(files[0].target, tempSuffix, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = journal.Write(content)
	if err = errors.Join(err, journal.Sync()); err != nil {
		discard(journal)
		return nil, err
	}
	return journal, nil
}

// finishJournal does the renames in the journal of a dead process. It renames only temporary files of the
// same process within the journal's directory, so that a forged journal changes nothing outside of its
// directory.
func finishJournal(dir, journal string) {
	held := claim(filepath.Join(dir, journal))
	if held == nil {
		return
	}
	defer held.Close()
	content, err := io.ReadAll(io.LimitReader(held, 1<<16))
	var list []rename
	if err != nil || json.Unmarshal(content, &list) != nil {
		os.Remove(held.Name())
		return
	}
	pid := tempName.FindStringSubmatch(journal)[2]
	for _, r := range list {
		m := tempName.FindStringSubmatch(r.From)
		plain := filepath.Base(r.From) == r.From && filepath.Base(r.To) == r.To && r.To != "." && r.To != ".."
		if m == nil || !plain || m[1] != host() || m[2] != pid {
			break
		}
		err := os.Rename(filepath.Join(dir, r.From), filepath.Join(dir, r.To))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was renamed before
			return
		}
	}
	syncDir(dir)
	os.Remove(held.Name())
}
