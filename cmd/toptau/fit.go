package main

import (
	"fmt"
	"io"

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
	cacheFlags
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
	paths, format, err := c.packLarge(s, c.Data, c.Format, c.Memory)
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
	if fitted.Model, err = verbs.Sign(fitted.Model, key); err != nil {
		return err
	}
	if fitted.Certificate != nil && key != nil {
		if err := fitted.Certificate.Sign(key); err != nil {
			return err
		}
	}
	var kept []string
	if r.Stopped != "" {
		kept = verbs.KeepExisting(c.ReplacePartial, &c.Output, &c.Certificate, &c.Trace)
	}
	if err := c.writeFiles(s, fitted); err != nil {
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

// writeFiles publishes the model with its certificate and the trace, all or none.
func (c *fitCommand) writeFiles(s *cli.Session, fitted *toptau.Fitted) error {
	o := s.Outputs()
	defer o.Discard()
	if fitted.Certificate != nil && c.Certificate != "" {
		if err := o.Add(c.Certificate, cli.WriteTo(fitted.Certificate)); err != nil {
			return err
		}
	}
	if err := o.Add(c.Trace, func(w io.Writer) error { return writeTrace(w, fitted.Trace) }); err != nil {
		return err
	}
	if err := o.Add(c.Output, cli.WriteTo(fitted.Model)); err != nil {
		return err
	}
	return o.Publish()
}

func writeTrace(w io.Writer, trace []result.TracePoint) error {
	fmt.Fprintln(w, "iteration,objective")
	for _, p := range trace {
		if _, err := fmt.Fprintf(w, "%d,%v\n", p.Iteration, p.Objective); err != nil {
			return err
		}
	}
	return nil
}
