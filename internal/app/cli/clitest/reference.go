package clitest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"toptau/internal/app/cli"
)

// CompareReference compares a page with the flag parser of a command, or writes it. test is the command that writes it with -update.
func CompareReference(t *testing.T, app *cli.App, path, before string, update bool, test string) {
	parser, err := app.Parser()
	if err != nil {
		t.Fatal(err)
	}
	got := Reference(parser.Model, before) + "\nThis page is generated from the flag parser: `" + test + " -update` writes it again.\n"
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
		t.Errorf("%s is out of date (%s -update)\n%s", path, test, FirstDifference(got, string(want)))
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
	b.WriteString("\n## Flags of every verb\n" + flagTable)
	writeFlags(&b, model.Flags)
	shared := sharedFlags(verbs)
	b.WriteString("\n## Flags of several verbs\n\nThe verbs that have them list their names.\n" + flagTable)
	writeFlags(&b, shared)
	for _, verb := range verbs {
		writeVerb(&b, verb, shared)
	}
	return b.String()
}

// flagTable is the head of a table of flags. A row in bold names a group.
const flagTable = "\n| flag | meaning |\n| --- | --- |\n"

// writeVerb writes the section of a verb: a table of its arguments and own flags, and the names of those that are shared.
func writeVerb(b *strings.Builder, verb *kong.Node, shared []*kong.Flag) {
	fmt.Fprintf(b, "\n## %s\n\n`%s`: %s\n", verb.Name, verb.Summary(), verb.Help)
	var own []*kong.Flag
	var others []string
	for _, f := range byGroup(verb.Flags) {
		if slices.ContainsFunc(shared, func(s *kong.Flag) bool { return flagRow(s) == flagRow(f) }) {
			others = append(others, "`--"+f.Name+"`")
		} else {
			own = append(own, f)
		}
	}
	if len(verb.Positional)+len(own) > 0 {
		b.WriteString(flagTable)
	}
	for _, argument := range verb.Positional {
		fmt.Fprintf(b, "| `%s` | %s |\n", argument.Summary(), cell(argument.Help))
	}
	writeFlags(b, own)
	if others != nil {
		fmt.Fprintf(b, "\n[Shared](#flags-of-several-verbs): %s.\n", strings.Join(others, ", "))
	}
}

// byGroup returns flags by group, in the order in which the help first has one of a group. Those without a group are first.
func byGroup(flags []*kong.Flag) []*kong.Flag {
	place := map[string]int{"": 0}
	for _, f := range flags {
		if name := groupOf(f); name != "" && place[name] == 0 {
			place[name] = len(place)
		}
	}
	flags = slices.Clone(flags)
	slices.SortStableFunc(flags, func(a, b *kong.Flag) int { return place[groupOf(a)] - place[groupOf(b)] })
	return flags
}

func groupOf(f *kong.Flag) string {
	if f.Group == nil {
		return ""
	}
	return f.Group.Title
}

// minSharing is the number of verbs from which a flag with the same row in all of them is described once.
const minSharing = 3

// sharedFlags returns the flags that several verbs have with the same description, by group.
func sharedFlags(verbs []*kong.Node) (list []*kong.Flag) {
	number := map[string]int{}
	for _, verb := range verbs {
		for _, f := range verb.Flags {
			number[flagRow(f)]++
		}
	}
	for _, verb := range verbs {
		for _, f := range verb.Flags {
			if row := flagRow(f); number[row] >= minSharing {
				list = append(list, f)
				delete(number, row)
			}
		}
	}
	return byGroup(list)
}

// writeFlags writes the rows of flags, with a row in bold before each group.
func writeFlags(b *strings.Builder, flags []*kong.Flag) {
	group := ""
	for _, f := range flags {
		if name := groupOf(f); name != group {
			group = name
			fmt.Fprintf(b, "| **%s** | |\n", group)
		}
		b.WriteString(flagRow(f))
	}
}

// flagRow describes a flag as a row of a table.
func flagRow(f *kong.Flag) string {
	name := "--" + f.Name
	if !f.IsBool() {
		name += " " + placeholder(f)
	}
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", " + name
	}
	help := cell(f.Help)
	switch {
	case f.Required:
		help += " Required."
	case f.Default != "" && !strings.Contains(help, "default"):
		help += " The default is " + f.Default + "."
	}
	return fmt.Sprintf("| `%s` | %s |\n", cell(name), help)
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
