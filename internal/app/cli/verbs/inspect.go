package verbs

import (
	"fmt"
	"strings"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/training/inspect"
	"toptau/model"
	"toptau/schema"
)

// Inspect shows what a model file or a table contains.
type Inspect struct {
	Files  []string `file:"in" arg:"" name:"file ..." help:"A model file; or a table: files, directories or patterns, read as one table; - is standard input."`
	Redact bool     `and:"redact" help:"Write a copy that has hashes instead of category names, no fingerprints and no profile. It scores every row the same."`
	Output string   `and:"redact" file:"out" short:"o" placeholder:"MODEL" help:"With --redact: write the copy here; - is standard output."`
	SignFlags
	VerifyFlags
	schema.Format
}

// Run inspects a model or a table and prints.
func (c *Inspect) Run(s *cli.Session) error {
	if len(c.Files) == 1 && (c.Redact || model.IsFile(c.Files[0])) {
		return c.inspectModel(s, c.Files[0])
	}
	if c.Redact {
		return &diag.Error{Kind: diag.Usage, Param: "redact", Found: text.Plural(len(c.Files), "file"), Expected: "one model file"}
	}
	return c.inspectTable(s)
}

func (c *Inspect) inspectModel(s *cli.Session, path string) error {
	key, err := c.Key(c.Output)
	if err != nil {
		return err
	}
	m, err := c.Load(path)
	if err != nil {
		return err
	}
	if c.Redact {
		if m, err = m.Redacted(); err != nil {
			return err
		}
		if m, err = Sign(m, key); err != nil {
			return err
		}
		if err := s.WriteFile(c.Output, cli.WriteTo(m)); err != nil {
			return err
		}
	}
	r, err := inspect.Model(m)
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.Emit(r)
	case !s.StdoutTaken:
		printInspection(s, r)
		if c.Redact {
			s.Printf("model: %s\n", c.Output)
		}
	}
	return nil
}

// maxListed is the number of columns that are listed without --json.
const maxListed = 20

func printInspection(s *cli.Session, r *inspect.Inspection) {
	signed := "not signed"
	if r.Signed {
		signed = "signed"
	}
	s.Printf("a model of format %d, %s bytes, %s, %s\n", r.Format, text.Count(r.Bytes), signed, r.Digest)
	s.Printf("trained on %s, %s positive; %s\n", text.Plural(r.Rows, "row"), text.Count(r.Positives), text.Plural(r.Weights, "weight"))
	for _, p := range r.Parts {
		s.Printf("  %-12s %11s bytes  %s\n", p.Name, text.Count(p.Bytes), p.Content)
	}
	s.Printf("columns:\n")
	for _, c := range r.Columns[:min(len(r.Columns), maxListed)] {
		kind := c.Kind
		switch {
		case c.Hashed:
			kind = fmt.Sprintf("%s, %s, hashed", kind, text.Plural(c.Categories, "name"))
		case c.Unit != "":
			kind += ", in " + c.Unit
		case c.Categories > 0:
			kind = fmt.Sprintf("%s, %s", kind, text.Plural(c.Categories, "name"))
		}
		s.Printf("  %s: %s\n", c.Column, kind)
	}
	if more := len(r.Columns) - maxListed; more > 0 {
		s.Printf("  and %s more\n", text.Count(more))
	}
	if n := len(r.Derived); n > 0 {
		list := strings.Join(r.Derived[:min(n, maxListed)], ", ")
		if n > maxListed {
			list += " and " + text.Count(n-maxListed) + " more"
		}
		s.Printf("derived columns: %s\n", list)
	}
	if len(r.Personal) == 0 {
		s.Printf("nothing looks personal, by its form\n")
		return
	}
	s.Printf("what may be personal, by its form:\n")
	for _, f := range r.Personal {
		example := ""
		if f.Example != "" {
			example = fmt.Sprintf(", like %q", f.Example)
		}
		s.Printf("  %s: %s (%s of %s%s)\n", f.Place, f.Kind, text.Count(f.Values), text.Count(f.Of), example)
	}
}

// inspectTable describes the first rows of a table.
func (c *Inspect) inspectTable(s *cli.Session) error {
	o := inspect.ReadOptions(c.Format)
	o.Context = s
	files, err := table.OpenFiles(c.Files...)
	if err != nil {
		return err
	}
	rows, err := table.NewReader("", files, o)
	if err != nil {
		return err
	}
	defer rows.Close()
	r, err := inspect.Table(rows)
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.Emit(r)
	}
	printTable(s, r)
	return nil
}

func printTable(s *cli.Session, r *inspect.TableInspection) {
	format := r.FileFormat
	if r.Delimiter != "" {
		format += ", " + r.Delimiter
	}
	rows, columns := text.Plural(r.Rows, "row"), text.Plural(len(r.Columns), "column")
	if !r.Whole {
		rows = "the first " + rows
	}
	if r.Indices > 0 {
		columns = "indices up to " + text.Count(r.Indices)
	}
	s.Printf("%s (%s): %s, %s\n", r.File, format, rows, columns)
	lines := [][]string{{"column", "kind", "missing", "different", "range or examples"}}
	for _, c := range r.Columns[:min(len(r.Columns), maxTableColumns)] {
		different := text.Count(c.Different)
		if c.More {
			different = "over " + different
		}
		values := strings.Join(c.Examples, ", ")
		if c.Low != nil && c.Different > len(c.Examples) {
			values = text.Number(*c.Low) + " to " + text.Number(*c.High)
		}
		lines = append(lines, []string{cut(c.Column, 24), c.Kind, text.Count(c.Missing), different, cut(values, 50)})
	}
	if len(lines) > 1 {
		for _, line := range AlignLeft(lines) {
			s.Printf("  %s\n", line)
		}
	}
	if more := len(r.Columns) - maxTableColumns; more > 0 {
		s.Printf("  and %s more (--json lists all)\n", text.Plural(more, "column"))
	}
	printLabel(s, r)
	for _, w := range r.Warnings {
		s.Printf("note: %s\n", s.Note(w))
	}
	s.Printf("next: %s\n", r.Next)
}

// maxTableColumns is the number of columns of a table that are listed without --json.
const maxTableColumns = 60

// printLabel prints the values of the label, or which column may be it.
func printLabel(s *cli.Session, r *inspect.TableInspection) {
	if len(r.Labels) == 0 {
		switch n := len(r.LabelsMaybe); {
		case n > 0:
			s.Printf("label: perhaps %s, which has two values (use --label)\n", text.List(r.LabelsMaybe, "or"))
		case r.Indices == 0:
			s.Printf("label: no column looks like one (use --label COLUMN)\n")
		}
		return
	}
	var values []string
	for _, l := range r.Labels[:min(len(r.Labels), 10)] {
		values = append(values, fmt.Sprintf("%s (%s)", diag.Quote(cut(l.Value, 40)), text.Count(l.Rows)))
	}
	line := strings.Join(values, ", ")
	if len(r.Labels) > 10 {
		line += " and others"
	}
	if p := r.Positives; p != nil {
		line += fmt.Sprintf("; %s of %s rows are positive (%s)", text.Count(*p), text.Count(r.Rows), text.Percent(float64(*p)/float64(r.Rows)))
	} else {
		line += "; which of them is positive is not clear (use --positive VALUE)"
	}
	s.Printf("label: %s\n", line)
}

// cut shortens a text to some characters.
func cut(value string, most int) string {
	if runes := []rune(value); len(runes) > most {
		return string(runes[:most-3]) + "..."
	}
	return value
}
