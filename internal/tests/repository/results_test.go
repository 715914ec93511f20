package repository_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toptau/internal/tests/provenance"
)

const (
	resultsDirectory = "docs/results"
	// resultsIndex lists the pages of results, and the tables that have no page.
	resultsIndex = resultsDirectory + "/README.md"
)

var (
	resultLink = regexp.MustCompile(`\]\((\w[\w-]*\.(?:md|csv))\)`)
	resultRun  = regexp.MustCompile(`^[0-9a-f]{7,40}, \d{4}-\d\d-\d\d(, older)?$`)
	resultTime = regexp.MustCompile(`(?m)^(## )?Machine\b`)
)

// The pages of results. Those that are the same on every machine have a probe (TestProbes, and that of
// repro/paper). Those of times have the machine instead.
var (
	probedPages = []string{"quality.md", "thresholds.md", "guarantee.md", "certified.md", "sql.md", "paper.md", "theorems.md"}
	timedPages  = []string{"performance.md", "serve.md"}
)

// resultsOf returns the files of results and their runs. A file of long tables without a run belongs to a page that links it.
func resultsOf(t *testing.T) (runs, commands map[string]string) {
	files, err := filepath.Glob(resultsDirectory + "/*.*")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	runs, commands = map[string]string{}, map[string]string{}
	linked, tables := "", []string{}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, name := string(content), filepath.Base(path)
		line := text
		switch {
		case path == resultsIndex || strings.HasSuffix(name, ".svg") || strings.HasSuffix(name, ".json"):
			continue
		case strings.HasSuffix(name, ".md"):
			linked += text
			if parts := strings.SplitN(text, "\n", 3); parts[1] == "" {
				line = parts[2]
			}
			if !slices.Contains(probedPages, name) && !slices.Contains(timedPages, name) {
				t.Errorf("%s is neither among the pages with a probe nor among those of times", path)
			}
		case !strings.HasPrefix(text, "# "):
			tables = append(tables, name)
			continue
		}
		at := provenance.Line.FindStringSubmatchIndex(line)
		if at == nil || at[0] != 0 {
			t.Errorf("%s begins with %.60q, without the line of package provenance", path, text)
			continue
		}
		run := provenance.Line.FindStringSubmatch(line)
		switch marked, probed := run[4] != "", run[5] != ""; {
		case slices.Contains(probedPages, name):
			if !marked && !probed {
				t.Errorf("%s has neither a probe nor a mark: run TestProbes of its module with -update", path)
			}
		case marked || probed:
			t.Errorf("%s has a mark or a probe, but is not among the pages that have one", path)
		case slices.Contains(timedPages, name) && !resultTime.MatchString(text):
			t.Errorf("%s has times without the machine", path)
		}
		commands[name], runs[name] = run[1], run[2]+", "+run[3]
		if run[4] != "" {
			runs[name] += ", older"
		}
	}
	for _, name := range tables {
		if !strings.Contains(linked, "]("+name+")") {
			t.Errorf("%s/%s has no run, and no page links it", resultsDirectory, name)
		}
	}
	return runs, commands
}

// Every page and table of results has the command, the commit and the day of its run, and the index has the same. With -update the index
// is written again.
func TestResultsNameTheirRun(t *testing.T) {
	runs, commands := resultsOf(t)
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
			if command := commands[link[1]]; strings.HasPrefix(command, "`") && !strings.HasPrefix(cells[1], command) {
				t.Errorf("%s was measured with %s, and %s has %s", link[1], command, resultsIndex, cells[1])
			}
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
		t.Errorf("%s has other runs than the pages: go test ./internal/tests/repository -run TestResultsNameTheirRun -update", resultsIndex)
	}
}
