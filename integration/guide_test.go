package integration

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the outputs in docs/guide/database.md again")

// guideBlocks are the blocks of the guide that run: console has commands of toptau, sh those of the databases. Text after sh is
// its output.
var guideBlocks = regexp.MustCompile("(?s)```(console|sh)\n(.*?)```\n(?:\n```text\n(.*?)```)?")

// Every command of the guide on databases prints what the page shows, in a real PostgreSQL, SQLite, DuckDB and ClickHouse.
func TestDatabaseGuide(t *testing.T) {
	for _, e := range []engine{postgres(), sqlite(true), duckDB(), clickHouse(false)} {
		available(t, e)
	}
	path, err := filepath.Abs("../docs/guide/database.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	command(t, nil, "go", "build", "-C", "..", "-o", filepath.Join(bin, "toptau"), "./cmd/toptau")
	startClickHouse(t, bin)
	t.Setenv("PATH", bin+":"+filepath.Dir(python())+":"+os.Getenv("PATH"))
	t.Setenv("PGHOST", startPostgres(t))
	t.Setenv("PGUSER", "toptau")
	t.Setenv("PGDATABASE", "postgres")
	run := func(script string) string {
		c := exec.Command("sh", "-e", "-c", script)
		c.Dir = dir
		var errors bytes.Buffer
		c.Stderr = &errors
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s\n%v\n%s", script, err, errors.String())
		}
		return string(out)
	}
	got := guideBlocks.ReplaceAllStringFunc(string(page), func(block string) string {
		parts := guideBlocks.FindStringSubmatch(block)
		if parts[1] == "console" { // its output is tested with the other pages
			for line := range strings.Lines(parts[2]) {
				if command, found := strings.CutPrefix(line, "$ "); found {
					run(command)
				}
			}
			return block
		}
		out := run(parts[2])
		head, _, shown := strings.Cut(block, "```text\n")
		if !shown {
			if out != "" {
				t.Errorf("%s prints %s", parts[2], out)
			}
			return block
		}
		return head + "```text\n" + out + "```"
	})
	switch {
	case got == string(page):
	case *update:
		writeFile(t, path, []byte(got))
	default:
		t.Errorf("the page has other outputs (go test -C integration -run DatabaseGuide -update):\n%s", got)
	}
}
