package verbs

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"toptau"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
	"toptau/internal/models/wording"
	"toptau/internal/training/summary"
	"toptau/metric"
	"toptau/reports"
	"toptau/result"
)

// errSetAside is the error of a verb that has the warning in its JSON object.
var errSetAside = &cli.Exit{Code: 1, Reason: "the model was written to another file"}

// Train chooses a model for a goal, fits it and reports what to expect of it.
type Train[S Source] struct {
	Output  string `file:"out" short:"o" placeholder:"MODEL" help:"Write the model here; - is standard output."`
	Report  string `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page: what to expect, candidates, curves, the model."`
	Verbose bool   `short:"v" help:"Also print what was tried and why this model, the threshold, the guarantee's price, size and times."`
	GoalFlags
	Choose    string `name:"validation" file:"in" group:"Parts" placeholder:"FILE" help:"Rows that choose the model, instead of a cross-validation."`
	Calibrate string `name:"calibration" file:"in" group:"Parts" placeholder:"FILE" help:"Rows that give the threshold and nothing else."`
	Measure   string `name:"test" file:"in" group:"Parts" placeholder:"FILE" help:"Rows that measure the chosen model."`
	toptau.TrainOptions
	ReplaceFlag
	SignFlags
	Rows S `embed:""`
}

// Run trains, writes and prints.
func (c *Train[S]) Run(s *cli.Session) error {
	goal, err := c.Required()
	if err != nil {
		return err
	}
	if err := atomicfile.Check(c.Output, c.Report); err != nil {
		return err
	}
	key, err := c.Key(c.Output)
	if err != nil {
		return err
	}
	rows, err := c.Rows.Open(s, Use{Verb: "train", Impute: c.Impute, Entity: c.Entity, Value: c.Value})
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := c.readParts(s, rows); err != nil {
		return err
	}
	c.Progress = func(now result.Progress) {
		if now.Usable {
			s.FinishAfterSignal("the best model so far is fitted to all rows")
		}
		rows.Show(now)
	}
	trained, err := toptau.Train(s, rows.Data(), goal, c.TrainOptions)
	if err != nil {
		return err
	}
	r := &trained.Result
	if r.Database, err = rows.Finish(s); err != nil {
		return err
	}
	if trained.Model, err = Sign(trained.Model, key); err != nil {
		return err
	}
	var kept []string
	if r.Stopped != "" {
		if kept = KeepExisting(c.ReplacePartial, &c.Output, &c.Report); len(kept) > 0 {
			r.Warnings = append(r.Warnings, diag.Warning{Code: "set-aside", Text: PartialText(kept, c.Output, c.Report)})
		}
	}
	if err := c.write(s, trained); err != nil {
		return err
	}
	if err := c.print(s, r, rows); err != nil {
		return err
	}
	switch {
	case r.Stopped == result.Cancelled:
		return &cli.Interrupted{Words: PartialText(kept, c.Output, c.Report)}
	case len(kept) > 0 && s.JSON:
		return errSetAside // the object has the warning
	case len(kept) > 0:
		return &diag.Error{Kind: diag.IO, File: kept[0], Found: "not replaced, because --max-time ended the search early",
			Fixes: []diag.Fix{{Param: "replace-partial"}}}
	}
	return nil
}

// readParts reads the parts of the data that have their own files.
func (c *Train[S]) readParts(s *cli.Session, rows Rows) (err error) {
	for _, part := range []struct {
		path string
		data **dataset.Data
	}{{c.Choose, &c.Validation}, {c.Measure, &c.Test}, {c.Calibrate, &c.Calibration}} {
		if *part.data, err = rows.Part(s, part.path); err != nil {
			return err
		}
	}
	return nil
}

// write writes the model and the report.
func (c *Train[S]) write(s *cli.Session, trained *toptau.Trained) error {
	if err := s.WriteFile(c.Output, cli.WriteTo(trained.Model)); err != nil || c.Report == "" {
		return err
	}
	return s.WriteFile(c.Report, func(w io.Writer) error {
		return reports.WriteTraining(context.WithoutCancel(s), w, trained, c.Rows.Named().Date)
	})
}

