package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"toptau/internal/app/cli/clitest"
)

// TestMain lets the tests run this program as "toptau-paper".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toptau-paper": main})
}

// TestTranscripts runs what a user types, with what the user reads and the exit code.
func TestTranscripts(t *testing.T) { clitest.RunTranscripts(t, nil) }

func TestFlagsThatNameFilesHaveATag(t *testing.T) { clitest.CheckFileTags(t, app()) }

// Every command of toptau-paper that a page names parses.
func TestCommandsInPages(t *testing.T) { clitest.CheckPages(t, "../../..", 5, app) }
