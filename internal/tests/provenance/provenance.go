// Package provenance names the run that a page or a table of docs/results comes from, and whether the code of today has the same results.
// The programs that write pages use it, and a test checks the pages that are written by hand.
package provenance

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// Older is the mark of a page that an older build measured: one with another probe, or one from before the page had a probe.
const Older = ", with an older build"

// Line matches the line of a run, below the title of a page or as the first comment of a table. Its groups are the command, the commit,
// the day, the mark, and the probe of the measuring build.
var Line = regexp.MustCompile(`(?m)^(?:# )?Measured with (` + "`[^`\n]+`" + `|[^` + "`\n" + `]+) at commit ([0-9a-f]{7,40}) on (\d{4}-\d\d-\d\d)(` + Older + `)?(?:; probe ([0-9a-f]{8}))?\.$`)

// WritePage writes a page of results that a command of this source measured just now, with the line below its title.
func WritePage(path string, page []byte, command string) error {
	commit, err := Commit()
	if err != nil {
		return err
	}
	return WritePageOf(commit, path, page, command)
}

// WritePageOf is WritePage for results that runs at an earlier commit measured.
func WritePageOf(commit, path string, page []byte, command string) error {
	return os.WriteFile(path, mark(page, lineOf(commit, command)), 0o644)
}

// WriteTable writes the rows of a page of results as CSV. The first one names the columns.
func WriteTable(path string, rows [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// WriteRun writes a table that has no page, only a row in the index of results. Comments on top have the line of the run, and the notes:
// the machine, and what the columns are.
func WriteRun(path, command, notes string, rows [][]string) error {
	commit, err := Commit()
	if err != nil {
		return err
	}
	if err := WriteTable(path, rows); err != nil {
		return err
	}
	table, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	comments := "# " + strings.ReplaceAll(lineOf(commit, command)+"\n"+strings.TrimSpace(notes), "\n", "\n# ") + "\n"
	return os.WriteFile(path, append([]byte(comments), table...), 0o644)
}

// TableOf returns the path of the table next to a page: page.csv for page.md.
func TableOf(page string) string { return strings.TrimSuffix(page, ".md") + ".csv" }

// Commit returns the commit of this source.
func Commit() (string, error) {
	commit, err := exec.Command("git", "rev-parse", "--short=7", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("the commit of results: git rev-parse: %w", err)
	}
	return strings.TrimSpace(string(commit)), nil
}

// lineOf returns the line of a run that ends now.
func lineOf(commit, command string) string {
	return fmt.Sprintf("Measured with `%s` at commit %s on %s.", command, commit, time.Now().UTC().Format(time.DateOnly))
}

// mark replaces the line of a page, or inserts it below the title.
func mark(page []byte, line string) []byte {
	if Line.Match(page) {
		return Line.ReplaceAllLiteral(page, []byte(line))
	}
	title, rest, _ := strings.Cut(string(page), "\n")
	return []byte(title + "\n\n" + line + "\n" + rest)
}