func (c *Train[S]) print(s *cli.Session, r *result.Training, rows Rows) error {
	switch {
	case s.JSON:
		return s.Emit(r)
	case !s.StdoutTaken:
		PrintTraining(s, r, c.Verbose)
		model := c.Output
		if model == "" {
			model = "not kept (-o model.json writes it)"
		}
		for _, file := range [][2]string{{"model", model}, {"report", c.Report}} {
			if file[1] != "" {
				s.Printf("%s: %s\n", file[0], file[1])
			}
		}
		rows.Print(s)
	}
	return nil
}

// PrintTraining prints what to expect of a trained model, and with verbose also how it came about.
func PrintTraining(s *cli.Session, r *result.Training, verbose bool) {
	answer, rest := r.Summary, []string(nil)
	if at := slices.Index(answer, summary.GoalLine(r.Goal)); at >= 0 {
		answer, rest = answer[:at], answer[at+1:]
	}
	if verbose || r.Goal.Kind != metric.GoalMaxFPR { // the answer names a budget of false alarms
		s.Printf("goal: %s\n", r.Goal)
	}
	for _, line := range answer {
		s.Printf("%s\n", line)
	}
	s.Printf("rows: %s\n", PartsText(r))
	if verbose {
		printChoice(s, r)
		for _, line := range rest {
			if !strings.HasPrefix(line, "Chosen: ") { // as above, in other words
				s.Printf("%s\n", line)
			}
		}
	}
	printLearningCurve(s, r.LearningCurve)
	for _, w := range r.Warnings {
		s.Printf("note: %s\n", s.Note(w))
	}
}

// printChoice prints what train tried and chose, the threshold, and what the model costs.
func printChoice(s *cli.Session, r *result.Training) {
	if r.Unit != nil {
		s.Printf("counted: %s\n", report.UnitRule(r.Unit))
	}
	s.Printf("tried: %s ± standard error\n", r.Criterion)
	for _, line := range candidateLines(r) {
		s.Printf("  %s\n", line)
	}
	s.Printf("chosen: %s\n", r.Why)
	s.Printf("threshold: %.6g (%s)\n", r.Threshold, r.ThresholdNote)
	if folds := foldsOf(r); folds > 0 {
		s.Printf("fitted: the mean of fits in %s, which has no certificate of optimality\n", text.Plural(folds, "fold"))
	}
	if c := r.TestDecisions; c != nil {
		s.Printf("on the test part:\n")
		s.Printf("  positives found  %s\n", RateText(c.TruePositiveRate))
		if r.TestValue != nil {
			s.Printf("  %-15s  %s\n", r.Value+" found", RateText(*r.TestValue))
		}
		if r.TestProfit != nil {
			s.Printf("  %-15s  %s\n", "profit", wording.ProfitText(r.TestProfit))
		}
		s.Printf("  false alarms     %s\n", RateText(c.FalsePositiveRate))
		s.Printf("  precision        %s\n", RateText(c.Precision))
		s.Printf("  %-16s %s\n", r.TestGoal.Criterion, RateText(r.TestGoal.Proportion))
	}
	s.Printf("size: %s features, %s\n", text.Count(r.Features), sizeText(&r.Size))
	s.Printf("%.2f s to read, %.2f s to choose, %.2f s to fit\n", r.SecondsRead, r.SecondsSearch, r.SecondsRefit)
}

// sizeText describes a model's size: "150 trees of 2,400 leaves, 118 kB, 2.1 µs per row".
func sizeText(m *result.ModelSize) string {
	line := ""
	if m.Trees > 0 {
		line = fmt.Sprintf("%s with %s leaves, ", text.Plural(m.Trees, "tree"), text.Count(m.Leaves))
	}
	return line + fmt.Sprintf("%s bytes; a row is scored in %.2g µs", text.Count(int(m.Bytes)), 1e6*m.SecondsPerRow)
}

// foldsOf returns the number of folds whose fits the model is the mean of, 0 if it was fitted once.
func foldsOf(r *result.Training) int {
	folds := 0
	for _, m := range r.Members {
		folds = max(folds, m.Folds)
	}
	return folds
}

