package main

import (
	"testing"

	"toptau/internal/cli/clitest"
)

// Every command of toptau that a page names parses.
func TestCommandsInPages(t *testing.T) { clitest.CheckPages(t, "../..", 150, app) }
