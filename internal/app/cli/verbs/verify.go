package verbs

import (
	"strings"

	"toptau/certify"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/surrogate"
	"toptau/threshold"
)

// Verify recomputes a certificate.
type Verify[S CertifiedSource] struct {
	Model string `file:"in" arg:"" help:"The model that fit wrote."`
	Rows  S      `embed:""`
	VerifyFlags
	ProblemFlags
}

// Run verifies and prints.
func (c *Verify[S]) Run(s *cli.Session) error {
	problem, err := c.Problem()
	if err != nil {
		return err
	}
	path, err := c.Rows.CertificateFile()
	if err != nil {
		return err
	}
	m, certificate, err := c.LoadBoth(c.Model, path)
	if err != nil {
		return err
	}
	rows, err := c.Rows.Open(s, Use{Verb: "verify", Models: []*model.Model{m}})
	if err != nil {
		return err
	}
	defer rows.Close()
	v, err := certify.Verify(s, m, rows.Data(), certificate, problem)
	if err != nil {
		return InCertificate(err, path)
	}
	if v.Database, err = rows.Finish(s); err != nil {
		return err
	}
	err = ReportVerification(s, v, path)
	if !s.JSON {
		rows.Print(s)
	}
	return err
}

// ProblemFlags name the problem that a certificate must be about, as the flags of fit do.
type ProblemFlags struct {
	Method    method.Name    `group:"Problem" placeholder:"NAME" help:"The problem to verify, by the flags of fit (default: the problem in the model)."`
	Tau       threshold.Rate `group:"Problem" placeholder:"RATE" help:"With --method: the fraction on top."`
	K         int            `group:"Problem" short:"k" name:"k" placeholder:"K" help:"With --method: the k of toppushk."`
	Beta      float64        `group:"Problem" placeholder:"B" help:"With --method: the beta of patmat and patmat-np."`
	Lambda    *float64       `group:"Problem" placeholder:"L" help:"With --method: the lambda (default 0.001)."`
	Surrogate surrogate.Name `group:"Problem" placeholder:"NAME" help:"With --method: hinge or squared-hinge (default hinge)."`
}

// defaultLambda is the lambda of fit and verify.
const defaultLambda = 0.001

// Problem returns the problem of the flags, nil without them.
func (f *ProblemFlags) Problem() (*method.Problem, error) {
	if f.Method == "" {
		if *f != (ProblemFlags{}) {
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

// InCertificate adds the file of the certificate to an error of Verify, unless it is about the flags.
func InCertificate(err error, certificate string) error {
	if e := diag.Of(err); e != nil && e.Kind != diag.Usage {
		return diag.At(err, diag.Error{File: certificate})
	}
	return err
}

// errNotHeld is the error after the object that has the reasons.
var errNotHeld = &cli.Exit{Code: 1, Reason: "the certificate does not hold"}

// ReportVerification prints whether a certificate holds. The error says why it does not.
func ReportVerification(s *cli.Session, v *result.Verification, certificate string) error {
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
	return &diag.Error{Kind: diag.Data, File: certificate, Found: strings.Join(v.Reasons, "; ")}
}

func printVerification(s *cli.Session, v *result.Verification) {
	p := &v.Problem
	s.Printf("problem      %s (%s), %s\n", p.Method, p.Surrogate, p.Problem.Hyperparameters())
	s.Printf("data         %s rows, %s positive, stored as %s%s\n", text.Count(p.Rows), text.Count(p.Positives), p.Storage,
		optional(", total weight %v", p.Mass))
	if len(p.PositiveLabels) > 0 {
		label := "the label"
		if p.Label != "" {
			label = diag.Quote(p.Label)
		}
		s.Printf("positive     %s is %s\n", label, text.List(p.PositiveLabels, "or"))
	}
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
