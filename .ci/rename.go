//go:build ignore

// Rename gives the modules another path, in every tracked file:
//
//	go run .ci/rename.go github.com/OWNER/toptau
//	go run .ci/rename.go -tag v0.2.0 github.com/OWNER/toptau
//
// With -tag, the module sql requires that version of the main module instead of the directory next to it, as go install needs: commit that for
// the tags v0.2.0 and sql/v0.2.0 alone. Names of the program, the packages and the project stay.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// wholeNames are the files in which the module's path alone, in quotes, is that and no name of the program.
var wholeNames = []string{"internal/tests/repository/api/toptau.txt", "internal/tests/repository/layout_test.go", "internal/tests/repository/floors_test.go"}

func main() {
	tag := flag.String("tag", "", "a version such as v0.2.0, which the module sql is to require")
	flag.Parse()
	if err := rename(flag.Arg(0), *tag); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

func rename(path, tag string) error {
	if first, _, found := strings.Cut(path, "/"); flag.NArg() != 1 || !found || !strings.Contains(first, ".") || strings.ContainsAny(path, " \"'`") {
		return fmt.Errorf("%q is not a path such as github.com/OWNER/toptau", path)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	old := string(regexp.MustCompile(`(?m)^module (\S+)$`).FindSubmatch(mod)[1])
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	// A path of a package: the module, and a folder of the source or the three dots of all packages.
	packages := regexp.MustCompile(`(^|[^\w./@-])` + regexp.QuoteMeta(old) + `/(\.\.\.|[a-z]+\b)`)
	whole := regexp.MustCompile(`"` + regexp.QuoteMeta(old) + `(/?)"`)
	imports := regexp.MustCompile(`(?m)^(\s+(?:[\w.]+ )?|import (?:[\w.]+ )?)"` + regexp.QuoteMeta(old) + `"$`)
	modules := regexp.MustCompile(`(?m)^(module |replace |require |\t)` + regexp.QuoteMeta(old) + `( |/|$)`)
	changed := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) || bytes.IndexByte(content, 0) >= 0 || strings.HasSuffix(name, ".sum") || name == "CHANGELOG.md" {
			continue
		} else if err != nil {
			return err
		}
		next := packages.ReplaceAllFunc(content, func(match []byte) []byte {
			parts := packages.FindSubmatch(match)
			if info, err := os.Stat(string(parts[2])); string(parts[2]) != "..." && (err != nil || !info.IsDir()) {
				return match
			}
			return slices.Concat(parts[1], []byte(path+"/"), parts[2])
		})
		switch {
		case filepath.Base(name) == "go.mod":
			next = modules.ReplaceAll(content, []byte("${1}"+path+"${2}"))
			if tag != "" && name == "sql/go.mod" {
				next = regexp.MustCompile(`(?m)^replace .*\n`).ReplaceAll(next, nil)
				next = bytes.Replace(next, []byte("\t"+path+" v0.0.0"), []byte("\t"+path+" "+tag), 1)
			}
		case slices.Contains(wholeNames, name):
			next = whole.ReplaceAll(next, []byte(`"`+path+`${1}"`))
		case strings.HasSuffix(name, ".go"):
			next = imports.ReplaceAll(next, []byte(`${1}"`+path+`"`))
		}
		if bytes.Equal(next, content) {
			continue
		}
		if strings.HasSuffix(name, ".go") && !bytes.Contains(content, []byte("//go:build ignore")) {
			if next, err = format.Source(next); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := os.WriteFile(name, next, 0o644); err != nil {
			return err
		}
		changed++
	}
	fmt.Printf("%s is now %s in %d files\n", old, path, changed)
	return nil
}
