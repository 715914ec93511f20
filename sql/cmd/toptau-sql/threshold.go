package main

import (
	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
)

// thresholdCommand gives a model an operating point from all rows of a table.
type thresholdCommand struct {
	Data   string `arg:"" help:"The kind of database: postgres:, clickhouse:, trino: or spark:, or duckdb:FILE. The rows must be held out: no model saw them."`
	Model  string `file:"in" required:"" placeholder:"MODEL" help:"Give this model a new operating point, or change one."`
	Note   string `placeholder:"TEXT" help:"Write this next to the change in the model's history, for example the date."`
	Output string `file:"out" short:"o" required:"" placeholder:"MODEL" help:"Write the model with the new point here."`
	toptau.ThresholdOptions
	verbs.GoalFlags
	verbs.SignFlags
	verbs.VerifyFlags
	sourceFlags
}

func (c *thresholdCommand) Run(s *cli.Session) error {
	if err := atomicfile.Check(c.Output); err != nil {
		return err
	}
	key, err := c.Key(c.Output)
	if err != nil {
		return err
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	goal, err := c.OrReplaced(m, c.Replace)
	if err != nil {
		return err
	}
	if _, taken := m.Point(c.Name); taken && c.Replace == "" {
		return &diag.Error{Kind: diag.Usage, Param: "name", Found: diag.Quote(c.Name) + ", which the model has", Expected: "a new name",
			Fixes: []diag.Fix{{Param: "replace", Value: c.Name}}}
	}
	if c.DryRun {
		return c.plan(s, c.Data, m, planMeasure)
	}
	rows, err := c.open(s, c.Data, m)
	if err != nil {
		return err
	}
	defer rows.engine.Close()
	computed, guarantee := toptau.Threshold(s, rows.Data, toptau.Entry{Model: m}, goal, c.ThresholdOptions)
	if computed == nil {
		return guarantee
	}
	r := &computed.Result
	if r.Database, err = rows.finish(s); err != nil {
		return err
	}
	further, err := computed.WithPoint(m)
	if err == nil && c.Note != "" {
		further, err = further.WithNote(c.Note)
	}
	if err == nil {
		further, err = verbs.Sign(further, key)
	}
	if err == nil {
		err = s.WriteFile(c.Output, cli.WriteTo(further))
	}
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, verbs.Unsigned(m, key, c.Model, c.Output)...)
	guarantee = verbs.ReportThreshold(s, r, c.Output, guarantee)
	if !s.JSON && !s.StdoutTaken {
		rows.printDatabase(s, r.Database)
	}
	return guarantee
}
