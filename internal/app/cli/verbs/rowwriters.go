package verbs

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/printed"
	"toptau/internal/data/parquet"
	"toptau/internal/data/scoredrow"
	"toptau/result"
	"toptau/score"
)

// RowWriter writes scored rows.
type RowWriter interface {
	Begin(*score.Stream) error
	Write(*result.Row) error
	Flush() // passes on what was written
	End() error
}

// NewRowWriter returns a writer of objects, of a Parquet file if the name of the output ends in .parquet, or else of CSV.
func NewRowWriter(out io.Writer, output string, json bool, extra ExtraColumns) RowWriter {
	switch {
	case json:
		return &jsonRows{w: cli.JSONLines{W: out}}
	case strings.HasSuffix(output, ".parquet"):
		return &parquetRows{out: out, extra: extra}
	}
	return &csvRows{w: bufio.NewWriter(out), extra: extra}
}

// ExtraColumns are the columns of scored rows that flags ask for.
type ExtraColumns struct {
	Imputed bool // the imputed columns
	Errors  bool // the reason why a row has no score
	Limited bool // the reason why a row is held back
}

// rowColumn is a column of scored rows: text, or a number or a truth value, which a row without a score does not have.
type rowColumn struct {
	name   string
	append func(line []byte, r *result.Row) []byte // the field of CSV
	kind   parquet.Type
	put    func(w *parquet.Writer, column int, r *result.Row)
}

// rowColumns returns the columns of the rows of a stream.
func rowColumns(s *score.Stream, extra ExtraColumns) []rowColumn {
	var list []rowColumn
	add := func(c rowColumn) { list = append(list, c) }
	if len(s.ID) == 0 {
		add(wholeColumn("row", func(r *result.Row) int { return r.Number }))
	}
	for k, name := range s.ID {
		add(textColumn(name, func(r *result.Row) string { return r.ID[k] }))
	}
	for k, name := range s.Kept {
		add(textColumn(name, func(r *result.Row) string { return r.Input[k] }))
	}
	if s.Entity != "" {
		add(textColumn(s.Entity, func(r *result.Row) string { return r.Merged.Entity }))
		if s.Daily {
			add(textColumn("day", func(r *result.Row) string { return r.Merged.Day }))
		}
		add(wholeColumn("rows", func(r *result.Row) int { return r.Merged.Rows }))
		add(wholeColumn("alerts", func(r *result.Row) int { return r.Merged.Alerts }))
	}
	list = append(list, scoreColumns(s)...)
	for k, point := range s.Points {
		name := "decision"
		if k > 0 {
			name += "_" + point
		}
		add(decisionColumn(name, k))
	}
	if extra.Limited {
		add(textColumn("held_back", func(r *result.Row) string { return r.HeldBack }))
	}
	if extra.Imputed {
		add(textColumn("imputed", func(r *result.Row) string { return strings.Join(r.Imputed, ";") }))
	}
	if extra.Errors {
		add(textColumn("error", func(r *result.Row) string {
			if r.Err == nil {
				return ""
			}
			return ReasonText(r.Err)
		}))
	}
	return list
}

// scoreColumns returns the columns of the score and what follows from it.
func scoreColumns(s *score.Stream) []rowColumn {
	var list []rowColumn
	add := func(c rowColumn) { list = append(list, c) }
	add(numberColumn("score", -1, func(r *result.Row) float64 {
		if r.Err != nil {
			return math.NaN()
		}
		return r.Score
	}))
	for _, name := range s.Extra {
		switch name {
		case "probability":
			add(numberColumn(name, 6, func(r *result.Row) float64 { return orNaN(r.Probability) }))
		case "expected_value":
			add(numberColumn(name, 6, func(r *result.Row) float64 { return orNaN(r.ExpectedValue) }))
		case "max_false":
			add(wholeColumn(name, func(r *result.Row) int { return *r.MaxFalse }))
		}
	}
	return list
}

// orNaN returns a number that a row may lack.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func textColumn(name string, value func(r *result.Row) string) rowColumn {
	return rowColumn{name: name, kind: parquet.Text,
		append: func(line []byte, r *result.Row) []byte { return scoredrow.AppendField(line, value(r)) },
		put:    func(w *parquet.Writer, column int, r *result.Row) { w.SetText(column, value(r)) }}
}

func wholeColumn(name string, value func(r *result.Row) int) rowColumn {
	return rowColumn{name: name, kind: parquet.Whole,
		append: func(line []byte, r *result.Row) []byte { return strconv.AppendInt(line, int64(value(r)), 10) },
		put:    func(w *parquet.Writer, column int, r *result.Row) { w.SetWhole(column, int64(value(r))) }}
}

// numberColumn is a column of numbers with some digits; -1: as many as needed. NaN is an empty field.
func numberColumn(name string, digits int, value func(r *result.Row) float64) rowColumn {
	return rowColumn{name: name, kind: parquet.Double,
		append: func(line []byte, r *result.Row) []byte {
			v := value(r)
			if v != v {
				return line
			}
			return strconv.AppendFloat(line, v, 'g', digits, 64)
		},
		put: func(w *parquet.Writer, column int, r *result.Row) { w.SetNumber(column, value(r)) }}
}

