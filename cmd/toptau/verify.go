package main

import (
	"strings"

	"toptau"
	"toptau/internal/fault"
	"toptau/internal/outfile"
)

// verifyCommand recomputes a certificate.
type verifyCommand struct {
	Model       string `file:"in" arg:"" help:"The model that fit wrote."`
	Data        string `file:"in" arg:"" help:"The data it was fitted on."`
	Certificate string `file:"in" arg:"" help:"The file that fit --certificate wrote."`
	verifyFlags
	dataFlags
}

func (c *verifyCommand) Run(s *session) error {
	outfile.Recover(c.Model, c.Certificate) // a killed fit may have left one of the two unpublished
	m, err := c.load(c.Model)
	if err != nil {
		return err
	}
	certificate, err := c.certificate(c.Certificate)
	if err != nil {
		return err
	}
	data, err := toptau.ReadFor(m, c.Data, c.format())
	if err != nil {
		return err
	}
	v, err := toptau.Verify(m, data, certificate)
	if err != nil {
		return err
	}
	if s.json {
		err = s.emit(v)
	} else {
		printVerification(s, v)
	}
	if err == nil && !v.Holds && !s.json {
		err = &fault.Error{Kind: fault.Data, File: c.Certificate, Found: strings.Join(v.Reasons, "; ")}
	}
	if err == nil && !v.Holds {
		return errNotHeld
	}
	return err
}

func printVerification(s *session, v *toptau.Verification) {
	s.printf("objective    %.10g (claimed %.10g)\n", v.Objective, v.ClaimedObjective)
	s.printf("lower bound  %.10g (claimed %.10g)%s\n", v.LowerBound, v.ClaimedLowerBound, optional(", for |w| <= %.4g", v.BallRadius))
	s.printf("relative gap %.3g%s\n", v.RelativeGap, optional(", of the decrease %.3g", v.GapOfDecrease))
	if v.Holds {
		s.printf("the certificate holds\n")
	}
}
