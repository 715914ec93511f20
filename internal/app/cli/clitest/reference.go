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

// CompareReference compares a page with the flag parser of a command, or writes it. test is the command that writes it with -update. Flags
// that the page toptau, if any, describes in the same words are only named.
func CompareReference(t *testing.T, app *cli.App, path, before, toptau string, update bool, test string) {
	parser, err := app.Parser()
	if err != nil {
		t.Fatal(err)
	}
	page := &reference{model: parser.Model, toptau: toptau}
	got := page.write(before) + "\nThis page is generated from the flag parser: `" + test + " -update` writes it again.\n"
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

// reference writes a page about a command.
type reference struct {
	model  *kong.Application
	toptau string       // the page about toptau, whose flags need no description here; "": this is it
	shared []*kong.Flag // of several verbs
	strings.Builder
}

// write returns a page: what is before it, the common flags, and every verb with its arguments and flags by group.
func (r *reference) write(before string) string {
	r.WriteString(before)
	r.WriteString("| verb | purpose |\n| --- | --- |\n")
	var verbs []*kong.Node
	for _, verb := range r.model.Leaves(true) {
		verbs = append(verbs, verb)
		fmt.Fprintf(r, "| [%s](#%s) | %s |\n", verb.Name, verb.Name, cell(verb.Help))
	}
	r.WriteString("\n## Flags of every verb\n")
	r.writeFlags("flags-of-every-verb", nil, r.model.Flags)
	r.shared = r.sharedFlags(verbs)
	r.WriteString("\n## Flags of several verbs\n\nThe verbs that have them list their names.\n")
	r.writeFlags("", nil, r.shared)
	for _, verb := range verbs {
		r.writeVerb(verb)
	}
	return r.String()
}

// writeVerb writes the section of a verb: a table of its arguments and own flags, and the names of those that are shared.
func (r *reference) writeVerb(verb *kong.Node) {
	fmt.Fprintf(r, "\n## %s\n\n`%s`: %s\n", verb.Name, verb.Summary(), verb.Help)
	var own, others []*kong.Flag
	for _, f := range byGroup(verb.Flags) {
		if slices.ContainsFunc(r.shared, func(s *kong.Flag) bool { return flagRow(s) == flagRow(f) }) {
			others = append(others, f)
		} else {
			own = append(own, f)
		}
	}
	r.writeFlags(verb.Name, verb.Positional, own)
	r.writeNames("Shared", "#flags-of-several-verbs", others)
}

// known reports whether the page about toptau describes a flag.
func (r *reference) known(f *kong.Flag) bool { return strings.Contains(r.toptau, flagRow(f)) }

// writeNames writes the names of flags that are described elsewhere.
func (r *reference) writeNames(where, link string, flags []*kong.Flag) {
	var names []string
	for _, f := range flags {
		names = append(names, "`--"+f.Name+"`")
	}
	if names != nil {
		fmt.Fprintf(r, "\n[%s](%s): %s.\n", where, link, strings.Join(names, ", "))
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

// sharedFlags returns the flags that several verbs have with the same description, by group. A name that has another such description in
// further verbs is left out.
func (r *reference) sharedFlags(verbs []*kong.Node) (list []*kong.Flag) {
	number, described := map[string]int{}, map[string]int{}
	for _, verb := range verbs {
		for _, f := range verb.Flags {
			if number[flagRow(f)]++; number[flagRow(f)] == 2 {
				described[f.Name]++
			}
		}
	}
	for _, verb := range verbs {
		for _, f := range verb.Flags {
			if row := flagRow(f); number[row] > 1 && described[f.Name] == 1 && !r.known(f) {
				list = append(list, f)
				delete(number, row)
			}
		}
	}
	return byGroup(list)
}

// writeFlags writes a table of arguments and flags, with a row in bold before each group, and names the flags that are known from a section
// of the page about toptau.
func (r *reference) writeFlags(section string, arguments []*kong.Positional, flags []*kong.Flag) {
	var known []*kong.Flag
	rows, group := "", ""
	for _, argument := range arguments {
		rows += fmt.Sprintf("| `%s` | %s |\n", argument.Summary(), cell(argument.Help))
	}
	for _, f := range flags {
		if r.known(f) {
			known = append(known, f)
			continue
		}
		if name := groupOf(f); name != group {
			group = name
			rows += fmt.Sprintf("| **%s** | |\n", group)
		}
		rows += flagRow(f)
	}
	if rows != "" {
		r.WriteString("\n| flag | meaning |\n| --- | --- |\n" + rows)
	}
	r.writeNames("As in toptau", "cli.md#"+section, known)
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
