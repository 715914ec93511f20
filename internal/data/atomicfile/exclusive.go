package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"toptau/diag"
)

// errLocked is the error of openLocked if another process has the file open with OpenExclusive.
var errLocked = errors.New("locked")

// exclusiveExpected is what the error about a locked file expects.
const exclusiveExpected = "a file of its own for each process"

// OpenExclusive opens a file for reading and writing, or creates an empty one whose name is then on the disk. No
// other process can open it in this way until it is closed; the system closes it when the process ends for any
// reason. It is for small files that a process writes in place for as long as it runs.
func OpenExclusive(path string) (*os.File, error) {
	f, err := openLocked(path)
	switch {
	case errors.Is(err, errLocked):
		return nil, &diag.Error{Kind: diag.IO, File: path, Found: "in use by another process", Expected: exclusiveExpected}
	case errors.Is(err, errors.ErrUnsupported):
		return nil, &diag.Error{Kind: diag.IO, File: path, Found: "on a system or file system without locks",
			Hint: "use a local disk", Err: err}
	case err != nil:
		return nil, writeError(path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &diag.Error{Kind: diag.IO, File: path, Found: "not a regular file", Expected: "a file on a disk"}
	}
	if err != nil {
		f.Close()
		return nil, writeError(path, err)
	}
	if target, err := followLinks(path); err == nil {
		syncDir(filepath.Dir(target))
	}
	return f, nil
}

// SameFile reports whether path still leads to an open file, so that what is written there will be found again.
func SameFile(f *os.File, path string) bool {
	opened, err := f.Stat()
	named, missing := os.Stat(path)
	return err == nil && missing == nil && os.SameFile(opened, named)
}

// exclusiveMode is the mode of a file that OpenExclusive creates, before the umask.
const exclusiveMode fs.FileMode = 0o666
