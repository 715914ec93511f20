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
	"toptau/model"
)

// scoreCommand applies a model.
type scoreCommand struct {
	Model  string `file:"in" arg:"" help:"A model file."`
	Data   string `file:"in" arg:"" help:"Data to score, with or without labels; - is standard input."`
	At     string `placeholder:"NAME" help:"The operating point of the decision column (default: the model's first)."`
	Best   int    `placeholder:"N" help:"Print only the N best rows, best first."`
	Keep   bool   `help:"Pass the input's columns through."`
	Output string `file:"rows" short:"o" placeholder:"FILE" help:"Write here instead of standard output; the file appears when it is complete."`
	verifyFlags
	dataFlags
}

func (c *scoreCommand) Run(s *cli.Session) error {
	if c.Best < 0 {
		return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("--best %d", c.Best), Expected: "at least 1"}
	}
	m, err := c.load(c.Model)
	if err != nil {
		return err
	}
	return s.WriteFile(cmp.Or(c.Output, "-"), func(out io.Writer) error { return c.write(s, m, out) })
}

func (c *scoreCommand) write(s *cli.Session, m *model.Model, out io.Writer) error {
	options := toptau.ScoreOptions{Format: c.format(), At: c.At, Best: c.Best, Keep: c.Keep,
		Progress: func(rows int) { s.Progress.Show(-1, "%s rows scored", group(rows)) }}
	var w rowWriter = &csvRows{w: csv.NewWriter(out)}
	if s.JSON {
		w = &jsonRows{w: cli.JSONLines{W: out}}
	}
	s.Progress.Start()
	res, err := toptau.Score(s, m, c.Data, options, w.begin, w.row)
	if err != nil {
		w.end()
		return err
	}
	s.Progress.Clear()
	for _, warning := range res.Warnings {
		s.PrintError("note: " + warning.Words(cli.Spell))
	}
	return w.end()
}

// rowWriter prints scored rows.
type rowWriter interface {
	begin(*toptau.Scoring) error
	row(*toptau.Scored) error
	end() error
}

// csvRows prints a header and one line a row.
type csvRows struct {
	w      *csv.Writer
	fields []string
	rows   bool // rows are told apart by their number
}

func (c *csvRows) begin(s *toptau.Scoring) error {
	header := slices.Clone(s.ID)
	if len(header) == 0 {
		header, c.rows = []string{"row"}, true
	}
	header = append(append(header, s.Kept...), "score", "decision")
	for _, name := range s.Points[1:] {
		header = append(header, "decision_"+name)
	}
	return c.w.Write(header)
}

func (c *csvRows) row(r *toptau.Scored) error {
	c.fields = c.fields[:0]
	if c.rows {
		c.fields = append(c.fields, strconv.Itoa(r.Row))
	}
	c.fields = append(append(c.fields, r.ID...), r.Fields...)
	c.fields = append(c.fields, strconv.FormatFloat(r.Score, 'g', -1, 64))
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
	w       io.Writer
	scoring *toptau.Scoring
	line    []byte
}

func (j *jsonRows) begin(s *toptau.Scoring) error {
	j.scoring = s
	return nil
}

func (j *jsonRows) row(r *toptau.Scored) error {
	b := append(j.line[:0], `{"schema_version":`...)
	b = strconv.AppendInt(b, toptau.SchemaVersion, 10)
	b = append(b, `,"row":`...)
	b = strconv.AppendInt(b, int64(r.Row), 10)
	b = appendStrings(b, "id", j.scoring.ID, r.ID)
	b = appendStrings(b, "input", j.scoring.Kept, r.Fields)
	b = append(b, `,"score":`...)
	b = strconv.AppendFloat(b, r.Score, 'g', -1, 64)
	b = append(b, `,"decision":`...)
	b = strconv.AppendBool(b, r.Decisions[0])
	b = append(b, `,"decisions":{`...)
	for k, name := range j.scoring.Points {
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
