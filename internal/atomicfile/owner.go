package atomicfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// A temporary file is named
//
//	.BASE.toptau-HOST-PID-N.tmp
//
// and its process holds a lock on it (flock) while it exists. The system releases the lock when the process
// ends for any reason. A file of this host without a lock therefore belongs to a dead process, even if
// another process has the number PID now. Files of other hosts, and files on file systems without locks, are
// not touched.

const (
	tempSuffix    = "tmp"
	journalSuffix = "commit" // of a journal, see publish.go
	longestBase   = 100      // bytes of BASE, so that the name has at most the usual 255
)

var tempName = regexp.MustCompile(`^\..*\.toptau-([0-9a-f]{8})-([0-9]+)-[0-9]+\.(` + tempSuffix + `|` + journalSuffix + `)$`)

// host returns a digest that identifies this machine or container among those that share its file systems.
var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	machine, _ := os.ReadFile("/etc/machine-id")
	sum := sha256.Sum256(append([]byte(name+"\n"), machine...))
	return hex.EncodeToString(sum[:4])
})

// owner returns the part of a temporary name that all files of a process have.
func owner(pid int) string { return fmt.Sprintf("toptau-%s-%d-", host(), pid) }

// createTemp creates a file in the target's directory and locks it. Unlike with os.CreateTemp the umask
// applies to the mode.
func createTemp(target, suffix string, mode fs.FileMode) (*os.File, error) {
	base := filepath.Base(target)
	base = base[:min(len(base), longestBase)]
	for i := 0; ; i++ {
		name := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%s%d.%s", base, owner(os.Getpid()), i, suffix))
		temp, err := openTemp(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err != nil {
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return nil, err
		}
		lock(temp)
		if sameFile(temp, name) { // a sweep between the two calls removes the name
			return temp, nil
		}
		discard(temp)
	}
}

// sameFile reports whether name still leads to an open file.
func sameFile(f *os.File, name string) bool {
	opened, err := f.Stat()
	named, missing := os.Lstat(name)
	return err == nil && missing == nil && os.SameFile(opened, named)
}

// swept holds the directories that this process has swept.
var swept struct {
	sync.Mutex
	dirs map[string]bool
}

// sweepOnce removes the files of killed processes from a directory, once per process.
func sweepOnce(dir string) {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	swept.Lock()
	defer swept.Unlock()
	if !swept.dirs[dir] {
		if swept.dirs == nil {
			swept.dirs = map[string]bool{}
		}
		swept.dirs[dir] = true
		sweep(dir)
	}
}

// Recover finishes, in the directories of these files, the work of killed processes: files of one Commit get
// their names, other temporary files are removed.
func Recover(paths ...string) {
	for _, path := range paths {
		if target, err := followLinks(path); err == nil {
			sweepOnce(filepath.Dir(target))
		}
	}
}

// sweep removes the temporary files of dead processes from a directory. Failures do not matter to the caller:
// the files stay for a later process.
func sweep(dir string) {
	temps, journals := leftOver(dir)
	for _, name := range journals {
		finishJournal(dir, name)
	}
	for _, name := range temps {
		f := claim(filepath.Join(dir, name))
		if f == nil {
			continue
		}
		// Its process may have published a journal after the directory was read. Then the file belongs to the
		// journal.
		if _, journals := leftOver(dir); !hasJournal(journals, name) {
			os.Remove(f.Name())
		}
		f.Close()
	}
}

// leftOver returns the temporary files and the journals of other processes on this host.
func leftOver(dir string) (temps, journals []string) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, nil
	}
	defer d.Close()
	own := fmt.Sprint(os.Getpid())
	for {
		names, err := d.Readdirnames(1000)
		for _, name := range names {
			m := tempName.FindStringSubmatch(name)
			switch {
			case m == nil || m[1] != host() || m[2] == own && holdsTemp(filepath.Join(dir, name)):
			case m[3] == journalSuffix:
				journals = append(journals, name)
			default:
				temps = append(temps, name)
			}
		}
		if err != nil {
			return temps, journals
		}
	}
}

// hasJournal reports whether one of the journals belongs to the process of a temporary file.
func hasJournal(journals []string, temp string) bool {
	pid := tempName.FindStringSubmatch(temp)[2]
	for _, name := range journals {
		if tempName.FindStringSubmatch(name)[2] == pid {
			return true
		}
	}
	return false
}

// claim opens and locks a file whose process is dead. It returns nil if the process is alive or its state is
// unknown.
func claim(path string) *os.File {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // some network file systems lock only files that are open for writing
	if err != nil {
		if f, err = os.Open(path); err != nil {
			return nil
		}
	}
	if !tryLock(f) || !sameFile(f, path) {
		f.Close()
		return nil
	}
	return f
}
