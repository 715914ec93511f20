// Package provenance names the run that a page of docs/results comes from. The programs that write pages use it, and a test
// checks the pages that are written by hand.
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

// Older is what the line of a page says once its code has changed.
const Older = "; the code that it measures has changed since"

// Line matches the line below the title of a page of results. Its groups are the command, the commit, the day, and what is
// said about later changes.
var Line = regexp.MustCompile(`(?m)^Measured with (` + "`[^`\n]+`" + `|[^` + "`\n" + `]+) at commit ([0-9a-f]{7,40}) on (\d{4}-\d\d-\d\d)(` + Older + `)?\.$`)

// WritePage writes a page of results that a command of this source measured just now, with the line below its title.
func WritePage(path string, page []byte, command string) error {
	line, err := today(command)
	if err != nil {
		return err
	}
	return os.WriteFile(path, mark(page, line), 0o644)
}

// WriteTable writes the rows of a page of results as CSV. The first one names the columns.
func WriteTable(path string, rows [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// TableOf returns the path of the table next to a page: page.csv for page.md.
func TableOf(page string) string { return strings.TrimSuffix(page, ".md") + ".csv" }

// today returns the line of a run that ends now.
func today(command string) (string, error) {
	commit, err := exec.Command("git", "rev-parse", "--short=7", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("the commit of a page of results: git rev-parse: %w", err)
	}
	return fmt.Sprintf("Measured with `%s` at commit %s on %s.", command, strings.TrimSpace(string(commit)), time.Now().UTC().Format(time.DateOnly)), nil
}

// mark replaces the line of a page, or inserts it below the title.
func mark(page []byte, line string) []byte {
	if Line.Match(page) {
		return Line.ReplaceAllLiteral(page, []byte(line))
	}
	title, rest, _ := strings.Cut(string(page), "\n")
	return []byte(title + "\n\n" + line + "\n" + rest)
}
