package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"toptau/internal/core/text"
)

// Names of columns, labels, categories, ids, points and files may have escape sequences and characters that turn the direction of writing. No
// verb and no export writes them as such: each text goes through text.Printable, or jsontext.Printable in JSON. Data that a program
// reads again are the only exception: ids and kept columns of rows, and literals of SQL.
func TestNoOutputHasControlCharacters(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("-short, or no such names of files")
	}
	const evil = "\x1b[31mX\x1b]0t\a\u202e\u009b"
	dir := t.TempDir()
	t.Chdir(dir)
	data, label, kind, bad := "d"+evil+".csv", "y"+evil, "k"+evil, "bad"+evil
	random := rand.New(rand.NewPCG(1, 1))
	rows := "id,a" + evil + "," + kind + "," + label + "\n"
	for i := range 900 {
		y, class := float64(i%8/7), "ok"+evil
		if y == 1 {
			class = bad
		}
		rows += fmt.Sprintf("i%s%d,%.3f,%c%s,%s\n", evil, i, random.NormFloat64()+2*y, 'u'+rune(random.IntN(3)), evil, class)
	}
	if err := os.WriteFile(data, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	read := []string{data, "--header", "yes", "--label", label, "--id", "id", "--positive", bad}
	goal := []string{"--max-fpr", "5%"}
	logistic := []string{"--method", "logistic", "--encoding", "raw"}
	passed := 0
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, join("train", read, goal, logistic, "--test-fraction", "30%", "-o", "m.json", "--report", "train.html")},
		{0, join("train", read, goal, logistic, "--json", "-o", "again.json")},
		{0, join("fit", read, "--method", "topmean-np", "--tau", "5%", "--encoding", "raw", "-o", "f.json", "--certificate", "c.json")},
		{0, join("verify", "f.json", data, "c.json")},
		{0, join("diagnose", read, goal)},
		{0, join("compare", read, goal, logistic, "--report", "compare.html")},
		{0, join("evaluate", "m.json", data, "--by", kind, "--report", "evaluate.html")},
		{0, join("evaluate", "m.json", data, "--json")},
		{0, join("threshold", data, "--model", "m.json", goal, "--name", "n"+evil, "--note", evil, "-o", "m2.json")},
		{0, join("threshold", data, "--model", "m.json", goal, "--segment", kind, "--name", "s", "-o", "m3.json", "--json")},
		{0, join("monitor", "m.json", data, "--report", "monitor.html", "--state", "state")},
		{0, join("monitor", "m.json", data, "--json")},
		{0, join("inspect", read)},
		{0, join("inspect", data, "--json")},
		{0, join("inspect", "m2.json")},
		{0, join("inspect", "m2.json", "--json")},
		{0, join("diff", "m.json", "m2.json")},
		{0, join("explain", "m.json", data)},
		{0, join("explain", "m.json", data, "--json")},
		{0, join("score", "m.json", data, "--json", "--keep")},
		{0, join("pack", data, "-o", "d.ttp")},
		{0, join("export", "m.json", "c", "-o", "m.c")},
		{0, join("export", "m.json", "go", "-o", "m.go")},
		{1, join("evaluate", "m.json", "missing"+evil+".csv")},
		{1, join("train", data, "--header", "yes", goal, "--label", "no"+evil, "-o", "no.json")},
		{2, join("train", read, goal, "--method", evil, "-o", "no.json")},
		{2, join("verb" + evil)},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), c.args, strings.NewReader(""), &out, &errs); code != c.code {
			t.Errorf("%q: exit code %d, want %d: %s", c.args, code, c.code, errs.String())
			continue
		}
		passed++
		for where, text := range map[string]string{"standard output": out.String(), "standard error": errs.String()} {
			if at := unprintableAt(text); at != "" {
				t.Errorf("%q: %s has %q", c.args, where, at)
			}
		}
	}
	files, _ := filepath.Glob("*")
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		binary := name == data || name == "d.ttp" || name == "state"
		if at := unprintableAt(string(content)); at != "" && !binary {
			t.Errorf("%s has %q", name, at)
		}
	}
	if passed == 0 || len(files) < 15 {
		t.Errorf("only %d files", len(files))
	}
	// Data pass unchanged: others join them.
	var out bytes.Buffer
	if code := run(t.Context(), []string{"score", "m.json", data}, strings.NewReader(""), &out, &out); code != 0 || !strings.Contains(out.String(), "\ni"+evil+"7,") {
		t.Errorf("exit code %d, ids of rows changed", code)
	}
}

// join returns arguments of strings and lists of them.
func join(parts ...any) (list []string) {
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			list = append(list, part)
		case []string:
			list = append(list, part...)
		}
	}
	return list
}

// unprintableAt returns the surroundings of the first character that a text must not have, "" if there is none.
func unprintableAt(s string) string {
	for i, c := range s {
		if c == utf8.RuneError && !utf8.ValidString(s) || text.Unprintable(c) && c != '\n' && c != '\t' {
			return s[max(0, i-40):min(len(s), i+20)]
		}
	}
	return ""
}
