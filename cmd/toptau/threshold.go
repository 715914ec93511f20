package main

import (
	"fmt"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/report"
	"toptau/internal/text"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// thresholdCommand calibrates a threshold.
type thresholdCommand struct {
	Data   []string `file:"in" arg:"" help:"Held-out labelled rows: with scores, or for --model with the model's columns; - is standard input."`
	Model  string   `file:"in" placeholder:"MODEL" help:"Give this model a new operating point."`
	Score  string   `default:"score" placeholder:"COL" help:"The column of scores, without --model (default ${default})."`
	Scores string   `file:"in" placeholder:"FILE" help:"A file with the scores, joined to DATA by --id, a column row, or position (CSV with a column score)."`
	Output string   `file:"out" short:"o" placeholder:"MODEL" help:"Write the model with the new point here."`
	toptau.ThresholdOptions
	goalFlags
	signFlags
	verifyFlags
	schema.Format
}

func (c *thresholdCommand) Run(s *cli.Session) error {
	goal, err := c.required()
	if err != nil {
		return err
	}
	c.Segments = c.Segments || c.Segment != ""
	usage := func(param, found, expected string) error {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: found, Expected: expected}
	}
	switch {
	case c.Output != "" && c.Model == "":
		return usage("model", "", "the model to write to "+diag.Quote(c.Output))
	case c.Output == "" && c.Model != "":
		return usage("output", "", "the file to write the model to: models are never edited in place")
	case c.Model == "" && (c.Sign != nil || c.VerifyKey != nil || c.Force):
		return usage("model", "", "a model for --sign, --verify-key or --force")
	case c.Scores != "" && c.Model != "":
		return usage("scores", "together with --model", "only one of the two")
	}
	if err := atomicfile.Check(c.Output); err != nil {
		return err
	}
	computed, guarantee := c.compute(s, goal)
	if computed == nil {
		return guarantee
	}
	r := &computed.Result
	if s.JSON {
		if err := s.Emit(r); err != nil {
			return err
		}
	} else if !s.StdoutTaken {
		printThreshold(s, r, c.Output)
	}
	if guarantee != nil && s.JSON {
		return errNoGuarantee // the object has the reason
	}
	return guarantee
}

// compute returns the threshold and writes the model with it. If the guarantee is impossible, it returns both the threshold and
// an error.
func (c *thresholdCommand) compute(s *cli.Session, goal toptau.Goal) (*toptau.Calibrated, error) {
	if c.Model != "" {
		return c.addPoint(s, goal)
	}
	data, err := readData(s, c.Data, c.Format)
	if err != nil {
		return nil, err
	}
	entry := toptau.Entry{Name: c.Score, Column: c.Score}
	if c.Scores != "" {
		if entry, err = toptau.ReadScores(s, "scores", c.Scores, toptau.Format{}); err != nil {
			return nil, err
		}
	}
	return toptau.Threshold(s, data, entry, goal, c.ThresholdOptions)
}

// addPoint writes the model with a new operating point.
func (c *thresholdCommand) addPoint(s *cli.Session, goal toptau.Goal) (*toptau.Calibrated, error) {
	key, err := c.key(c.Output)
	if err != nil {
		return nil, err
	}
	m, err := c.load(c.Model)
	if err != nil {
		return nil, err
	}
	if _, taken := m.Point(c.Name); taken {
		return nil, &diag.Error{Kind: diag.Usage, Param: "name", Found: diag.Quote(c.Name) + ", which the model has", Expected: "a new name"}
	}
	format, err := formatFor(c.Format, m)
	if err != nil {
		return nil, err
	}
	data, err := readData(s, c.Data, format)
	if err != nil {
		return nil, err
	}
	computed, guarantee := toptau.Threshold(s, data, toptau.Entry{Model: m}, goal, c.ThresholdOptions)
	if computed == nil {
		return nil, guarantee
	}
	further, err := m.WithPoint(computed.Point)
	if err == nil {
		further, err = sign(further, key)
	}
	if err == nil {
		err = s.WriteFile(c.Output, cli.WriteTo(further))
	}
	if err != nil {
		return nil, err
	}
	if m.Signature() != nil && key == nil {
		r := &computed.Result
		r.Warnings = append(r.Warnings, diag.Warning{Code: "unsigned", Text: fmt.Sprintf(
			"%s is not signed, because the signature of %s does not cover the new operating point", c.Output, c.Model),
			Fixes: []diag.Fix{{Param: "sign", Value: "KEYFILE"}}})
	}
	return computed, guarantee
}

// formatFor returns a format for reading rows that models score.
func formatFor(f schema.Format, m *model.Model, others ...*model.Model) (schema.Format, error) {
	own := m.Format(others...)
	switch {
	case own.Segment == "" || f.Segment == own.Segment:
	case f.Segment == "":
		f.Segment = own.Segment
	default:
		return f, &diag.Error{Kind: diag.Usage, Param: "segment", Found: diag.Quote(f.Segment),
			Expected: diag.Quote(own.Segment) + ", the column of the model's thresholds", Hint: "use that, or set none"}
	}
	return f.Like(*own.Schema()), nil
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
	s.Printf("expected     %s %s (95 %% CI %s to %s)\n", text.Percent(r.Expected.Rate), what, text.Percent(r.Expected.Low), text.Percent(r.Expected.High))
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
	printWarnings(s, r.Warnings)
}
