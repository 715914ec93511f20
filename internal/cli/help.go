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
	if err := kong.DefaultHelpPrinter(helpOptions, ctx); err != nil {
		return err
	}
	ctx.Kong.Exit(0)
	return nil
}

var helpOptions = kong.HelpOptions{Compact: true, WrapUpperBound: 110, ValueFormatter: kong.DefaultHelpValueFormatter}

// longHelp is the number of flags from which --help shows those outside of groups and the goal only. Chosen by hand.
const longHelp = 30

// printHelp prints the help of a verb. If the verb has many flags, it shows the first ones and names the groups of the others.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	verb := ctx.Selected()
	if verb == nil || len(verb.Flags) < longHelp {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	var groups []string
	more := 0
	for _, f := range verb.Flags {
		if f.Group == nil || f.Group.Key == "Goal" || f.Hidden {
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
	_, err := fmt.Fprintf(ctx.Stdout, "\n%d more flags, in the groups %s: %s %s --help-all\n", more, strings.Join(groups, ", "), ctx.Model.Name, verb.Name)
	return err
}
