package verbs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"toptau/internal/app/cli"
	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
	"toptau/internal/models/wording"
	"toptau/measure"
	"toptau/reports"
	"toptau/result"
)

// errGateClosed is the error of a verb that has printed the reason.
var errGateClosed = &cli.Exit{Code: 4, Reason: "the new model may not replace the old one"}

// Evaluate measures models and the scores of other programs on the same rows.
type Evaluate[S EntrySource] struct {
	Report string `file:"out" placeholder:"FILE" help:"Write a self-contained HTML page with curves, intervals, what the model does not promise and what its file contains."`
	// Statements are what the owners of a single model state about it, for the report; nil: nothing.
	Statements []result.Statement `kong:"-"`
	measure.Options
	GoalFlags
	VerifyFlags
	Rows S `embed:""`
}

// WriteReport writes the page about an evaluation to a file; "": none.
func WriteReport(s *cli.Session, path string, e *measure.Evaluation, statements ...result.Statement) error {
	if path == "" {
		return nil
	}
	return s.WriteFile(path, func(w io.Writer) error { return reports.Write(w, e, statements...) })
}

// Run evaluates, writes and prints.
func (c *Evaluate[S]) Run(s *cli.Session) error {
	var err error
	if c.Goal, err = c.Optional(); err != nil {
		return err
	}
	if err := atomicfile.Check(c.Report); err != nil {
		return err
	}
	if c.Report != "" && c.ReportDate == "" {
		c.ReportDate = c.Rows.Named().Date
	}
	entries, err := c.Rows.Entries(s, c.VerifyFlags, &c.Options)
	if err != nil {
		return err
	}
	use := Use{Verb: "evaluate", Entity: c.Entity, Value: c.Value, By: c.By}
	for i := range entries {
		if m := entries[i].Model; m != nil {
			use.Models = append(use.Models, m)
		}
	}
	rows, err := c.Rows.Open(s, use)
	if err != nil {
		return err
	}
	defer rows.Close()
	e, err := measure.Evaluate(s, rows.Data(), entries, c.Options)
	if err != nil {
		return err
	}
	if e.Database, err = rows.Finish(s); err != nil {
		return err
	}
	if err := WriteReport(s, c.Report, e, c.Statements...); err != nil {
		return err
	}
	if s.JSON {
		if err := s.Emit(e.Evaluation); err != nil {
			return err
		}
	} else if !s.StdoutTaken {
		c.print(s, e)
		rows.Print(s)
	}
	if e.Gate != nil && !e.Gate.Passed {
		return errGateClosed
	}
	return nil
}

func (c *Evaluate[S]) print(s *cli.Session, e *measure.Evaluation) {
	PrintEvaluation(s, e)
	if !c.Prevalence.IsZero() {
		for _, line := range e.Summary {
			s.Printf("%s\n", line)
		}
	}
	if c.Report != "" {
		s.Printf("report: %s\n", c.Report)
	}
}

// PrintEvaluation prints the measurements of all entries.
func PrintEvaluation(s *cli.Session, e *measure.Evaluation) {
	auc := ""
	if e.Positives > 0 && e.Positives < e.Rows {
		auc = fmt.Sprintf("; AUC %.4f%s%s", e.AUC, optional(" within %.1g", e.AUCWithin), optional(", average precision %.4f",
			e.AveragePrecision))
	}
	s.Printf("%s, %s positive (%s)%s\n", wording.UnitsText(e.Unit, e.Rows), text.Count(e.Positives), text.Percent(e.Prevalence), auc)
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
		PrintEntries(s, &e.Evaluation)
	} else {
		printCriteria(s, e)
	}
	for i := range e.Entries {
		entry, name := &e.Entries[i], ""
		if len(e.Entries) > 1 {
			name = " of " + entry.Name
		}
		if counted := entry.AUCWithin != nil || e.Database != nil; entry.Joined == nil && !(counted && entry.TrainingRows == nil) {
			s.Printf("training rows%s among these: %s\n", name, report.OverlapText(entry.TrainingRows))
		}
	}
	if line := report.ProbabilityText(&e.Measured); line != "" && len(e.Entries) == 1 {
		s.Printf("probabilities: %s\n", line)
		s.Printf("  Brier score %.4g, log loss %.4g\n", *e.Brier, *e.LogLoss) // both come with the groups of probabilities
	}
	printExamples(s, e)
	if g := e.Gate; g != nil {
		printGate(s, g)
	}
	PrintWarnings(s, e.Warnings)
}

