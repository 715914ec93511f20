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

// process is what this process has open and has written. Its lock is held while files get their names, so that Abandon
// comes before or after and never in between.
var process struct {
	sync.Mutex
	temps     map[string]*os.File
	dirs      []string // temporary directories
	written   []string // as the user named them
	abandoned bool
}

// errAbandoned is what writing fails with after Abandon; nobody is left to read it.
var errAbandoned = &diag.Error{Kind: diag.IO, Found: "the process is ending"}

// open opens a temporary file and remembers it.
func open(name string, flag int, mode fs.FileMode) (*os.File, error) {
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

// holds reports whether a temporary file is this process's own.
func holds(name string) bool {
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
	if name := absolute(f.Name()); process.temps[name] == f { // a sweep may have given the name away
		os.Remove(name)
		delete(process.temps, name)
	}
	f.Close()
}

// MkdirTemp makes a temporary directory that Abandon removes.
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

// Abandon removes the temporary files of this process, and lets no file get its name from now on. It is for the end of
// a process: at any moment, from any goroutine.
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

// Written lists the files that this process has published, in order, as the caller of Create named them.
func Written() []string {
	process.Lock()
	defer process.Unlock()
	return slices.Clone(process.written)
}

// Commit publishes files together or not at all: it flushes all of them to the disk and then gives them their names, in
// the order given. After an error no path has changed, unless the error lists what has.
//
// Two names cannot change in one step. Files of one directory therefore get a journal first, a small file that says which
// names are to change: a process that is killed between two names leaves it, and the next that writes into the directory
// or calls Recover finishes the work. Files in different directories have no journal, and a process killed within these
// microseconds leaves only the first of them new.
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

// flush brings the content to the disk. A device is closed with that.
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

// rename is one line of a journal: names in its directory.
type rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// betweenNames is called before each file gets its name; tests stop there.
var betweenNames = func(i int) {}

// publish gives synced files their names. The process is locked; journal may be nil.
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
		betweenNames(i)
		if failed = f.rename(); failed != nil {
			failed = writeError(f.path, failed)
			if len(written) > 0 {
				diag.Of(failed).Hint = "already written: " + strings.Join(written, ", ")
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

// rename gives a file its name. The process is locked.
func (f *File) rename() error {
	name := f.temp.Name()
	if runtime.GOOS == "windows" { // which does not rename an open file
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

// newJournal writes down what is about to be renamed, in a temporary file that is locked until it is closed; nil where
// there is nothing to write down.
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
	journal, err := createBeside(files[0].target, tempSuffix, 0o600)
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

// finish carries out the journal of a dead process. It renames within its own directory, and only files that carry the
// same process's name, so that a planted journal changes nothing outside of the directory it was planted in.
func finish(dir, journal string) {
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
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // what has its name already is done
			return
		}
	}
	syncDir(dir)
	os.Remove(held.Name())
}
