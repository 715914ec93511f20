package verbs

import (
	"fmt"
	"io"

	"toptau/certify"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
	"toptau/method"
	"toptau/result"
)

// Fit solves one problem on all rows.
type Fit[S Source] struct {
	Output      string `file:"out" short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Certificate string `file:"out" placeholder:"FILE" help:"Write the dual point that proves the lower bound, for verify (certified)."`
	Trace       string `file:"out" placeholder:"FILE" help:"Write the objective after each step as CSV (adam, sgd)."`
	method.Problem
	certify.FitOptions
	ReplaceFlag
	Rows S `embed:""`
	SignFlags
}

// Run fits, writes and prints.
func (c *Fit[S]) Run(s *cli.Session) error {
	if err := atomicfile.Check(c.Output, c.Trace, c.Certificate); err != nil {
		return err
	}
	key, err := c.Key(c.Output, c.Certificate)
	if err != nil {
		return err
	}
	rows, err := c.Rows.Open(s, Use{Verb: "fit", Impute: c.Impute})
	if err != nil {
		return err
	}
	defer rows.Close()
	c.ReleaseData = true
	c.Progress = func(now result.Progress) {
		s.FinishAfterSignal("writing what the solver has reached")
		rows.Show(now)
	}
	fitted, err := certify.Fit(s, rows.Data(), c.Problem, c.FitOptions)
	if err != nil {
		return err
	}
	r := &fitted.Result
	if r.Database, err = rows.Finish(s); err != nil {
		return err
	}
	if err := SignFitted(fitted, key); err != nil {
		return err
	}
	var kept []string
	if r.Stopped != "" {
		kept = KeepExisting(c.ReplacePartial, &c.Output, &c.Certificate, &c.Trace)
	}
	if err := WriteFitted(s, fitted, c.Output, c.Certificate, c.Trace); err != nil {
		return err
	}
	if s.JSON {
		err = s.Emit(r)
	} else if !s.StdoutTaken {
		PrintFit(s, r, c.Output)
		rows.Print(s)
	}
	switch {
	case err != nil:
		return err
	case c.Certificate != "" && fitted.Certificate == nil:
		return NoCertificate(r)
	case r.Stopped != "":
		return &cli.Interrupted{Words: PartialText(kept, c.Output, c.Certificate, c.Trace)}
	}
	return nil
}

// NoCertificate is the error of a fit that has no certificate. The model was written.
func NoCertificate(r *result.Fit) error {
	return &diag.Error{Kind: diag.Usage, Param: "certificate", Found: "with the solver " + string(r.Settings.Solver),
		Expected: "a solver that certifies", Fixes: []diag.Fix{{Param: "solver", Value: "certified"}}}
}

// PrintFit prints the optimum and how it was reached.
func PrintFit(s *cli.Session, r *result.Fit, output string) {
	s.Printf("%s (%s) on %s rows, %s positive, %s features\n", r.Method, r.Surrogate, text.Count(r.Rows), text.Count(r.Positives),
		text.Count(r.Features))
	population := "rows"
	if r.Population == method.Negatives {
		population = "negatives"
	}
	s.Printf("  hyperparameters  %s; top %v of the %s\n", r.Problem.Hyperparameters(), text.Number(r.MassOnTop), population)
	s.Printf("  objective        %.6g (at w = 0: %.6g)\n", r.Objective, r.AtZero)
	if r.Lower != nil {
		s.Printf("  lower bound      %.6g%s%s\n", *r.Lower, optional(", relative gap %.2g", r.RelativeGap),
			optional(", for |w| <= %.3g", r.BallRadius))
	}
	s.Printf("  threshold        %.6g, |w| = %.3g\n", r.Threshold, r.NormW)
	if r.NormBound != nil {
		s.Printf("  shortest         no weights with as small an objective have |w| < %.3g\n", *r.NormBound)
	}
	s.Printf("  solver           %s, %s, %s, %.2f s\n", r.Settings.Solver, text.Plural(r.Iterations, "iteration"),
		text.Plural(r.Passes, "pass"), r.SecondsFit)
	if output != "" {
		s.Printf("  model            %s\n", output)
	}
	PrintWarnings(s, r.Warnings)
}

// WriteFitted publishes a fitted model with its certificate and the trace of its steps, all or none. Files without a name are
// not written.
func WriteFitted(s *cli.Session, fitted *certify.Fitted, output, certificate, trace string) error {
	o := s.Outputs()
	defer o.Discard()
	if fitted.Certificate != nil && certificate != "" {
		if err := o.Add(certificate, cli.WriteTo(fitted.Certificate)); err != nil {
			return err
		}
	}
	if err := o.Add(trace, func(w io.Writer) error { return writeTrace(w, fitted.Trace) }); err != nil {
		return err
	}
	if err := o.Add(output, cli.WriteTo(fitted.Model)); err != nil {
		return err
	}
	return o.Publish()
}

func writeTrace(w io.Writer, trace []result.TracePoint) error {
	fmt.Fprintln(w, "iteration,objective")
	for _, p := range trace {
		if _, err := fmt.Fprintf(w, "%d,%v\n", p.Iteration, p.Objective); err != nil {
			return err
		}
	}
	return nil
}
