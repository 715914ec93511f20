package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// nodeNames are the names that Node.js has for the systems and processors of Go.
var nodeNames = map[string]string{"amd64": "x64", "arm64": "arm64", "linux": "linux", "darwin": "darwin", "windows": "win32"}

// npmPackage is a package.json of a program.
type npmPackage struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	License     string   `json:"license"`
	OS          []string `json:"os"`
	CPU         []string `json:"cpu"`
	Repository  string   `json:"repository,omitempty"`
}

// npmName returns the part of the name of a program's package that follows "@toptau/".
func npmName(t Target) string { return nodeNames[t.OS] + "-" + nodeNames[t.Arch] }

// npmProgram writes the package with the program of a platform. npm installs the one that its machine can run.
func (o *Options) npmProgram(b built, pages []file) error {
	about, err := json.MarshalIndent(npmPackage{Name: "@toptau/" + npmName(b.Target), Version: o.Version[1:], Description: "The program of the package toptau for " + b.String(),
		License: "BSD-3-Clause", OS: []string{nodeNames[b.OS]}, CPU: []string{nodeNames[b.Arch]}, Repository: o.homepage()}, "", "  ")
	if err != nil {
		return err
	}
	return o.npmPut("-npm-"+npmName(b.Target), []file{{name: "package.json", content: append(about, '\n')},
		{name: "bin/toptau" + suffix(b.Target), content: b.program, executable: true},
		{name: "LICENSE", content: page(pages, "LICENSE")}, {name: "THIRD-PARTY-LICENSES", content: page(pages, "THIRD-PARTY-LICENSES")}})
}

// npm writes the package toptau: the reader of models and a command that starts the program of the platform's package.
func (o *Options) npm(pages []file) error {
	list := []file{{name: "LICENSE", content: page(pages, "LICENSE")}}
	var about struct{ Version string }
	for _, name := range append([]string{"package.json"}, npmFiles...) {
		content, err := os.ReadFile(filepath.Join(o.Source, "js", name))
		if err != nil {
			return err
		}
		if name == "package.json" {
			if err := json.Unmarshal(content, &about); err != nil {
				return err
			}
			content = bytes.ReplaceAll(content, []byte(`"`+about.Version+`"`), []byte(`"`+o.Version[1:]+`"`))
		}
		list = append(list, file{name: name, content: content, executable: strings.HasPrefix(name, "command")})
	}
	return o.npmPut("-npm", list)
}

// npmFiles are the files of the package toptau, which its package.json lists, too.
var npmFiles = []string{"command.mjs", "toptau.mjs", "toptau.d.ts", "README.md"}

func (o *Options) npmPut(ending string, files []file) error {
	for i := range files {
		files[i].name = "package/" + files[i].name
	}
	content, err := tarGzip(files, o.Time)
	if err != nil {
		return err
	}
	return o.put("toptau-"+o.Version+ending+".tgz", content)
}
