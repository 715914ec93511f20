package main

import (
	"context"
	"io"

	"toptau"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/result"
)

// trainCommand chooses a model for a goal and fits it to all rows of a table.
type trainCommand struct {
	Data   string `arg:"" help:"The kind of database: postgres:, clickhouse:, trino: or spark:, or duckdb:FILE."`
	Output string `file:"out" short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Report string `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page: what to expect, candidates, curves, the model."`
	verbs.GoalFlags
	toptau.TrainOptions
	sourceFlags
	verbs.SignFlags
}

func (c *trainCommand) Run(s *cli.Session) error {
	goal, err := c.Required()
	if err != nil {
		return err
	}
	if err := atomicfile.Check(c.Output, c.Report); err != nil {
		return err
	}
	key, err := c.Key(c.Output)
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.plan(s, c.Data, nil, planTrain)
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
	c.Progress = func(now result.Progress) { rows.watcher.at(now.Stage, now.Fraction) }
	trained, err := toptau.Train(s, rows.Data, goal, c.TrainOptions)
	if err != nil {
		return err
	}
	r := &trained.Result
	if r.Database, err = rows.finish(s); err != nil {
		return err
	}
	if trained.Model, err = verbs.Sign(trained.Model, key); err != nil {
		return err
	}
	if err := s.WriteFile(c.Output, cli.WriteTo(trained.Model)); err != nil {
		return err
	}
	if c.Report != "" {
		if err := s.WriteFile(c.Report, func(w io.Writer) error { return trained.WriteReport(context.WithoutCancel(s), w, "") }); err != nil {
			return err
		}
	}
	switch {
	case s.JSON:
		return s.Emit(r)
	case !s.StdoutTaken:
		verbs.PrintTraining(s, r, c.Output)
		if c.Report != "" {
			s.Printf("report: %s\n", c.Report)
		}
		rows.printDatabase(s, r.Database)
	}
	return nil
}
