package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// scoreCommand applies a model.
type scoreCommand struct {
	Model       string         `file:"in" arg:"" help:"A model file."`
	Data        []string       `file:"in" arg:"" help:"Data to score, with or without labels: files, directories or patterns; - is standard input, whose rows are scored as they arrive."`
	At          string         `placeholder:"NAME" help:"The operating point of the decision column (default: the model's first)."`
	Best        int            `xor:"best" placeholder:"N" help:"Print only the N rows with the highest scores, best first."`
	FalseRate   threshold.Rate `name:"max-false-discoveries" xor:"best" placeholder:"RATE" help:"Print the longest list, best first, of which at most this fraction is false on average: 10% or 0.1. DATA is one delivery of rows. Needs calibration negatives, see --calibration."`
	Negatives   string         `name:"calibration" file:"in" placeholder:"FILE" help:"With --best or --max-false-discoveries: labelled rows that did not train the model. Their negatives bound the false rows on the list (default: those that the operating point keeps)."`
	RankBy      string         `name:"rank-by" enum:"score,value" default:"score" placeholder:"score|value" help:"With --best: rank by the score, or by the probability times the amount in the column --value (default score)."`
	Value       string         `placeholder:"COL" help:"With --rank-by value: the column of amounts."`
	Probability bool           `help:"Also print the probability that a row is positive."`
	Prevalence  threshold.Rate `placeholder:"RATE" help:"With --probability or --precision: the fraction of positives among the rows (default: as in training)."`
	Precision   bool           `xor:"best,keep,output" help:"Instead of rows print what to expect for budgets: lowest score, probability there, precision."`
	Entity      string         `placeholder:"COL" help:"Merge the rows of each value of this column, with --time those of each day: print the one with the highest score, with the number of rows and alerts. It comes at the end of the input."`
	OnlyAlerts  bool           `name:"only-alerts" help:"Print only rows with an alert, as they come. If the operating point counts entities, or with --entity, print only the first alert of each entity (and day)."`
	Keep        bool           `xor:"keep" help:"Pass the other columns of the input through."`
	Output      string         `file:"rows" xor:"output" short:"o" placeholder:"FILE" help:"Write here instead of standard output, as a Parquet file if the name ends in .parquet. The file appears when it is complete."`
	badRowFlags
	alertFlags
	verbs.VerifyFlags
	schema.Format
}

func (c *scoreCommand) Run(s *cli.Session) error {
	if c.Best < 0 {
		return &diag.Error{Kind: diag.Usage, Param: "best", Found: fmt.Sprint(c.Best), Expected: "at least 1"}
	}
	if (c.RankBy == "value") != (c.Value != "") {
		return &diag.Error{Kind: diag.Usage, Param: "rank-by", Found: diag.Quote(c.RankBy), Expected: "value and a column of amounts, or neither",
			Fixes: []diag.Fix{{Param: "value", Value: "COL"}}}
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	if c.Precision {
		return c.printPrecision(s, m)
	}
	calibration, err := c.calibration(s, m)
	if err != nil {
		return err
	}
	if c.Best == 0 && c.FalseRate.IsZero() && (c.Output == "" || c.Output == "-") {
		s.SetResume("rows scored so far were printed")
	}
	return s.WriteFile(cmp.Or(c.Output, "-"), func(out io.Writer) (failed error) {
		w := verbs.NewRowWriter(out, c.Output, s.JSON, verbs.ExtraColumns{Imputed: c.Impute != "", Errors: c.OnError == schema.EmptyBadRows,
			Limited: c.limited()})
		o := score.Options{Format: c.Format, At: c.At, Best: c.Best, Entity: c.Entity, OnlyAlerts: c.OnlyAlerts, Keep: c.Keep,
			Probability: c.Probability, Prevalence: c.Prevalence, MaxFalseDiscoveries: c.FalseRate, Calibration: calibration, RankByValue: c.Value,
			Progress: func(rows int) { s.Progress.Show(-1, "%s rows scored", text.Count(rows)) }}
		rejects, err := c.badRowFlags.apply(&o)
		if err != nil {
			return err
		}
		defer rejects.Close()
		limit, err := c.alertFlags.open(s, m, &o)
		if err != nil {
			return err
		}
		defer func() { failed = errors.Join(failed, limit.Close()) }()
		in, err := openRows(s, c.Data)
		if err != nil {
			return err
		}
		defer in.Close()
		return writeRows(s, m, in, o, w)
	})
}

// calibration reads the rows of --calibration, nil without it, and refuses a list of rows that may never end.
func (c *scoreCommand) calibration(s *cli.Session, m *model.Model) (*dataset.Data, error) {
	if !c.FalseRate.IsZero() && !regular(s, c.Data) {
		return nil, &diag.Error{Kind: diag.Usage, Param: "max-false-discoveries", Found: "with rows that arrive one by one",
			Expected: "a file: the list depends on all its rows",
			Hint:     "for a stream, threshold --min-precision sets a threshold with a guarantee"}
	}
	if c.Negatives == "" {
		return nil, nil
	}
	format, err := verbs.FormatFor(c.Format, m)
	if err != nil {
		return nil, err
	}
	return dataset.Read(s, c.Negatives, format)
}

// regular reports whether all rows are there: they are in files, not in a pipe or a terminal.
func regular(s *cli.Session, paths []string) bool {
	for _, path := range paths {
		info, err := os.Stat(path)
		if f, ok := s.Stdin.(*os.File); ok && path == "-" {
			info, err = f.Stat()
		} else if path == "-" {
			return false
		}
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return false
		}
	}
	return true
}

