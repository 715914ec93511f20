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
	slices.Sort(modules)
	var text strings.Builder
	text.WriteString("toptau contains the Go standard library and these modules, under the licences below.\n")
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
