package main

import (
	"strings"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/text"
	"toptau/method"
	"toptau/result"
	"toptau/schema"
	"toptau/surrogate"
	"toptau/threshold"
)

// verifyCommand recomputes a certificate.
type verifyCommand struct {
	Model       string `file:"in" arg:"" help:"The model that fit wrote."`
	Data        string `file:"in" arg:"" help:"The data it was fitted to."`
	Certificate string `file:"in" arg:"" help:"The file that fit --certificate wrote."`
	verifyFlags
	problemFlags
	schema.Format
	cacheFlags
}

// problemFlags name the problem that a certificate must be about, as the flags of fit do.
type problemFlags struct {
	Method    method.Name    `group:"Problem" placeholder:"NAME" help:"The problem to verify, by the flags of fit (default: the problem in the model)."`
	Tau       threshold.Rate `group:"Problem" placeholder:"RATE" help:"With --method: the fraction on top."`
	K         int            `group:"Problem" short:"k" name:"k" placeholder:"K" help:"With --method: the k of toppushk."`
	Beta      float64        `group:"Problem" placeholder:"B" help:"With --method: the beta of patmat and patmat-np."`
	Lambda    *float64       `group:"Problem" placeholder:"L" help:"With --method: the lambda (default 0.001)."`
	Surrogate surrogate.Name `group:"Problem" placeholder:"NAME" help:"With --method: hinge or squared-hinge (default hinge)."`
}

// defaultLambda is the lambda of fit and verify.
const defaultLambda = 0.001

// problem returns the problem of the flags, nil without them.
func (f *problemFlags) problem() (*method.Problem, error) {
	if f.Method == "" {
		if *f != (problemFlags{}) {
			return nil, &diag.Error{Kind: diag.Usage, Param: "method", Expected: "the method that the other hyperparameters belong to",
				Hint: "or set none of them: then the model names the problem"}
		}
		return nil, nil
	}
	p := &method.Problem{Method: f.Method, Surrogate: f.Surrogate, Lambda: defaultLambda, Tau: f.Tau, Beta: f.Beta, K: f.K}
	if f.Lambda != nil {
		p.Lambda = *f.Lambda
	}
	return p, nil
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
	certificate, err := c.loadCertificate(c.Certificate)
	if err != nil {
		return err
	}
	paths, format, err := c.packLarge(s, []string{c.Data}, c.Format.Like(m.Schema()), 0)
	if err != nil {
		return err
	}
	data, err := readData(s, paths, format)
	if err != nil {
		return err
	}
	v, err := toptau.Verify(s, m, data, certificate, toptau.VerifyOptions{Problem: problem})
	if err != nil {
		if e := diag.Of(err); e != nil && e.Kind != diag.Usage {
			err = diag.At(err, diag.Error{File: c.Certificate})
		}
		return err
	}
	if s.JSON {
		if err := s.Emit(v); err != nil {
			return err
		}
	} else {
		printVerification(s, v)
	}
	switch {
	case v.Holds:
		return nil
	case s.JSON:
		return errNotHeld
	}
	return &diag.Error{Kind: diag.Data, File: c.Certificate, Found: strings.Join(v.Reasons, "; ")}
}

func printVerification(s *cli.Session, v *result.Verification) {
	p := &v.Problem
	s.Printf("problem      %s (%s), %s\n", p.Method, p.Surrogate, p.Problem.Hyperparameters())
	s.Printf("data         %s rows, %s positive, stored as %s%s\n", text.Count(p.Rows), text.Count(p.Positives), p.Storage, optional(", total weight %v", p.Mass))
	s.Printf("objective    %.10g (claimed %.10g)\n", v.Objective, v.ClaimedObjective)
	s.Printf("lower bound  %.10g (claimed %.10g)%s\n", *v.Lower, v.ClaimedLowerBound, optional(", proven for |w| <= %.4g", v.BallRadius))
	if v.NormBound != nil {
		s.Printf("shortest     no weights with as small an objective have |w| < %.10g (claimed %.10g); |w| = %.10g\n",
			max(0, *v.NormBound-*v.NormBoundError), *v.ClaimedNormBound, v.NormW)
	}
	s.Printf("relative gap %.3g%s; rounding at most %.2g\n", *v.RelativeGap, optional(", of the decrease %.3g", v.GapOfDecrease),
		max(v.ObjectiveError, v.LowerBoundError))
	if v.Holds {
		s.Printf("the certificate holds\n")
	}
}
