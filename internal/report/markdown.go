package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"toptau/diag"
)

// WriteMarkdown writes the page as Markdown (CommonMark with tables). Figures are left out, for the tables have their
// numbers, and so is the slider. All text is escaped.
func (p Page) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", escapeMarkdown(p.Title))
	paragraph := func(text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(text))
		}
	}
	paragraph(p.Lead)
	paragraph(strings.Join(p.About, " · "))
	list := func(lines []string) {
		if len(lines) > 0 {
			b.WriteString("\n")
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "* %s\n", escapeMarkdown(line))
		}
	}
	list(p.Summary)
	for i := range p.Sections {
		s := &p.Sections[i]
		if s.empty() {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n", escapeMarkdown(s.Title))
		for _, text := range s.Paragraphs {
			paragraph(text)
		}
		list(s.Warnings)
		if facts := s.facts(); len(facts) > 0 {
			t := Table{Header: []string{"", ""}}
			for _, f := range facts {
				t.Rows = append(t.Rows, []string{f.Name, f.Value})
			}
			t.writeMarkdown(&b)
		}
		for i := range s.Tables {
			s.Tables[i].writeMarkdown(&b)
		}
	}
	if p.Footer != "" {
		fmt.Fprintf(&b, "\n---\n\n%s\n", escapeMarkdown(p.Footer))
	}
	_, err := io.WriteString(w, diag.PrintableLines(b.String())) // control characters in names could hide or reorder text
	return err
}

func (t *Table) writeMarkdown(b *bytes.Buffer) {
	if t.Caption != "" {
		fmt.Fprintf(b, "\n**%s**\n", escapeMarkdown(t.Caption))
	}
	header := t.Header
	if header == nil && len(t.Rows) > 0 {
		header = make([]string, len(t.Rows[0]))
	}
	line := func(cells []string, escape func(string) string) {
		b.WriteString("|")
		for _, cell := range cells {
			fmt.Fprintf(b, " %s |", escape(cell))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	line(header, escapeMarkdown)
	rule := make([]string, len(header))
	for i := range rule {
		rule[i] = "---"
	}
	for _, i := range t.Numbers {
		if i < len(rule) {
			rule[i] = "---:"
		}
	}
	line(rule, func(cell string) string { return cell })
	strong := map[int]bool{}
	for _, i := range t.Strong {
		strong[i] = true
	}
	for i, row := range t.Rows {
		line(row, func(cell string) string {
			if cell = escapeMarkdown(cell); strong[i] && cell != "" {
				return "**" + cell + "**"
			}
			return cell
		})
	}
}

// markdownSigns are the characters that may begin a construct of Markdown or HTML inside a line.
const markdownSigns = "\\`*_{}[]<>|#~&!"

// escapeMarkdown writes text on one line, so that a reader shows it unchanged.
func escapeMarkdown(text string) string {
	var b strings.Builder
	for i, line := range strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		if i > 0 {
			b.WriteString(" ")
		}
		for _, c := range strings.TrimSpace(line) {
			if strings.ContainsRune(markdownSigns, c) {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		}
	}
	line := b.String()
	if rest := strings.TrimLeft(line, "0123456789"); line != "" && (strings.ContainsRune("-+=", rune(line[0])) ||
		rest != line && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))) { // a list, a rule or a heading
		at := len(line) - len(rest)
		return line[:at] + "\\" + line[at:]
	}
	return line
}
