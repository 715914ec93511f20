package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"toptau"
	"toptau/diag"
	"toptau/internal/atomicfile"
	"toptau/internal/cli"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// scoreCommand applies a model.
type scoreCommand struct {
	Model       string         `file:"in" arg:"" help:"A model file."`
	Data        []string       `file:"in" arg:"" help:"Data to score, with or without labels: files, directories or patterns; - is standard input, whose rows are scored as they arrive."`
	At          string         `placeholder:"NAME" help:"The operating point of the decision column (default: the model's first)."`
	Best        int            `placeholder:"N" help:"Print only the N rows with the highest scores, best first."`
	Probability bool           `help:"Also print the probability that a row is positive."`
	Prevalence  threshold.Rate `placeholder:"RATE" help:"With --probability or --precision: the fraction of positives among the rows (default: as in training)."`
	Precision   bool           `help:"Instead of rows print what to expect for budgets: lowest score, probability there, precision."`
	Entity      string         `placeholder:"COL" help:"Merge the rows of each value of this column, with --time those of each day: print the one with the highest score, with the number of rows and alerts. It comes at the end of the input."`
	OnlyAlerts  bool           `name:"only-alerts" help:"Print only rows with an alert, as they come. If the operating point counts entities, or with --entity, print only the first alert of each entity (and day)."`
	Keep        bool           `help:"Pass the other columns of the input through."`
	Output      string         `file:"rows" short:"o" placeholder:"FILE" help:"Write here instead of standard output. The file appears when it is complete."`
	Follow      bool           `help:"Go on at the end of the file with the rows that are appended to it, also after it is truncated or rotated, like tail -F. An interruption ends it."`
	badRowFlags
	alertFlags
	verifyFlags
	schema.Format
}

