package toptau

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// The code that pages of results measure: a page is older than its code if one of these has changed since its commit.
var (
	solvers = []string{"surrogate", "threshold", "method", "internal/matrix", "internal/kernel", "internal/objective", "internal/optim", "internal/certified", "internal/lockstep"}
	passes  = append([]string{"internal/large", "internal/packed", "internal/table", "internal/proof"}, solvers...)
	search  = append([]string{"internal/tune", "internal/learn", "internal/feature", "calibrate", "metric"}, solvers...)
	papers  = append([]string{"repro/paper"}, solvers...)

	measured = map[string][]string{
		"quality.md": append([]string{"bench/quality"}, search...), "thresholds.md": append([]string{"bench/quality"}, search...), "money.md": search,
		"guarantee.md": {"calibrate", "metric", "internal/tune"},
		"certified.md": solvers, "adam.md": append([]string{"bench/optima"}, solvers...), "zero.md": append([]string{"bench/optima", "diagnose.go"}, solvers...),
		"performance.md": append([]string{"bench/*.go", "internal/table", "internal/learn"}, solvers...),
		"scoring.md":     {"bench/scoring", "internal/table", "internal/feature", "internal/scoredrow", "score.go", "model"},
		"serve.md":       {"bench/load", "internal/serve", "internal/feature", "internal/monitor"},
		"alertlimit.md":  {"internal/alertlimit"}, "monitor.md": {"internal/monitor"},
		"large.md": append([]string{"bench/large"}, passes...), "sql.md": append([]string{"sql", "internal/dialect"}, passes...),
		"boosting.md": {"bench/boosting", "internal/feature/trees"}, "inference.md": {"bench/inference", "internal/feature", "internal/export", "internal/portable", "model"},
		"parquet.md": {"bench/parquet", "internal/parquet", "internal/table"}, "hostile.md": {"internal/table", "internal/parquet", "internal/packed", "model"},
		"exports.md": {"integration", "internal/export", "internal/portable", "internal/modeltest", "python/toptau/reader.py", "js"},
		"paper.md":   papers, "theorems.md": papers,
	}
)

// changedSince reports whether code other than tests differs from that of a commit, which a clone may lack.
func changedSince(commit string, code []string) (changed bool, err error) {
	if out, err := exec.Command("git", "cat-file", "-e", commit+"^{commit}").CombinedOutput(); err != nil {
		return false, fmt.Errorf("commit %s: %w %s", commit, err, out)
	}
	for _, path := range code {
		if found, err := filepath.Glob(path); err != nil || len(found) == 0 {
			return false, fmt.Errorf("%s: there is no such code: %v", path, err)
		}
	}
	args := append([]string{"diff", "--quiet", commit, "--"}, code...)
	err = exec.Command("git", append(args, ":!*_test.go", ":!*.md")...).Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return true, nil
	}
	return false, err
}

// Every page of results has the command, the commit and the day of its run below the title, and the index has the same. With
// -update pages that are older than their code are marked, and the index is written again.
func TestResultsNameTheirRun(t *testing.T) {
	pages, err := filepath.Glob("docs/results/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatal(pages, err)
	}
	runs, commands := map[string]string{}, map[string]string{}
	for _, path := range pages {
		name := filepath.Base(path)
		if name == filepath.Base(resultsIndex) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if measured[name] == nil {
			t.Errorf("%s measures no code", name)
		}
		if *update {
			text = markIfOlder(t, path, text)
		}
		line := strings.SplitN(string(text), "\n", 4)
		run := provenance.Line.FindStringSubmatch(line[2])
		if run == nil || line[1] != "" {
			t.Errorf("%s begins with %q, not with the line of package provenance below the title", path, line[2])
			continue
		}
		commands[name] = run[1]
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
		t.Errorf("%s has other runs than the pages: go test . -run TestResultsNameTheirRun -update", resultsIndex)
	}
}

// markIfOlder marks a page whose code has changed since its run.
func markIfOlder(t *testing.T, path string, text []byte) []byte {
	run := provenance.Line.FindSubmatchIndex(text)
	if run == nil || run[8] >= 0 {
		return text
	}
	changed, err := changedSince(string(text[run[4]:run[5]]), measured[filepath.Base(path)])
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	if !changed {
		return text
	}
	text = slices.Insert(text, run[1]-1, []byte(provenance.Older)...)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return text
}
