package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// buildLine returns the command in a file that builds cmd/toptau into bin/toptau.
func buildLine(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	variable := ""
	for line := range strings.SplitSeq(string(content), "\n") {
		if value, found := strings.CutPrefix(line, "BUILD = "); found {
			variable = value
		}
		if strings.Contains(line, "-o bin/toptau ./cmd/toptau") {
			line, _, _ = strings.Cut(line, "#")
			return strings.Replace(strings.TrimSpace(line), "$(BUILD)", variable, 1)
		}
	}
	t.Fatalf("%s does not build bin/toptau", path)
	return ""
}

// The binaries of make build and of the README need no C library: they run in an empty container.
func TestTheBinaryIsStatic(t *testing.T) {
	if os.Getenv("TOPTAU_LONG") == "" || runtime.GOOS != "linux" {
		t.Skip("TOPTAU_LONG is not set: builds a binary for Linux")
	}
	if line := buildLine(t, "../../README.md"); !strings.HasPrefix(line, "CGO_ENABLED=0 go build ") {
		t.Errorf("the README builds with %q", line)
	}
	words := strings.Fields(buildLine(t, "../../Makefile"))
	binary := filepath.Join(t.TempDir(), "toptau")
	environment := os.Environ()
	for ; strings.Contains(words[0], "="); words = words[1:] {
		environment = append(environment, words[0])
	}
	for i, word := range words {
		if word == "bin/toptau" {
			words[i] = binary
		}
	}
	c := exec.Command(words[0], words[1:]...)
	c.Dir, c.Env = "../..", environment
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary of make build needs a program interpreter")
		}
	}
	if libraries, err := f.ImportedLibraries(); err == nil && len(libraries) > 0 {
		t.Errorf("the binary of make build needs %v", libraries)
	}
}
