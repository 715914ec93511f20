package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write THIRD-PARTY-LICENSES again")

// permissive are the words of the licences that code in the program may have.
var permissive = regexp.MustCompile(`Permission is hereby granted, free of charge|Redistribution and use in source and binary forms|Apache License\s+Version 2.0`)

// licenceFiles returns the files of a module that have licences or notices.
func licenceFiles(dir string) (list []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name := strings.ToUpper(e.Name()); !e.IsDir() && (strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING")) {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list, err
}

// THIRD-PARTY-LICENSES, which every archive and wheel has, is the text of the licences of what the program of any platform contains.
func TestThirdPartyLicences(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./cmd/toptau")
		c.Dir, c.Env = "..", append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		modules = append(modules, strings.Fields(strings.ReplaceAll(string(out), "\t", "="))...)
	}
	modules = append(modules, "uPlot=../internal/app/ui/web/uplot") // a script of the page of toptau ui
	slices.Sort(modules)
	var text strings.Builder
	text.WriteString("toptau contains the Go standard library, these modules, and a script, under the licences below.\n")
	for _, module := range append([]string{"Go=" + strings.TrimSpace(string(root))}, slices.Compact(modules)...) {
		name, dir, _ := strings.Cut(module, "=")
		files, err := licenceFiles(dir)
		if name == "Go" && len(files) == 0 {
			t.Skip("this Go has no LICENSE in " + dir)
		}
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no licence in %s (%v)", name, dir, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !permissive.Match(content) {
				t.Errorf("%s: a licence of another kind", name)
			}
			fmt.Fprintf(&text, "\n%s\n%s\n\n%s", name, strings.Repeat("=", len(name)), strings.ReplaceAll(strings.TrimSpace(string(content)), "\r\n", "\n")+"\n")
		}
	}
	const path = "../THIRD-PARTY-LICENSES"
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text.String() {
		t.Errorf("THIRD-PARTY-LICENSES is not what the program contains: go test -C release -run Licences -update (%v)", err)
	}
}

// mozilla is the licence of files that may be linked into any program while they are unchanged.
var mozilla = regexp.MustCompile(`Mozilla Public License, version 2\.0`)

// The command for databases contains more modules. Their licences are of the same kinds, or Mozilla's.
func TestLicencesOfTheCommandForDatabases(t *testing.T) {
	c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Replace}}{{if not .Main}}{{.Path}}={{.Dir}}{{end}}{{end}}{{end}}", "./cmd/toptau-sql")
	c.Dir, c.Env = "../sql", append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.Output()
	if err != nil {
		t.Skip("the modules of sql cannot be had")
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	for _, module := range slices.Compact(modules) {
		name, dir, _ := strings.Cut(module, "=")
		files, err := licenceFiles(dir)
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no licence in %s (%v)", name, dir, err)
		}
		for _, file := range files {
			if content, err := os.ReadFile(file); err != nil || !permissive.Match(content) && !mozilla.Match(content) {
				t.Errorf("%s: a licence of another kind in %s (%v)", name, file, err)
			}
		}
	}
}
