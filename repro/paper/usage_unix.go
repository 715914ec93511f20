//go:build unix

package paper

import (
	"runtime"
	"syscall"
)

// readUsage returns the processor time of this process in seconds and its peak memory in bytes.
func readUsage() (seconds float64, peak int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	peak = int64(u.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" { // there it is in bytes, elsewhere in KiB
		peak <<= 10
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, peak
}
