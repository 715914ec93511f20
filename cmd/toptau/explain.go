package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
)

// explainCommand shows what each column adds to a score.
type explainCommand struct {
	Model   string   `file:"in" arg:"" help:"A model file."`
	Data    []string `file:"in" arg:"" help:"Rows to explain, with or without labels; - is standard input."`
	At      string   `xor:"at" placeholder:"NAME" help:"The operating point whose threshold is shown (default: the model's first)."`
	Best    int      `xor:"best" placeholder:"N" help:"Explain only the N rows with the highest scores, best first."`
	Top     int      `placeholder:"N" help:"Columns to show, those that matter most (default 5 for a row, 20 with --columns; --json has all)."`
	Columns bool     `xor:"at,best,csv" help:"Show what each column does to the scores of all rows, instead of single rows."`
	CSV     bool     `name:"csv" xor:"csv" help:"Print CSV: one line per row and column, with the column's value and what it adds."`
	badRowFlags
	verbs.VerifyFlags
	schema.Format
}

func (c *explainCommand) Run(s *cli.Session) error {
	switch {
	case c.Best < 0:
		return &diag.Error{Kind: diag.Usage, Param: "best", Found: fmt.Sprint(c.Best), Expected: "at least 1"}
	case c.Top < 0:
		return &diag.Error{Kind: diag.Usage, Param: "top", Found: fmt.Sprint(c.Top), Expected: "at least 1"}
	case c.CSV && s.JSON:
		return &diag.Error{Kind: diag.Usage, Param: "csv", Found: "together with --json", Expected: "one of the two"}
	case c.CSV && c.OnError == schema.EmptyBadRows:
		return &diag.Error{Kind: diag.Usage, Param: "on-error", Found: "empty together with --csv", Expected: "stop or skip"}
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	if c.Columns {
		return c.printColumns(s, m)
	}
	var w verbs.RowWriter = &explanations{w: s.Stdout, top: cmp.Or(c.Top, 5)}
	switch {
	case s.JSON:
		w = verbs.NewRowWriter(s.Stdout, "", true, verbs.ExtraColumns{})
	case c.CSV:
		w = &csvExplanations{w: csv.NewWriter(s.Stdout), top: cmp.Or(c.Top, 5)}
	}
	in, err := openRows(s, c.Data)
	if err != nil {
		return err
	}
	defer in.Close()
	o := score.Options{Format: c.Format, At: c.At, Best: c.Best, Explain: true,
		Progress: func(rows int) { s.Progress.Show(-1, "%s rows explained", text.Count(rows)) }}
	rejects, err := c.badRowFlags.apply(&o)
	if err != nil {
		return err
	}
	defer rejects.Close()
	return writeRows(s, m, in, o, w)
}

// printColumns prints the table of all columns.
func (c *explainCommand) printColumns(s *cli.Session, m *model.Model) error {
	in, err := openRows(s, c.Data)
	if err != nil {
		return err
	}
	defer in.Close()
	var bad score.Options
	rejects, err := c.badRowFlags.apply(&bad)
	if err != nil {
		return err
	}
	defer rejects.Close()
	s.Progress.Start()
	r, err := score.Explain(s, m, in, score.ExplainOptions{Format: c.Format, Impute: bad.Impute, OnError: bad.OnError, OnReject: bad.OnReject,
		Progress: func(rows int) { s.Progress.Show(-1, "%s rows read", text.Count(rows)) }})
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if s.JSON {
		return s.Emit(r)
	}
	s.Printf("%s rows, mean score %.6g; what each column adds to the score of a row, against its mean:\n", text.Count(r.Rows),
		r.MeanScore)
	list := r.Columns[:min(len(r.Columns), cmp.Or(c.Top, 20))]
	table := [][]string{{"", "standard deviation", "mean", "least and most"}}
	for i := range list {
		c := &list[i]
		table = append(table, []string{c.Column, fmt.Sprintf("%.4g", c.Effect), fmt.Sprintf("%+.4g", c.Mean), c.String()})
	}
	for _, line := range verbs.AlignColumns(table) {
		s.Printf("  %s\n", line)
	}
	if others := len(r.Columns) - len(list); others > 0 {
		s.Printf("  and %s that matter less\n", text.Plural(others, "column"))
	}
	verbs.PrintWarnings(s, r.Warnings)
	return nil
}

// explanations prints one line a row: the score against the threshold, and the columns that matter most.
type explanations struct {
	w      io.Writer
	top    int
	stream *score.Stream
}

func (e *explanations) Begin(s *score.Stream) error {
	e.stream = s
	return nil
}

func (e *explanations) Write(r *result.Row) error {
	name := fmt.Sprintf("row %d", r.Number)
	if len(r.ID) > 0 {
		name = strings.Join(r.ID, " ")
	}
	if r.Err != nil {
		_, err := fmt.Fprintf(e.w, "%s: no score: %s\n", cli.Printable(name), cli.Printable(verbs.ReasonText(r.Err)))
		return err
	}
	sign := "above"
	if !r.Decisions[0] {
		sign = "not above"
	}
	_, err := fmt.Fprintf(e.w, "%s: score %.6g, %s the threshold %.6g: %s\n", cli.Printable(name), r.Score, sign, r.Threshold,
		cli.Printable(strings.Join(explanationTerms(r, e.top), ", ")))
	return err
}

// explanationTerms describes what a score consists of: the average row or else the offset, the columns that matter most, and the sum of
// the others, which is what those leave of the score.
func explanationTerms(r *result.Row, top int) (terms []string) {
	list, rest := r.Explanation.Reasons, r.Score
	start, name := r.Explanation.Offset, "offset"
	if average := r.Explanation.AverageScore; average != nil {
		start, name = *average, "average row"
	}
	if start != 0 {
		rest -= start
		terms = append(terms, fmt.Sprintf("%s %+.4g", name, start))
	}
	shown := list[:min(top, len(list))]
	for i := range shown {
		rest -= shown[i].AboveAverage
		terms = append(terms, report.ReasonText(&shown[i]))
	}
	switch others := len(list) - len(shown); {
	case others > 0:
		terms = append(terms, fmt.Sprintf("%s %+.4g", text.Plural(others, "other column"), rest))
	case len(list) == 0:
		terms = append(terms, "no column adds anything")
	}
	return terms
}

func (e *explanations) Flush() {}

func (e *explanations) End() error { return nil }

// csvExplanations prints one line for each of a row's main columns.
type csvExplanations struct {
	w      *csv.Writer
	top    int
	stream *score.Stream
}

func (e *csvExplanations) Begin(s *score.Stream) error {
	e.stream = s
	header := slices.Clone(s.ID)
	if len(header) == 0 {
		header = []string{"row"}
	}
	return e.w.Write(append(header, "score", "threshold", "decision", "rank", "column", "value", "adds", "above_average"))
}

func (e *csvExplanations) Write(r *result.Row) error {
	fields := slices.Clone(r.ID)
	if len(fields) == 0 {
		fields = []string{strconv.Itoa(r.Number)}
	}
	decision := "0"
	if r.Decisions[0] {
		decision = "1"
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	fields = append(fields, number(r.Score), number(r.Threshold), decision)
	list := r.Explanation.Reasons
	for i, c := range list[:min(e.top, len(list))] {
		line := append(slices.Clip(fields), strconv.Itoa(i+1), c.Column, c.Value, number(c.Adds), number(c.AboveAverage))
		if err := e.w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (e *csvExplanations) Flush() { e.w.Flush() }

func (e *csvExplanations) End() error {
	e.w.Flush()
	return e.w.Error()
}
