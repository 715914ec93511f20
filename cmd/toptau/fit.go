package main

import (
	"fmt"
	"io"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
)

// defaultLambda is the lambda of fit when none is given.
const defaultLambda = 0.001

// fitCommand is the expert's verb.
type fitCommand struct {
	Data        string  `file:"in" arg:"" help:"Labelled data; - is standard input."`
	Method      string  `required:"" placeholder:"NAME" help:"toppush, toppushk, grill, patmat, topmean, grill-np, patmat-np or topmean-np."`
	Tau         string  `placeholder:"RATE" help:"The rate on top: 1% or 0.01."`
	K           int     `short:"k" name:"k" placeholder:"K" help:"toppushk: how many negatives make the threshold."`
	Beta        float64 `placeholder:"B" help:"patmat, patmat-np: steepness of the surrogate quantile."`
	Lambda      float64 `default:"${lambda}" placeholder:"L" help:"Strength of the regularisation lambda/2 |w|^2 (default ${default})."`
	Surrogate   string  `enum:"hinge,squared-hinge,logistic" default:"hinge" help:"The loss (${enum})."`
	Output      string  `file:"out" short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Certificate string  `file:"out" placeholder:"FILE" help:"Write the dual point behind the lower bound, for verify (certified)."`
	Trace       string  `file:"out" placeholder:"FILE" help:"Write the objective after each step as CSV (adam, sgd)."`
	replaceFlag
	solverFlags
	featureFlags
	fingerprintFlags
	signFlags
	dataFlags
}

func (c *fitCommand) Run(s *cli.Session) error {
	if err := atomicfile.Check(c.Output, c.Trace, c.Certificate); err != nil {
		return err
	}
	key, err := c.key(c.Output, c.Certificate)
	if err != nil {
		return err
	}
	data, err := toptau.Read(c.Data, c.format())
	if err != nil {
		return err
	}
	data.Spend()
	s.Progress.Start()
	fitted, err := toptau.Fit(s, data, toptau.FitOptions{
		Method: c.Method, Surrogate: c.Surrogate, Lambda: c.Lambda, Tau: c.Tau, Beta: c.Beta, K: c.K,
		Features: c.Features, Scale: c.Scale, Impute: string(c.Impute), SolverOptions: c.solverFlags.options(),
		NoFingerprints: c.NoFingerprints,
		Progress: func(now toptau.Progress) {
			s.FinishAfterSignal("writing what the solver has reached")
			showProgress(s, now)
		},
	})
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if c.Certificate != "" && fitted.Certificate == nil {
		return &diag.Error{Kind: diag.Usage, Found: "--certificate with --solver " + fitted.Report.Solver,
			Expected: "a solver that certifies", Hint: "--solver certified"}
	}
	if fitted.Model, err = sign(fitted.Model, key); err != nil {
		return err
	}
	if fitted.Certificate != nil && key != nil {
		if err := fitted.Certificate.Sign(key); err != nil {
			return err
		}
	}
	var kept []string
	if fitted.Report.Cancelled {
		kept = setAside(c.ReplacePartial, &c.Output, &c.Certificate, &c.Trace)
	}
	if err := c.write(s, fitted); err != nil {
		return err
	}
	if s.JSON {
		err = s.Emit(fitted.Report)
	} else if !s.StdoutTaken {
		printFit(s, &fitted.Report, c.Output)
	}
	if err == nil && fitted.Report.Cancelled {
		return &cli.Interrupted{Words: soFar(kept, c.Output, c.Certificate, c.Trace)}
	}
	return err
}

// write publishes the model with its certificate and the trace, all or none.
func (c *fitCommand) write(s *cli.Session, fitted *toptau.Fitted) error {
	o := s.Outputs()
	defer o.Discard()
	if c.Certificate != "" {
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

func writeTrace(w io.Writer, trace []toptau.TracePoint) error {
	fmt.Fprintln(w, "iteration,objective")
	for _, p := range trace {
		if _, err := fmt.Fprintf(w, "%d,%v\n", p.Iteration, p.Objective); err != nil {
			return err
		}
	}
	return nil
}

func printFit(s *cli.Session, r *toptau.Report, output string) {
	s.Printf("%s (%s) on %s rows, %s positive, %s features\n", r.Method, r.Surrogate, group(r.N), group(r.NPos), group(r.D))
	s.Printf("  hyperparameters  lambda %v%s%s%s; K used %v of the %s\n", r.Lambda, optional(", tau %v", r.Tau),
		optional(", beta %v", r.Beta), optional(", k %v", r.K), *r.KUsed, populationWords(r.Population))
	s.Printf("  objective        %.6g (at w = 0: %.6g)\n", r.Objective, r.ObjectiveAtZero)
	if r.LowerBound != nil {
		s.Printf("  lower bound      %.6g%s%s\n", *r.LowerBound, optional(", relative gap %.2g", r.RelativeGap),
			optional(", holds for |w| <= %.3g", r.BallRadius))
	}
	s.Printf("  threshold        %.6g, |w| = %.4g\n", r.Threshold, r.NormW)
	s.Printf("  solver           %s, %s, %s, %.2f s\n", r.Solver, count(r.Iterations, "iteration"), count(r.Passes, "pass"), r.SecondsFit)
	if output != "" {
		s.Printf("  model            %s\n", output)
	}
	printWarnings(s, r.Warnings)
}

func populationWords(name string) string {
	if name == "all" {
		return "rows"
	}
	return name
}

// optional formats a value that may be unknown.
func optional[T any](format string, v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}

func printWarnings(s *cli.Session, warnings []toptau.Warning) {
	for _, w := range warnings {
		s.Printf("  note: %s\n", w.Words(cli.Spell))
	}
}
