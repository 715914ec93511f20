package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the output of its commands into README.md")

// readmeFiles stand in the directory in which the README's commands run.
var readmeFiles = map[string]string{
	"text.csv": "flow,bytes,y\n1,312,0\n2,n/a,0\n3,4096,1\n4,17,0\n",
}

// TestREADME runs every command of the README's console blocks, in order, in one directory, and compares what they print.
// Commands on TOPTAU_DATA run only where it is set.
func TestREADME(t *testing.T) {
	const path = "../../README.md"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range readmeFiles {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```")
	got := blocks.ReplaceAllStringFunc(string(content), func(block string) string {
		return runBlock(t, block)
	})
	if *update {
		if err := os.WriteFile(absolute, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, want := withoutSeconds(got), withoutSeconds(string(content)); got != want {
		t.Errorf("README.md does not show what its commands print (go test ./cmd/toptau -run README -update)\n%s",
			firstDifference(got, want))
	}
}

// runBlock runs the commands of a block and returns it with what they print.
func runBlock(t *testing.T, block string) string {
	var out strings.Builder
	out.WriteString("```console\n")
	for _, part := range strings.Split(block, "\n$ ")[1:] {
		line, printed, _ := strings.Cut(part, "\n")
		out.WriteString("$ " + line + "\n")
		if strings.Contains(line, "$TOPTAU_DATA") && os.Getenv("TOPTAU_DATA") == "" {
			t.Logf("skipped, TOPTAU_DATA is not set: %s", line)
			if printed = strings.TrimRight(strings.TrimSuffix(printed, "```"), "\n"); printed != "" {
				out.WriteString(printed + "\n")
			}
			continue
		}
		var text strings.Builder
		if args := arguments(line); args[0] == "toptau" {
			run(context.Background(), args[1:], strings.NewReader(""), &text, &text)
		} else {
			c := command(t, args...)
			c.Stdout, c.Stderr = &text, &text
			c.Run() // the README shows what it prints, whether it succeeds or not
		}
		for _, line := range strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n") {
			if line != "" {
				out.WriteString(line + "\n")
			}
		}
	}
	out.WriteString("```")
	return out.String()
}

// arguments splits a command as a shell does, as far as the README needs it: single quotes and $TOPTAU_DATA.
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

var seconds = regexp.MustCompile(`[0-9]+\.[0-9]+ s`)

func withoutSeconds(text string) string { return seconds.ReplaceAllString(text, "N s") }

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "got:  " + a[i] + "\nwant: " + b[i]
		}
	}
	return "one is longer than the other"
}
