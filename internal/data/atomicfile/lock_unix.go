//go:build unix && !solaris && !aix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file that this process has created. On a file system without locks no other process can lock
// it either, and the file is not mistaken for one of a dead process.
func lock(f *os.File) { retry(f, syscall.LOCK_EX) }

// tryLock locks a file unless a process holds the lock. It returns false on a file system without locks.
func tryLock(f *os.File) bool { return retry(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil }

func retry(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// openLocked opens or creates a file and locks it. It returns errLocked if another process holds the lock.
func openLocked(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, exclusiveMode)
		if err != nil {
			return nil, err
		}
		err = retry(f, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && SameFile(f, path) { // it may have been removed between the two calls
			return f, nil
		}
		f.Close()
		switch err {
		case nil:
		case syscall.EWOULDBLOCK:
			return nil, errLocked
		case syscall.ENOLCK, syscall.ENOSYS, syscall.EOPNOTSUPP:
			return nil, errors.ErrUnsupported
		default:
			return nil, err
		}
	}
}

// syncDir writes the names in a directory to the disk, so that they survive a loss of power.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
