package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// helpAll is --help-all: help with every group of flags.
type helpAll bool

// IgnoreDefault keeps kong from applying a default.
func (helpAll) IgnoreDefault() {}

// BeforeReset prints the help, as kong's --help does.
func (helpAll) BeforeReset(ctx *kong.Context) error {
	if verb := ctx.Selected(); verb != nil {
		generalLast(ctx, verb)
	}
	if err := kong.DefaultHelpPrinter(helpOptions, ctx); err != nil {
		return err
	}
	ctx.Kong.Exit(0)
	return nil
}

var helpOptions = kong.HelpOptions{Compact: true, WrapUpperBound: 110, ValueFormatter: kong.DefaultHelpValueFormatter}

// longHelp is the number of flags from which --help shows only the first ones. Chosen by hand.
const longHelp = 30

// rareGeneral are the flags of every verb that a short help leaves out: the last line names --help-all, which has them.
var rareGeneral = []string{"threads", "version", "help-all"}

// printHelp prints the help of a verb. If the verb has many flags, it shows those without a group, the goal and the first ones, and
// names the groups of the others.
func printHelp(options kong.HelpOptions, ctx *kong.Context, first map[*kong.Flag]bool) error {
	verb := ctx.Selected()
	if verb == nil {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	short := len(verb.Flags) >= longHelp
	generalLast(ctx, verb)
	if !short {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	var groups []string
	more := 0
	for _, f := range verb.Flags {
		switch {
		case f.Hidden, f.Group == nil, f.Group.Key == "Goal", first[f]:
			continue
		case f.Group.Key == general && !slices.Contains(rareGeneral, f.Name):
			continue
		}
		f.Hidden = true
		more++
		if !slices.Contains(groups, f.Group.Title) {
			groups = append(groups, f.Group.Title)
		}
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	_, err := fmt.Fprintf(ctx.Stdout, "\n%d more flags, in the groups %s: %s %s --help-all\n", more, strings.Join(groups, ", "),
		ctx.Model.Name, verb.Name)
	return err
}

// general is the group of the flags of every verb.
const general = "General"

// firstGroups are the groups at the start of every help, after the flags without one.
var firstGroups = []string{"", "Goal", "Data"}

// generalLast moves the flags of every verb after the verb's own, because kong prints those of the command first, and arranges the groups.
// The model prints one help.
func generalLast(ctx *kong.Context, verb *kong.Node) {
	place := func(f *kong.Flag) int {
		if f.Group == nil {
			return 0
		}
		if i := slices.Index(firstGroups, f.Group.Key); i >= 0 {
			return i
		}
		return len(firstGroups)
	}
	slices.SortStableFunc(verb.Flags, func(a, b *kong.Flag) int { return place(a) - place(b) })
	for _, f := range ctx.Model.Flags {
		f.Group = &kong.Group{Key: general, Title: general}
	}
	verb.Flags = append(verb.Flags, ctx.Model.Flags...)
	ctx.Model.Flags = nil
}
