package main

import (
	"os"
	"testing"
	"toptau/internal/cli/clitest"
)

// TestCommandReference compares docs/reference/cli.md with the flag parser.
func TestCommandReference(t *testing.T) {
	const path = "../../docs/reference/cli.md"
	parser, err := app().Parser()
	if err != nil {
		t.Fatal(err)
	}
	got := clitest.Reference(parser.Model, referenceHead)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("docs/reference/cli.md is out of date (go test ./cmd/toptau -run CommandReference -update)\n%s", firstDifference(got, string(want)))
	}
}

// referenceHead is what the page has before the verbs.
const referenceHead = `# The command line

This page is generated from the flag parser: run ` + "`go test ./cmd/toptau -run CommandReference -update`" + ` to write it again.
` + "`toptau VERB --help`" + ` prints the same. Former spellings of a flag are accepted until version 1.0.

Exit codes: 0 done; 1 data, file or I/O; 2 flags, hyperparameters or an impossible goal; 3 the requested guarantee is impossible;
4 evaluate --gate: the new model may not replace the old one; 130 interrupted.

`
