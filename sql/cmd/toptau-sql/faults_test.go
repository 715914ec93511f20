package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau/sql/engine"
	"toptau/sql/servers"
)

// TestFaults changes a table while it is read, and reads from a server that is gone.
func TestFaults(t *testing.T) {
	s := servers.Postgres(t, servers.PostgresOptions{TLS: true})
	of := flows(t)
	s.Load(t, of)
	t.Setenv("FLOWS", s.ReadOnly)
	output := filepath.Join(t.TempDir(), "m.json")
	args := []string{"fit", "postgres:", "--dsn-env", "FLOWS", "--table", "flows", "--key", "id", "--label", "attack", "--method", "patmat-np", "--tau", "1%",
		"--beta", "1", "--impute", "indicator", "--json", "-o", output}
	fit := func(meanwhile func(running func() bool)) (code int, out string) {
		var stdout, stderr strings.Builder
		done := make(chan int)
		go func() { done <- run(context.Background(), args, strings.NewReader(""), &stdout, &stderr) }()
		ended := false
		meanwhile(func() bool {
			select {
			case code = <-done:
				ended = true
			default:
			}
			return !ended
		})
		if !ended {
			code = <-done
		}
		out = stdout.String() + stderr.String()
		if strings.Contains(out, servers.Password) {
			t.Error("the output contains the password")
		}
		return code, out
	}
	rows := func(out string) int {
		var r struct {
			N int `json:"n"`
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v: %.500s", err, out)
		}
		return r.N
	}

	// The fit sees the rows of one moment, whatever is inserted and deleted.
	inserted := 0
	code, out := fit(func(running func() bool) {
		for running() {
			s.Run(t, `INSERT INTO flows SELECT 1000000 + (SELECT count(*) FROM flows) + id, attack, detector1, detector2, detector3, detector4, detector5, detector6,
				detector7, detector8, "proto ""x'y`+"`"+`" FROM flows WHERE id <= 10; DELETE FROM flows WHERE id = `+string(rune('1'+inserted%9)))
			inserted++
		}
	})
	if n := rows(out); code != 0 || n < of.Rows-9 || inserted < 1 {
		t.Errorf("exit code %d, %d rows after %d changes: %.500s", code, n, inserted, out)
	}

	// A server that is gone is an error, and no file is written. Package engine kills servers in the middle of a fit.
	os.Remove(output)
	s.Kill()
	code, out = fit(func(func() bool) {})
	if _, err := os.Stat(output); code != 1 || err == nil || !strings.Contains(out, `"error":`) {
		t.Errorf("exit code %d, output %v: %.500s", code, err, out)
	}
}

// onWrite is a writer that does something at the first text.
type onWrite struct {
	strings.Builder
	do func()
}

func (w *onWrite) Write(b []byte) (int, error) {
	if w.do != nil {
		do := w.do
		w.do = nil
		do()
	}
	return w.Builder.Write(b)
}

// TestIntoLostServers kills two servers while scores are written: the last one before its first statement, and the first one when it has
// its rows but not yet the table's name. Each costs a note, and the scores are those of a run without.
func TestIntoLostServers(t *testing.T) {
	of := flows(t)
	model := filepath.Join(t.TempDir(), "m.json")
	trainModel(t, model, of)
	for _, kind := range []struct {
		name, sum, tables string
		start             func(t *testing.T) []*servers.Server
	}{
		{"postgres", "SELECT count(*), sum(hashtext(id || ':' || score)) FROM ", "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname",
			func(t *testing.T) []*servers.Server {
				return []*servers.Server{servers.Postgres(t, servers.PostgresOptions{}), servers.Postgres(t, servers.PostgresOptions{})}
			}},
		{"clickhouse", "SELECT count(), sum(cityHash64(id, score)) FROM ", "SELECT name FROM system.tables WHERE database = 'default' ORDER BY name",
			func(t *testing.T) []*servers.Server { return servers.ClickHouse(t, 3) }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			list := kind.start(t)
			first, last := list[0], list[len(list)-1]
			args := []string{"score", model, kind.name + ":", "--table", "flows", "--key", "id"}
			for i, s := range list {
				s.Load(t, of.Part(i, len(list)))
				name := "WRITER" + strconv.Itoa(i)
				t.Setenv(name, s.DSN)
				args = append(args, "--dsn-env", name)
			}
			into := func(table string, stderr *onWrite) {
				t.Helper()
				var stdout strings.Builder
				code := run(context.Background(), append(slices.Clone(args), "--into", table), strings.NewReader(""), &stdout, stderr)
				if code != 0 || !strings.Contains(stdout.String(), "20,000 rows with scores") {
					t.Errorf("exit code %d: %s%s", code, stdout.String(), stderr.String())
				}
			}
			into("plain", &onWrite{})

			openWriters = func(ctx context.Context, name string, o engine.Options) ([]*engine.Writer, error) {
				writers, err := engine.OpenWriters(ctx, name, o)
				last.Kill()
				return writers, err
			}
			defer func() { openWriters = engine.OpenWriters }()
			stderr := &onWrite{do: func() {
				first.Kill()
				first.Start(t)
				last.Start(t)
			}}
			into("lost", stderr)
			if notes := strings.Count(stderr.String(), "the connection to the server was lost; the next attempt is in 1s"); notes != 2 {
				t.Errorf("%d notes: %s", notes, stderr)
			}
			for _, s := range list {
				if a, b := s.Run(t, kind.sum+"plain"), s.Run(t, kind.sum+"lost"); a != b {
					t.Errorf("scores %s, after servers were lost %s", a, b)
				}
				if names := s.Run(t, kind.tables); names != "flows\nlost\nplain" {
					t.Errorf("tables %q", names)
				}
			}
		})
	}
}
