package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestCommandReference compares docs/reference/cli.md with the flag parser.
func TestCommandReference(t *testing.T) {
	const path = "../../docs/reference/cli.md"
	parser, err := app().Parser()
	if err != nil {
		t.Fatal(err)
	}
	got := commandReference(parser.Model)
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

// commandReference returns the page: the common flags, and every verb with its arguments and flags by group.
func commandReference(model *kong.Application) string {
	var b strings.Builder
	b.WriteString(`# The command line

This page is generated from the flag parser: run ` + "`go test ./cmd/toptau -run CommandReference -update`" + ` to write it again.
` + "`toptau VERB --help`" + ` prints the same. Former spellings of a flag are accepted until version 1.0.

Exit codes: 0 done; 1 data, file or I/O; 2 flags, hyperparameters or an impossible goal; 3 the requested guarantee is impossible;
4 evaluate --gate: the new model may not replace the old one; 130 interrupted.

| verb | purpose |
| --- | --- |
`)
	var verbs []*kong.Node
	for _, verb := range model.Leaves(true) {
		verbs = append(verbs, verb)
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", verb.Name, verb.Name, cell(verb.Help))
	}
	b.WriteString("\n## Flags of every verb\n")
	writeFlags(&b, model.Flags, "")
	for _, verb := range verbs {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n    %s\n", verb.Name, verb.Help, verb.Summary())
		if len(verb.Positional) > 0 {
			b.WriteString("\n| argument | meaning |\n| --- | --- |\n")
			for _, argument := range verb.Positional {
				fmt.Fprintf(&b, "| `%s` | %s |\n", argument.Summary(), cell(argument.Help))
			}
		}
		for _, group := range groupsOf(verb.Flags) {
			if group != "" {
				fmt.Fprintf(&b, "\n%s:\n", group)
			}
			writeFlags(&b, verb.Flags, group)
		}
	}
	return b.String()
}

// groupsOf returns the groups of flags in the order of the help. The flags without a group are first.
func groupsOf(flags []*kong.Flag) []string {
	groups, seen := []string{""}, map[string]bool{"": true}
	for _, f := range flags {
		if name := groupOf(f); !seen[name] {
			groups, seen[name] = append(groups, name), true
		}
	}
	return groups
}

func groupOf(f *kong.Flag) string {
	if f.Group == nil {
		return ""
	}
	return f.Group.Title
}

// writeFlags writes the table of the flags of a group.
func writeFlags(b *strings.Builder, flags []*kong.Flag, group string) {
	var rows []string
	for _, f := range flags {
		if groupOf(f) != group {
			continue
		}
		name := "--" + f.Name
		if !f.IsBool() {
			name += " " + placeholder(f)
		}
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		meaning := f.Help
		if len(f.Aliases) > 0 {
			meaning += " Former spelling: `--" + strings.Join(f.Aliases, "`, `--") + "`."
		}
		value := f.Default
		switch {
		case f.Required:
			value = "required"
		case value != "":
			value = "`" + value + "`"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", cell(name), value, cell(meaning)))
	}
	if rows != nil {
		b.WriteString("\n| flag | default | meaning |\n| --- | --- | --- |\n" + strings.Join(rows, ""))
	}
}

// placeholder returns the name of a flag's value: N for a number with a default and no name.
func placeholder(f *kong.Flag) string {
	if f.PlaceHolder == "" && f.HasDefault {
		return "N"
	}
	return f.FormatPlaceHolder()
}

// cell returns a text for a cell of a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
