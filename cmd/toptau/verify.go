package main

import (
	"toptau"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/schema"
)

// verifyCommand recomputes a certificate.
type verifyCommand struct {
	Model       string `file:"in" arg:"" help:"The model that fit wrote."`
	Data        string `file:"in" arg:"" help:"The data it was fitted to."`
	Certificate string `file:"in" arg:"" help:"The file that fit --certificate wrote."`
	Memory      int64  `group:"Data" placeholder:"BYTES" help:"Of a packed file: if its rows need more memory than this, such as 300MB, leave them in the file and read it in passes (default: half of the free memory)."`
	verbs.VerifyFlags
	verbs.ProblemFlags
	schema.Format
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
	paths, format, err := packLarge(s, []string{c.Data}, c.Format.Like(m.Schema()), c.Memory)
	if err != nil {
		return err
	}
	data, err := readData(s, paths, format)
	if err != nil {
		return err
	}
	v, err := toptau.Verify(s, m, data, certificate, toptau.VerifyOptions{Problem: problem, Memory: c.Memory})
	if err != nil {
		return verbs.InCertificate(err, c.Certificate)
	}
	return verbs.ReportVerification(s, v, c.Certificate)
}
