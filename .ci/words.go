//go:build ignore

// Words refuses the words of the project's old dialect in the comments, strings and names of Go files and in documents:
//
//	go run .ci/words.go [DIR or FILE ...]
//
// It prints file:line: word and what to write instead, and exits with 1 if it finds any. Generated pages under docs/results
// and repro/pages, and test data, are left out.
package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// prose is refused in comments, strings and documents.
var prose = []struct{ pattern, instead string }{
	{`told`, "given, set, passed"},
	{`worded`, "written"},
	{`anybody('s)?`, "any, any program's"},
	{`whoever`, "the caller, the user"},
	{`so many`, "a number: n, that many"},
	{`for keeps`, "final"},
	{`too dear|dearer|dearest`, "too expensive, too slow"},
	{`mend(s|ed|ing)?`, "fix"},
	{`with a word`, "with a message"},
	{`beside`, "next to; besides"},
	{`crews?`, "worker pool"},
	{`slabs?`, "arena"},
	{`levellers?`, "level solver"},
	{`symbolic`, "categorical"},
	{`rooms?`, "package; memory, space"},
	{`as (they|it) (are|is) told`, "as set"},
	{`what is (done|known|left|asked|wanted|tried|chosen|missing|found)`, "name the thing"},
}

// names are refused as parts of identifiers.
var names = regexp.MustCompile(`(?i)^(crew|slab|leveller|rounder|nearby|sought|oddity|hopeless|crowded)$`)

// bounds are names of limits, which are min and max.
var bounds = regexp.MustCompile(`^(least|most|Least|Most)[A-Z]`)

var camel = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

func main() {
	roots := os.Args[1:]
	if len(roots) == 0 {
		roots = []string{"."}
	}
	found := 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := d.Name()
			if d.IsDir() {
				switch {
				case name == "testdata", name == "results", path == "repro/pages", name != "." && name != ".." && strings.HasPrefix(name, "."):
					return filepath.SkipDir
				}
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			switch filepath.Ext(name) {
			case ".go":
				found += checkGo(path, text)
			case ".md":
				found += check(path, string(text), 1)
			}
			return nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if found > 0 {
		fmt.Printf("%d words of the old dialect; CONTRIBUTING.md says how we write\n", found)
		os.Exit(1)
	}
}

var expressions = func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(prose))
	for i, p := range prose {
		list[i] = regexp.MustCompile(`(?i)\b(` + p.pattern + `)\b`)
	}
	return list
}()

// check looks at text that begins in the given line.
func check(path, text string, line int) int {
	found := 0
	for i, expression := range expressions {
		for _, at := range expression.FindAllStringIndex(text, -1) {
			if quoted(text[:at[0]]) {
				continue
			}
			fmt.Printf("%s:%d: %q: %s\n", path, line+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], prose[i].instead)
			found++
		}
	}
	return found
}

// quoted reports whether the text that follows is a text that a test refuses: "symbolic", `--symbolic`.
func quoted(before string) bool {
	return strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "--")
}

// checkGo looks at the comments, strings and identifiers of a Go file.
func checkGo(path string, text []byte) int {
	found := 0
	files := token.NewFileSet()
	file := files.AddFile(path, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		at, kind, literal := s.Scan()
		line := file.Line(at)
		switch kind {
		case token.EOF:
			return found
		case token.COMMENT, token.STRING:
			found += check(path, literal, line)
		case token.IDENT:
			if bounds.MatchString(literal) {
				fmt.Printf("%s:%d: name %s: write min or max\n", path, line, literal)
				found++
			}
			for _, part := range camel.FindAllString(literal, -1) {
				if names.MatchString(part) {
					fmt.Printf("%s:%d: name %s\n", path, line, literal)
					found++
				}
			}
		}
	}
}
