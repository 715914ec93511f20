package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Every verb has examples in its help, and their flags exist.
func TestExamplesParse(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	parser, err := app().Parser()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range parser.Model.Leaves(true) {
		if len(examples[verb.Name]) == 0 {
			t.Errorf("%s has no example", verb.Name)
		}
	}
	for verb, lines := range examples {
		for _, line := range lines {
			start := strings.Index(line, "toptau "+verb)
			if start < 0 {
				t.Errorf("%q is no example of %s", line, verb)
				continue
			}
			command, _, _ := strings.Cut(strings.TrimSuffix(line[start:], ")"), " > ")
			parser, err := app().Parser(kong.Exit(func(int) {}))
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := parser.Parse(arguments(command)[1:])
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			for _, p := range parsed.Path { // files in the wrong order parse, too
				if p.Positional == nil {
					continue
				}
				names := strings.Split(p.Positional.Name, " ... ")
				files, several := p.Positional.Target.Interface().([]string)
				if !several {
					files = []string{fmt.Sprint(p.Positional.Target.Interface())}
				}
				for i, name := range []string{names[0], names[len(names)-1]} {
					file, json := files[i*(len(files)-1)], name == "model" || name == "certificate"
					if (json || name == "data") && json != strings.HasSuffix(file, ".json") {
						t.Errorf("%s: %s is the %s", line, file, name)
					}
				}
			}
		}
	}
	if lines := strings.Count(orientation, "\n"); lines > 20 {
		t.Errorf("the orientation has %d lines", lines)
	}
}

// The script for bash completes verbs, flags and values in a real bash.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	var script bytes.Buffer
	if code := run(context.Background(), []string{"completion", "bash"}, nil, &script, &script); code != 0 {
		t.Fatalf("exit code %d: %s", code, script.String())
	}
	for _, test := range []struct{ words, want string }{
		{"ev", "evaluate"},
		{"help thr", "threshold"},
		{"train data.csv --imp", "--impute"},
		{"train --impute me", "median"},
		{"train --encoding sc", "scorecard scorecard+leaves"},
		{"evaluate m.json later", ""}, // files, by the default of complete
		{"score -", "--at"},
	} {
		words := strings.Fields(test.words)
		line := "COMP_WORDS=(toptau " + strings.Join(words, " ") + "); COMP_CWORD=" + string(rune('0'+len(words))) + "; _toptau; echo \"${COMPREPLY[@]}\""
		c := exec.Command(bash, "--norc", "-c", script.String()+"\n"+line)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		got := strings.Fields(string(out))
		for _, want := range strings.Fields(test.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s, want %s", test.words, out, want)
			}
		}
		if test.want == "" && len(got) > 0 {
			t.Errorf("%s: %s, want files", test.words, out)
		}
	}
}

// firstTab loads the script for zsh as the first Tab does, with the functions of zsh's completion that it calls.
const firstTab = `fpath=($1 $fpath); autoload -Uz _toptau; compdef() {}
_describe() { print verbs }; _arguments() { print flags }
CURRENT=2; words=(toptau ""); _toptau; CURRENT=3; words=(toptau train ""); _toptau`

// The scripts for zsh and fish name every verb, and are accepted by these shells where they are installed.
func TestOtherCompletions(t *testing.T) {
	for _, shell := range []string{"zsh", "fish"} {
		var script bytes.Buffer
		if code := run(context.Background(), []string{"completion", shell}, nil, &script, &script); code != 0 {
			t.Fatalf("exit code %d: %s", code, script.String())
		}
		for verb := range examples {
			if !strings.Contains(script.String(), verb) {
				t.Errorf("%s: no %s", shell, verb)
			}
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "_toptau")
		if err := os.WriteFile(file, script.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
		if shell != "zsh" {
			continue
		}
		if out, err := exec.Command(path, "-f", "-c", firstTab, "zsh", dir).CombinedOutput(); err != nil || string(out) != "verbs\nflags\n" {
			t.Errorf("the first two completions in zsh: %v: %s", err, out)
		}
	}
}
