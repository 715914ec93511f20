package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// ManualPage returns the manual page of the command in the language of man(7), from the flags of every verb. The date is that of
// the release, as 2006-01-02.
func (s *Session) ManualPage(date string) (string, error) {
	parser, err := s.app.Parser()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	name := s.app.Name
	summary, details, _ := strings.Cut(s.app.Description, ":")
	fmt.Fprintf(&b, ".TH %s 1 %s \"%s %s\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), date, name, ThisBuild().Version, name, roff(strings.ToLower(summary)))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.I verb\n.RI [ arguments ]\n.RI [ flags ]\n", name)
	details, codes, _ := strings.Cut(strings.TrimSpace(details), "\n\nExit codes: ")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", sentences(upperFirst(details)))
	b.WriteString(".PP\nFlags and arguments may follow the verb in any order.\n.SH \"FLAGS OF EVERY VERB\"\n")
	manFlags(&b, parser.Model.Flags)
	b.WriteString(".SH VERBS\n")
	for _, verb := range parser.Model.Leaves(true) {
		fmt.Fprintf(&b, ".SS %s\n%s\n.PP\n.RS 4\n%s\n.RE\n", verb.Name, sentences(verb.Help), roff(verb.Summary()))
		for _, argument := range verb.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(argument.Summary()), sentences(argument.Help))
		}
		manFlags(&b, verb.Flags)
		if lines := s.app.Examples[verb.Name]; len(lines) > 0 {
			b.WriteString(".PP\nExamples:\n.PP\n.RS 4\n.nf\n")
			for _, line := range lines {
				b.WriteString(roff(line) + "\n")
			}
			b.WriteString(".fi\n.RE\n")
		}
	}
	b.WriteString(".SH \"EXIT STATUS\"\n")
	for _, part := range strings.Split(strings.TrimSuffix(codes, "."), "; ") {
		code, meaning, _ := strings.Cut(part, " ")
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(code), sentences(upperFirst(meaning)+"."))
	}
	return b.String(), nil
}

// manFlags writes the flags that help shows, in groups.
func manFlags(b *strings.Builder, flags []*kong.Flag) {
	var groups []string
	title := func(f *kong.Flag) string {
		if f.Group == nil {
			return ""
		}
		return f.Group.Title
	}
	for _, f := range flags {
		if !slices.Contains(groups, title(f)) && !f.Hidden {
			groups = append(groups, title(f))
		}
	}
	slices.SortStableFunc(groups, func(x, y string) int { return min(len(x), 1) - min(len(y), 1) }) // those without a group first
	for _, group := range groups {
		if group != "" {
			fmt.Fprintf(b, ".PP\n%s:\n", roff(group))
		}
		for _, f := range flags {
			if f.Hidden || title(f) != group {
				continue
			}
			text := "--" + f.Name
			if f.Short != 0 {
				text = "-" + string(f.Short) + ", " + text
			}
			if !f.IsBool() && f.Name != "help" {
				text += "=" + f.FormatPlaceHolder()
			}
			fmt.Fprintf(b, ".TP\n.B \"%s\"\n%s\n", strings.ReplaceAll(roff(text), `"`, `\(dq`), sentences(f.Help))
		}
	}
}

// roffEscapes keep the characters that roff would print as others.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes a text of one line.
func roff(text string) string {
	text = roffEscapes.Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// sentences starts each sentence on a line, as roff expects, and breaks lines that mandoc calls long.
func sentences(text string) string {
	const longest = 65 // in bytes, so that escapes fit into 80
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+len(word) >= longest {
			lines, line = append(lines, roff(line)), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
		if strings.HasSuffix(word, ".") {
			lines, line = append(lines, roff(line)), ""
		}
	}
	if line != "" {
		lines = append(lines, roff(line))
	}
	return strings.Join(lines, "\n")
}

func upperFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
