package repository_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	codeFence    = regexp.MustCompile("(?ms)^```.*?^```")
	inlineCode   = regexp.MustCompile("`[^`\n]*`")
	markdownLink = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	heading      = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
	anchorTag    = regexp.MustCompile(`<a id="([^"]+)"></a>`)
)

// TestLinks follows the relative links of all Markdown files: the file exists, and it has a heading or a tag for the anchor.
func TestLinks(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name != "." && strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := inlineCode.ReplaceAllString(codeFence.ReplaceAllString(string(content), ""), "")
		for _, match := range markdownLink.FindAllStringSubmatch(text, -1) {
			if link := match[1] + match[2]; !strings.Contains(link, ":") {
				checkLink(t, path, link)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkLink(t *testing.T, from, link string) {
	file, anchor, _ := strings.Cut(link, "#")
	to := from
	if file != "" {
		to = filepath.Join(filepath.Dir(from), file)
	}
	if _, err := os.Stat(to); err != nil {
		t.Errorf("%s links to %s, which does not exist", from, link)
		return
	}
	if anchor == "" || filepath.Ext(to) != ".md" {
		return
	}
	content, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range anchorTag.FindAllStringSubmatch(string(content), -1) {
		if match[1] == anchor {
			return
		}
	}
	for _, match := range heading.FindAllStringSubmatch(codeFence.ReplaceAllString(string(content), ""), -1) {
		if anchorOf(match[1]) == anchor {
			return
		}
	}
	t.Errorf("%s links to %s, but %s has no such heading", from, link, to)
}

// anchorOf returns the anchor of a heading, by GitHub's rule.
func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
}
