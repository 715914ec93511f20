package atomicfile

import (
	"os"
	"syscall"
)

// openLocked opens or creates a file that no other process can open while it is open here. It returns errLocked
// if one has.
func openLocked(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const shareNothing = 0
	const sharingViolation syscall.Errno = 32 // ERROR_SHARING_VIOLATION
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, shareNothing, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch err {
	case nil:
		return os.NewFile(uintptr(handle), path), nil
	case sharingViolation:
		return nil, errLocked
	}
	return nil, &os.PathError{Op: "open", Path: path, Err: err}
}
