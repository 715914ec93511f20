//go:build unix && !solaris && !aix

package atomicfile

import (
	"os"
	"syscall"
)

// lock takes the lock of a file that this process has made. Where the file system has no locks, no other process can
// take it either, and the file is never taken for a left-over one.
func lock(f *os.File) { retry(f, syscall.LOCK_EX) }

// tryLock takes the lock of a file unless a process holds it; false also where the file system has no locks.
func tryLock(f *os.File) bool { return retry(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil }

func retry(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// syncDir makes the names in a directory survive a loss of power, where the file system can.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