// PartsText lists the parts of the rows.
func PartsText(r *result.Training) string {
	list := []string{fmt.Sprintf("%s for training (%s positive)", text.Count(r.Training.Rows), text.Count(r.Training.Positives))}
	if r.Validation == nil {
		list[0] += " in " + text.Plural(r.Folds, "fold")
		if r.Sample != nil {
			list[0] += fmt.Sprintf(" of a sample of %s", text.Count(r.Sample.Rows))
		}
	}
	for _, part := range []struct {
		name string
		rows *result.Counts
	}{{"validation", r.Validation}, {"calibration", r.Calibration}, {"test", r.Test}} {
		if part.rows != nil {
			list = append(list, fmt.Sprintf("%s for %s (%s)", text.Count(part.rows.Rows), part.name, text.Count(part.rows.Positives)))
		}
	}
	return strings.Join(list, ", ")
}

// candidateLines lists the best setting of each learner on each encoding, in the order tried. A star marks members of the
// model.
func candidateLines(r *result.Training) []string {
	var lines []string
	for i := 0; i < len(r.Candidates); {
		first := &r.Candidates[i]
		best, tried, reason := -1, 0, ""
		for ; i < len(r.Candidates) && r.Candidates[i].Method == first.Method && r.Candidates[i].Features() == first.Features(); i++ {
			c := &r.Candidates[i]
			if c.CrossValidation == nil {
				if c.Reason != "" {
					reason = ": " + c.Reason
				}
				continue
			}
			tried++
			if !c.Constant && (best < 0 || c.CrossValidation.Mean > r.Candidates[best].CrossValidation.Mean) {
				best = i
			}
		}
		name := fmt.Sprintf("%-10s %-10s", first.Method, first.Features())
		switch {
		case best >= 0:
			lines = append(lines, fmt.Sprintf("%s %s, best of %d%s", name, candidateText(&r.Candidates[best]), tried, memberMark(r, best)))
		case tried > 0:
			lines = append(lines, name+" all rows have the same score in some fold")
		default:
			lines = append(lines, name+" not fitted"+reason)
		}
	}
	return lines
}

func candidateText(c *result.Candidate) string {
	if c.Trees != nil {
		return fmt.Sprintf("%14s  %s", text.PlusMinus(c.CrossValidation.Mean, c.CrossValidation.StandardError), text.Plural(*c.Trees, "tree"))
	}
	return fmt.Sprintf("%14s  %s%s", text.PlusMinus(c.CrossValidation.Mean, c.CrossValidation.StandardError), c.Problem.Hyperparameters(),
		optional(" around logistic with lambda %v", c.Anchor))
}

// memberMark returns a star for a candidate in the model.
func memberMark(r *result.Training, candidate int) string {
	for _, m := range r.Members {
		if m.Candidate == candidate {
			return " *"
		}
	}
	return ""
}

// printLearningCurve prints what models of fewer rows find, and what twice the rows brought.
func printLearningCurve(s *cli.Session, points []result.LearningPoint) {
	if len(points) == 0 {
		return
	}
	last := &points[len(points)-1]
	s.Printf("learning curve: %s on %s other rows\n", last.Value.Criterion, text.Count(last.TestRows))
	table := [][]string{{"rows", "positive", "found", "interval", "against all rows", "interval"}}
	for i := range points {
		p := &points[i]
		line := []string{text.Count(p.Rows), text.Count(p.Positives), text.Percent(p.Value.Rate), "", "", ""}
		if v := p.Value.Interval; v != nil {
			line[3] = text.Percent(v.Low) + " to " + text.Percent(v.High)
		}
		if d := p.Difference; d != nil {
			line[4] = text.Points(d.Rate)
			if d.Interval != nil {
				line[5] = text.Points(d.Interval.Low) + " to " + text.Points(d.Interval.High)
			}
		}
		table = append(table, line)
	}
	for _, line := range AlignColumns(table) {
		s.Printf("  %s\n", line)
	}
	if len(points) > 1 {
		s.Printf("  %s\n", learningText(&points[len(points)-2]))
	}
}

// learningText describes what the last doubling of the rows brought. half is the model of half of the rows.
func learningText(half *result.LearningPoint) string {
	d := half.Difference
	if d == nil || d.Interval == nil {
		return "what twice the rows bring is not known"
	}
	gain := fmt.Sprintf("twice the rows brought %s points (%s to %s)", text.Points(-d.Rate), text.Points(-d.Interval.High),
		text.Points(-d.Interval.Low))
	switch d.Verdict() {
	case metric.Worse:
		return gain + ": more rows help, expect less than that from the next doubling"
	case metric.Better:
		return gain + ": more rows of this kind do not help"
	}
	return gain + ": that may be chance, and so would be the gain of the next doubling"
}
