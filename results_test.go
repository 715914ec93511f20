package toptau

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toptau/internal/provenance"
)

// resultsIndex is the page that lists the pages of results.
const resultsIndex = "docs/results/README.md"

var (
	resultLink = regexp.MustCompile(`\]\((\w+\.md)\)`)
	resultRun  = regexp.MustCompile(`^[0-9a-f]{7,40}, \d{4}-\d\d-\d\d(, older than its code)?$`)
)

// Every page of results has the command, the commit and the day of its run below the title, and the index has the same: with
// -update it is written again.
func TestResultsNameTheirRun(t *testing.T) {
	pages, err := filepath.Glob("docs/results/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatal(pages, err)
	}
	runs := map[string]string{}
	for _, path := range pages {
		name := filepath.Base(path)
		if name == filepath.Base(resultsIndex) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.SplitN(string(text), "\n", 4)
		run := provenance.Line.FindStringSubmatch(line[2])
		if run == nil || line[1] != "" {
			t.Errorf("%s begins with %q, not with the line of package provenance below the title", path, line[2])
			continue
		}
		runs[name] = run[2] + ", " + run[3]
		if run[4] != "" {
			runs[name] += ", older than its code"
		}
	}
	text, err := os.ReadFile(resultsIndex)
	if err != nil {
		t.Fatal(err)
	}
	listed, stale := map[string]bool{}, false
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || !resultRun.MatchString(cells[2]) {
			continue
		}
		for _, link := range resultLink.FindAllStringSubmatch(cells[0], -1) {
			listed[link[1]] = true
			if cells[2] != runs[link[1]] {
				stale = true
				cells[2] = runs[link[1]]
			}
		}
		lines[i] = strings.Join(cells, " | ")
	}
	for name := range runs {
		if !listed[name] {
			t.Errorf("%s does not list %s", resultsIndex, name)
		}
	}
	switch {
	case stale && *update:
		if err := os.WriteFile(resultsIndex, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	case stale:
		t.Errorf("%s has other runs than the pages: go test . -run TestResultsNameTheirRun -update", resultsIndex)
	}
}
