package main

import (
	"toptau"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
)

// verifyCommand recomputes a certificate from the rows of a table.
type verifyCommand struct {
	Model       string `file:"in" arg:"" help:"The model that fit wrote."`
	Data        string `arg:"" help:"The kind of database: postgres:, clickhouse:, trino: or spark:, or duckdb:FILE."`
	Certificate string `file:"in" arg:"" help:"The file that fit --certificate wrote."`
	verbs.VerifyFlags
	verbs.ProblemFlags
	sourceFlags
}

func (c *verifyCommand) Run(s *cli.Session) error {
	problem, err := c.Problem()
	if err != nil {
		return err
	}
	m, certificate, err := c.LoadBoth(c.Model, c.Certificate)
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.plan(s, c.Data, m, planVerify)
	}
	rows, err := c.open(s, c.Data, m)
	if err != nil {
		return err
	}
	defer rows.engine.Close()
	if err := rows.checkKey(s); err != nil {
		return err
	}
	v, err := toptau.Verify(s, m, rows.Data, certificate, toptau.VerifyOptions{Problem: problem})
	if err != nil {
		return verbs.InCertificate(err, c.Certificate)
	}
	if v.Database, err = rows.finish(s); err != nil {
		return err
	}
	err = verbs.ReportVerification(s, v, c.Certificate)
	if !s.JSON {
		rows.printDatabase(s, v.Database)
	}
	return err
}
