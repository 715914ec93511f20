package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
)

// The help of a verb with many flags has those that people need first on one screen, and names the rest.
func TestHelpOfTrainFitsAScreen(t *testing.T) {
	help := func(args ...string) string {
		var out, stderr bytes.Buffer
		if code := app().Run(context.Background(), args, strings.NewReader(""), &out, &stderr); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, &stderr)
		}
		return out.String()
	}
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)
	ofEveryVerb := len(flag.FindAllString(help("version", "--help"), -1))
	short, all := help("train", "--help"), help("train", "--help-all")
	if n := len(flag.FindAllString(short, -1)); n > 20 {
		t.Errorf("%d flags on the first screen", n)
	}
	for _, name := range []string{"--impute", "--missing", "--verbose"} {
		if !strings.Contains(short, name) {
			t.Errorf("the first screen lacks %s", name)
		}
	}
	for _, text := range []string{short, all} {
		if general := strings.Index(text, "\nGeneral\n"); general < strings.Index(text, "--max-fpr") || general > strings.Index(text, "--json ") {
			t.Errorf("general flags are not last:\n%s", text)
		}
	}
	if !strings.Contains(short, "toptau train --help-all") || strings.Contains(short, "--monotone") {
		t.Errorf("the short help:\n%s", short)
	}
	if n := len(flag.FindAllString(all, -1)) - ofEveryVerb; n > 60 {
		t.Errorf("train has %d flags", n)
	}
	if !strings.Contains(all, "--monotone") || !strings.Contains(all, "\nSearch\n") {
		t.Errorf("the whole help:\n%s", all)
	}
}

// The parser that knows only the verb that runs has the flags of the one that knows all.
func TestOneVerbHasTheFlagsOfAll(t *testing.T) {
	parser, err := app().Parser()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range parser.Model.Leaves(false) {
		var alone, together bytes.Buffer
		run(t.Context(), []string{verb.Name, "--help-all"}, nil, &alone, io.Discard)
		run(t.Context(), []string{"--json", verb.Name, "--help-all"}, nil, &together, io.Discard)
		if alone.Len() < 200 || alone.String() != together.String() {
			t.Errorf("%s --help-all:\n%s\nin the parser of all verbs:\n%s", verb.Name, &alone, &together)
		}
	}
}
