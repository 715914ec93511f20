package main

import (
	"toptau"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/result"
)

// diagnoseCommand reports what can work on a table before anything is fitted.
type diagnoseCommand struct {
	Data string `arg:"" help:"The kind of database: postgres:, clickhouse:, trino: or spark:, or duckdb:FILE."`
	toptau.DiagnoseOptions
	verbs.GoalFlags
	sourceFlags
}

func (c *diagnoseCommand) Run(s *cli.Session) error {
	var err error
	if c.Goal, err = c.Optional(); err != nil {
		return err
	}
	if c.DryRun {
		return c.plan(s, c.Data, nil, planDiagnose)
	}
	rows, err := c.open(s, c.Data, nil)
	if err != nil {
		return err
	}
	defer rows.engine.Close()
	if err := rows.refuseMissing(c.Impute); err != nil {
		return err
	}
	c.Progress = func(now result.Progress) { rows.watcher.at(now.Stage, now.Fraction) }
	d, err := toptau.Diagnose(s, rows.Data, c.DiagnoseOptions)
	if err != nil {
		return err
	}
	if d.Database, err = rows.finish(s); err != nil {
		return err
	}
	if s.JSON {
		return s.Emit(d)
	}
	verbs.PrintDiagnosis(s, d)
	rows.printDatabase(s, d.Database)
	return nil
}
