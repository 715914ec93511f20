package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
