package cli

import (
	"encoding"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// interleaved puts the flags of a verb before its arguments if the verb takes a list of files: the parser ends
// such a list at the first flag. What it does not understand stays in place for the parser's message.
func interleaved(model *kong.Application, args []string) []string {
	if len(args) == 0 {
		return args
	}
	i := slices.IndexFunc(model.Leaves(false), func(verb *kong.Node) bool { return verb.Name == args[0] })
	if i < 0 {
		return args
	}
	verb := model.Leaves(false)[i]
	if !slices.ContainsFunc(verb.Positional, func(p *kong.Positional) bool { return p.IsCumulative() }) {
		return args
	}
	known := slices.Concat(model.Flags, verb.Flags)
	var flags, files []string
	for rest := args[1:]; len(rest) > 0; {
		arg := rest[0]
		rest = rest[1:]
		switch {
		case arg == "--":
			files = append(append(files, arg), rest...)
			return slices.Concat(args[:1], flags, files)
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			files = append(files, arg)
			continue
		}
		flags = append(flags, arg)
		if strings.Contains(arg, "=") || !takesValue(known, arg) {
			continue
		}
		if len(rest) == 0 {
			return args
		}
		flags, rest = append(flags, rest[0]), rest[1:]
	}
	return slices.Concat(args[:1], flags, files)
}

// takesValue reports whether the word after a flag is its value.
func takesValue(known []*kong.Flag, arg string) bool {
	name, long := strings.CutPrefix(arg, "--")
	for _, f := range known {
		if long && (f.Name == name) || !long && len(arg) == 2 && f.Short == rune(arg[1]) {
			_, reads := f.Target.Addr().Interface().(encoding.TextUnmarshaler) // a bool that is read from text takes a value
			return reads || !f.IsBool() && !f.IsCounter()
		}
	}
	return false
}
