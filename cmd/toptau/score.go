package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"toptau"
	"toptau/diag"
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
	Data        string         `file:"in" arg:"" help:"Data to score, with or without labels; - is standard input."`
	At          string         `placeholder:"NAME" help:"The operating point of the decision column (default: the model's first)."`
	Best        int            `placeholder:"N" help:"Print only the N rows with the highest scores, best first."`
	Probability bool           `help:"Also print the probability that a row is positive."`
	Prevalence  threshold.Rate `placeholder:"RATE" help:"With --probability or --precision: the fraction of positives among the rows (default: as in training)."`
	Precision   bool           `help:"Instead of rows print what to expect for budgets: lowest score, probability there, precision."`
	Keep        bool           `help:"Pass the other columns of the input through."`
	Output      string         `file:"rows" short:"o" placeholder:"FILE" help:"Write here instead of standard output. The file appears when it is complete."`
	verifyFlags
	schema.Format
}

func (c *scoreCommand) Run(s *cli.Session) error {
	if c.Best < 0 {
		return &diag.Error{Kind: diag.Usage, Param: "best", Found: fmt.Sprint(c.Best), Expected: "at least 1"}
	}
	m, err := c.load(c.Model)
	if err != nil {
		return err
	}
	if c.Precision {
		return c.printPrecision(s, m)
	}
	return s.WriteFile(cmp.Or(c.Output, "-"), func(out io.Writer) error {
		var w rowWriter = &csvRows{w: csv.NewWriter(out)}
		if s.JSON {
			w = &jsonRows{w: cli.JSONLines{W: out}}
		}
		return writeRows(s, m, c.Data, toptau.ScoreOptions{Format: c.Format, At: c.At, Best: c.Best, Keep: c.Keep,
			Probability: c.Probability, Prevalence: c.Prevalence,
			Progress: func(rows int) { s.Progress.Show(-1, "%s rows scored", text.Count(rows)) }}, w)
	})
}

// writeRows scores a file and writes its rows. Warnings go to standard error.
func writeRows(s *cli.Session, m *model.Model, path string, o toptau.ScoreOptions, w rowWriter) error {
	in, err := openRows(s, path)
	if err != nil {
		return err
	}
	defer in.Close()
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
			return err
		}
		if err := w.write(row); err != nil {
			return err
		}
	}
	s.Progress.Clear()
	for _, warning := range stream.Totals().Warnings {
		s.PrintError("note: " + warning.Words(cli.Spell))
	}
	return w.end()
}

// stdin is standard input under the name that users give it.
type stdin struct{ io.Reader }

// Name returns "-".
func (stdin) Name() string { return "-" }

// Close does nothing.
func (stdin) Close() error { return nil }

// openRows opens a file; "-" is standard input.
func openRows(s *cli.Session, path string) (io.ReadCloser, error) {
	if path == "-" {
		return stdin{s.Stdin}, nil
	}
	return table.OpenFile(path)
}

// rowWriter writes scored rows.
type rowWriter interface {
	begin(*toptau.Stream) error
	write(*result.Row) error
	end() error
}

// csvRows prints a header and one line a row.
type csvRows struct {
	w      *csv.Writer
	fields []string
	rows   bool // the first column is the row number
}

func (c *csvRows) begin(s *toptau.Stream) error {
	header := slices.Clone(s.ID)
	if len(header) == 0 {
		header, c.rows = []string{"row"}, true
	}
	header = append(append(header, s.Kept...), "score")
	if s.HasProbability() {
		header = append(header, "probability")
	}
	header = append(header, "decision")
	for _, name := range s.Points[1:] {
		header = append(header, "decision_"+name)
	}
	return c.w.Write(header)
}

func (c *csvRows) write(r *result.Row) error {
	c.fields = c.fields[:0]
	if c.rows {
		c.fields = append(c.fields, strconv.Itoa(r.Number))
	}
	c.fields = append(append(c.fields, r.ID...), r.Input...)
	c.fields = append(c.fields, strconv.FormatFloat(r.Score, 'g', -1, 64))
	if r.Probability != nil {
		c.fields = append(c.fields, strconv.FormatFloat(*r.Probability, 'g', 6, 64))
	}
	for _, positive := range r.Decisions {
		decision := "0"
		if positive {
			decision = "1"
		}
		c.fields = append(c.fields, decision)
	}
	return c.w.Write(c.fields)
}

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
	j.line = append(b, "}}\n"...)
	_, err := j.w.Write(j.line)
	return err
}

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
