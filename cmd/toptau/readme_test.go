package main

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/app/cli/clitest"
)

var update = flag.Bool("update", false, "write README.md, docs/guide/*.md and docs/reference/cli.md again")

// pageFiles are in the directory in which the commands of a page run.
var pageFiles = map[string]string{
	"text.csv": "flow,bytes,y\n1,312,0\n2,n/a,0\n3,4096,1\n4,17,0\n",
}

// TestREADME runs every command in the console blocks of README.md and docs/guide/*.md and compares the output. The commands of a
// page run in order in one directory, which has the readers of models in Python and JavaScript and the programs of docs/examples. Commands on TOPTAU_DATA run only
// where it is set. A block of code whose first line is a comment with a file name is a file in that directory. Python runs only
// where TOPTAU_PYTHON is an interpreter with pandas and scikit-learn, and node, curl and jq only where they are installed; without
// them, the rest of the page is not run. A server that a page has started ends with the page if its number is in serve.pid.
func TestREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the pages train for minutes")
	}
	pages, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages in docs/guide", err)
	}
	if os.Getenv("TOPTAU_LONG") == "" && !*update { // make nightly runs all pages
		pages = slices.DeleteFunc(pages, func(path string) bool {
			return !slices.Contains([]string{"tutorial.md", "guarantees.md"}, filepath.Base(path))
		})
	}
	for _, path := range append([]string{"../../README.md"}, pages...) {
		absolute, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(path), func(t *testing.T) { runPage(t, absolute) })
	}
}

// fileBlocks match a block of code whose first line names a file: the comment sign, the name, the rest.
var fileBlocks = regexp.MustCompile("(?s)```(?:python|js|go|awk)\n((?:#|//) )([a-z]+[.](?:py|mjs|go|awk))(\n.*?)```")

// pageRun is the state of a page whose commands are run.
type pageRun struct {
	module  string // its directory
	skipped bool   // a command was skipped on which the others may depend
	noData  bool   // a command on TOPTAU_DATA was skipped
}

var consoleBlocks = regexp.MustCompile("(?s)```console\n(.*?)```")

