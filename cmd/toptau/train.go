package main

import (
	"cmp"
	"context"
	"io"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/result"
	"toptau/schema"
)

// trainCommand chooses a model for a goal, fits it and reports what to expect of it.
type trainCommand struct {
	Data       []string `file:"in" arg:"" help:"Labelled data: files, directories or patterns, read as one table; - is standard input."`
	Output     string   `file:"out" short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Report     string   `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page: what to expect, candidates, curves, the model."`
	ReportDate string   `name:"report-date" placeholder:"TEXT" help:"The date in the report (default: that of the data file)."`
	verbs.GoalFlags
	Choose    string `name:"validation" file:"in" group:"Data" placeholder:"FILE" help:"Rows that choose the model, instead of a cross-validation."`
	Calibrate string `name:"calibration" file:"in" group:"Data" placeholder:"FILE" help:"Rows that give the threshold and nothing else."`
	Measure   string `name:"test" file:"in" group:"Data" placeholder:"FILE" help:"Rows that measure the chosen model."`
	toptau.TrainOptions
	verbs.ReplaceFlag
	verbs.SignFlags
	schema.Format
}

func (c *trainCommand) Run(s *cli.Session) error {
	goal, err := c.Required()
	if err != nil {
		return err
	}
	c.Progress = func(now result.Progress) {
		if now.Usable {
			s.FinishAfterSignal("the best model so far is fitted to all rows")
		}
		verbs.ShowProgress(s, now)
	}
	if err := atomicfile.Check(c.Output, c.Report); err != nil {
		return err
	}
	key, err := c.Key(c.Output)
	if err != nil {
		return err
	}
	keepCounted(&c.Format, &c.TrainOptions)
	data, err := readParts(s, c.Memory, c.Data, c.Format,
		part{c.Choose, &c.Validation}, part{c.Measure, &c.Test}, part{c.Calibrate, &c.Calibration})
	if err != nil {
		return nameKept(err, c.Entity, c.Value)
	}
	s.Progress.Start()
	trained, err := toptau.Train(s, data, goal, c.TrainOptions)
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if trained.Model, err = verbs.Sign(trained.Model, key); err != nil {
		return err
	}
	var kept []string
	r := &trained.Result
	if r.Stopped != "" {
		if kept = verbs.KeepExisting(c.ReplacePartial, &c.Output, &c.Report); len(kept) > 0 {
			r.Warnings = append(r.Warnings, diag.Warning{Code: "set-aside", Text: verbs.PartialText(kept, c.Output, c.Report)})
		}
	}
	if err := s.WriteFile(c.Output, cli.WriteTo(trained.Model)); err != nil {
		return err
	}
	if c.Report != "" {
		date := cmp.Or(c.ReportDate, fileDate(c.Data[0]))
		if err := s.WriteFile(c.Report, func(w io.Writer) error { return trained.WriteReport(context.WithoutCancel(s), w, date) }); err != nil {
			return err
		}
	}
	if s.JSON {
		err = s.Emit(r)
	} else if !s.StdoutTaken {
		verbs.PrintTraining(s, r, c.Output)
		if c.Report != "" {
			s.Printf("report: %s\n", c.Report)
		}
	}
	switch {
	case err != nil:
		return err
	case r.Stopped == result.Cancelled:
		return &cli.Interrupted{Words: verbs.PartialText(kept, c.Output, c.Report)}
	case len(kept) > 0 && s.JSON:
		return errSetAside // the object has the warning
	case len(kept) > 0:
		return &diag.Error{Kind: diag.IO, File: kept[0], Found: "not replaced, because --max-time ended the search early",
			Fixes: []diag.Fix{{Param: "replace-partial"}}}
	}
	return nil
}

// keepCounted makes the reader keep the columns of entities and amounts. The entity is no feature.
func keepCounted(f *schema.Format, o *toptau.TrainOptions) {
	f.Kept = append(f.Kept, keptColumns(o.Entity, o.Value)...)
	f.Drop = append(f.Drop, keptColumns(o.Entity)...)
}

// nameKept names the flag in an error about a column that the reader was to keep.
func nameKept(err error, entity, value string) error {
	e := diag.Of(err)
	if e == nil || e.Param != "" {
		return err
	}
	named := *e
	switch e.Found {
	case diag.Quote(entity):
		named.Param = "entity"
	case diag.Quote(value):
		named.Param = "value"
	}
	return &named
}

// part is a part of the data that may have its own file.
type part struct {
	path string // "": none
	data **toptau.Data
}

// readParts reads the training data and the other parts as files of the same columns.
func readParts(s *cli.Session, memory int64, paths []string, f toptau.Format, others ...part) (*toptau.Data, error) {
	paths, readAs, err := packLarge(s, paths, f, memory)
	if err != nil {
		return nil, err
	}
	data, err := readData(s, paths, readAs)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if other.path == "" {
			continue
		}
		if *other.data, err = toptau.Read(s, other.path, f.Like(*data.Format().Schema())); err != nil {
			return nil, err
		}
	}
	return data, nil
}
