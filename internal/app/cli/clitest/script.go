// Package clitest contains helpers for the tests of the commands.
package clitest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"

	"toptau/internal/app/cli"
)

// RunTranscripts runs testdata/script: what a user types and reads, with the exit codes. The verb exits is
// added to cmds.
func RunTranscripts(t *testing.T, cmds map[string]func(*testscript.TestScript, bool, []string)) {
	RunTranscriptsIn(t, "testdata/script", nil, cmds)
}

// RunTranscriptsIn is RunTranscripts for another directory, with variables of the environment.
func RunTranscriptsIn(t *testing.T, dir string, variables map[string]string, cmds map[string]func(*testscript.TestScript, bool, []string)) {
	all := map[string]func(*testscript.TestScript, bool, []string){"exits": exits}
	for name, f := range cmds {
		all[name] = f
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TOPTAU_DATA", os.Getenv("TOPTAU_DATA"))
			for name, value := range variables {
				env.Setenv(name, value)
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if path, found := strings.CutPrefix(name, "exists:"); found {
				_, err := os.Stat(path)
				return err == nil, nil
			}
			return name == "data" && os.Getenv("TOPTAU_DATA") != "", nil
		},
		Cmds: all,
	})
}

// exits CODE COMMAND... runs a command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// CheckFileTags checks that every flag and argument that names a file has the tag that has it checked: flags
// by their placeholder, arguments by their name.
func CheckFileTags(t *testing.T, a *cli.App, arguments ...string) {
	t.Helper()
	parser, err := a.Parser()
	if err != nil {
		t.Fatal(err)
	}
	placeholders := []string{"FILE", "NAME=FILE", "MODEL", "DIR", "KEYFILE"}
	checkTag := func(verb *kong.Node, v *kong.Value, namesFile bool) {
		kind := v.Tag.Get("file")
		if kind == "" {
			kind = a.Options[v.Name].File
		}
		if namesFile && kind == "" {
			t.Errorf("%s: %s names a file and has no tag file", verb.Name, v.Name)
		}
		if kind != "" && !slices.Contains([]string{"in", "scores", "out", "rows", "dir"}, kind) {
			t.Errorf("%s: %s has the tag file:%q", verb.Name, v.Name, kind)
		}
	}
	for _, verb := range parser.Model.Leaves(true) {
		for _, group := range verb.AllFlags(false) {
			for _, f := range group {
				checkTag(verb, f.Value, slices.Contains(placeholders, f.PlaceHolder))
			}
		}
		for _, v := range verb.Positional {
			checkTag(verb, v, slices.Contains(arguments, v.Name))
		}
	}
}
