package main

import (
	"fmt"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/report"
)

// thresholdCommand calibrates.
type thresholdCommand struct {
	Data   string `file:"in" arg:"" help:"Held-out labelled rows: with scores, or for --model with the model's columns; - is standard input."`
	Model  string `file:"in" placeholder:"MODEL" help:"Give this model a new operating point."`
	Score  string `default:"score" placeholder:"COL" help:"The column of scores, without --model (default ${default})."`
	Scores string `file:"in" placeholder:"FILE" help:"The scores are in this file, joined to DATA by --id, a column row, or position (CSV with a column score)."`
	Delta  string `placeholder:"RATE" help:"Guarantee the goal with confidence 1 - RATE: 5%. Without it the threshold is plain."`
	Name   string `default:"threshold" placeholder:"NAME" help:"The new operating point's name (default ${default})."`
	Allow  bool   `name:"allow-training-rows" help:"Certify even on rows that look as if they had trained the model: they are other rows with equal values."`
	Output string `file:"out" short:"o" placeholder:"MODEL" help:"Write the model with the new point here; models are never edited in place."`
	goalFlags
	signFlags
	verifyFlags
	dataFlags
}

func (c *thresholdCommand) Run(s *cli.Session) error {
	goal, err := c.required()
	if err != nil {
		return err
	}
	options := toptau.ThresholdOptions{Goal: goal, Segments: c.Segment != "", AllowTrainingRows: c.Allow}
	if options.Delta, err = deltaRate(c.Delta); err != nil {
		return err
	}
	if (c.Output == "") != (c.Model == "") {
		return &diag.Error{Kind: diag.Usage, Found: "one of --model and -o", Expected: "both or neither"}
	}
	if c.Model == "" && (c.Sign != nil || c.VerifyKey != nil || c.Allow) {
		return &diag.Error{Kind: diag.Usage, Found: "--sign, --verify-key or --allow-training-rows without a model", Expected: "--model MODEL -o MODEL"}
	}
	if c.Scores != "" && c.Model != "" {
		return &diag.Error{Kind: diag.Usage, Found: "--scores and --model", Expected: "one of the two"}
	}
	if err := atomicfile.Check(c.Output); err != nil {
		return err
	}
	r, guarantee := c.compute(s, options)
	if r == nil {
		return guarantee
	}
	if s.JSON {
		if err := s.Emit(r); err != nil {
			return err
		}
	} else if !s.StdoutTaken {
		printThreshold(s, r, c.Output)
	}
	if guarantee != nil && s.JSON {
		return errNoGuarantee // the object has said it
	}
	return guarantee
}

// compute returns a report, with an error beside it when the guarantee cannot be given, or only an error.
func (c *thresholdCommand) compute(s *cli.Session, o toptau.ThresholdOptions) (*toptau.ThresholdReport, error) {
	if c.Model == "" {
		data, err := toptau.Read(c.Data, c.format())
		if err != nil {
			return nil, err
		}
		if c.Scores == "" {
			return toptau.Threshold(data, c.Score, o)
		}
		scores, err := toptau.ReadScores(s, "scores", c.Scores, toptau.Format{})
		if err != nil {
			return nil, err
		}
		return toptau.ThresholdOf(data, scores, o)
	}
	key, err := c.key(c.Output)
	if err != nil {
		return nil, err
	}
	m, err := c.load(c.Model)
	if err != nil {
		return nil, err
	}
	data, err := toptau.ReadFor(m, c.Data, c.format())
	if err != nil {
		return nil, err
	}
	further, r, guarantee := toptau.AddPoint(m, data, c.Name, o)
	if further == nil {
		return nil, guarantee
	}
	if further, err = sign(further, key); err != nil {
		return nil, err
	}
	if err := s.WriteFile(c.Output, cli.WriteTo(further)); err != nil {
		return nil, err
	}
	if m.Signature() != nil && key == nil {
		r.Warnings = append(r.Warnings, toptau.Warning{Code: "unsigned", Text: fmt.Sprintf(
			"%s is not signed: the signature of %s does not cover the new operating point; --sign KEYFILE signs it", c.Output, c.Model)})
	}
	return r, guarantee
}

func printThreshold(s *cli.Session, r *toptau.ThresholdReport, output string) {
	s.Printf("threshold    %v (decide score > threshold)\n", r.Threshold)
	s.Printf("goal         %s%s\n", r.Goal, optional(", at confidence 1 - %s", r.Delta))
	if r.Certified {
		s.Printf("certified    yes: order %d of %s %s, bound %.4g\n", *r.Order, group(r.N), r.Population, *r.Bound)
	} else {
		s.Printf("certified    no: a plain threshold, which keeps the budget on average\n")
	}
	what := "of new negatives raise a false alarm"
	if r.Population == "all" {
		what = "of new rows become alerts"
	}
	s.Printf("expected     %s %s, 95 %%: %s to %s\n", percent(r.Expected.Rate), what, percent(r.Expected.Low), percent(r.Expected.High))
	if r.Joined != nil {
		s.Printf("scores       %s\n", report.JoinedText(r.Joined))
	}
	for _, v := range r.Segments {
		evidence := "plain"
		if v.Certified {
			evidence = fmt.Sprintf("order %d of the segment's scores, bound %.4g", *v.Order, *v.Bound)
		}
		s.Printf("  segment %-16q %v (%s)\n", v.Value, v.Threshold, evidence)
	}
	if output != "" {
		s.Printf("overlap      with the training rows: %s\n", report.OverlapText(r.TrainingRows))
		s.Printf("model        %s\n", output)
	}
	printWarnings(s, r.Warnings)
}
