package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every verb that reads data refuses a packed file with a block that cannot be read, and writes nothing.
func TestDamagedPackedFile(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 21 commands")
	}
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	path := func(name string) string { return filepath.Join(dir, name) }
	command := func(args ...string) (code int, output string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var out bytes.Buffer
		code = run(ctx, args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	must := func(args ...string) {
		t.Helper()
		if code, output := command(args...); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, output)
		}
	}
	must("generate", "detectors", "--rows", "3000", "--seed", "1", "-o", path("train.csv"))
	must("generate", "detectors", "--rows", "40000", "--seed", "2", "-o", path("rows.csv"))
	must("fit", path("train.csv"), "--label", "label", "--method", "topmean-np", "--tau", "5%", "--lambda", "1e-2", "--impute", "median", "-o", path("m.json"))
	must("pack", path("rows.csv"), "-o", path("rows.ttp"))
	must("fit", path("rows.ttp"), "--label", "label", "--method", "topmean-np", "--tau", "5%", "--lambda", "1e-2", "-o", path("own.json"), "--certificate", path("c.json"))
	content, err := os.ReadFile(path("rows.ttp"))
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 4
	if err := os.WriteFile(path("rows.ttp"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	rows := path("rows.ttp")
	written := path("written")
	seen := map[string]bool{}
	for _, args := range [][]string{
		{"train", rows, "--label", "label", "--max-fpr", "5%", "--method", "topmean-np", "-o", written},
		{"train", rows, "--label", "label", "--max-fpr", "5%", "--method", "topmean-np", "--memory", "1", "-o", written},
		{"train", path("train.csv"), "--validation", rows, "--label", "label", "--max-fpr", "5%", "--method", "topmean-np", "-o", written},
		{"fit", rows, "--label", "label", "--method", "topmean-np", "--tau", "5%", "--lambda", "1e-2", "-o", written},
		{"fit", rows, "--label", "label", "--method", "topmean-np", "--tau", "5%", "--lambda", "1e-2", "--memory", "1", "-o", written},
		{"score", path("m.json"), rows, "-o", written},
		{"explain", path("m.json"), rows},
		{"evaluate", path("m.json"), rows, "--max-fpr", "5%", "--report", written},
		{"evaluate", path("m.json"), rows, "--max-fpr", "5%", "--memory", "1"},
		{"ui", path("m.json"), rows},
		{"compare", rows, "--label", "label", "--max-fpr", "5%", "--report", written},
		{"threshold", rows, "--model", path("m.json"), "--max-fpr", "5%", "-o", written},
		{"threshold", rows, "--model", path("m.json"), "--max-fpr", "5%", "--memory", "1", "-o", written},
		{"diagnose", rows, "--label", "label"},
		{"monitor", path("m.json"), rows, "--state", written},
		{"monitor", path("m.json"), rows, "--baseline", "-o", written},
		{"monitor", path("m.json"), rows, "--baseline", "--no-profile", "-o", written},
		{"verify", path("own.json"), rows, path("c.json")},
		{"verify", path("own.json"), rows, path("c.json"), "--memory", "1"},
		{"pack", rows, "-o", written},
		{"inspect", rows},
	} {
		seen[args[0]] = true
		code, output := command(args...)
		if code == 0 || !strings.Contains(output, "block ") {
			t.Errorf("%v: exit code %d: %s", args, code, output)
		}
		if left, _ := filepath.Glob(written + "*"); len(left) > 0 {
			t.Errorf("%v: %v was written", args, left)
		}
	}
	for field := range reflect.TypeFor[commands]().Fields() {
		for of := range field.Type.Fields() {
			if slices.Contains([]string{"Data", "Files"}, of.Name) && of.Tag.Get("file") == "in" && !seen[strings.ToLower(field.Name)] {
				t.Errorf("%s reads data and is not in this test", field.Name)
			}
		}
	}
}
