package main

import (
	"fmt"

	"toptau"
	"toptau/internal/outfile"
)

// trainCommand chooses, fits and evaluates.
type trainCommand struct {
	Data       string   `arg:"" help:"Labelled data; - is standard input."`
	Output     string   `short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Methods    []string `name:"method" placeholder:"NAMES" help:"Only these methods (default: those whose criterion is the goal's)."`
	Surrogate  string   `enum:"hinge,squared-hinge,logistic" default:"hinge" help:"The loss (${enum})."`
	Delta      string   `placeholder:"RATE" help:"Guarantee the goal with confidence 1 - RATE (5%), on rows set aside for it."`
	Select     string   `enum:"method,goal" default:"method" help:"Judge a method's settings by its own criterion or the goal's (${enum})."`
	Validation string   `group:"Data" placeholder:"FILE" help:"A validation part of its own (default: a quarter of DATA)."`
	Test       string   `group:"Data" placeholder:"FILE" help:"A test part of its own (default: a quarter of DATA)."`
	goalFlags
	solverFlags
	featureFlags
	dataFlags
}

func (c *trainCommand) Run(s *session) error {
	goal, err := c.flags().Goal()
	if err != nil {
		return err
	}
	delta, err := deltaRate(c.Delta)
	if err != nil {
		return err
	}
	if err := checkOutput(s, c.Output); err != nil {
		return err
	}
	if err := outfile.Check(c.Output); err != nil {
		return err
	}
	data, err := toptau.Read(c.Data, c.format())
	if err != nil {
		return err
	}
	options := toptau.TrainOptions{Methods: c.Methods, Surrogate: c.Surrogate, Select: c.Select, Features: c.Features, Scale: c.Scale,
		Impute: c.Impute, Delta: delta, SolverOptions: c.solverFlags.options(), Progress: s.progress.report}
	if c.Validation != "" {
		if options.Validation, err = toptau.ReadLike(data, c.Validation, c.format()); err != nil {
			return err
		}
	}
	if c.Test != "" {
		if options.Test, err = toptau.ReadLike(data, c.Test, c.format()); err != nil {
			return err
		}
	}
	s.progress.start()
	trained, err := toptau.Train(s, data, goal, options)
	if trained == nil {
		return err
	}
	guarantee := err // nil unless the one that was asked for cannot be given
	s.progress.clear()
	if err := save(s, trained.Model, c.Output); err != nil {
		return err
	}
	if s.json {
		err = s.emit(trained.Report)
	} else if c.Output != "-" {
		printTraining(s, &trained.Report, c.Output)
	}
	switch {
	case err != nil:
		return err
	case trained.Report.Cancelled:
		return s.Err()
	case guarantee != nil && s.json:
		return errNoGuarantee // the object has said it
	}
	return guarantee
}

func printTraining(s *session, r *toptau.TrainReport, output string) {
	s.printf("goal: %s\n", r.GoalWords)
	s.printf("rows: %s; %d features\n", parts(r), r.Features)
	s.printf("settings tried on the validation part:\n")
	for _, line := range bestOfEach(r) {
		s.printf("  %s\n", line)
	}
	s.printf("chosen: %s\n", r.Why)
	s.printf("threshold: %.6g (%s)\n", r.Threshold, r.ThresholdNote)
	if r.Test != nil {
		c := r.AtThreshold
		s.printf("on the test part:\n")
		s.printf("  positives found  %s\n", rate(c.TruePositiveRate))
		s.printf("  false alarms     %s\n", rate(c.FalsePositiveRate))
		s.printf("  precision        %s\n", rate(c.Precision))
		s.printf("  %-16s %s\n", r.TestGoal.Criterion, rate(r.TestGoal.Proportion))
	}
	if output != "" {
		s.printf("model: %s\n", output)
	}
	s.printf("%.2f s to read, %.2f s to fit\n", r.SecondsRead, r.SecondsFit)
	for _, w := range r.Warnings {
		s.printf("note: %s\n", w.Text)
	}
}

func parts(r *toptau.TrainReport) string {
	text := fmt.Sprintf("%s for training (%s positive), %s for validation (%s)", group(r.Training.Rows),
		group(r.Training.Positives), group(r.Validation.Rows), group(r.Validation.Positives))
	if r.Calibration != nil {
		text += fmt.Sprintf(", %s for calibration (%s)", group(r.Calibration.Rows), group(r.Calibration.Positives))
	}
	if r.Test != nil {
		text += fmt.Sprintf(", %s for test (%s)", group(r.Test.Rows), group(r.Test.Positives))
	}
	return text
}

// bestOfEach lists each method's best setting by the goal's criterion on the validation part, in the order tried.
func bestOfEach(r *toptau.TrainReport) []string {
	var lines []string
	for i := 0; i < len(r.Points); {
		method := r.Points[i].Method
		best, fitted, tried := -1, 0, 0
		for ; i < len(r.Points) && r.Points[i].Method == method; i++ {
			p := &r.Points[i]
			tried++
			if p.Status != "fitted" {
				continue
			}
			fitted++
			if best < 0 || p.Goal.Rate > r.Points[best].Goal.Rate {
				best = i
			}
		}
		if best < 0 {
			lines = append(lines, fmt.Sprintf("%-11s none of %d fitted", method, tried))
			continue
		}
		p := &r.Points[best]
		note := ""
		if *p.NoBetterThanZero {
			note = "  (no better than w = 0)"
		}
		lines = append(lines, fmt.Sprintf("%-11s %s with lambda %v%s%s%s, best of %d%s", method, percent(p.Goal.Rate), p.Lambda,
			optional(", beta %v", p.Beta), optional(", k %v", p.K), optional(", tau %v", p.Tau), fitted, note))
	}
	return lines
}