// runPage runs the commands of a page and compares their output with the page, or writes it there with -update.
func runPage(t *testing.T, path string) {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page := &pageRun{module: module}
	t.Chdir(t.TempDir())
	defer endServer()
	for _, block := range fileBlocks.FindAllStringSubmatch(string(content), -1) {
		if err := os.WriteFile(block[2], []byte(block[1]+block[3]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	copyPrograms(t, module)
	for name, text := range pageFiles {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := consoleBlocks.ReplaceAllStringFunc(string(content), func(block string) string {
		return page.runBlock(t, block)
	})
	same := withoutSeconds(got) == withoutSeconds(string(content))
	if *update && !same {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, want := withoutSeconds(got), withoutSeconds(string(content)); !same {
		t.Errorf("%s does not show what its commands print (go test ./cmd/toptau -run README -update)\n%s",
			filepath.Base(path), clitest.FirstDifference(got, want))
	}
	if page.noData {
		t.Skip("TOPTAU_DATA is not set: commands on it were not run")
	}
}

// copyPrograms copies the packages for Python and JavaScript and the consumer of a queue into the page's directory.
func copyPrograms(t *testing.T, module string) {
	t.Helper()
	err := os.CopyFS("toptau", os.DirFS(filepath.Join(module, "python", "toptau")))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"js/toptau.mjs", "docs/examples/consumer.go"} {
		text, err := os.ReadFile(filepath.Join(module, path))
		if err == nil {
			err = os.WriteFile(filepath.Base(path), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// runBlock runs the commands of a block and returns the block with their output.
func (p *pageRun) runBlock(t *testing.T, block string) string {
	var out strings.Builder
	out.WriteString("```console\n")
	for _, part := range strings.Split("\n"+strings.TrimSuffix(strings.TrimPrefix(block, "```console\n"), "```"), "\n$ ")[1:] {
		line, shown, _ := strings.Cut(part, "\n")
		shown = strings.TrimRight(shown, "\n")
		out.WriteString("$ " + line + "\n")
		if printed := p.runLine(t, line, shown); printed != "" {
			out.WriteString(printed + "\n")
		}
	}
	out.WriteString("```")
	return out.String()
}

// runLine runs a command and returns its output without empty lines. It returns the shown text instead if that is the output with
// some lines replaced by "...", or if the command needs data that is not there.
func (p *pageRun) runLine(t *testing.T, line, shown string) string {
	python := os.Getenv("TOPTAU_PYTHON")
	node, _ := exec.LookPath("node")
	if p.skipped = p.skipped || strings.HasPrefix(line, "python3 ") && python == "" || strings.HasPrefix(line, "node ") && node == ""; p.skipped {
		t.Logf("skipped, TOPTAU_PYTHON is not set or there is no node: %s", line)
		return shown
	}
	for _, program := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil && strings.Contains(line, program+" ") {
			p.skipped = true
			t.Logf("skipped, %s is not installed: %s", program, line)
			return shown
		}
	}
	if strings.Contains(line, "$TOPTAU_DATA") && os.Getenv("TOPTAU_DATA") == "" {
		p.noData = true
		return shown
	}
	var text strings.Builder
	if args := arguments(line); args[0] == "toptau" {
		run(context.Background(), args[1:], strings.NewReader(""), &text, &text)
	} else {
		c := p.command(t, python, args)
		c.Stdout, c.Stderr = &text, &text
		c.Run() // the page shows the output of a failure, too
	}
	var lines []string
	for line := range strings.SplitSeq(text.String(), "\n") {
		if line != "" {
			lines = append(lines, line)
		}
	}
	printed := strings.Join(lines, "\n")
	if strings.Contains("\n"+shown+"\n", "\n...\n") && abridges(shown, printed) {
		return shown
	}
	return printed
}

// command returns a command of a page. Programs in Go are built in the module, so that they find its packages.
func (p *pageRun) command(t *testing.T, python string, args []string) *exec.Cmd {
	switch {
	case args[0] == "python3":
		return exec.Command(python, args[1:]...)
	case args[0] == "go" && len(args) == 5: // go build -o NAME FILE
		here, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command("go", "build", "-o", filepath.Join(here, args[3]), filepath.Join(here, args[4]))
		c.Dir = p.module
		return c
	}
	return exec.Command(args[0], args[1:]...)
}

// endServer ends the server that the commands of a page have started and not ended.
func endServer() {
	text, err := os.ReadFile("serve.pid")
	if err != nil {
		return
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
		if p, err := os.FindProcess(pid); err == nil {
			p.Kill()
		}
	}
}

// abridges reports whether the shown text is the printed one with some lines replaced by "...". Seconds may differ.
func abridges(shown, printed string) bool {
	pattern := "^"
	for line := range strings.SplitSeq(withoutSeconds(shown), "\n") {
		if line == "..." {
			pattern += "(.*\n)*"
			continue
		}
		pattern += regexp.QuoteMeta(line) + "\n"
	}
	return regexp.MustCompile(pattern + "$").MatchString(withoutSeconds(printed) + "\n")
}

func TestAbridges(t *testing.T) {
	for _, test := range []struct {
		shown, printed string
		want           bool
	}{
		{"a\n...\nd", "a\nb\nc\nd", true},
		{"a\n...\nd", "a\nd", true},
		{"...\nc\n...", "a\nb\nc\nd", true},
		{"a\n...\nc", "a\nb\nc\nd", false},
		{"a\n...", "b\nc", false},
		{"a\n1.25 s to read\n...", "a\n9.75 s to read\nb", true},
		{"...\ntotal 3.", "1\ntotal 35", false},
	} {
		if got := abridges(test.shown, test.printed); got != test.want {
			t.Errorf("%q of %q: %v", test.shown, test.printed, got)
		}
	}
}

// arguments splits a command as a shell does, as far as the pages need it: single quotes and $TOPTAU_DATA.
func arguments(command string) []string {
	var args []string
	for i, piece := range strings.Split(command, "'") {
		if i%2 == 1 {
			args = append(args, piece)
			continue
		}
		args = append(args, strings.Fields(os.ExpandEnv(piece))...)
	}
	return args
}

var seconds = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e\+[0-9]+)? µ?s\b`)

func withoutSeconds(text string) string { return seconds.ReplaceAllString(text, "N s") }