// printDecisions prints the decisions of an operating point.
func printDecisions(s *cli.Session, p *result.Decisions, value string) {
	s.Printf("at the threshold %.6g of operating point %q (%s):\n", p.Decisions.Threshold, p.Name, GoalText(p.Goal))
	s.Printf("  positives found  %s\n", RateText(p.Decisions.TruePositiveRate))
	if p.Value != nil {
		s.Printf("  %-15s  %s\n", value+" found", RateText(*p.Value))
	}
	if p.Profit != nil {
		s.Printf("  %-15s  %s\n", "profit", wording.ProfitText(p.Profit))
	}
	s.Printf("  false alarms     %s\n", RateText(p.Decisions.FalsePositiveRate))
	s.Printf("  precision        %s\n", RateText(p.Decisions.Precision))
	s.Printf("  %s\n", intervalNote(p.Decisions.TruePositiveRate))
}

// printBreakdown prints what a threshold finds by the values of a column.
func printBreakdown(s *cli.Session, b *result.Breakdown) {
	s.Printf("by %s, at the threshold %.6g:\n", report.ColumnName(b.Column), b.Threshold)
	for _, line := range AlignColumns(report.BreakdownCells(b)) {
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
func printExamples(s *cli.Session, e *measure.Evaluation) {
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
func printCriteria(s *cli.Session, e *measure.Evaluation) {
	if e.Goal != nil {
		s.Printf("goal: %s\n", e.Goal.Goal)
		s.Printf("  %-26s %s\n", e.Goal.Value.Criterion, RateText(e.Goal.Value.Proportion))
	}
	if e.BestProfit != nil {
		s.Printf("the highest profit of all thresholds on these rows: %s\n", wording.ProfitText(e.BestProfit))
	}
	s.Printf("with other thresholds, taken from these rows themselves:\n")
	for _, c := range e.Criteria {
		s.Printf("  %-26s %s\n", c.Criterion, RateText(c.Proportion))
	}
	if len(e.Criteria) > 0 {
		s.Printf("  %s\n", intervalNote(e.Criteria[0].Proportion))
	}
	if j := e.Entries[0].Joined; j != nil {
		s.Printf("scores of %s: %s\n", e.Entries[0].Name, report.JoinedText(j))
	}
}

// verdictTitles name the question that a verdict answers.
var verdictTitles = map[result.VerdictAbout]string{result.AboutLoss: "loss", result.AboutEncoding: "encoding",
	result.AboutEntry: "verdict", result.AboutBest: "best"}

// PrintEntries prints several entries, the highest criterion first, and what follows from their differences.
func PrintEntries(s *cli.Session, e *result.Evaluation) {
	first := e.Entries[0].Goal.Value
	s.Printf("%s on %s (%s positive):\n", first.Criterion, wording.UnitsText(e.Unit, e.Rows), text.Count(e.Positives))
	entries := slices.Clone(e.Entries)
	slices.SortStableFunc(entries, func(a, b result.Entry) int { return cmp.Compare(b.Goal.Value.Rate, a.Goal.Value.Rate) })
	table := [][]string{{"", "criterion", "found", "interval", "AUC", "against " + e.Against, "interval", ""}}
	for i := range entries {
		table = append(table, entryCells(&entries[i], e.Against))
	}
	for _, line := range AlignColumns(table) {
		s.Printf("  %s\n", line)
	}
	if i := first.Interval; i != nil {
		unit := "rows"
		if e.Entities > 0 {
			unit = text.Plural(e.Entities, "entity")
		}
		s.Printf("intervals: %s, %s, %s replicates of the same %s for all\n", i.Kind, text.Confidence(1-i.Confidence),
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