// decisionColumn is the column of the decisions at operating point k.
func decisionColumn(name string, k int) rowColumn {
	return rowColumn{name: name, kind: parquet.Boolean,
		append: func(line []byte, r *result.Row) []byte {
			switch {
			case r.Err != nil:
				return line
			case r.Decisions[k]:
				return append(line, '1')
			}
			return append(line, '0')
		},
		put: func(w *parquet.Writer, column int, r *result.Row) {
			if r.Err != nil {
				w.SetNoTruth(column)
			} else {
				w.SetTruth(column, r.Decisions[k])
			}
		}}
}

// csvRows prints a header and one line a row.
type csvRows struct {
	w       *bufio.Writer
	extra   ExtraColumns
	columns []rowColumn
}

func (c *csvRows) Begin(s *score.Stream) error {
	c.columns = rowColumns(s, c.extra)
	return c.writeLine(func(line []byte, column *rowColumn) []byte { return scoredrow.AppendField(line, column.name) })
}

func (c *csvRows) Write(r *result.Row) error {
	return c.writeLine(func(line []byte, column *rowColumn) []byte { return column.append(line, r) })
}

// writeLine writes a line with a field of each column.
func (c *csvRows) writeLine(field func(line []byte, column *rowColumn) []byte) error {
	line := c.w.AvailableBuffer()
	for k := range c.columns {
		if k > 0 {
			line = append(line, ',')
		}
		line = field(line, &c.columns[k])
	}
	_, err := c.w.Write(append(line, '\n'))
	return err
}

func (c *csvRows) Flush() { c.w.Flush() }

func (c *csvRows) End() error { return c.w.Flush() }

// parquetRows writes a Parquet file.
type parquetRows struct {
	out     io.Writer
	extra   ExtraColumns
	columns []rowColumn
	w       *parquet.Writer
}

func (p *parquetRows) Begin(s *score.Stream) (err error) {
	p.columns = rowColumns(s, p.extra)
	list := make([]parquet.WriteColumn, len(p.columns))
	known := map[string]bool{}
	for k, c := range p.columns {
		if known[c.name] {
			return &diag.Error{Kind: diag.Usage, Column: c.name, Found: "a column of that name among those passed through",
				Expected: "different names in a Parquet file",
				Hint:     "write CSV, or rename the column"}
		}
		known[c.name] = true
		list[k] = parquet.WriteColumn{Name: c.name, Type: c.kind}
	}
	p.w, err = parquet.NewWriter(p.out, list)
	return err
}

func (p *parquetRows) Write(r *result.Row) error {
	for k := range p.columns {
		p.columns[k].put(p.w, k, r)
	}
	return p.w.EndRow()
}

func (p *parquetRows) Flush() {}

func (p *parquetRows) End() error { return p.w.Close() }

// jsonRows prints one object a line.
type jsonRows struct {
	w      io.Writer
	format *scoredrow.Format
	line   []byte
	row    scoredrow.Row
}

func (j *jsonRows) Begin(s *score.Stream) error {
	j.format = scoredrow.NewFormat(true, s.ID, s.Kept, s.Points)
	return nil
}

func (j *jsonRows) Write(r *result.Row) error {
	out := scoredrow.Row{Number: r.Number, ID: scoredrow.Texts(j.row.ID, r.ID), Input: scoredrow.Texts(j.row.Input, r.Input)}
	if r.Err != nil {
		out.Problem = problemOf(r.Err)
	} else {
		out.Merged, out.Score, out.Probability, out.Threshold = r.Merged, r.Score, r.Probability, r.Threshold
		out.Decision, out.Decisions, out.HeldBack, out.Imputed = r.Decisions[0], r.Decisions, r.HeldBack, r.Imputed
		out.Explanation, out.MaxFalse, out.ExpectedValue = r.Explanation, r.MaxFalse, r.ExpectedValue
	}
	j.row = out
	j.line = append(j.format.Append(j.line[:0], &j.row), '\n')
	_, err := j.w.Write(j.line)
	return err
}

func (j *jsonRows) Flush() {}

func (j *jsonRows) End() error { return nil }

// problemOf returns the error of a row as JSON, without the file.
func problemOf(err error) []byte {
	e := diag.Of(err)
	if e == nil {
		e = &diag.Error{Kind: diag.Data, Found: err.Error()}
	}
	placed := *e
	placed.File, placed.Row = "", 0
	text, _ := json.Marshal(printed.NewFailure(&placed, ReasonText(err)).Error) // texts and numbers cannot fail
	return text
}

// ReasonText returns the text of a row's error without its file and line.
func ReasonText(err error) string {
	e := diag.Of(err)
	if e == nil {
		return err.Error()
	}
	reason := *e
	reason.File, reason.Line = "", 0
	return reason.Text(cli.Spell)
}
