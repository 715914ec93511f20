package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/report"
	"toptau/internal/text"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// compareCommand trains every learner on every encoding and evaluates them on a test part.
type compareCommand struct {
	Data []string `file:"in" arg:"" help:"Labelled data: files, directories or patterns, read as one table; - is standard input."`
	goalFlags
	Scores     []string `file:"scores" sep:"none" placeholder:"NAME=FILE" help:"Another program's scores of the rows of --test, or of DATA without it (CSV with a column score), joined by --id; repeatable."`
	Against    string   `default:"logistic" placeholder:"NAME" help:"The entry that the others are compared with (default logistic)."`
	Report     string   `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page with the comparison."`
	Replicates int      `default:"2000" placeholder:"N" help:"Replicates of the bootstrap (default 2000)."`
	Choose     string   `name:"validation" file:"in" group:"Data" placeholder:"FILE" help:"Rows that choose the settings, instead of a cross-validation."`
	Measure    string   `name:"test" file:"in" group:"Data" placeholder:"FILE" help:"The test part (default: a quarter of DATA)."`
	toptau.TrainOptions
	replaceFlag
	schema.Format
	cacheFlags
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
	goal, err := c.required()
	if err != nil {
		return err
	}
	if err := atomicfile.Check(c.Report); err != nil {
		return err
	}
	others, err := readScores(s, c.Scores, toptau.Format{})
	if err != nil {
		return err
	}
	if err := c.checkAgainst(others); err != nil {
		return err
	}
	c.KeepAll = true
	if learner, _, _ := strings.Cut(c.Against, "/"); c.Method != nil && c.Method[0] != "all" && slices.Contains(learners(), learner) && !slices.Contains(c.Method, method.Name(learner)) {
		c.Method = append(c.Method, method.Name(learner)) // the reference is compared, too
	}
	c.Progress = func(now result.Progress) {
		if now.Usable {
			s.FinishAfterSignal("comparing what is finished")
		}
		showProgress(s, now)
	}
	keepCounted(&c.Format, &c.TrainOptions)
	data, err := readParts(s, c.cacheFlags, c.Data, c.Format, part{c.Choose, &c.Validation}, part{c.Measure, &c.Test})
	if err != nil {
		return nameKept(err, c.Entity, c.Value)
	}
	if c.Measure == "" && c.TestFraction.IsZero() {
		c.TestFraction = threshold.MustRate(comparedFraction)
	}
	s.Progress.Start()
	trained, err := toptau.Train(s, data, goal, c.TrainOptions)
	if err != nil {
		return err
	}
	s.Progress.Clear()
	e, err := toptau.Evaluate(context.WithoutCancel(s), trained.Test, append(trained.All, others...),
		toptau.EvaluateOptions{Goal: goal, Against: c.Against, Replicates: c.Replicates, Seed: c.Seed,
			Value: c.Value, Entity: c.Entity})
	if err != nil {
		return err
	}
	if len(others) > 0 && c.Measure == "" {
		e.Warnings = append(e.Warnings, diag.Warning{Code: "scores-of-training-rows", Text: "the test rows were drawn from the data: " +
			"scores of a program that was trained on these rows are too good", Fixes: []diag.Fix{{Param: "test", Value: "FILE"}}})
	}
	r := &trained.Result
	var kept []string
	if r.Stopped != "" {
		kept = keepExisting(c.ReplacePartial, &c.Report)
	}
	if c.Report != "" {
		if err := s.WriteFile(c.Report, e.WriteReport); err != nil {
			return err
		}
	}
	if s.JSON {
		err = s.Emit(comparison{Training: r, Evaluation: &e.Evaluation})
	} else if !s.StdoutTaken {
		printComparison(s, r, &e.Evaluation)
	}
	if err == nil && r.Stopped == result.Cancelled {
		return &cli.Interrupted{Words: partialText(kept, c.Report)}
	}
	return err
}

// checkAgainst refuses a reference that no entry can have, before anything is trained.
func (c *compareCommand) checkAgainst(others []toptau.Entry) error {
	learner, _, _ := strings.Cut(c.Against, "/")
	known := append([]string{"chosen"}, learners()...)
	for _, entry := range others {
		if slices.Contains(known, entry.Name) {
			return &diag.Error{Kind: diag.Usage, Found: "an entry named " + diag.Quote(entry.Name), Expected: "a name that no learner has"}
		}
		known = append(known, entry.Name)
	}
	if slices.Contains(known, learner) || slices.Contains(known, c.Against) {
		return nil
	}
	return &diag.Error{Kind: diag.Usage, Param: "against", Found: diag.Quote(c.Against), Expected: "one of " + strings.Join(known, ", ")}
}

