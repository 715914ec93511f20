package servers

import (
	"os/exec"
	"syscall"
)

// endWithParent ends a server whose test was killed.
func endWithParent(c *exec.Cmd, with syscall.Signal) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = with
}
