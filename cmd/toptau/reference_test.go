package main

import (
	"testing"

	"toptau/internal/app/cli/clitest"
)

// TestCommandReference compares docs/reference/cli.md with the flag parser.
func TestCommandReference(t *testing.T) {
	clitest.CompareReference(t, app(), "../../docs/reference/cli.md", referenceHead, "", *update,
		"go test ./cmd/toptau -run CommandReference")
}

// referenceHead is what the page has before the verbs.
const referenceHead = `# The command line

Each verb with its arguments and flags, as ` + "`toptau VERB --help`" + ` prints them.

Exit codes: 0 done; 1 data, file or I/O; 2 flags, hyperparameters or an impossible goal; 3 the requested guarantee is impossible;
4 evaluate --gate: the new model may not replace the old one, or monitor: an alarm; 130 interrupted.

`
