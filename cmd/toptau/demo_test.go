package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The demo leaves its report, and names it, and removes everything else.
func TestDemoKeepsItsReport(t *testing.T) {
	if testing.Short() {
		t.Skip("a training takes seconds")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"demo", "--rows", "2500", "-q"}, nil, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	named := regexp.MustCompile(`(?m)^Open the report in a browser: (.+)$`).FindStringSubmatch(out.String())
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || named == nil || len(left) != 1 || left[0] != named[1] {
		t.Fatalf("named %q, left %q, %v", named, left, err)
	}
	page, err := os.ReadFile(named[1])
	if err != nil || !strings.Contains(string(page), "<svg ") {
		t.Errorf("%.80q, %v", page, err)
	}
}
