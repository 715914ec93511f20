package main

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"toptau"
	"toptau/dataset"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/core/simulate"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
	"toptau/measure"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// demoCommand generates simulated traffic, trains a model and evaluates it.
type demoCommand struct {
	Rows int    `default:"10000" help:"Rows of the training data; as many fresh ones measure the model."`
	Seed uint64 `default:"1" help:"The seed of the data and the split."`
	Dir  string `file:"dir" placeholder:"DIR" help:"Keep the data and the model in this directory (default: a temporary one, removed; the report stays)."`

	report string // the page for a browser
}

// The demo's files and its goal.
const (
	demoTrain = "flows.csv"
	demoFresh = "later.csv"
	demoModel = "model.json"
	demoGoal  = "1%"
	demoShare = "5%"
	demoDelta = "5%"
	demoPage  = "report.html"
	demoBest  = 3
)

func (c *demoCommand) Run(s *cli.Session) error {
	dir := c.Dir
	if dir == "" {
		temporary, err := atomicfile.MkdirTemp("toptau-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	c.report = filepath.Join(dir, demoPage)
	if c.Dir == "" {
		if !s.JSON {
			c.report = dir + ".html" // next to the directory that is removed
		}
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	started := time.Now()
	if !s.JSON {
		s.Printf(`A monitored network: every flow has the scores of several anomaly detectors. A few per cent belong to attacks of
several types, and the detectors are noisy. Analysts can live with false alarms on %s of the benign flows.
`, demoGoal)
	}
	if err := c.generate(s, dir); err != nil {
		return err
	}
	trained, err := c.train(s, dir)
	if err != nil {
		return err
	}
	evaluation, err := c.evaluate(s, dir, trained)
	if err != nil || s.JSON {
		return err
	}
	at := evaluation.Points[0].Decisions
	if err := c.explain(s, dir, trained); err != nil {
		return err
	}
	s.Printf(`
What this means: of 1,000 alerts about %.0f are attacks; the model finds %s of all attacks, and %s of the benign
flows raise an alarm. With confidence 95 %% new flows of this kind keep the budget of %s.
%.1f s in all.

Open the report in a browser: %s
`, 1000*at.Precision.Rate, text.Percent(at.TruePositiveRate.Rate), text.Percent(at.FalsePositiveRate.Rate), demoGoal, time.Since(started).Seconds(), c.report)
	if c.Dir == "" {
		s.Printf("The other files are removed: toptau demo --dir DIR keeps them, and the commands work on your own files.\n")
	}
	return nil
}

func (c *demoCommand) generate(s *cli.Session, dir string) error {
	for i, name := range []string{demoTrain, demoFresh} {
		data, err := simulate.New(simulate.Options{Kind: "detectors", Rows: c.Rows, Seed: c.Seed + uint64(i),
			Positives: threshold.MustRate(demoShare)})
		if err != nil {
			return err
		}
		c.command(s, "toptau generate detectors --rows %d --positives %s --seed %d -o %s", c.Rows, demoShare, c.Seed+uint64(i), name)
		s.Progress.Start()
		err = s.WriteFile(filepath.Join(dir, name), func(w io.Writer) error {
			return data.WriteCSV(s, w, func(rows int) { s.Progress.Show(float64(rows)/float64(c.Rows), "writing %s", name) })
		})
		if err != nil {
			return err
		}
		s.Progress.Clear()
	}
	return nil
}

func (c *demoCommand) train(s *cli.Session, dir string) (*toptau.Trained, error) {
	c.command(s, "toptau train %s --label label --max-fpr %s --delta %s -o %s", demoTrain, demoGoal, demoDelta, demoModel)
	goal := toptau.MaxFPR(demoGoal)
	data, err := dataset.Read(s, filepath.Join(dir, demoTrain), schema.Format{Label: "label"})
	if err != nil {
		return nil, err
	}
	s.Progress.Start()
	trained, err := toptau.Train(s, data, goal, toptau.TrainOptions{Progress: func(now result.Progress) { verbs.ShowProgress(s, now) },
		Seed:  c.Seed,
		Delta: threshold.MustRate(demoDelta)})
	if err != nil {
		return nil, err
	}
	s.Progress.Clear()
	if trained.Result.Stopped != "" {
		return nil, s.Err()
	}
	if err := trained.Model.Save(filepath.Join(dir, demoModel)); err != nil {
		return nil, err
	}
	if !s.JSON {
		verbs.PrintTraining(s, &trained.Result, false)
	}
	return trained, nil
}

func (c *demoCommand) evaluate(s *cli.Session, dir string, trained *toptau.Trained) (*measure.Evaluation, error) {
	c.command(s, "toptau evaluate %s %s --report %s", demoModel, demoFresh, demoPage)
	fresh, err := dataset.Read(s, filepath.Join(dir, demoFresh), trained.Model.Format())
	if err != nil {
		return nil, err
	}
	e, err := measure.Evaluate(s, fresh, []dataset.Entry{{Model: trained.Model}}, measure.Options{Seed: c.Seed})
	if err != nil {
		return nil, err
	}
	if err := verbs.WriteReport(s, c.report, e); err != nil {
		return nil, err
	}
	if s.JSON {
		return e, s.Emit(comparison{Training: &trained.Result, Evaluation: &e.Evaluation})
	}
	verbs.PrintEvaluation(s, e)
	return e, nil
}

// explain shows the reasons of the first alerts.
func (c *demoCommand) explain(s *cli.Session, dir string, trained *toptau.Trained) error {
	c.command(s, "toptau explain %s %s --best %d", demoModel, demoFresh, demoBest)
	in, err := dataset.OpenFiles(filepath.Join(dir, demoFresh))
	if err != nil {
		return err
	}
	defer in.Close()
	return writeRows(s, trained.Model, in, score.Options{Best: demoBest, Explain: true, Progress: func(int) {}},
		&explanations{w: s.Stdout, top: 5})
}

// command shows what a user would type.
func (c *demoCommand) command(s *cli.Session, format string, args ...any) {
	if !s.JSON {
		s.Printf("\n$ "+format+"\n", args...)
		s.Stdout.Flush()
	}
}
