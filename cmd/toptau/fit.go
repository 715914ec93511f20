package main

import (
	"fmt"
	"io"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/text"
	"toptau/method"
	"toptau/result"
	"toptau/schema"
)

// fitCommand solves one problem on all rows.
type fitCommand struct {
	Data        []string `file:"in" arg:"" help:"Labelled data: files, directories or patterns, read as one table; - is standard input."`
	Output      string   `file:"out" short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Certificate string   `file:"out" placeholder:"FILE" help:"Write the dual point that proves the lower bound, for verify (certified)."`
	Trace       string   `file:"out" placeholder:"FILE" help:"Write the objective after each step as CSV (adam, sgd)."`
	method.Problem
	toptau.FitOptions
	schema.Format
	cacheFlags
	replaceFlag
	signFlags
}

func (c *fitCommand) Run(s *cli.Session) error {
	if err := atomicfile.Check(c.Output, c.Trace, c.Certificate); err != nil {
		return err
	}
	key, err := c.key(c.Output, c.Certificate)
	if err != nil {
		return err
	}
	paths, format, err := c.packLarge(s, c.Data, c.Format, c.Memory)
	if err != nil {
		return err
	}
	data, err := readData(s, paths, format)
	if err != nil {
		return err
	}
	s.Progress.Start()
	c.ReleaseData = true
	c.Progress = func(now result.Progress) {
		s.FinishAfterSignal("writing what the solver has reached")
		showProgress(s, now)
	}
	fitted, err := toptau.Fit(s, data, c.Problem, c.FitOptions)
	if err != nil {
		return err
	}
	s.Progress.Clear()
	r := &fitted.Result
	if fitted.Model, err = sign(fitted.Model, key); err != nil {
		return err
	}
	if fitted.Certificate != nil && key != nil {
		if err := fitted.Certificate.Sign(key); err != nil {
			return err
		}
	}
	var kept []string
	if r.Stopped != "" {
		kept = keepExisting(c.ReplacePartial, &c.Output, &c.Certificate, &c.Trace)
	}
	if err := c.writeFiles(s, fitted); err != nil {
		return err
	}
	if s.JSON {
		err = s.Emit(r)
	} else if !s.StdoutTaken {
		printFit(s, r, c.Output)
	}
	if err == nil && c.Certificate != "" && fitted.Certificate == nil {
		return noCertificate(r)
	}
	if err == nil && r.Stopped != "" {
		return &cli.Interrupted{Words: partialText(kept, c.Output, c.Certificate, c.Trace)}
	}
	return err
}

// noCertificate is the error of a fit that has no certificate. The model was written.
func noCertificate(r *result.Fit) error {
	e := &diag.Error{Kind: diag.Usage, Param: "certificate", Found: "with the solver " + string(r.Settings.Solver),
		Expected: "a solver that certifies", Fixes: []diag.Fix{{Param: "solver", Value: "certified"}}}
	if r.Settings.Solver == method.CertifiedSolver {
		e.Found, e.Expected, e.Fixes = "with a dual point that has groups of rows", "single rows", nil
		e.Hint = "more memory for the encoded rows gives a certificate"
	}
	return e
}

// writeFiles publishes the model with its certificate and the trace, all or none.
func (c *fitCommand) writeFiles(s *cli.Session, fitted *toptau.Fitted) error {
	o := s.Outputs()
	defer o.Discard()
	if fitted.Certificate != nil && c.Certificate != "" {
		if err := o.Add(c.Certificate, cli.WriteTo(fitted.Certificate)); err != nil {
			return err
		}
	}
	if err := o.Add(c.Trace, func(w io.Writer) error { return writeTrace(w, fitted.Trace) }); err != nil {
		return err
	}
	if err := o.Add(c.Output, cli.WriteTo(fitted.Model)); err != nil {
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

func printFit(s *cli.Session, r *result.Fit, output string) {
	s.Printf("%s (%s) on %s rows, %s positive, %s features\n", r.Method, r.Surrogate, text.Count(r.Rows), text.Count(r.Positives), text.Count(r.Features))
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
	s.Printf("  solver           %s, %s, %s, %.2f s\n", r.Settings.Solver, text.Plural(r.Iterations, "iteration"), text.Plural(r.Passes, "pass"), r.SecondsFit)
	if output != "" {
		s.Printf("  model            %s\n", output)
	}
	printWarnings(s, r.Warnings)
}

// optional formats a value that may be unknown.
func optional[T any](format string, v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}

func printWarnings(s *cli.Session, warnings []diag.Warning) {
	for _, w := range warnings {
		s.Printf("  note: %s\n", w.Words(cli.Spell))
	}
}
