package main

import (
	"strings"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
)

// verifyCommand recomputes a certificate.
type verifyCommand struct {
	Model       string `file:"in" arg:"" help:"The model that fit wrote."`
	Data        string `file:"in" arg:"" help:"The data it was fitted on."`
	Certificate string `file:"in" arg:"" help:"The file that fit --certificate wrote."`
	verifyFlags
	problemFlags
	dataFlags
}

// problemFlags name the problem that a certificate must be about, as the flags of fit do.
type problemFlags struct {
	Method    string   `group:"Problem" placeholder:"NAME" help:"The problem to verify, by the flags of fit (default: the problem in the model)."`
	Tau       string   `group:"Problem" placeholder:"RATE" help:"With --method: the rate on top."`
	K         int      `group:"Problem" short:"k" name:"k" placeholder:"K" help:"With --method: the k of toppushk."`
	Beta      float64  `group:"Problem" placeholder:"B" help:"With --method: the beta of patmat and patmat-np."`
	Lambda    *float64 `group:"Problem" placeholder:"L" help:"With --method: the lambda (default ${lambda})."`
	Surrogate string   `group:"Problem" placeholder:"NAME" help:"With --method: hinge or squared-hinge (default hinge)."`
}

// problem returns what was named, nil where nothing was.
func (f *problemFlags) problem() (*toptau.FitOptions, error) {
	if f.Method == "" {
		if *f != (problemFlags{}) {
			return nil, &diag.Error{Kind: diag.Usage, Found: "a hyperparameter without --method",
				Expected: "--method and all its hyperparameters, as for fit", Hint: "or none: then the model names the problem"}
		}
		return nil, nil
	}
	o := &toptau.FitOptions{Method: f.Method, Surrogate: f.Surrogate, Lambda: defaultLambda, Tau: f.Tau, Beta: f.Beta, K: f.K}
	if f.Lambda != nil {
		o.Lambda = *f.Lambda
	}
	return o, nil
}

func (c *verifyCommand) Run(s *cli.Session) error {
	atomicfile.Recover(c.Model, c.Certificate) // a killed fit may have left one of the two unpublished
	problem, err := c.problem()
	if err != nil {
		return err
	}
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
	v, err := toptau.Verify(m, data, certificate, toptau.VerifyOptions{Problem: problem})
	if err != nil {
		return c.inCertificate(err)
	}
	if s.JSON {
		err = s.Emit(v)
	} else {
		printVerification(s, v)
	}
	if err == nil && !v.Holds && !s.JSON {
		err = &diag.Error{Kind: diag.Data, File: c.Certificate, Found: strings.Join(v.Reasons, "; ")}
	}
	if err == nil && !v.Holds {
		return errNotHeld
	}
	return err
}

// inCertificate names the certificate's file in an error about its content.
func (c *verifyCommand) inCertificate(err error) error {
	if e := diag.Of(err); e != nil && e.File == "" && e.Kind != diag.Usage {
		e.File = c.Certificate
	}
	return err
}

func printVerification(s *cli.Session, v *toptau.Verification) {
	p := &v.Problem
	s.Printf("problem      %s (%s), lambda %v%s%s%s\n", p.Method, p.Surrogate, p.Lambda, optional(", tau %v", p.Tau),
		optional(", beta %v", p.Beta), optional(", k %v", p.K))
	s.Printf("data         %s rows, %s positive, stored as %s%s\n", group(p.N), group(p.NPos), p.Storage, optional(", total weight %v", p.Mass))
	s.Printf("objective    %.10g (claimed %.10g)\n", v.Objective, v.ClaimedObjective)
	s.Printf("lower bound  %.10g (claimed %.10g)%s\n", v.LowerBound, v.ClaimedLowerBound, optional(", proven for |w| <= %.4g", v.BallRadius))
	s.Printf("relative gap %.3g%s; rounding at most %.2g\n", v.RelativeGap, optional(", of the decrease %.3g", v.GapOfDecrease),
		max(v.ObjectiveError, v.LowerBoundError))
	if v.Holds {
		s.Printf("the certificate holds\n")
	}
}
