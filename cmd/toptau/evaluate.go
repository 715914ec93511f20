package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// evaluateCommand measures models and the scores of other programs on the same rows.
type evaluateCommand struct {
	Files  []string `file:"in" arg:"" name:"model ... data" help:"Model files, and then the labelled data: files, directories or patterns, read as one table; - is standard input. With --scores no model is needed."`
	Scores []string `file:"scores" sep:"none" placeholder:"NAME=FILE" help:"Another program's scores of the same rows (CSV with a column score), joined by --id; repeatable."`
	Report string   `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page with curves, intervals and the model card."`
	toptau.EvaluateOptions
	goalFlags
	verifyFlags
	schema.Format
	cacheFlags
}

func (c *evaluateCommand) Run(s *cli.Session) error {
	var err error
	if c.Goal, err = c.optional(); err != nil {
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
	printEvaluation(s, e)
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
		m, err := c.load(path)
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
	data, format, err := c.packLarge(s, c.Files[files:], format, 0)
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

func printEvaluation(s *cli.Session, e *toptau.Evaluation) {
	auc := ""
	if e.Positives > 0 && e.Positives < e.Rows {
		auc = fmt.Sprintf("; AUC %.4f", e.AUC)
	}
	s.Printf("%s, %s positive (%s)%s\n", report.UnitsText(e.Unit, e.Rows), text.Count(e.Positives), text.Percent(e.Prevalence), auc)
	if e.Unit != nil {
		s.Printf("counted: %s\n", report.UnitRule(e.Unit))
	}
	for i := range e.Entries {
		entry := &e.Entries[i]
		if len(e.Entries) > 1 && len(entry.Points) > 0 {
			s.Printf("%s:\n", entry.Name)
		}
		for _, p := range entry.Points {
			printDecisions(s, &p, e.Value)
		}
		for k := range entry.By {
			printBreakdown(s, &entry.By[k])
		}
		if words := report.TogetherText(entry.By); words != "" {
			s.Printf("  %s\n", words)
		}
	}
	if len(e.Entries) > 1 {
		printEntries(s, &e.Evaluation)
	} else {
		printCriteria(s, e)
	}
	for i := range e.Entries {
		entry, name := &e.Entries[i], ""
		if len(e.Entries) > 1 {
			name = " of " + entry.Name
		}
		if entry.Joined == nil {
			s.Printf("training rows%s among these: %s\n", name, report.OverlapText(entry.TrainingRows))
		}
	}
	if line := report.ProbabilityText(&e.Measured); line != "" && len(e.Entries) == 1 {
		s.Printf("probabilities: %s\n", line)
	}
	printExamples(s, e)
	if g := e.Gate; g != nil {
		printGate(s, g)
	}
	printWarnings(s, e.Warnings)
}

// printDecisions prints the decisions of an operating point.
func printDecisions(s *cli.Session, p *result.Decisions, value string) {
	s.Printf("at the threshold %.6g of operating point %q (%s):\n", p.Decisions.Threshold, p.Name, goalText(p.Goal))
	s.Printf("  positives found  %s\n", rateText(p.Decisions.TruePositiveRate))
	if p.Value != nil {
		s.Printf("  %-15s  %s\n", value+" found", rateText(*p.Value))
	}
	s.Printf("  false alarms     %s\n", rateText(p.Decisions.FalsePositiveRate))
	s.Printf("  precision        %s\n", rateText(p.Decisions.Precision))
	s.Printf("  %s\n", intervalNote(p.Decisions.TruePositiveRate))
}

// printBreakdown prints what a threshold finds by the values of a column.
func printBreakdown(s *cli.Session, b *result.Breakdown) {
	s.Printf("by %s, at the threshold %.6g:\n", report.ColumnName(b.Column), b.Threshold)
	for _, line := range alignColumns(report.BreakdownCells(b)) {
		s.Printf("  %s\n", line)
	}
}

// printGate prints whether a model may replace another, and why not.
func printGate(s *cli.Session, g *result.Gate) {
	if g.Passed {
		s.Printf("gate: open, %s may replace %s: its loss is below %s points, with the confidence of the interval\n", g.Entry, g.Against,
			text.Fixed(100*g.Margin, 1))
		return
	}
	s.Printf("gate: closed\n")
	for _, reason := range g.Reasons {
		s.Printf("  %s: %s\n", g.Entry, reason)
	}
}

// printExamples prints the rows with the most telling scores.
func printExamples(s *cli.Session, e *toptau.Evaluation) {
	for _, kind := range []result.ExampleKind{result.FalseAlarm, result.FoundRow, result.MissedRow} {
		title := report.ExampleTitle(kind)
		for i := range e.Examples {
			x := &e.Examples[i]
			if x.Kind != kind {
				continue
			}
			if title != "" {
				s.Printf("%s:\n", title)
				title = ""
			}
			name := fmt.Sprintf("row %d", x.Row)
			if len(x.ID) > 0 {
				name = strings.Join(x.ID, " ")
			}
			s.Printf("  %s: score %.6g: %s\n", name, x.Score, report.ReasonsText(x.Reasons))
		}
	}
}

// printCriteria prints the criteria of a single entry.
func printCriteria(s *cli.Session, e *toptau.Evaluation) {
	if e.Goal != nil {
		s.Printf("goal: %s\n", e.Goal.Goal)
		s.Printf("  %-26s %s\n", e.Goal.Value.Criterion, rateText(e.Goal.Value.Proportion))
	}
	s.Printf("with other thresholds, taken from these rows themselves:\n")
	for _, c := range e.Criteria {
		s.Printf("  %-26s %s\n", c.Criterion, rateText(c.Proportion))
	}
	if len(e.Criteria) > 0 {
		s.Printf("  %s\n", intervalNote(e.Criteria[0].Proportion))
	}
	if j := e.Entries[0].Joined; j != nil {
		s.Printf("scores of %s: %s\n", e.Entries[0].Name, report.JoinedText(j))
	}
}

func appendJSON(b []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string cannot fail
	return append(b, quoted...)
}
