package main

import (
	"fmt"
	"strings"
	"time"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/schema"
	"toptau/threshold"
)

// trainCommand chooses a model for a goal, fits it and says what to expect of it.
type trainCommand struct {
	Data             string        `file:"in" arg:"" help:"Labelled data; - is standard input."`
	Output           string        `file:"out" short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Methods          []string      `name:"method" placeholder:"NAMES" help:"Only these: logistic, svm, ramp, the eight methods, or all (default: logistic, ramp and the convex methods for the goal)."`
	Features         []string      `name:"features" placeholder:"NAMES" help:"Only these encodings of numeric columns: raw, scorecard, leaves, scorecard+leaves (default: the first three)."`
	Surrogate        string        `enum:"hinge,squared-hinge,logistic" default:"hinge" help:"The loss of the eight methods (${enum})."`
	Delta            string        `placeholder:"RATE" help:"Guarantee the goal with confidence 1 - RATE (5%), on rows set aside for it."`
	Calibrate        string        `enum:"held-out,out-of-fold" default:"held-out" help:"Where the guarantee's scores come from (${enum}); out-of-fold uses every row and is not certified."`
	CalibrationShare string        `name:"calibration-share" placeholder:"RATE" help:"Set this share of the rows that the budget counts aside for the threshold (default: as many as pay)."`
	Folds            int           `placeholder:"K" help:"Folds of the cross-validation (default: 3; 5 for fewer than 3,000 rows)."`
	MaxTime          time.Duration `name:"max-time" placeholder:"TIME" help:"Return the best so far after this time: 2m, 90s."`
	Prevalence       string        `placeholder:"RATE" help:"The share of positives that the summary assumes (default: that of DATA)."`
	Validation       string        `file:"in" group:"Data" placeholder:"FILE" help:"Rows that choose, instead of a cross-validation."`
	Calibration      string        `file:"in" group:"Data" placeholder:"FILE" help:"Rows that give the threshold and nothing else."`
	Test             string        `file:"in" group:"Data" placeholder:"FILE" help:"Rows that measure what was chosen."`
	TestShare        string        `group:"Data" name:"test-share" placeholder:"RATE" help:"Keep this share of DATA as the test part (25%)."`
	Scale            string        `group:"Features" enum:"standard,all,none" default:"standard" help:"Scaling of raw columns (${enum})."`
	Impute           schema.Impute `group:"Features" enum:"error,median,zero,indicator" default:"error" help:"What a missing value becomes (${enum})."`
	Seed             uint64        `default:"1" help:"The seed of every random choice."`
	replaceFlag
	goalFlags
	fingerprintFlags
	signFlags
	dataFlags
}

func (c *trainCommand) Run(s *cli.Session) error {
	goal, err := c.required()
	if err != nil {
		return err
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	options.Progress = func(now toptau.Progress) {
		if now.Usable {
			s.FinishAfterSignal("the best model so far is fitted to all rows")
		}
		showProgress(s, now)
	}
	if err := atomicfile.Check(c.Output); err != nil {
		return err
	}
	key, err := c.key(c.Output)
	if err != nil {
		return err
	}
	data, err := toptau.Read(c.Data, c.format())
	if err != nil {
		return err
	}
	for _, part := range []struct {
		path string
		data **toptau.Data
	}{{c.Validation, &options.Validation}, {c.Test, &options.Test}, {c.Calibration, &options.Calibration}} {
		if part.path == "" {
			continue
		}
		if *part.data, err = toptau.ReadLike(data, part.path, c.format()); err != nil {
			return err
		}
	}
	s.Progress.Start()
	trained, err := toptau.Train(s, data, goal, options)
	if trained == nil {
		return err
	}
	guarantee := err // nil unless the one that was asked for cannot be given
	s.Progress.Clear()
	if trained.Model, err = sign(trained.Model, key); err != nil {
		return err
	}
	var kept []string
	r := &trained.Report
	if r.Cancelled || r.TimeUp {
		if kept = setAside(c.ReplacePartial, &c.Output); len(kept) > 0 {
			r.Warnings = append(r.Warnings, toptau.Warning{Code: "set-aside", Text: soFar(kept, c.Output)})
		}
	}
	if err := s.WriteFile(c.Output, cli.WriteTo(trained.Model)); err != nil {
		return err
	}
	if s.JSON {
		err = s.Emit(trained.Report)
	} else if !s.StdoutTaken {
		printTraining(s, &trained.Report, c.Output)
	}
	switch {
	case err != nil:
		return err
	case r.Cancelled:
		return &cli.Interrupted{Words: soFar(kept, c.Output)}
	case len(kept) > 0 && s.JSON:
		return errSetAside // the object has said it
	case len(kept) > 0:
		return &diag.Error{Kind: diag.IO, File: kept[0], Found: "not replaced: --max-time ended the search before its end",
			Hint: "--replace-partial replaces it"}
	case guarantee != nil && s.JSON:
		return errNoGuarantee // the object has said it
	}
	return guarantee
}

// options are the choices that need no file.
func (c *trainCommand) options() (toptau.TrainOptions, error) {
	o := toptau.TrainOptions{Methods: c.Methods, Features: c.Features, Surrogate: c.Surrogate, Scale: c.Scale, Impute: string(c.Impute),
		Folds: c.Folds, OutOfFold: c.Calibrate == "out-of-fold", MaxTime: c.MaxTime, Seed: c.Seed,
		NoFingerprints: c.NoFingerprints}
	if c.Folds < 0 || c.Folds == 1 {
		return o, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("--folds %d", c.Folds), Expected: "at least 2"}
	}
	var err error
	if o.Delta, err = deltaRate(c.Delta); err != nil {
		return o, err
	}
	if o.TestShare, err = rateFlag("--test-share", c.TestShare); err != nil {
		return o, err
	}
	if o.CalibrationShare, err = rateFlag("--calibration-share", c.CalibrationShare); err != nil {
		return o, err
	}
	o.Prevalence, err = rateFlag("--prevalence", c.Prevalence)
	return o, err
}

// rateFlag parses a rate; empty is unset.
func rateFlag(flag, text string) (threshold.Rate, error) {
	if text == "" {
		return threshold.Rate{}, nil
	}
	rate, err := threshold.ParseRate(text)
	if err != nil {
		return rate, &diag.Error{Kind: diag.Usage, Found: flag + " " + diag.Quote(text), Expected: "a rate between 0 and 1",
			Hint: "for example 2.5%"}
	}
	return rate, nil
}

func printTraining(s *cli.Session, r *toptau.TrainReport, output string) {
	s.Printf("goal: %s\n", r.Goal)
	s.Printf("rows: %s; %s features\n", parts(r), group(r.Features))
	s.Printf("tried: %s, standard error\n", r.Criterion)
	for _, line := range bestOfEach(r) {
		s.Printf("  %s\n", line)
	}
	s.Printf("chosen: %s\n", r.Why)
	s.Printf("threshold: %.6g (%s)\n", r.Threshold, r.ThresholdNote)
	if folds := foldsOf(r); folds > 0 {
		s.Printf("fitted: the mean of fits in %d folds, which has no certificate of optimality\n", folds)
	}
	if r.Test != nil && r.AtThreshold != nil {
		c := r.AtThreshold
		s.Printf("on the test part:\n")
		s.Printf("  positives found  %s\n", rate(c.TruePositiveRate))
		s.Printf("  false alarms     %s\n", rate(c.FalsePositiveRate))
		s.Printf("  precision        %s\n", rate(c.Precision))
		s.Printf("  %-16s %s\n", r.TestGoal.Criterion, rate(r.TestGoal.Proportion))
	}
	s.Printf("in short:\n")
	for _, line := range r.Summary {
		s.Printf("  %s\n", line)
	}
	if output != "" {
		s.Printf("model: %s\n", output)
	}
	s.Printf("%.2f s to read, %.2f s to choose, %.2f s to fit\n", r.SecondsRead, r.SecondsSearch, r.SecondsRefit)
	for _, w := range r.Warnings {
		s.Printf("note: %s\n", w.Words(cli.Spell))
	}
}

// foldsOf returns the folds whose fits the model is the mean of, 0 where it was fitted once.
func foldsOf(r *toptau.TrainReport) int {
	folds := 0
	for _, m := range r.Members {
		folds = max(folds, m.Folds)
	}
	return folds
}

// parts says what became of the rows.
func parts(r *toptau.TrainReport) string {
	list := []string{fmt.Sprintf("%s for training (%s positive)", group(r.Training.Rows), group(r.Training.Positives))}
	if r.Validation == nil {
		list[0] += fmt.Sprintf(" in %d folds", r.Folds)
	}
	for _, part := range []struct {
		name string
		rows *toptau.PartReport
	}{{"validation", r.Validation}, {"calibration", r.Calibration}, {"test", r.Test}} {
		if part.rows != nil {
			list = append(list, fmt.Sprintf("%s for %s (%s)", group(part.rows.Rows), part.name, group(part.rows.Positives)))
		}
	}
	return strings.Join(list, ", ")
}

// bestOfEach lists the best setting of each learner on each encoding, in the order tried.
func bestOfEach(r *toptau.TrainReport) []string {
	var lines []string
	for i := 0; i < len(r.Candidates); {
		first := &r.Candidates[i]
		best, tried := -1, 0
		var reason *string
		for ; i < len(r.Candidates) && r.Candidates[i].Method == first.Method && r.Candidates[i].Features == first.Features; i++ {
			c := &r.Candidates[i]
			if c.Score == nil {
				if c.Reason != nil {
					reason = c.Reason
				}
				continue
			}
			tried++
			if !c.Constant && (best < 0 || c.Score.Mean > r.Candidates[best].Score.Mean) {
				best = i
			}
		}
		name := fmt.Sprintf("%-10s %-9s", first.Method, first.Features)
		switch {
		case best >= 0:
			c := &r.Candidates[best]
			lines = append(lines, fmt.Sprintf("%s %7s +- %.2g  lambda %v%s%s%s%s, best of %d%s", name, percent(c.Score.Mean),
				100*c.Score.Error, c.Lambda, optional(", beta %v", c.Beta), optional(", k %v", c.K), optional(", tau %v", c.Tau),
				optional(" around logistic with lambda %v", c.Anchor), tried, marks(r, best)))
		case tried > 0:
			lines = append(lines, fmt.Sprintf("%s all rows have the same score in some fold", name))
		default:
			lines = append(lines, name+" not fitted"+optional(": %s", reason))
		}
	}
	return lines
}

// marks says that a candidate is in the model.
func marks(r *toptau.TrainReport, candidate int) string {
	for _, m := range r.Members {
		if m.Candidate == candidate {
			return " *"
		}
	}
	return ""
}
