//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// liveCommand starts score in a process of its own and returns a function that waits for its next line.
func liveCommand(t *testing.T, dir string, stdin io.Reader, args ...string) (line func() string, stop func() (string, int)) {
	t.Helper()
	c := exec.Command("toptau", args...)
	c.Dir, c.Stdin = dir, stdin
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	line = func() string {
		t.Helper()
		select {
		case text, ok := <-lines:
			if !ok {
				t.Fatalf("the output ended: %s", &said)
			}
			return text
		case <-time.After(patient):
			t.Fatal("no line came")
			return ""
		}
	}
	stop = func() (string, int) {
		c.Process.Signal(syscall.SIGINT)
		for range lines {
		}
		c.Wait()
		return said.String(), c.ProcessState.ExitCode()
	}
	return line, stop
}

// liveModel writes a model of a column a and returns its directory.
func liveModel(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := "a,y\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%d\n", i, i/36)
	}
	if err := os.WriteFile(filepath.Join(dir, "train.csv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, dir, "fit", "train.csv", "--label", "y", "--method", "topmean-np", "--tau", "10%", "-o", "m.json")
	return dir
}

// A pipe that stays open gets its scores row by row, and an open pipe ends with a signal.
func TestScoreOfAPipeIsLive(t *testing.T) {
	dir := liveModel(t)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	line, stop := liveCommand(t, dir, in, "score", "m.json", "-", "--on-error", "skip", "--reject", "r.csv")
	in.Close()
	fmt.Fprint(out, "a\n1\n")
	if text := line(); text != "row,score,decision" {
		t.Errorf("header %q", text)
	}
	for row := 1; row <= 5; row++ {
		if text := line(); !strings.HasPrefix(text, fmt.Sprint(2*row-1, ",")) {
			t.Errorf("row %d: %q", 2*row-1, text)
		}
		fmt.Fprintf(out, "x\n%d\n", row)
	}
	line()
	rejected, err := os.ReadFile(filepath.Join(dir, "r.csv"))
	if err != nil || strings.Count(string(rejected), "\n") != 6 {
		t.Errorf("rejected rows before the end: %q (%v)", rejected, err)
	}
	said, code := stop()
	if code != 130 || !strings.Contains(said, "5 rows without a score") {
		t.Errorf("exit code %d, %q", code, said)
	}
}
