//go:build linux

package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// verify reads a packed file in passes that keep nothing of a row: the same memory for five times the rows. Blocks that stayed in
// memory took 650 bytes a row.
func TestMemoryOfVerify(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	dir := t.TempDir()
	var peaks []int64 // kB
	for _, rows := range []string{"20000", "100000"} {
		mustRun(t, dir, "generate", "hepmass", "--rows", rows, "--positives", "10%", "-o", "rows.csv")
		mustRun(t, dir, "pack", "rows.csv", "-o", "rows.ttp")
		mustRun(t, dir, strings.Fields("fit rows.ttp --label label --method patmat-np --tau 1% --beta 1 --gap 1e-3 --memory 1MB -o m.json --certificate c.json")...)
		c := exec.Command("toptau", strings.Fields("verify m.json rows.ttp c.json --memory 1MB")...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "the certificate holds") {
			t.Fatalf("%v: %s", err, out)
		}
		peaks = append(peaks, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	t.Logf("at most %d kB for 20,000 rows, %d kB for 100,000", peaks[0], peaks[1])
	if peaks[1] > peaks[0]+30_000 {
		t.Errorf("%d kB for 20,000 rows, %d kB for 100,000, expected at most 30,000 kB more", peaks[0], peaks[1])
	}
}
