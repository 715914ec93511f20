package clitest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"toptau/internal/cli"
)

// CompareReference compares a page with the flag parser of a command, or writes it. test is the command that writes it.
func CompareReference(t *testing.T, app *cli.App, path, before string, update bool, test string) {
	parser, err := app.Parser()
	if err != nil {
		t.Fatal(err)
	}
	got := Reference(parser.Model, before)
	if update {
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
		t.Errorf("%s is out of date (%s)\n%s", path, test, FirstDifference(got, string(want)))
	}
}

// FirstDifference returns the first lines in which two texts differ.
func FirstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "got:  " + a[i] + "\nwant: " + b[i]
		}
	}
	return "one is longer than the other"
}

// Reference returns a page about a command: what is before it, the common flags, and every verb with its arguments and flags
// by group.
func Reference(model *kong.Application, before string) string {
	var b strings.Builder
	b.WriteString(before)
	b.WriteString("| verb | purpose |\n| --- | --- |\n")
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
