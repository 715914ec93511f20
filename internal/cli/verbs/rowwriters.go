package verbs

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"toptau"
	"toptau/diag"
	"toptau/internal/cli"
	"toptau/internal/parquet"
	"toptau/result"
)

// RowWriter writes scored rows.
type RowWriter interface {
	Begin(*toptau.Stream) error
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
	return &csvRows{w: csv.NewWriter(out), extra: extra}
}

// ExtraColumns are the columns of scored rows that flags ask for.
type ExtraColumns struct {
	Imputed bool // the imputed columns
	Errors  bool // the reason why a row has no score
	Limited bool // the reason why a row is held back
}

// rowColumn is a column of scored rows: text, or a number or a truth value, which a row without a score does not have.
type rowColumn struct {
	name string
	text func(r *result.Row) string
	kind parquet.Type
	put  func(w *parquet.Writer, column int, r *result.Row) // nil: the text
}

// rowColumns returns the columns of the rows of a stream.
func rowColumns(s *toptau.Stream, extra ExtraColumns) []rowColumn {
	var list []rowColumn
	add := func(name string, text func(r *result.Row) string) {
		list = append(list, rowColumn{name: name, kind: parquet.Text, text: text})
	}
	whole := func(name string, value func(r *result.Row) int) {
		list = append(list, rowColumn{name: name, kind: parquet.Whole,
			text: func(r *result.Row) string { return strconv.Itoa(value(r)) },
			put:  func(w *parquet.Writer, column int, r *result.Row) { w.SetWhole(column, int64(value(r))) }})
	}
	number := func(name string, digits int, value func(r *result.Row) float64) {
		list = append(list, rowColumn{name: name, kind: parquet.Double,
			text: func(r *result.Row) string {
				v := value(r)
				if v != v {
					return ""
				}
				return strconv.FormatFloat(v, 'g', digits, 64)
			},
			put: func(w *parquet.Writer, column int, r *result.Row) { w.SetNumber(column, value(r)) }})
	}
	if len(s.ID) == 0 {
		whole("row", func(r *result.Row) int { return r.Number })
	}
	for k, name := range s.ID {
		add(name, func(r *result.Row) string { return r.ID[k] })
	}
	for k, name := range s.Kept {
		add(name, func(r *result.Row) string { return r.Input[k] })
	}
	if s.Entity != "" {
		add(s.Entity, func(r *result.Row) string { return r.Merged.Entity })
		if s.Daily {
			add("day", func(r *result.Row) string { return r.Merged.Day })
		}
		whole("rows", func(r *result.Row) int { return r.Merged.Rows })
		whole("alerts", func(r *result.Row) int { return r.Merged.Alerts })
	}
	number("score", -1, func(r *result.Row) float64 {
		if r.Err != nil {
			return math.NaN()
		}
		return r.Score
	})
	if s.HasProbability() {
		number("probability", 6, func(r *result.Row) float64 {
			if r.Probability == nil {
				return math.NaN()
			}
			return *r.Probability
		})
	}
	for k, point := range s.Points {
		name := "decision"
		if k > 0 {
			name += "_" + point
		}
		list = append(list, decisionColumn(name, k))
	}
	if extra.Limited {
		add("held_back", func(r *result.Row) string { return r.HeldBack })
	}
	if extra.Imputed {
		add("imputed", func(r *result.Row) string { return strings.Join(r.Imputed, ";") })
	}
	if extra.Errors {
		add("error", func(r *result.Row) string {
			if r.Err == nil {
				return ""
			}
			return ReasonText(r.Err)
		})
	}
	return list
}

// decisionColumn is the column of the decisions at operating point k.
func decisionColumn(name string, k int) rowColumn {
	return rowColumn{name: name, kind: parquet.Boolean,
		text: func(r *result.Row) string {
			switch {
			case r.Err != nil:
				return ""
			case r.Decisions[k]:
				return "1"
			}
			return "0"
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
	w       *csv.Writer
	extra   ExtraColumns
	columns []rowColumn
	fields  []string
}

func (c *csvRows) Begin(s *toptau.Stream) error {
	c.columns = rowColumns(s, c.extra)
	c.fields = make([]string, len(c.columns))
	for k := range c.columns {
		c.fields[k] = c.columns[k].name
	}
	return c.w.Write(c.fields)
}

func (c *csvRows) Write(r *result.Row) error {
	for k := range c.columns {
		c.fields[k] = c.columns[k].text(r)
	}
	return c.w.Write(c.fields)
}

func (c *csvRows) Flush() { c.w.Flush() }

func (c *csvRows) End() error {
	c.w.Flush()
	return c.w.Error()
}

// parquetRows writes a Parquet file.
type parquetRows struct {
	out     io.Writer
	extra   ExtraColumns
	columns []rowColumn
	w       *parquet.Writer
}

func (p *parquetRows) Begin(s *toptau.Stream) (err error) {
	p.columns = rowColumns(s, p.extra)
	list := make([]parquet.WriteColumn, len(p.columns))
	known := map[string]bool{}
	for k, c := range p.columns {
		if known[c.name] {
			return &diag.Error{Kind: diag.Usage, Column: c.name, Found: "a column of that name among those passed through", Expected: "different names in a Parquet file",
				Hint: "write CSV, or rename the column"}
		}
		known[c.name] = true
		list[k] = parquet.WriteColumn{Name: c.name, Type: c.kind}
	}
	p.w, err = parquet.NewWriter(p.out, list)
	return err
}

func (p *parquetRows) Write(r *result.Row) error {
	for k := range p.columns {
		if c := &p.columns[k]; c.put != nil {
			c.put(p.w, k, r)
		} else {
			p.w.SetText(k, c.text(r))
		}
	}
	return p.w.EndRow()
}

func (p *parquetRows) Flush() {}

func (p *parquetRows) End() error { return p.w.Close() }

// jsonRows prints one object a line.
type jsonRows struct {
	w      io.Writer
	stream *toptau.Stream
	line   []byte
}

func (j *jsonRows) Begin(s *toptau.Stream) error {
	j.stream = s
	return nil
}

func (j *jsonRows) Write(r *result.Row) error {
	b := append(j.line[:0], `{"schema_version":2,"row":`...)
	b = strconv.AppendInt(b, int64(r.Number), 10)
	b = appendStrings(b, "id", j.stream.ID, r.ID)
	b = appendStrings(b, "input", j.stream.Kept, r.Input)
	if r.Err != nil {
		b = append(b, `,"score":null,"decision":null,"error":`...)
		j.line = append(appendJSON(b, ReasonText(r.Err)), "}\n"...)
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

func (j *jsonRows) Flush() {}

func (j *jsonRows) End() error { return nil }

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

func appendJSON(b []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string cannot fail
	return append(b, quoted...)
}
