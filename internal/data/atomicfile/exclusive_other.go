//go:build !windows && (!unix || solaris || aix)

package atomicfile

import (
	"errors"
	"os"
)

func openLocked(string) (*os.File, error) { return nil, errors.ErrUnsupported }
