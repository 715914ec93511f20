package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"toptau/internal/cli/clitest"
)

// TestMain lets the transcripts run this program as "toptau-paper". The tests of cmd/toptau build this test
// binary to interrupt "toptau-paper-traced".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toptau-paper": main, "toptau-paper-traced": clitest.Traced(main)})
}

// TestTranscripts runs what a user types, with what the user reads and the exit code.
func TestTranscripts(t *testing.T) { clitest.RunTranscripts(t, nil) }

func TestFlagsThatNameFilesHaveATag(t *testing.T) { clitest.CheckFileTags(t, app()) }