// badRowFlags set what becomes of rows that have no score.
type badRowFlags struct {
	OnError schema.BadRows `group:"Bad rows" name:"on-error" placeholder:"stop|skip|empty" help:"A row that has no score: stop, skip it, or print it without a score (default stop)."`
	Reject  string         `group:"Bad rows" file:"out" placeholder:"FILE" help:"Write the line number, the reason and the text of each row without a score here, at once. The default of --on-error is then skip."`
	Impute  schema.Impute  `group:"Bad rows" placeholder:"NAME" help:"median or zero: impute values that the model refuses if they are missing. Such rows are flagged, and no guarantee covers them."`
}

// apply sets the options and opens the file of rejected rows. The caller closes it.
func (f *badRowFlags) apply(o *score.Options) (*rejectFile, error) {
	o.OnError, o.Impute = f.OnError, f.Impute
	if f.Reject == "" {
		return &rejectFile{}, nil
	}
	if o.OnError == "" {
		o.OnError = schema.SkipBadRows
	}
	r, err := createRejectFile(f.Reject)
	if err == nil {
		o.OnReject = r.add
	}
	return r, err
}

// rejectFile is a CSV file with the rows that have no score. It grows as they come, because a stream may
// never end.
type rejectFile struct {
	file io.WriteCloser
	w    *csv.Writer
}

func createRejectFile(path string) (*rejectFile, error) {
	file, err := atomicfile.OpenLog(path)
	if err != nil {
		return nil, err
	}
	r := &rejectFile{file: file, w: csv.NewWriter(file)}
	r.w.Write([]string{"line", "reason", "text"})
	r.w.Flush()
	return r, r.w.Error()
}

func (r *rejectFile) add(row result.Rejected) error {
	r.w.Write([]string{strconv.Itoa(row.Line), verbs.ReasonText(row.Err), row.Text})
	r.w.Flush()
	return r.w.Error()
}

// Close closes the file, if there is one.
func (r *rejectFile) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// writeRows scores the rows of in and writes them as they come. Warnings go to standard error.
func writeRows(s *cli.Session, m *model.Model, in io.Reader, o score.Options, w verbs.RowWriter) error {
	show := o.Progress
	o.Progress = func(rows int) {
		show(rows)
		w.Flush()
		s.Stdout.Flush() // its error returns with the next write
	}
	stream, err := score.Open(s, m, in, o)
	if err != nil {
		return err
	}
	if err := w.Begin(stream); err != nil {
		return err
	}
	s.Progress.Start()
	for row, err := range stream.Rows() {
		if err != nil {
			w.End()
			if s.Err() != nil {
				printRowWarnings(s, stream)
			}
			return err
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	s.Progress.Clear()
	err = w.End()
	printRowWarnings(s, stream)
	return err
}

// printRowWarnings prints the warnings of a stream on standard error.
func printRowWarnings(s *cli.Session, stream *score.Stream) {
	s.Stdout.Flush()
	totals := stream.Totals()
	if l := totals.List; l != nil && (l.MaxFalse < l.Rows || !l.MaxFalseDiscoveries.IsZero()) { // otherwise the column is enough
		s.PrintError("note: " + report.ListText(l, cmp.Or(stream.Entity, "rows")))
	}
	for _, warning := range totals.Warnings {
		s.PrintError("note: " + s.Note(warning))
	}
}

// stdin is standard input under the name that users give it.
type stdin struct{ io.Reader }

// Name returns "-".
func (stdin) Name() string { return "-" }

// Close does nothing.
func (stdin) Close() error { return nil }

// stdinFile is standard input that is a regular file: its rows need not be waited for.
type stdinFile struct{ *os.File }

// Name returns "-".
func (stdinFile) Name() string { return "-" }

// openRows opens files; "-" is standard input.
func openRows(s *cli.Session, paths []string) (io.ReadCloser, error) {
	if len(paths) > 1 || paths[0] != "-" {
		return dataset.OpenFiles(paths...)
	}
	if f, ok := s.Stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return stdinFile{f}, nil
		}
	}
	return stdin{s.Stdin}, nil
}
