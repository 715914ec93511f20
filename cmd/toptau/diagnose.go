package main

import (
	"toptau"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/result"
	"toptau/schema"
)

// diagnoseCommand reports what can work before anything is fitted.
type diagnoseCommand struct {
	Data []string `file:"in" arg:"" help:"Labelled data: files, directories or patterns, read as one table; - is standard input."`
	toptau.DiagnoseOptions
	verbs.GoalFlags
	schema.Format
}

func (c *diagnoseCommand) Run(s *cli.Session) error {
	var err error
	if c.Goal, err = c.Optional(); err != nil {
		return err
	}
	paths, format, err := packLarge(s, c.Data, c.Format, c.Memory)
	if err != nil {
		return err
	}
	data, err := readData(s, paths, format)
	if err != nil {
		return err
	}
	s.Progress.Start()
	c.ReleaseData = true
	c.Progress = func(now result.Progress) { verbs.ShowProgress(s, now) }
	d, err := toptau.Diagnose(s, data, c.DiagnoseOptions)
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if s.JSON {
		return s.Emit(d)
	}
	verbs.PrintDiagnosis(s, d)
	return nil
}
