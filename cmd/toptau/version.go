package main

import (
	"strings"

	"toptau/internal/app/cli"
	"toptau/internal/core/text"
)

// versionCommand describes the program.
type versionCommand struct{}

func (*versionCommand) Run(s *cli.Session) error {
	b := cli.ThisBuild()
	if s.JSON {
		return s.Emit(struct {
			SchemaVersion int `json:"schema_version"`
			cli.Build
		}{2, b})
	}
	s.Printf("toptau %s\n", b.Version)
	s.Printf("  built with    %s for %s\n", b.Go, b.Platform)
	s.Printf("  dependencies  %s, %s\n", text.Plural(len(b.Modules), "module"), b.Dependencies)
	for _, module := range b.Modules {
		path, rest, _ := strings.Cut(module, " ")
		version, _, _ := strings.Cut(rest, " ")
		s.Printf("    %s %s\n", path, version)
	}
	return nil
}
