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

// longestBase is the most bytes of BASE, so that the name has at most the usual 255.
const longestBase = 100

var tempName = regexp.MustCompile(`^\..*\.toptau-([0-9a-f]{8})-([0-9]+)-[0-9]+\.tmp$`)

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
func createTemp(target string, mode fs.FileMode) (*os.File, error) {
	base := filepath.Base(target)
	base = base[:min(len(base), longestBase)]
	for i := 0; ; i++ {
		name := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%s%d.tmp", base, owner(os.Getpid()), i))
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

// sweep removes the temporary files of dead processes from a directory. Failures do not matter to the caller:
// the files stay for a later process.
func sweep(dir string) {
	for _, name := range leftOver(dir) {
		if f := claim(filepath.Join(dir, name)); f != nil {
			os.Remove(f.Name())
			f.Close()
		}
	}
}

// leftOver returns the temporary files of other processes on this host.
func leftOver(dir string) (temps []string) {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	own := fmt.Sprint(os.Getpid())
	for {
		names, err := d.Readdirnames(1000)
		for _, name := range names {
			m := tempName.FindStringSubmatch(name)
			if m != nil && m[1] == host() && !(m[2] == own && holdsTemp(filepath.Join(dir, name))) {
				temps = append(temps, name)
			}
		}
		if err != nil {
			return temps
		}
	}
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
