package main

import (
	"context"
	"slices"
	"strings"

	"toptau"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/data/atomicfile"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// compareCommand trains every learner on every encoding and evaluates them on a test part.
type compareCommand struct {
	verbs.GoalFlags
	Scores     []string `file:"scores" sep:"none" placeholder:"NAME=FILE" help:"Another program's scores of the rows of --test, or of DATA without it (CSV with a column score), joined by --id; repeatable."`
	Against    string   `default:"logistic" placeholder:"NAME" help:"The entry that the others are compared with (default logistic)."`
	Report     string   `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page with the comparison."`
	Replicates int      `default:"2000" placeholder:"N" help:"Replicates of the bootstrap (default 2000)."`
	Choose     string   `name:"validation" file:"in" group:"Parts" placeholder:"FILE" help:"Rows that choose the settings, instead of a cross-validation."`
	Measure    string   `name:"test" file:"in" group:"Parts" placeholder:"FILE" help:"The test part (default: a quarter of DATA)."`
	toptau.TrainOptions
	verbs.ReplaceFlag
	verbs.Files
}

// comparedFraction is the fraction of the rows that compare sets aside without --test.
const comparedFraction = "25%"

// comparison is the object that compare --json prints.
type comparison struct {
	SchemaVersion result.Version     `json:"schema_version"`
	Training      *result.Training   `json:"training"`
	Evaluation    *result.Evaluation `json:"evaluation"`
}

func (c *compareCommand) Run(s *cli.Session) error {
	goal, err := c.Required()
	if err != nil {
		return err
	}
	if err := atomicfile.Check(c.Report); err != nil {
		return err
	}
	others, err := verbs.ReadScores(c.Scores)
	if err != nil {
		return err
	}
	if err := c.checkAgainst(others); err != nil {
		return err
	}
	trained, err := c.train(s, goal)
	if err != nil {
		return err
	}
	e, err := measure.Evaluate(context.WithoutCancel(s), trained.Test, append(trained.All, others...),
		measure.Options{Goal: goal, Against: c.Against, Replicates: c.Replicates, Seed: c.Seed,
			Value: c.Value, Entity: c.Entity})
	if err != nil {
		return err
	}
	if len(others) > 0 && c.Measure == "" {
		e.Warnings = append(e.Warnings, diag.Warning{Code: "scores-of-training-rows", Text: "the test rows were drawn from the data: " +
			"scores of a program that was trained on these rows are too good", Fixes: []diag.Fix{{Param: "test", Value: "FILE"}}})
	}
	return c.show(s, trained, e)
}

// train trains every learner and encoding.
func (c *compareCommand) train(s *cli.Session, goal metric.Goal) (*toptau.Trained, error) {
	c.KeepAll = true
	if learner, _, _ := strings.Cut(c.Against, "/"); c.Method != nil && c.Method[0] != "all" && slices.Contains(verbs.Learners(), learner) &&
		!slices.Contains(c.Method, method.Name(learner)) {
		c.Method = append(c.Method, method.Name(learner)) // the reference is compared, too
	}
	c.Progress = func(now result.Progress) {
		if now.Usable {
			s.FinishAfterSignal("comparing what is finished")
		}
		verbs.ShowProgress(s, now)
	}
	rows, err := c.Open(s, verbs.Use{Verb: "compare", InMemory: true, Entity: c.Entity, Value: c.Value})
	if err != nil {
		return nil, err
	}
	if c.Validation, err = rows.Part(s, c.Choose); err != nil {
		return nil, err
	}
	if c.Test, err = rows.Part(s, c.Measure); err != nil {
		return nil, err
	}
	if c.Measure == "" && c.TestFraction.IsZero() {
		c.TestFraction = threshold.MustRate(comparedFraction)
	}
	defer s.Progress.Clear()
	return toptau.Train(s, rows.Data(), goal, c.TrainOptions)
}

// show writes the report and prints the comparison.
func (c *compareCommand) show(s *cli.Session, trained *toptau.Trained, e *measure.Evaluation) (err error) {
	r := &trained.Result
	var kept []string
	if r.Stopped != "" {
		kept = verbs.KeepExisting(c.ReplacePartial, &c.Report)
	}
	if err := verbs.WriteReport(s, c.Report, e); err != nil {
		return err
	}
	if s.JSON {
		err = s.Emit(comparison{Training: r, Evaluation: &e.Evaluation})
	} else if !s.StdoutTaken {
		printComparison(s, r, &e.Evaluation)
	}
	if err == nil && r.Stopped == result.Cancelled {
		return &cli.Interrupted{Words: verbs.PartialText(kept, c.Report)}
	}
	return err
}

// checkAgainst refuses a reference that no entry can have, before anything is trained.
func (c *compareCommand) checkAgainst(others []dataset.Entry) error {
	learner, _, _ := strings.Cut(c.Against, "/")
	known := append([]string{"chosen"}, verbs.Learners()...)
	for _, entry := range others {
		if slices.Contains(known, entry.Name) {
			return &diag.Error{Kind: diag.Usage, Found: "an entry named " + diag.Quote(entry.Name), Expected: "a name that no learner has"}
		}
		known = append(known, entry.Name)
	}
	if slices.Contains(known, learner) || slices.Contains(known, c.Against) {
		return nil
	}
	return diag.OneOf("against", c.Against, known)
}

func printComparison(s *cli.Session, r *result.Training, e *result.Evaluation) {
	s.Printf("goal: %s\n", r.Goal)
	s.Printf("rows: %s\n", verbs.PartsText(r))
	s.Printf("settings chosen by: %s\n", r.Criterion)
	s.Printf("chosen: %s\n", r.Why)
	verbs.PrintEntries(s, e)
	for i := range e.Entries {
		if entry := &e.Entries[i]; entry.Kind == result.MethodEntry || entry.Kind == result.BaselineEntry {
			s.Printf("%s: %s\n", entry.Name, entry.Setting)
		}
	}
	for _, untried := range r.NotTried {
		s.Printf("not fitted: %s\n", untried)
	}
	s.Printf("%.2f s to read, %.2f s to fit\n", r.SecondsRead, r.SecondsSearch+r.SecondsRefit)
	verbs.PrintWarnings(s, r.Warnings)
	verbs.PrintWarnings(s, e.Warnings)
}
