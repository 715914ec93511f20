package verbs

import (
	"fmt"
	"toptau/internal/cli"
	"toptau/internal/report"
	"toptau/internal/text"
	"toptau/metric"
	"toptau/result"
)

// errNoGuarantee is the error after the object that has the reason.
var errNoGuarantee = &cli.Exit{Code: 3, Reason: "the requested guarantee is impossible"}

// ReportThreshold prints a threshold. It returns the error of a guarantee that is impossible, nil if it is not.
func ReportThreshold(s *cli.Session, r *result.Threshold, output string, guarantee error) error {
	if s.JSON {
		if err := s.Emit(r); err != nil {
			return err
		}
	} else if !s.StdoutTaken {
		printThreshold(s, r, output)
	}
	if guarantee != nil && s.JSON {
		return errNoGuarantee
	}
	return guarantee
}

func printThreshold(s *cli.Session, r *result.Threshold, output string) {
	s.Printf("threshold    %v (decide score > threshold)\n", r.Threshold)
	s.Printf("goal         %s\n", r.Goal)
	switch {
	case r.Certified:
		s.Printf("guarantee    confidence 1 - %s: order %d of %s %s, bound %.4g\n", r.Delta, *r.Order, text.Count(r.Rows), r.Population, *r.Bound)
	case !r.Goal.Tau().IsZero() && r.Expected.Rate > r.Goal.Tau().Float64():
		s.Printf("guarantee    none (too few rows for the budget: expect new data to exceed it)\n")
	default:
		s.Printf("guarantee    none (new data will exceed the budget about half the time)\n")
	}
	what := "of new negatives raise a false alarm"
	if r.Population == "all" {
		what = "of new rows become alerts"
	}
	s.Printf("expected     %s %s (95 %% CI %s to %s)\n", text.Percent(r.Expected.Rate), what, text.Percent(*r.Expected.Low), text.Percent(*r.Expected.High))
	printCalibrated(s, r)
	if r.Joined != nil {
		s.Printf("scores       %s\n", report.JoinedText(r.Joined))
	}
	for _, v := range r.Segments {
		evidence := "no guarantee"
		if v.Certified {
			evidence = fmt.Sprintf("order %d of the segment's scores, bound %.4g", *v.Order, *v.Bound)
		}
		s.Printf("  segment %-16q %v (%s)\n", v.Value, v.Threshold, evidence)
	}
	if output != "" {
		s.Printf("overlap      with the training rows: %s\n", report.OverlapText(r.TrainingRows))
		s.Printf("model        %s\n", output)
	}
	PrintWarnings(s, r.Warnings)
}

// printCalibrated prints what the threshold finds on the calibration rows, and what a former one found.
func printCalibrated(s *cli.Session, r *result.Threshold) {
	if r.Unit != nil {
		s.Printf("counted      %s\n", report.UnitRule(r.Unit))
	}
	line := func(title string, c *metric.Confusion) {
		found := "no positives among them"
		if c.TruePositiveRate.Defined() {
			found = RateText(c.TruePositiveRate) + " of the positives found"
		}
		if c.Precision.Defined() {
			found += fmt.Sprintf(", precision %s (%s of %s)", text.Percent(c.Precision.Rate), text.Number(c.Precision.Numerator),
				text.Number(c.Precision.Denominator))
		} else {
			found += ", no alerts"
		}
		s.Printf("%-12s %s\n", title, found)
	}
	if r.Decisions != nil {
		line("these rows", r.Decisions)
	}
	if c := r.Former; c != nil {
		line("before", c)
		s.Printf("             at the threshold %v, with %s\n", c.Threshold, RateText(c.FalsePositiveRate)+" false alarms")
	}
}
