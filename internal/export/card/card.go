// Package card writes a model as a table of points for people: what each value of each column adds to the score.
package card

import (
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/export"
	"toptau/internal/portable"
	"toptau/internal/text"
)

// Form is the format of the table.
type Form string

const (
	CSV      Form = "csv"
	Markdown Form = "markdown"
	HTML     Form = "html"
)

// Forms returns all forms.
func Forms() []Form { return []Form{Markdown, CSV, HTML} }

// Options of Write.
type Options struct {
	Form Form // "": Markdown
}

// row is a line of the table.
type row struct{ column, value, points string }

// Write writes a program.
//
// Errors (diag.Usage): an unknown form, or a model with trees, whose points depend on several columns.
func Write(w io.Writer, p *portable.Program, o Options) error {
	rows, err := rowsOf(p)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].column = diag.Printable(rows[i].column)
	}
	switch o.Form {
	case CSV:
		return writeCSV(w, rows)
	case HTML:
		return writeHTML(w, p, rows)
	case Markdown, "":
		return writeMarkdown(w, p, rows)
	}
	return &diag.Error{Kind: diag.Usage, Param: "form", Found: diag.Quote(string(o.Form)), Expected: "one of " + strings.Join(text.Strings(Forms()), ", ")}
}

// rowsOf returns the lines in the order in which the points are added.
func rowsOf(p *portable.Program) (rows []row, err error) {
	for _, t := range p.Terms {
		switch t := t.(type) {
		case *portable.Number:
			value := "the number"
			if t.Scaled {
				value = fmt.Sprintf("(the number - %s) / %s", export.Float(t.Shift), export.Float(t.Scale))
			}
			rows = append(rows, row{p.Inputs[t.Input].Name, value, "times " + export.Float(t.Weight)})
		case *portable.Level:
			in := &p.Inputs[t.Input]
			add := func(value string, level int) {
				rows = append(rows, row{in.Name, value, export.Float(t.Terms[level])})
			}
			for level, category := range in.Categories {
				add("is "+strconv.Quote(category), level)
			}
			switch in.Missing {
			case portable.Kept:
				add("missing", len(in.Categories))
			case portable.Filled:
				add("missing", 0)
			}
			add("any other", len(in.Categories)+1)
		case *portable.Absent:
			rows = append(rows, row{p.Inputs[t.Input].Name, "missing", export.Float(t.Term)})
		case *portable.Steps:
			rows = append(rows, steps(p, t)...)
		case *portable.Card:
			rows = append(rows, curve(p, t)...)
		case *portable.Trees:
			if len(t.Trees) > 0 {
				return nil, export.Refuse("a table of points", "trees (their points depend on several columns)",
					"train with the encodings raw and scorecard, or use explain")
			}
		}
	}
	return append(rows, row{"", "every record", export.Float(p.Offset)}), nil
}

func steps(p *portable.Program, t *portable.Steps) (rows []row) {
	in := &p.Inputs[t.Input]
	for i, w := range t.Terms {
		value := "any number"
		switch {
		case len(t.Cuts) == 0:
		case i == 0:
			value = "below " + export.Float(t.Cuts[0])
		case i == len(t.Cuts):
			value = "from " + export.Float(t.Cuts[i-1])
		default:
			value = fmt.Sprintf("from %s to below %s", export.Float(t.Cuts[i-1]), export.Float(t.Cuts[i]))
		}
		rows = append(rows, row{in.Name, value, export.Float(w)})
	}
	return append(rows, missing(in, t.Missing)...)
}

func curve(p *portable.Program, t *portable.Card) (rows []row) {
	in := &p.Inputs[t.Input]
	for j, x := range t.Atoms {
		rows = append(rows, row{in.Name, "exactly " + export.Float(x), export.Float(t.Weights[len(t.Knots)+j])})
	}
	last := len(t.Knots) - 1
	otherwise := ""
	if len(t.Atoms) > 0 {
		otherwise = "otherwise "
	}
	for i, x := range t.Knots {
		value := otherwise + "at " + export.Float(x) + ", and on a straight line to the next"
		switch i {
		case 0:
			value = otherwise + "up to " + export.Float(x) + ", then on a straight line to the next"
		case last:
			value = otherwise + "from " + export.Float(x)
		}
		rows = append(rows, row{in.Name, value, export.Float(t.Weights[i])})
	}
	return append(rows, missing(in, t.Missing)...)
}

// missing describes a missing number.
func missing(in *portable.Input, points float64) []row {
	switch in.Missing {
	case portable.Kept:
		return []row{{in.Name, "missing", export.Float(points)}}
	case portable.Filled:
		return []row{{in.Name, "missing", "those of " + export.Float(in.Fill)}}
	}
	return nil
}

const explanation = "Add the points of all lines that fit a record. The decision compares the sum with the threshold of an operating point. " +
	"A sum by hand differs from the score of the program in the last digits."

func writeCSV(w io.Writer, rows []row) error {
	c := csv.NewWriter(w)
	c.Write([]string{"column", "value", "points"})
	for _, r := range rows {
		c.Write([]string{r.column, r.value, r.points})
	}
	c.Flush()
	return c.Error()
}

func writeMarkdown(w io.Writer, p *portable.Program, rows []row) error {
	var b strings.Builder
	b.WriteString("# Points\n\n" + explanation + "\n\n| column | value | points |\n| --- | --- | ---: |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", markdown(r.column), markdown(r.value), r.points)
	}
	b.WriteString("\n")
	for _, line := range export.Lines(p) {
		b.WriteString("* " + markdown(line) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdown escapes what has a meaning in Markdown.
func markdown(s string) string {
	return strings.NewReplacer("\\", `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "<", "&lt;", "&", "&amp;", "\n", " ", "\r", " ").Replace(s)
}

func writeHTML(w io.Writer, p *portable.Program, rows []row) error {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Points</title><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color-scheme: light dark }
table { border-collapse: collapse } td, th { padding: .2em .8em; border-bottom: 1px solid #8886; text-align: left } td:last-child { text-align: right }
</style></head><body><h1>Points</h1>
`)
	b.WriteString("<p>" + html.EscapeString(explanation) + "</p>\n<table><thead><tr><th>column</th><th>value</th><th>points</th></tr></thead><tbody>\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", html.EscapeString(r.column), html.EscapeString(r.value), r.points)
	}
	b.WriteString("</tbody></table>\n<ul>\n")
	for _, line := range export.Lines(p) {
		b.WriteString("<li>" + html.EscapeString(line) + "</li>\n")
	}
	b.WriteString("</ul></body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
