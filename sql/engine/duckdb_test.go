package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toptau/diag"
	"toptau/internal/training/large"
	"toptau/sql/engine"
	"toptau/sql/scan"
	"toptau/sql/servers"
)

// TestDuckDBFile opens files that are none, writes to one that is open, and ends a statement.
func TestDuckDBFile(t *testing.T) {
	s := servers.DuckDBFile(t)
	s.Load(t, clouds(2000, 3, .2))
	ctx := context.Background()
	for path, want := range map[string]string{
		s.DSN + ".none":             "a file that does not exist, expected a database of DuckDB",
		s.DSN + "?access_mode=auto": "a path without these characters",
		filepath.Dir(s.DSN):         "which is not a database",
		"duckdb_test.go":            "which is not a database",
	} {
		_, err := engine.Open(ctx, "duckdb", engine.Options{DSN: []string{path}})
		if diag.Of(err) == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := engine.OpenWriters(ctx, "duckdb", engine.Options{DSN: []string{path}}); diag.Of(err) == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Stat(s.DSN + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that was not there: %v", err)
	}

	d := database{"duckdb", []*servers.Server{s}}
	e := d.open(t)
	var n int64
	ask := func(ctx context.Context, statement string) error {
		return e.Shards[0].Query(ctx, statement, []any{&n}, func() error { return nil })
	}
	for _, statement := range []string{"INSERT INTO clouds VALUES (5, 0, 1, 1, 1)", "DROP TABLE clouds", "CREATE TABLE more AS SELECT 1"} {
		if err := ask(ctx, statement); err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := ask(short, "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE hash(a.range, b.range) = 1"); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	if err := ask(ctx, "SELECT count(*) FROM clouds"); err != nil || n != 2000 {
		t.Errorf("%d rows, %v", n, err)
	}
	// Another process cannot write as long as the file is open.
	if os.Getenv("TOPTAU_WRITE") == "" {
		c := exec.Command(os.Args[0], "-test.run", "^TestDuckDBWriter$")
		c.Env = append(os.Environ(), "TOPTAU_WRITE="+s.DSN)
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "lock") {
			t.Errorf("another process: %v, %s", err, out)
		}
	}
}

// TestDuckDBWriter is the other process of TestDuckDBFile.
func TestDuckDBWriter(t *testing.T) {
	path := os.Getenv("TOPTAU_WRITE")
	if path == "" {
		t.Skip("TestDuckDBFile starts it")
	}
	list, err := engine.OpenWriters(context.Background(), "duckdb", engine.Options{DSN: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	list[0].Close()
}

// TestDuckDBParquet reads Parquet files through a view, and notices that one of them has changed.
func TestDuckDBParquet(t *testing.T) {
	s := servers.DuckDBFile(t)
	s.Load(t, clouds(3000, 3, .2))
	lake := filepath.Join(t.TempDir(), "day=1")
	if err := os.Mkdir(lake, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path string, part, add int) {
		s.Run(t, fmt.Sprintf("COPY (SELECT * REPLACE (ca + %d AS ca) FROM clouds WHERE k %% 20 = %d) TO '%s' (FORMAT parquet)", add, 10*part, path))
	}
	first, second, other := filepath.Join(lake, "0.parquet"), filepath.Join(lake, "1.parquet"), filepath.Join(t.TempDir(), "other.parquet")
	write(first, 0, 0)
	write(second, 1, 0)
	write(other, 1, 1)
	s.Run(t, "CREATE VIEW flows AS SELECT * FROM read_parquet('"+filepath.Dir(lake)+"/**/*.parquet')")
	d := database{"duckdb", []*servers.Server{s}}
	e := d.open(t)
	rows, err := scan.Open(context.Background(), e.Dialect, e.Shards, scan.Table{Name: []string{"flows"}, Key: "k", Label: "y", Drop: []string{"day"}})
	if err != nil {
		t.Fatal(err)
	}
	positives, negatives, err := rows.Count(context.Background(), large.All())
	if err != nil || positives.Rows+negatives.Rows != 3000 {
		t.Fatal(positives, negatives, err)
	}
	if err := rows.Check(context.Background()); err != nil {
		t.Error(err)
	}
	if err := os.Rename(other, second); err != nil {
		t.Fatal(err)
	}
	err = rows.Check(context.Background())
	if found := diag.Of(err); found == nil || !strings.Contains(found.Found, "changed while they were read") {
		t.Errorf("after a change: %v", err)
	}
}
