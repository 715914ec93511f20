//go:build !linux

package servers

import (
	"os/exec"
	"syscall"
)

// endWithParent does nothing: only Linux can end a child with its parent.
func endWithParent(c *exec.Cmd, with syscall.Signal) {}
