package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/cli/verbs"
	"toptau/model"
	"toptau/schema"
)

// evaluateCommand measures models and the scores of other programs on the same rows.
type evaluateCommand struct {
	Files  []string `file:"in" arg:"" name:"model ... data" help:"Model files, and then the labelled data: files, directories or patterns, read as one table; - is standard input. With --scores no model is needed."`
	Scores []string `file:"scores" sep:"none" placeholder:"NAME=FILE" help:"Another program's scores of the same rows (CSV with a column score), joined by --id; repeatable."`
	Report string   `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page with curves, intervals and the model card."`
	toptau.EvaluateOptions
	verbs.GoalFlags
	verbs.VerifyFlags
	schema.Format
}

func (c *evaluateCommand) Run(s *cli.Session) error {
	var err error
	if c.Goal, err = c.Optional(); err != nil {
		return err
	}
	if err := atomicfile.Check(c.Report); err != nil {
		return err
	}
	for _, column := range []string{c.Segment, c.Time} { // a column that was named gets a table
		if column != "" && !slices.Contains(c.By, column) {
			c.By = append(c.By, column)
		}
	}
	if c.Report != "" && c.ReportDate == "" && len(c.Files) > 0 {
		c.ReportDate = fileDate(c.Files[len(c.Files)-1])
	}
	entries, data, err := c.read(s)
	if err != nil {
		return err
	}
	e, err := toptau.Evaluate(s, data, entries, c.EvaluateOptions)
	if err != nil {
		return err
	}
	if c.Report != "" {
		if err := s.WriteFile(c.Report, e.WriteReport); err != nil {
			return err
		}
	}
	if s.JSON {
		if err := s.Emit(e.Evaluation); err != nil {
			return err
		}
		return gateError(e)
	}
	if s.StdoutTaken {
		return gateError(e)
	}
	verbs.PrintEvaluation(s, e)
	if !c.Prevalence.IsZero() {
		for _, line := range e.Summary {
			s.Printf("%s\n", line)
		}
	}
	if c.Report != "" {
		s.Printf("report: %s\n", c.Report)
	}
	return gateError(e)
}

// gateError returns the exit code of a gate that is closed. The output has the reasons.
func gateError(e *toptau.Evaluation) error {
	if e.Gate != nil && !e.Gate.Passed {
		return errGateClosed
	}
	return nil
}

// read loads the models and the data, which is the last of the files.
func (c *evaluateCommand) read(s *cli.Session) ([]toptau.Entry, *toptau.Data, error) {
	last := len(c.Files) - 1
	if last == 0 && len(c.Scores) == 0 {
		return nil, nil, &diag.Error{Kind: diag.Usage, Found: "one file, " + diag.Quote(c.Files[0]), Expected: "a model and the data",
			Hint: "or the data with scores"}
	}
	var entries []toptau.Entry
	var models []*model.Model
	files, err := c.divide()
	if err != nil {
		return nil, nil, err
	}
	paths := slices.Clone(c.Files[:files])
	if against := c.Against; against != "" && !slices.Contains(entryNames(paths), against) && atomicfile.Exists(against) {
		paths = append(paths, against)
		c.Against = entryNames(paths)[len(paths)-1]
	}
	names := entryNames(paths)
	for i, path := range paths {
		m, err := c.Load(path)
		if err != nil {
			return nil, nil, err
		}
		models, entries = append(models, m), append(entries, toptau.Entry{Name: names[i], Model: m})
	}
	scores, err := readScores(s, c.Scores, toptau.Format{})
	if err != nil {
		return nil, nil, err
	}
	entries = append(entries, scores...)
	format := c.Format
	format.Kept = append(slices.Clone(c.By), keptColumns(c.Entity, c.Value)...)
	if files > 0 {
		if format, err = formatFor(format, models[0], models[1:]...); err != nil {
			return nil, nil, err
		}
	}
	data, format, err := packLarge(s, c.Files[files:], format, c.Memory)
	if err != nil {
		return nil, nil, err
	}
	rows, err := readData(s, data, format)
	return entries, rows, nameKept(err, c.Entity, c.Value)
}

// divide returns the number of model files. They come first; the others are data. The first file is a model unless
// there are scores.
func (c *evaluateCommand) divide() (models int, err error) {
	last := len(c.Files) - 1
	for models < last && (model.IsFile(c.Files[models]) || models == 0 && len(c.Scores) == 0) {
		models++
	}
	for _, path := range c.Files[models:] {
		if model.IsFile(path) {
			return 0, &diag.Error{Kind: diag.Usage, Found: diag.Quote(path) + ", a model among the data", Expected: "the models first, then the data"}
		}
	}
	return models, nil
}

// fileDate returns the day on which a file was last written, "" if that is not known.
func fileDate(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return info.ModTime().UTC().Format(time.DateOnly)
}

// keptColumns returns the names that are set.
func keptColumns(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// entryNames returns the base names of files without ".json", or their paths where these are not all
// different.
func entryNames(paths []string) []string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = strings.TrimSuffix(filepath.Base(path), ".json")
		if slices.Contains(names[:i], names[i]) {
			return paths
		}
	}
	return names
}
