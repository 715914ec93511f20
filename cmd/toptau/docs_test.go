package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var (
	// namedCommands match a command of toptau in a page, as inline code or as a line of a block. toptau-sql has other verbs.
	namedCommands = regexp.MustCompile("(?m)`(?:bin/)?toptau ([a-z][^`]*)`|^(?: {4}|\\$ )(?:bin/)?toptau ([a-z].*)$")
	flagWords     = regexp.MustCompile(`^(?:--([a-z][a-z0-9-]*)|-([a-zA-Z]))(?:=.*)?$`)
)

// Every command of toptau that a page names has a verb and flags that exist.
func TestCommandsInPages(t *testing.T) {
	parser, err := app().Parser(kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[string]*kong.Node{"help": parser.Model.Node}
	for _, verb := range parser.Model.Leaves(false) {
		verbs[verb.Name] = verb
	}
	commands := 0
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/*/*.md", "../../docs/*/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range pages {
			if filepath.Base(path) == "CHANGELOG.md" {
				continue // it names what is gone
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range namedCommands.FindAllStringSubmatch(string(text), -1) {
				commands++
				line := found[1] + found[2]
				if wrong := wrongWord(verbs, strings.Fields(line)); wrong != "" {
					t.Errorf("%s: toptau %s: %s", path, line, wrong)
				}
			}
		}
	}
	if commands < 150 {
		t.Errorf("only %d commands were found", commands)
	}
}

// wrongWord returns why a command does not parse, "" if its verb and flags exist.
func wrongWord(verbs map[string]*kong.Node, words []string) string {
	verb := verbs[words[0]]
	if verb == nil {
		return "no such verb"
	}
	known := map[string]bool{"help": true, "h": true}
	for _, group := range verb.AllFlags(false) {
		for _, f := range group {
			known[f.Name], known[string(f.Short)] = true, true
			if f.Negated {
				known["no-"+f.Name] = true
			}
		}
	}
	for _, word := range words[1:] {
		if strings.ContainsAny(word, "|>;&#") && !strings.Contains(word, "'") {
			break // the rest is the shell's, or a comment
		}
		if m := flagWords.FindStringSubmatch(strings.TrimRight(word, ",.")); m != nil && !known[m[1]+m[2]] {
			return "no flag " + word
		}
	}
	return ""
}
