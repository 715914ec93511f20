package verbs

import (
	"fmt"
	"io"

	"toptau"
	"toptau/diag"
	"toptau/internal/cli"
	"toptau/internal/text"
	"toptau/method"
	"toptau/result"
)

// NoCertificate is the error of a fit that has no certificate. The model was written.
func NoCertificate(r *result.Fit) error {
	return &diag.Error{Kind: diag.Usage, Param: "certificate", Found: "with the solver " + string(r.Settings.Solver),
		Expected: "a solver that certifies", Fixes: []diag.Fix{{Param: "solver", Value: "certified"}}}
}

// PrintFit prints the optimum and how it was reached.
func PrintFit(s *cli.Session, r *result.Fit, output string) {
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
	PrintWarnings(s, r.Warnings)
}

// WriteFitted publishes a fitted model with its certificate and the trace of its steps, all or none. Files without a name are
// not written.
func WriteFitted(s *cli.Session, fitted *toptau.Fitted, output, certificate, trace string) error {
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
