package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toptau/internal/app/cli/clitest"
)

// Every command of toptau that a page names parses.
func TestCommandsInPages(t *testing.T) { clitest.CheckPages(t, "../..", 150, app) }

var testFunctions = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)

// Every target of make, directory and test that a page names is there.
func TestSourcesInPages(t *testing.T) {
	const root = "../.."
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := clitest.EachCommand(t, root, "make", func(path string, args []string) {
		if !regexp.MustCompile(`(?m)^` + args[0] + `:`).Match(makefile) {
			t.Errorf("%s: make %s: no such target", path, args[0])
		}
	})
	found += clitest.EachCommand(t, root, "go", func(path string, args []string) {
		if args[0] != "test" && args[0] != "run" {
			return
		}
		module, dirs, patterns := root, []string(nil), []string(nil)
		for i, arg := range args[1:] {
			switch before := args[i]; {
			case before == "-C":
				module = filepath.Join(root, arg)
			case before == "-run" || before == "-bench":
				pattern, _, _ := strings.Cut(arg, "/")
				patterns = append(patterns, pattern)
			case (arg == "." || strings.HasPrefix(arg, "./")) && !strings.Contains(arg, "..."):
				dirs = append(dirs, filepath.Join(module, arg))
			}
		}
		for _, dir := range dirs {
			names := testsIn(t, dir)
			for _, pattern := range patterns {
				if pattern != "NONE" && !slices.ContainsFunc(names, regexp.MustCompile(pattern).MatchString) {
					t.Errorf("%s: go %s: no such test", path, strings.Join(args, " "))
				}
			}
		}
	})
	if found < 60 {
		t.Errorf("only %d commands were found", found)
	}
}

// testsIn lists the tests and benchmarks of a directory, or of a file.
func testsIn(t *testing.T, dir string) (names []string) {
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunctions.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}
