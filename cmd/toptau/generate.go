package main

import (
	"fmt"
	"io"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/core/simulate"
	"toptau/internal/core/text"
	"toptau/threshold"
)

// generateCommand writes simulated data.
type generateCommand struct {
	Kind      string `arg:"" help:"detectors, example, hepmass or gisette."`
	Rows      int    `placeholder:"N" help:"Rows (default: the kind's own)."`
	Seed      uint64 `default:"1" help:"Same kind, options and seed: same bytes."`
	Positives string `placeholder:"RATE" help:"The fraction of positives: 2% or 0.02."`
	Columns   int    `placeholder:"N" help:"detectors, hepmass, gisette: columns."`
	Types     int    `placeholder:"N" help:"detectors: attack types."`
	MLT       bool   `name:"mlt" help:"detectors: the label noise of a training set: half of the attack types missing, part of the rest labelled negative."`
	Attacks   bool   `help:"detectors: add a column with the attack type."`
	Context   bool   `help:"detectors: also columns flow, time, host and amount, which are no features."`
	Output    string `file:"rows" short:"o" placeholder:"FILE" default:"-" help:"Write here (default: standard output)."`
}

func (c *generateCommand) Run(s *cli.Session) error {
	options := simulate.Options{Kind: c.Kind, Rows: c.Rows, Seed: c.Seed, Columns: c.Columns, Types: c.Types, MLT: c.MLT,
		Attacks: c.Attacks, Context: c.Context}
	if c.Rows < 0 {
		return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("--rows %d", c.Rows), Expected: "at least 1"}
	}
	if c.Positives != "" {
		var err error
		if options.Positives, err = threshold.ParseRate(c.Positives); err != nil {
			return err
		}
	}
	data, err := simulate.New(options)
	if err != nil {
		return err
	}
	if s.JSON && c.Output == "-" {
		return &diag.Error{Kind: diag.Usage, Found: "--json without -o", Expected: "a file for the rows", Hint: "-o FILE"}
	}
	s.Progress.Start()
	progress := func(rows int) {
		s.Progress.Show(float64(rows)/float64(data.Rows()), "%s of %s rows", text.Count(rows), text.Count(data.Rows()))
	}
	if c.Output == "-" {
		return data.WriteCSV(s, s.Stdout, progress)
	}
	if err := s.WriteFile(c.Output, func(w io.Writer) error { return data.WriteCSV(s, w, progress) }); err != nil {
		return err
	}
	if s.JSON {
		return s.Emit(struct {
			SchemaVersion int    `json:"schema_version"`
			Kind          string `json:"kind"`
			Rows          int    `json:"rows"`
			Columns       int    `json:"columns"`
			Seed          uint64 `json:"seed"`
			File          string `json:"file"`
		}{1, c.Kind, data.Rows(), len(data.Names()), c.Seed, c.Output})
	}
	s.Progress.Clear()
	s.Printf("%s rows of %s, %d columns and the label, in %s\n", text.Count(data.Rows()), c.Kind, len(data.Names()), c.Output)
	return nil
}
