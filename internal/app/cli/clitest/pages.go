package clitest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toptau/internal/app/cli"
)

var (
	inlineCode   = regexp.MustCompile("`[^`\n]+`")
	synopsisWord = regexp.MustCompile(`[\[\]<>|]|\.\.\.`)
	lacksWord    = regexp.MustCompile(`missing|without a value|expected "<|expected one of|got "([A-Z]+)"`) // a page may name a verb or a flag alone
)

// CheckPages parses every command of an app that the pages of the repository name, as inline code or in a block. Flags must exist
// and have possible values. root is the directory of the repository.
func CheckPages(t *testing.T, root string, atLeast int, app func() *cli.App) {
	t.Helper()
	name := app().Name
	found := EachCommand(t, root, name, func(path string, args []string) {
		if err := app().Parse(args); err != nil && !lacksWord.MatchString(err.Error()) {
			t.Errorf("%s: %s %s: %v", path, name, strings.Join(args, " "), err)
		}
	})
	if found < atLeast {
		t.Errorf("%d commands of %s were found, expected at least %d", found, name, atLeast)
	}
}

// EachCommand visits the commands of a program that the pages of the repository name, and returns their number.
func EachCommand(t *testing.T, root, program string, visit func(path string, args []string)) (found int) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "repro/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
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
			for _, args := range commandsIn(string(text), program) {
				found++
				visit(path, args)
			}
		}
	}
	return found
}

// commandsIn returns the words after the name of a program wherever a page calls it: at the start of inline code, or in a line of
// a block, where lines without a prompt are output if any line has one. A synopsis, with brackets or dots, is no call.
func commandsIn(page, program string) (calls [][]string) {
	call := regexp.MustCompile(`^(?:.*(?:\| |; |&& |\())?(?:[A-Z_]+=\S+ )*(?:bin/)?` + regexp.QuoteMeta(program) + ` ([a-z].*)`)
	add := func(text string) {
		m := call.FindStringSubmatch(text)
		if m == nil {
			return
		}
		args := words(m[1])
		if end := slices.IndexFunc(args, func(w string) bool { return strings.ContainsAny(w, ">;&#") || w == "|" }); end >= 0 {
			args = args[:end] // the rest is the shell's, or a comment
		}
		if !synopsisWord.MatchString(strings.Join(args, " ")) {
			calls = append(calls, args)
		}
	}
	for k, block := range strings.Split(strings.ReplaceAll(page, "\\\n", " "), "```") {
		prompts := strings.Contains(block, "\n$ ")
		for line := range strings.Lines(block) {
			line = strings.TrimRight(line, "\n")
			switch {
			case k%2 == 0 && !strings.HasPrefix(line, "    "):
				for _, code := range inlineCode.FindAllString(line, -1) {
					add(strings.Trim(code, "`"))
				}
			case !prompts:
				add(strings.TrimSpace(line))
			case strings.HasPrefix(line, "$ "):
				add(line[2:])
			}
		}
	}
	return calls
}

// words divides a line at blanks, except within quotes.
func words(line string) (list []string) {
	var word strings.Builder
	quote, any := rune(0), false
	end := func() {
		if any {
			list = append(list, word.String())
		}
		word.Reset()
		any = false
	}
	for _, c := range line {
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote, any = c, true
		case c == quote:
			quote = 0
		case quote == 0 && (c == ' ' || c == '\t'):
			end()
		default:
			word.WriteRune(c)
			any = true
		}
	}
	end()
	return list
}
