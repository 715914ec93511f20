package main

import (
	"toptau"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/method"
	"toptau/result"
)

// fitCommand solves one problem on all rows of a table.
type fitCommand struct {
	Data        string `arg:"" help:"The kind of database: postgres:, clickhouse:, trino: or spark:, or duckdb:FILE."`
	Output      string `file:"out" short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Certificate string `file:"out" placeholder:"FILE" help:"Write the dual point that proves the lower bound, for verify."`
	method.Problem
	toptau.FitOptions
	sourceFlags
	verbs.SignFlags
	verbs.ReplaceFlag
}

func (c *fitCommand) Run(s *cli.Session) error {
	if err := atomicfile.Check(c.Output, c.Certificate); err != nil {
		return err
	}
	key, err := c.Key(c.Output, c.Certificate)
	if err != nil {
		return err
	}
	c.Solver = method.CertifiedSolver
	if c.DryRun {
		return c.plan(s, c.Data, nil, planFit)
	}
	rows, err := c.open(s, c.Data, nil)
	if err != nil {
		return err
	}
	defer rows.engine.Close()
	if err := rows.refuseMissing(c.Impute); err != nil {
		return err
	}
	if err := rows.checkKey(s); err != nil {
		return err
	}
	c.Progress = func(now result.Progress) {
		s.FinishAfterSignal("writing what the solver has reached")
		rows.watcher.at(now.Stage, now.Fraction)
	}
	fitted, err := toptau.Fit(s, rows.Data, c.Problem, c.FitOptions)
	if err != nil {
		return err
	}
	r := &fitted.Result
	if r.Database, err = rows.finish(s); err != nil {
		return err
	}
	if err := verbs.SignFitted(fitted, key); err != nil {
		return err
	}
	var kept []string
	if r.Stopped != "" {
		kept = verbs.KeepExisting(c.ReplacePartial, &c.Output, &c.Certificate)
	}
	if err := verbs.WriteFitted(s, fitted, c.Output, c.Certificate, ""); err != nil {
		return err
	}
	if s.JSON {
		err = s.Emit(r)
	} else if !s.StdoutTaken {
		verbs.PrintFit(s, r, c.Output)
		rows.printDatabase(s, r.Database)
	}
	switch {
	case err != nil:
		return err
	case c.Certificate != "" && fitted.Certificate == nil:
		return verbs.NoCertificate(r)
	case r.Stopped != "":
		return &cli.Interrupted{Words: verbs.PartialText(kept, c.Output, c.Certificate)}
	}
	return nil
}
