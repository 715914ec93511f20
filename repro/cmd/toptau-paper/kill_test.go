package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKillLeavesCompleteFiles ends runs at random moments. Every file that remains is complete, and the next run makes the
// directory of a run that nobody ended. A short campaign is part of every test run; TOPTAU_HOSTILE=long makes 60 kills.
func TestKillLeavesCompleteFiles(t *testing.T) {
	args := strings.Fields("counts ordering --quick --data-dir none -o p")
	if data := os.Getenv("TOPTAU_DATA"); data != "" {
		args = append(strings.Fields("counts claims --quick --seeds 1 --solver certified --start zero --sets ionosphere -o p --data-dir"), data)
	}
	start := time.Now()
	want := filesOf(t, runPaper(t, t.TempDir(), args))
	took := time.Since(start)

	kills := 3
	if os.Getenv("TOPTAU_HOSTILE") == "long" {
		kills = 60
	}
	for i := range kills {
		signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}[i%3]
		t.Run(fmt.Sprint(i, " ", signal), func(t *testing.T) {
			dir := t.TempDir()
			c := exec.Command("toptau-paper", args...)
			c.Dir = dir
			var text bytes.Buffer
			c.Stderr = &text
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(20, uint64(i)))
			time.Sleep(time.Duration(random.Float64() * float64(took)))
			c.Process.Signal(signal)
			_ = c.Wait() // the code is checked
			switch code := c.ProcessState.ExitCode(); {
			case code == 0 || code == -1: // it had ended, or had no handler yet
			case code == 130 && strings.Contains(text.String(), "toptau-paper: interrupted"):
			default:
				t.Errorf("exit code %d: %s", code, &text)
			}
			for name, content := range filesOf(t, dir) {
				temporary := strings.HasPrefix(filepath.Base(name), ".")
				switch {
				case temporary && signal != syscall.SIGKILL:
					t.Errorf("%s remained", name)
				case !temporary && !complete(name, content, want):
					t.Errorf("%s is neither absent nor complete", name)
				}
			}

			got := filesOf(t, runPaper(t, dir, args))
			if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
				t.Errorf("after the next run: %q, want %q", a, b)
			}
			for name, content := range got {
				if !complete(name, content, want) {
					t.Errorf("after the next run %s differs", name)
				}
			}
		})
	}
}

// complete reports whether a file is as a whole run writes it. Stored parts contain times, so only their form is known.
func complete(name, content string, want map[string]string) bool {
	if strings.Contains(name, "cache") {
		return json.Valid([]byte(content))
	}
	return content == want[name]
}

// runPaper runs the command in a directory and returns the directory.
func runPaper(t *testing.T, dir string, args []string) string {
	t.Helper()
	c := exec.Command("toptau-paper", args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// filesOf reads every file below a directory.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