// readScores reads entries of --scores NAME=FILE.
func readScores(s *cli.Session, list []string, f toptau.Format) ([]toptau.Entry, error) {
	var entries []toptau.Entry
	for _, arg := range list {
		name, path, found := strings.Cut(arg, "=")
		if !found || name == "" || path == "" {
			return nil, &diag.Error{Kind: diag.Usage, Param: "scores", Found: diag.Quote(arg), Expected: "NAME=FILE",
				Hint: "for example gbdt=gbdt.csv"}
		}
		entry, err := toptau.ReadScores(s, name, path, f)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

func printComparison(s *cli.Session, r *result.Training, e *result.Evaluation) {
	s.Printf("goal: %s\n", r.Goal)
	s.Printf("rows: %s\n", partsText(r))
	s.Printf("settings chosen by: %s\n", r.Criterion)
	s.Printf("chosen: %s\n", r.Why)
	printEntries(s, e)
	for i := range e.Entries {
		if entry := &e.Entries[i]; entry.Kind == result.MethodEntry || entry.Kind == result.BaselineEntry {
			s.Printf("%s: %s\n", entry.Name, entry.Setting)
		}
	}
	for _, untried := range r.NotTried {
		s.Printf("not fitted: %s\n", untried)
	}
	s.Printf("%.2f s to read, %.2f s to fit\n", r.SecondsRead, r.SecondsSearch+r.SecondsRefit)
	printWarnings(s, r.Warnings)
	printWarnings(s, e.Warnings)
}

// verdictTitles name the question that a verdict answers.
var verdictTitles = map[result.VerdictAbout]string{result.AboutLoss: "loss", result.AboutEncoding: "encoding",
	result.AboutEntry: "verdict", result.AboutBest: "best"}

// printEntries prints several entries, the highest criterion first, and what follows from their differences.
func printEntries(s *cli.Session, e *result.Evaluation) {
	first := e.Entries[0].Goal.Value
	s.Printf("%s on %s (%s positive):\n", first.Criterion, report.UnitsText(e.Unit, e.Rows), text.Count(e.Positives))
	entries := slices.Clone(e.Entries)
	slices.SortStableFunc(entries, func(a, b result.Entry) int { return cmp.Compare(b.Goal.Value.Rate, a.Goal.Value.Rate) })
	table := [][]string{{"", "criterion", "found", "interval", "AUC", "against " + e.Against, "interval", ""}}
	for i := range entries {
		table = append(table, entryCells(&entries[i], e.Against))
	}
	for _, line := range alignColumns(table) {
		s.Printf("  %s\n", line)
	}
	if i := first.Interval; i != nil {
		unit := "rows"
		if e.Entities > 0 {
			unit = text.Plural(e.Entities, "entity")
		}
		s.Printf("intervals: %s, %s, %s replicates of the same %s for all\n", i.Kind, metric.ConfidenceText(1-i.Confidence),
			text.Count(i.Replicates), unit)
	}
	for i := range e.Entries {
		if entry := &e.Entries[i]; entry.Joined != nil {
			s.Printf("scores of %s: %s\n", entry.Name, report.JoinedText(entry.Joined))
		}
	}
	for i := range e.Verdicts {
		conclusion, evidence := report.VerdictText(&e.Verdicts[i], e)
		s.Printf("%s: %s\n", verdictTitles[e.Verdicts[i].About], conclusion)
		if evidence != "" {
			s.Printf("  %s\n", evidence)
		}
	}
}

// entryCells returns a line of the table. The reference has no difference.
func entryCells(e *result.Entry, against string) []string {
	value := &e.Goal.Value
	if !value.Defined() {
		return []string{e.Name, "undefined", "", "", text.Number(e.AUC)}
	}
	cells := []string{e.Name, text.Percent(value.Rate), fmt.Sprintf("%.6g of %.6g", value.Numerator, value.Denominator), "",
		fmt.Sprintf("%.4f", e.AUC), "", "", ""}
	if i := value.Interval; i != nil {
		cells[3] = text.Percent(i.Low) + " to " + text.Percent(i.High)
	}
	if e.Difference == nil {
		return cells
	}
	cells[5] = text.Points(e.Difference.Rate)
	if i := e.Difference.Interval; i != nil {
		cells[6] = text.Points(i.Low) + " to " + text.Points(i.High)
	}
	cells[7] = string(e.Verdict)
	return cells
}

// alignColumns pads the columns to one width, the first to the left and the others to the right.
func alignColumns(table [][]string) []string {
	var width []int
	for _, cells := range table {
		for j, cell := range cells {
			if j == len(width) {
				width = append(width, 0)
			}
			width[j] = max(width[j], utf8.RuneCountInString(cell))
		}
	}
	var lines []string
	for _, cells := range table {
		var b strings.Builder
		for j, cell := range cells {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if j == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}
