package verbs

import (
	"fmt"
	"strings"

	"toptau/internal/cli"
	"toptau/internal/inspect"
	"toptau/internal/text"
	"toptau/result"
)

// Inspect shows what a model file contains.
type Inspect struct {
	Model  string `file:"in" arg:"" help:"A model file."`
	Redact bool   `and:"redact" help:"Write a copy that has hashes instead of category names, no fingerprints and no profile. It scores every row the same."`
	Output string `and:"redact" file:"out" short:"o" placeholder:"MODEL" help:"With --redact: write the copy here; - is standard output."`
	SignFlags
	VerifyFlags
}

func (c *Inspect) Run(s *cli.Session) error {
	key, err := c.Key(c.Output)
	if err != nil {
		return err
	}
	m, err := c.Load(c.Model)
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

func printInspection(s *cli.Session, r *result.Inspection) {
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
