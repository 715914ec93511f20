package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"toptau/diag"
)

// completed is a verb with what follows it.
type completed struct {
	name, help string
	flags      []completedFlag
}

// completedFlag is a flag with its values.
type completedFlag struct {
	name, help string
	short      rune
	takes      bool     // a value follows
	values     []string // nil: files
}

// Completion returns a script for a shell: bash, zsh or fish. It is derived from the flags of every verb.
func (s *Session) Completion(shell string) (string, error) {
	parser, err := s.app.Parser()
	if err != nil {
		return "", err
	}
	verbs := s.app.completedVerbs(parser.Model)
	switch shell {
	case "bash":
		return bashCompletion(s.app.Name, verbs), nil
	case "zsh":
		return zshCompletion(s.app.Name, verbs), nil
	case "fish":
		return fishCompletion(s.app.Name, verbs), nil
	}
	return "", &diag.Error{Kind: diag.Usage, Found: diag.Quote(shell), Expected: "bash, zsh or fish"}
}

// completedVerbs lists the verbs with their flags.
func (a *App) completedVerbs(model *kong.Application) []completed {
	var list []completed
	for _, verb := range model.Leaves(true) {
		v := completed{name: verb.Name, help: firstSentence(verb.Help)}
		for _, f := range slices.Concat(model.Flags, verb.Flags) {
			if f.Hidden {
				continue
			}
			option, found := a.Options[verb.Name+" "+f.Name]
			if !found {
				option = a.Options[f.Name]
			}
			v.flags = append(v.flags, completedFlag{name: f.Name, help: firstSentence(f.Help), short: f.Short,
				takes: !f.IsBool() && f.Name != "help", values: option.Values})
		}
		list = append(list, v)
	}
	return list
}

// firstSentence returns a help text up to its first full stop, in a form that needs no quoting in a shell.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, ". ")
	text = strings.TrimSuffix(text, ".")
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("'\"`$\\[]:", r) {
			return -1
		}
		return r
	}, text)
}

func verbNames(verbs []completed) []string {
	names := []string{"help"}
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return names
}

// flagWords returns the long and short spellings of a verb's flags.
func (v *completed) flagWords() []string {
	var words []string
	for _, f := range v.flags {
		words = append(words, "--"+f.name)
		if f.short != 0 {
			words = append(words, "-"+string(f.short))
		}
	}
	return words
}

func bashCompletion(name string, verbs []completed) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# bash completion for %[1]s: source <(%[1]s completion bash)
_%[1]s() {
    local cur prev verb flags values word
    cur="${COMP_WORDS[COMP_CWORD]}"
    prev="${COMP_WORDS[COMP_CWORD-1]}"
    verb="${COMP_WORDS[1]}"
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 || ( $COMP_CWORD -eq 2 && $verb == help ) ]]; then
        COMPREPLY=($(compgen -W "%[2]s" -- "$cur"))
        return
    fi
    values=""
    case "$verb $prev" in
`, name, strings.Join(verbNames(verbs), " "))
	for _, v := range verbs {
		for _, f := range v.flags {
			if f.values != nil {
				fmt.Fprintf(&b, "        %q) values=%q ;;\n", v.name+" --"+f.name, strings.Join(f.values, " "))
			}
		}
	}
	b.WriteString("    esac\n    if [[ -n $values ]]; then\n        COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n        return\n    fi\n" +
		"    [[ $cur == -* ]] || return\n    case \"$verb\" in\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "        %s) flags=%q ;;\n", v.name, strings.Join(v.flagWords(), " "))
	}
	fmt.Fprintf(&b, "    esac\n    COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n}\ncomplete -o default -o bashdefault -F _%[1]s %[1]s\n", name)
	return b.String()
}

func zshCompletion(name string, verbs []completed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %[1]s\n# zsh completion for %[1]s: put this file into a directory of $fpath as _%[1]s\n_%[1]s() {\n"+
		"    local -a verbs\n    verbs=(\n", name)
	for _, v := range verbs {
		fmt.Fprintf(&b, "        '%s:%s'\n", v.name, v.help)
	}
	b.WriteString("    )\n    if (( CURRENT == 2 )); then\n        _describe 'verb' verbs\n        return\n    fi\n    case $words[2] in\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "        %s) _arguments '*:file:_files'", v.name)
		for _, f := range v.flags {
			value := ""
			switch {
			case f.values != nil:
				value = fmt.Sprintf(":value:(%s)", strings.Join(f.values, " "))
			case f.takes:
				value = ":value:_files"
			}
			fmt.Fprintf(&b, " \\\n            '--%s[%s]%s'", f.name, f.help, value)
		}
		b.WriteString(" ;;\n")
	}
	// zsh loads the file of $fpath at the first Tab as the body of the function, which must then complete.
	fmt.Fprintf(&b, "    esac\n}\nif [[ $funcstack[1] == _%[1]s ]]; then\n    _%[1]s \"$@\"\nelse\n    compdef _%[1]s %[1]s\nfi\n", name)
	return b.String()
}

func fishCompletion(name string, verbs []completed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for %[1]s: %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish\n", name)
	for _, v := range verbs {
		fmt.Fprintf(&b, "complete -c %s -n __fish_use_subcommand -a %s -d '%s'\n", name, v.name, v.help)
	}
	for _, v := range verbs {
		for _, f := range v.flags {
			fmt.Fprintf(&b, "complete -c %s -n '__fish_seen_subcommand_from %s' -l %s", name, v.name, f.name)
			if f.short != 0 {
				fmt.Fprintf(&b, " -s %c", f.short)
			}
			switch {
			case f.values != nil:
				fmt.Fprintf(&b, " -x -a '%s'", strings.Join(f.values, " "))
			case f.takes:
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d '%s'\n", f.help)
		}
	}
	return b.String()
}
