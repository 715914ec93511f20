package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/internal/data/atomicfile"
)

// A run of monitor on a state that another run is using ends with an error and counts nothing; the next one counts.
func TestOneRunOfMonitorUsesAState(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	command := func(want int, args ...string) string {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, out.String(), errs.String())
		}
		return out.String() + errs.String()
	}
	command(0, "generate", "detectors", "--rows", "600", "--positives", "10%", "-o", at("rows.csv"))
	command(0, "fit", at("rows.csv"), "--label", "label", "--method", "topmean", "--tau", "5%", "-q", "-o", at("m.json"))
	monitor := []string{"monitor", at("m.json"), at("rows.csv"), "--state", at("m.state")}
	for runs, want := range []string{"600 rows, ", "1,200 rows (600 of this run)"} {
		release, err := atomicfile.LockReplaced(at("m.state")) // another run
		if err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(at("m.state"))
		if text := command(1, monitor...); !strings.Contains(text, "m.state: in use by another process, expected one process at a time") {
			t.Errorf("run %d: %s", runs, text)
		}
		if after, _ := os.ReadFile(at("m.state")); !bytes.Equal(after, before) {
			t.Error("the state changed")
		}
		command(0, append(monitor[:3:3], "--state", at("other.state"))...) // another state is free
		release()
		if text := command(0, monitor...); !strings.Contains(text, want) {
			t.Errorf("want %s in %s", want, text)
		}
		os.Remove(at("other.state"))
	}
	if left, _ := filepath.Glob(at("*.lock")); left != nil {
		t.Errorf("left %v", left)
	}
}
