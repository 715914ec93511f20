package main

import (
	"toptau"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/method"
	"toptau/result"
	"toptau/schema"
)

// fitCommand solves one problem on all rows.
type fitCommand struct {
	Data        []string `file:"in" arg:"" help:"Labelled data: files, directories or patterns, read as one table; - is standard input."`
	Output      string   `file:"out" short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Certificate string   `file:"out" placeholder:"FILE" help:"Write the dual point that proves the lower bound, for verify (certified)."`
	Trace       string   `file:"out" placeholder:"FILE" help:"Write the objective after each step as CSV (adam, sgd)."`
	method.Problem
	toptau.FitOptions
	schema.Format
	verbs.ReplaceFlag
	verbs.SignFlags
}

func (c *fitCommand) Run(s *cli.Session) error {
	if err := atomicfile.Check(c.Output, c.Trace, c.Certificate); err != nil {
		return err
	}
	key, err := c.Key(c.Output, c.Certificate)
	if err != nil {
		return err
	}
	paths, format, err := packLarge(s, c.Data, c.Format, c.Memory)
	if err != nil {
		return err
	}
	data, err := readData(s, paths, format)
	if err != nil {
		return err
	}
	s.Progress.Start()
	c.ReleaseData = true
	c.Progress = func(now result.Progress) {
		s.FinishAfterSignal("writing what the solver has reached")
		verbs.ShowProgress(s, now)
	}
	fitted, err := toptau.Fit(s, data, c.Problem, c.FitOptions)
	if err != nil {
		return err
	}
	s.Progress.Clear()
	r := &fitted.Result
	if err := verbs.SignFitted(fitted, key); err != nil {
		return err
	}
	var kept []string
	if r.Stopped != "" {
		kept = verbs.KeepExisting(c.ReplacePartial, &c.Output, &c.Certificate, &c.Trace)
	}
	if err := verbs.WriteFitted(s, fitted, c.Output, c.Certificate, c.Trace); err != nil {
		return err
	}
	if s.JSON {
		err = s.Emit(r)
	} else if !s.StdoutTaken {
		verbs.PrintFit(s, r, c.Output)
	}
	if err == nil && c.Certificate != "" && fitted.Certificate == nil {
		return verbs.NoCertificate(r)
	}
	if err == nil && r.Stopped != "" {
		return &cli.Interrupted{Words: verbs.PartialText(kept, c.Output, c.Certificate, c.Trace)}
	}
	return err
}
