package main

import (
	"fmt"

	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/core/text"
	"toptau/model"
	"toptau/result"
)

// diffCommand compares two models without data.
type diffCommand struct {
	Old string `file:"in" arg:"" help:"A model file."`
	New string `file:"in" arg:"" help:"The model file that it is compared with."`
	Top int    `placeholder:"N" default:"20" help:"Columns to show, those that changed most (default 20; --json has all)."`
	verbs.VerifyFlags
}

func (c *diffCommand) Run(s *cli.Session) error {
	before, err := c.Load(c.Old)
	if err != nil {
		return err
	}
	after, err := c.Load(c.New)
	if err != nil {
		return err
	}
	d := model.Diff(before, after)
	if s.JSON {
		return s.Emit(d)
	}
	if d.Same {
		s.Printf("both models score and decide alike\n")
	}
	or := func(value string) string {
		if value == "" {
			return "none"
		}
		return value
	}
	for _, f := range d.Facts {
		s.Printf("%s: %s, before %s\n", f.Name, or(f.After), or(f.Before))
	}
	if len(d.Points) > 0 {
		s.Printf("operating points:\n")
	}
	for i := range d.Points {
		s.Printf("  %s\n", pointText(&d.Points[i]))
	}
	if len(d.Columns) > 0 {
		s.Printf("columns, with the norm of their weights:\n")
		table := [][]string{{"", "before", "after", "change"}}
		number := func(x *float64) string {
			if x == nil {
				return "-"
			}
			return fmt.Sprintf("%.4g", *x)
		}
		for i := range d.Columns[:min(len(d.Columns), max(0, c.Top))] {
			x := &d.Columns[i]
			table = append(table, []string{x.Column, number(x.Before), number(x.After), x.Change})
		}
		for i, line := range verbs.AlignColumns(table) {
			if i > 0 {
				line += "  " + d.Columns[i-1].Detail
			}
			s.Printf("  %s\n", line)
		}
		if others := len(d.Columns) - max(0, c.Top); others > 0 {
			s.Printf("  and %s that changed less\n", text.Plural(others, "column"))
		}
	}
	return nil
}

// pointText describes how an operating point differs.
func pointText(p *result.PointChange) string {
	line := fmt.Sprintf("%s %s", p.Name, p.Change)
	switch {
	case p.Change == "default":
		line = p.Name + " is now the default"
	case p.Before != nil && p.After != nil:
		line += fmt.Sprintf(": threshold %.6g, before %.6g", *p.After, *p.Before)
	case p.After != nil:
		line += fmt.Sprintf(": threshold %.6g", *p.After)
	case p.Before != nil:
		line += fmt.Sprintf(": threshold was %.6g", *p.Before)
	}
	line += " (" + verbs.GoalText(p.Goal) + ")"
	if p.Guarantee != "" {
		line += "; " + p.Guarantee
	}
	return line
}
