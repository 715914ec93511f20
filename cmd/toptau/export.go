package main

import (
	"io"
	"slices"
	"strings"

	"toptau"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/core/text"
	"toptau/result"
)

// exportCommand writes a model for programs without toptau.
type exportCommand struct {
	Model  string `file:"in" arg:"" help:"A model file."`
	Target string `arg:"" enum:"onnx,sql,c,go" help:"What to write: onnx, sql, c or go."`
	Output string `file:"out" short:"o" required:"" placeholder:"FILE" help:"Write the export here; - is standard output."`
	toptau.ExportOptions
	verbs.VerifyFlags
}

func (c *exportCommand) Run(s *cli.Session) error {
	if err := c.check(); err != nil {
		return err
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	var r *result.Export
	err = s.WriteFile(c.Output, func(w io.Writer) (err error) {
		r, err = toptau.Export(w, m, c.Target, c.ExportOptions)
		return err
	})
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.Emit(r)
	case !s.StdoutTaken:
		printExport(s, r, c.Output)
	}
	return nil
}

// check refuses flags of other targets.
func (c *exportCommand) check() error {
	for _, f := range []struct {
		param   string
		set     bool
		targets []string
	}{{"dialect", c.Dialect != "", []string{"sql"}}, {"table", c.Table != "", []string{"sql"}}, {"keep", c.Keep != nil, []string{"sql"}},
		{"name", c.Name != "", []string{"sql", "c", "go"}}, {"tensor", c.Tensor, []string{"onnx"}}} {
		if f.set && !slices.Contains(f.targets, c.Target) {
			return &diag.Error{Kind: diag.Usage, Param: f.param, Found: "with " + c.Target, Expected: strings.Join(f.targets, " or ")}
		}
	}
	return nil
}

func printExport(s *cli.Session, r *result.Export, output string) {
	target := map[string]string{"onnx": "ONNX", "sql": "SQL for " + r.Dialect, "c": "C", "go": "Go"}[r.Target]
	s.Printf("%s: %s, %s bytes\n", output, target, text.Count(r.Bytes))
	s.Printf("model: %s\n", r.Digest)
	s.Printf("reads: %s\n", text.Plural(len(r.Inputs), "column"))
	if len(r.Points) > 0 {
		s.Printf("decides at: %s\n", strings.Join(r.Points, ", "))
	}
	verbs.PrintWarnings(s, r.Warnings)
}
