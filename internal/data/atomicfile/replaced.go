package atomicfile

import (
	"os"
	"runtime"

	"toptau/diag"
)

// LockReplaced lets one process at a time read a file and replace it by rename. A lock on the file itself would be lost with the
// rename, so PATH.lock is locked, next to the file after all symlinks. Another process gets an error at once. release removes the
// lock file. That of a killed process has no lock any more, and the next one takes it.
func LockReplaced(path string) (release func(), err error) {
	target, err := followLinks(path)
	if err != nil {
		return nil, writeError(path, err)
	}
	f, err := OpenExclusive(target + ".lock")
	if err != nil {
		e := *diag.Of(err)
		if e.File = path; e.Expected == exclusiveExpected {
			e.Expected, e.Hint = "one process at a time", "nothing was counted or written; run it again"
		}
		return nil, &e
	}
	return func() {
		if runtime.GOOS == "windows" { // an open file cannot be removed there, nor one that the next process has opened
			f.Close()
			os.Remove(f.Name())
			return
		}
		os.Remove(f.Name()) // while it is locked, so it is not that of the next process
		f.Close()
	}, nil
}
