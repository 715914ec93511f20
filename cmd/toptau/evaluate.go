package main

import (
	"encoding/json"

	"toptau"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
)

// evaluateCommand measures a model.
type evaluateCommand struct {
	Model      string  `file:"in" arg:"" help:"A model file."`
	Data       string  `file:"in" arg:"" help:"Labelled data; - is standard input."`
	Confidence float64 `default:"0.95" help:"Confidence of the intervals."`
	Replicates int     `default:"2000" help:"Replicates of the bootstrap."`
	Curves     int     `default:"0" placeholder:"N" help:"With --json: ROC, PR and P-tau curves of at most N points."`
	Seed       uint64  `default:"1" help:"The seed of the bootstrap."`
	Prevalence string  `placeholder:"RATE" help:"Say in words what the first operating point does where this share of the rows is positive."`
	Report     string  `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page with curves, intervals and the model card."`
	goalFlags
	verifyFlags
	dataFlags
}

func (c *evaluateCommand) Run(s *cli.Session) error {
	goal, err := c.optional()
	if err != nil {
		return err
	}
	prevalence, err := rateFlag("--prevalence", c.Prevalence)
	if err != nil {
		return err
	}
	if err := atomicfile.Check(c.Report); err != nil {
		return err
	}
	m, err := c.load(c.Model)
	if err != nil {
		return err
	}
	data, err := toptau.ReadFor(m, c.Data, c.format())
	if err != nil {
		return err
	}
	e, err := toptau.Evaluate(m, data, toptau.EvaluateOptions{Goal: goal, Confidence: c.Confidence, Replicates: c.Replicates,
		Seed: c.Seed, Curves: c.Curves, Prevalence: prevalence})
	if err != nil {
		return err
	}
	if c.Report != "" {
		if err := s.WriteFile(c.Report, e.WriteReport); err != nil {
			return err
		}
	}
	if s.JSON {
		return s.Emit(e)
	}
	if s.StdoutTaken {
		return nil
	}
	printEvaluation(s, e)
	if c.Prevalence != "" {
		for _, line := range e.Summary {
			s.Printf("%s\n", line)
		}
	}
	if c.Report != "" {
		s.Printf("report: %s\n", c.Report)
	}
	return nil
}

func printEvaluation(s *cli.Session, e *toptau.Evaluation) {
	s.Printf("%s rows, %s positive (%s); AUC %.4f\n", group(e.N), group(e.NPos), percent(e.Prevalence), e.AUC)
	for _, p := range e.Points {
		s.Printf("at the threshold %.6g of operating point %q (%s):\n", p.Decisions.Threshold, p.Name, goalText(p.Goal))
		s.Printf("  positives found  %s\n", rate(p.Decisions.TruePositiveRate))
		s.Printf("  false alarms     %s\n", rate(p.Decisions.FalsePositiveRate))
		s.Printf("  precision        %s\n", rate(p.Decisions.Precision))
		s.Printf("  %s\n", intervalNote(p.Decisions.TruePositiveRate))
	}
	if e.Goal != nil {
		s.Printf("goal: %s\n", e.Goal.Goal)
		s.Printf("  %-26s %s\n", e.Goal.Value.Criterion, rate(e.Goal.Value.Proportion))
	}
	s.Printf("with thresholds taken from these rows themselves:\n")
	for _, c := range e.Criteria {
		s.Printf("  %-26s %s\n", c.Criterion, rate(c.Proportion))
	}
	if len(e.Criteria) > 0 {
		s.Printf("  %s\n", intervalNote(e.Criteria[0].Proportion))
	}
	s.Printf("training rows among these: %s\n", e.TrainingRows.Words())
	if e.Unknown > 0 {
		s.Printf("  note: %s unknown to the model\n", count(e.Unknown, "value"))
	}
	printWarnings(s, e.Warnings)
}

func appendJSON(b []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string cannot fail
	return append(b, quoted...)
}
