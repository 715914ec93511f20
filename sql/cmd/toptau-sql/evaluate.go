package main

import (
	"path/filepath"
	"strings"

	"toptau"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
)

// evaluateCommand measures a model on all rows of a table.
type evaluateCommand struct {
	Model string `file:"in" arg:"" help:"A model file."`
	Data  string `arg:"" help:"The kind of database: postgres:, clickhouse:, trino: or spark:, or duckdb:FILE."`
	toptau.EvaluateOptions
	verbs.GoalFlags
	verbs.VerifyFlags
	sourceFlags
}

func (c *evaluateCommand) Run(s *cli.Session) error {
	var err error
	if c.Goal, err = c.Optional(); err != nil {
		return err
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.plan(s, c.Data, m, planMeasure)
	}
	rows, err := c.open(s, c.Data, m)
	if err != nil {
		return err
	}
	defer rows.engine.Close()
	name := strings.TrimSuffix(filepath.Base(c.Model), ".json")
	e, err := toptau.Evaluate(s, rows.Data, []toptau.Entry{{Name: name, Model: m}}, c.EvaluateOptions)
	if err != nil {
		return err
	}
	if e.Database, err = rows.finish(s); err != nil {
		return err
	}
	if s.JSON {
		return s.Emit(e.Evaluation)
	}
	verbs.PrintEvaluation(s, e)
	if !c.Prevalence.IsZero() {
		for _, line := range e.Summary {
			s.Printf("%s\n", line)
		}
	}
	rows.printDatabase(s, e.Database)
	return nil
}