func (c *scoreCommand) Run(s *cli.Session) error {
	if c.Best < 0 {
		return &diag.Error{Kind: diag.Usage, Param: "best", Found: fmt.Sprint(c.Best), Expected: "at least 1"}
	}
	if c.Follow && (c.Best > 0 || c.Output != "" && c.Output != "-") {
		return &diag.Error{Kind: diag.Usage, Param: "follow", Found: "together with --best or -o", Expected: "rows on standard output, as they come"}
	}
	if c.Follow && c.Entity != "" && !c.OnlyAlerts {
		return &diag.Error{Kind: diag.Usage, Param: "follow", Found: "together with --entity", Expected: "an input that ends, to merge its rows",
			Fixes: []diag.Fix{{Param: "only-alerts"}}}
	}
	m, err := c.load(c.Model)
	if err != nil {
		return err
	}
	if c.Precision {
		return c.printPrecision(s, m)
	}
	return s.WriteFile(cmp.Or(c.Output, "-"), func(out io.Writer) (failed error) {
		var w rowWriter = &csvRows{w: csv.NewWriter(out), imputed: c.Impute != "", errors: c.OnError == toptau.EmptyBadRows,
			limited: c.limited()}
		if s.JSON {
			w = &jsonRows{w: cli.JSONLines{W: out}}
		}
		o := toptau.ScoreOptions{Format: c.Format, At: c.At, Best: c.Best, Entity: c.Entity, OnlyAlerts: c.OnlyAlerts, Keep: c.Keep,
			Probability: c.Probability, Prevalence: c.Prevalence,
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
		in, err := openRows(s, c.Data, c.Follow)
		if err != nil {
			return err
		}
		defer in.Close()
		return writeRows(s, m, in, o, w)
	})
}

// badRowFlags set what becomes of rows that have no score.
type badRowFlags struct {
	OnError toptau.BadRows `group:"Bad rows" name:"on-error" placeholder:"stop|skip|empty" help:"A row that has no score: stop, skip it, or print it without a score (default stop)."`
	Reject  string         `group:"Bad rows" file:"out" placeholder:"FILE" help:"Write the line number, the reason and the text of each row without a score here, at once. Default of --on-error is then skip."`
	Impute  schema.Impute  `group:"Bad rows" placeholder:"NAME" help:"median or zero: impute values that the model refuses if they are missing. Such rows are flagged, and no guarantee covers them."`
}

// apply sets the options and opens the file of rejected rows. The caller closes it.
func (f *badRowFlags) apply(o *toptau.ScoreOptions) (*rejectFile, error) {
	o.OnError, o.Impute = f.OnError, f.Impute
	if f.Reject == "" {
		return &rejectFile{}, nil
	}
	if o.OnError == "" {
		o.OnError = toptau.SkipBadRows
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
	r.w.Write([]string{strconv.Itoa(row.Line), reasonText(row.Err), row.Text})
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

// reasonText returns the text of a row's error without its file and line.
func reasonText(err error) string {
	e := diag.Of(err)
	if e == nil {
		return err.Error()
	}
	reason := *e
	reason.File, reason.Line = "", 0
	return reason.Text(cli.Spell)
}

// writeRows scores the rows of in and writes them as they come. Warnings go to standard error.
func writeRows(s *cli.Session, m *model.Model, in io.Reader, o toptau.ScoreOptions, w rowWriter) error {
	show := o.Progress
	o.Progress = func(rows int) {
		show(rows)
		w.flush()
		s.Stdout.Flush() // its error returns with the next write
	}
	stream, err := toptau.Score(s, m, in, o)
	if err != nil {
		return err
	}
	if err := w.begin(stream); err != nil {
		return err
	}
	s.Progress.Start()
	for row, err := range stream.Rows() {
		if err != nil {
			w.end()
			if s.Err() != nil {
				printRowWarnings(s, stream)
			}
			return err
		}
		if err := w.write(row); err != nil {
			return err
		}
	}
	s.Progress.Clear()
	err = w.end()
	printRowWarnings(s, stream)
	return err
}

// printRowWarnings prints the warnings of a stream on standard error.
func printRowWarnings(s *cli.Session, stream *toptau.Stream) {
	s.Stdout.Flush()
	for _, warning := range stream.Totals().Warnings {
		s.PrintError("note: " + warning.Words(cli.Spell))
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

// openRows opens files, or one that may grow; "-" is standard input.
func openRows(s *cli.Session, paths []string, follow bool) (io.ReadCloser, error) {
	path := paths[0]
	switch {
	case follow && len(paths) > 1:
		return nil, &diag.Error{Kind: diag.Usage, Param: "follow", Found: fmt.Sprintf("with %d files", len(paths)), Expected: "one file"}
	case len(paths) > 1 || path != "-" && !follow:
		return toptau.OpenFiles(paths...)
	case follow && path == "-":
		return nil, &diag.Error{Kind: diag.Usage, Param: "follow", Found: "with standard input", Expected: "a file",
			Hint: "rows of a pipe are scored as they arrive"}
	case follow:
		return table.OpenGrowing(s, path)
	case path == "-":
		if f, ok := s.Stdin.(*os.File); ok {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				return stdinFile{f}, nil
			}
		}
	}
	return stdin{s.Stdin}, nil
}

// readData reads files as one labelled table.
func readData(s *cli.Session, paths []string, f toptau.Format) (*toptau.Data, error) {
	if len(paths) == 1 {
		return toptau.Read(s, paths[0], f)
	}
	files, err := toptau.OpenFiles(paths...)
	if err != nil {
		return nil, err
	}
	return toptau.ReadFrom(s, files, f)
}

// rowWriter writes scored rows.
type rowWriter interface {
	begin(*toptau.Stream) error
	write(*result.Row) error
	flush() // passes on what was written
	end() error
}

// csvRows prints a header and one line a row.
type csvRows struct {
	w           *csv.Writer
	fields      []string
	rows        bool // the first column is the row number
	imputed     bool // a column lists the imputed columns
	errors      bool // a column has the reason why a row has no score
	limited     bool // a column has the reason why a row is held back
	probability bool // there is a column of probabilities
	merged      bool // there are columns of the entity
	daily       bool // one of them is the day
}

func (c *csvRows) begin(s *toptau.Stream) error {
	header := slices.Clone(s.ID)
	if len(header) == 0 {
		header, c.rows = []string{"row"}, true
	}
	header = append(header, s.Kept...)
	if c.merged, c.daily = s.Entity != "", s.Daily; c.merged {
		header = append(header, s.Entity)
		if c.daily {
			header = append(header, "day")
		}
		header = append(header, "rows", "alerts")
	}
	header = append(header, "score")
	if c.probability = s.HasProbability(); c.probability {
		header = append(header, "probability")
	}
	header = append(header, "decision")
	for _, name := range s.Points[1:] {
		header = append(header, "decision_"+name)
	}
	if c.limited {
		header = append(header, "held_back")
	}
	if c.imputed {
		header = append(header, "imputed")
	}
	if c.errors {
		header = append(header, "error")
	}
	return c.w.Write(header)
}

func (c *csvRows) write(r *result.Row) error {
	c.fields = c.fields[:0]
	if c.rows {
		c.fields = append(c.fields, strconv.Itoa(r.Number))
	}
	c.fields = append(append(c.fields, r.ID...), r.Input...)
	if c.merged {
		c.fields = append(c.fields, r.Merged.Entity)
		if c.daily {
			c.fields = append(c.fields, r.Merged.Day)
		}
		c.fields = append(c.fields, strconv.Itoa(r.Merged.Rows), strconv.Itoa(r.Merged.Alerts))
	}
	score, yes, no := "", "", "" // of a row without a score
	if r.Err == nil {
		score, yes, no = strconv.FormatFloat(r.Score, 'g', -1, 64), "1", "0"
	}
	c.fields = append(c.fields, score)
	if r.Probability != nil {
		c.fields = append(c.fields, strconv.FormatFloat(*r.Probability, 'g', 6, 64))
	} else if c.probability {
		c.fields = append(c.fields, "")
	}
	for _, positive := range r.Decisions {
		decision := no
		if positive {
			decision = yes
		}
		c.fields = append(c.fields, decision)
	}
	if c.limited {
		c.fields = append(c.fields, r.HeldBack)
	}
	if c.imputed {
		c.fields = append(c.fields, strings.Join(r.Imputed, ";"))
	}
	if c.errors {
		reason := ""
		if r.Err != nil {
			reason = reasonText(r.Err)
		}
		c.fields = append(c.fields, reason)
	}
	return c.w.Write(c.fields)
}

func (c *csvRows) flush() { c.w.Flush() }

func (c *csvRows) end() error {
	c.w.Flush()
	return c.w.Error()
}

// jsonRows prints one object a line.
type jsonRows struct {
	w      io.Writer
	stream *toptau.Stream
	line   []byte
}

func (j *jsonRows) begin(s *toptau.Stream) error {
	j.stream = s
	return nil
}

func (j *jsonRows) write(r *result.Row) error {
	b := append(j.line[:0], `{"schema_version":2,"row":`...)
	b = strconv.AppendInt(b, int64(r.Number), 10)
	b = appendStrings(b, "id", j.stream.ID, r.ID)
	b = appendStrings(b, "input", j.stream.Kept, r.Input)
	if r.Err != nil {
		b = append(b, `,"score":null,"decision":null,"error":`...)
		j.line = append(appendJSON(b, reasonText(r.Err)), "}\n"...)
		_, err := j.w.Write(j.line)
		return err
	}
	if u := r.Merged; u != nil {
		b = appendJSON(append(b, `,"entity":`...), u.Entity)
		if j.stream.Daily {
			b = appendJSON(append(b, `,"day":`...), u.Day)
		}
		b = strconv.AppendInt(append(b, `,"rows":`...), int64(u.Rows), 10)
		b = strconv.AppendInt(append(b, `,"alerts":`...), int64(u.Alerts), 10)
	}
	b = append(b, `,"score":`...)
	b = strconv.AppendFloat(b, r.Score, 'g', -1, 64)
	if r.Probability != nil {
		b = append(b, `,"probability":`...)
		b = strconv.AppendFloat(b, *r.Probability, 'g', 6, 64)
	}
	b = append(b, `,"decision":`...)
	b = strconv.AppendBool(b, r.Decisions[0])
	b = append(b, `,"decisions":{`...)
	for k, name := range j.stream.Points {
		if k > 0 {
			b = append(b, ',')
		}
		b = append(appendJSON(b, name), ':')
		b = strconv.AppendBool(b, r.Decisions[k])
	}
	b = append(b, '}')
	if r.HeldBack != "" {
		b = appendJSON(append(b, `,"held_back":`...), r.HeldBack)
	}
	if len(r.Imputed) > 0 {
		b = append(b, `,"imputed":[`...)
		for k, name := range r.Imputed {
			if k > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, name)
		}
		b = append(b, ']')
	}
	j.line = append(b, "}\n"...)
	_, err := j.w.Write(j.line)
	return err
}

func (j *jsonRows) flush() {}

func (j *jsonRows) end() error { return nil }

// appendStrings appends ,"name":{"column":"value",...}, or nothing without columns.
func appendStrings(b []byte, name string, columns, values []string) []byte {
	if len(columns) == 0 {
		return b
	}
	b = append(b, `,"`+name+`":{`...)
	for i, column := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendJSON(b, column), ':')
		b = appendJSON(b, values[i])
	}
	return append(b, '}')
}
