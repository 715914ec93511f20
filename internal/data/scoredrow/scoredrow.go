// Package scoredrow writes scored rows as JSON: one object a row, the same from the commands, as a line, and from the
// server, as a line or in a list. docs/reference/json.md describes it.
package scoredrow

import (
	"slices"
	"strconv"

	"toptau/internal/data/jsontext"
	"toptau/result"
)

// Row is a scored row. Parts that are empty are left out.
type Row struct {
	Number int     // 1-based
	ID     []Value // by identifying column
	Input  []Value // by other column that is passed through

	Problem []byte // why the row has no score, as JSON; nil: it has one. Otherwise the fields below are not read

	Merged        *result.Merged // the entity whose rows were merged
	Score         float64
	Probability   *float64
	ExpectedValue *float64 // see result.Row
	Threshold     float64  // of the chosen operating point
	Decision      bool     // at the chosen operating point
	Decisions     []bool   // by operating point
	Tail          float64  // the largest fraction of calibration scores that are as high; 0: not known
	MaxFalse      *int     // see result.Row
	HeldBack      string   // why an alert is held back
	Explanation   *result.Explanation

	Imputed, Missing, Unknown []string // columns with such values
}

// Value is a text, or JSON that is written unchanged.
type Value struct {
	Text []byte
	JSON bool
}

// Format is what the rows of a stream or a request have in common.
type Format struct {
	start             []byte
	id, input, points [][]byte // keys with their colons
}

// NewFormat returns the format of rows with the names of their columns and operating points. lines: each row is a document
// with the version of the schema; otherwise the document that contains them has it.
func NewFormat(lines bool, id, input, points []string) *Format {
	keys := func(names []string) [][]byte {
		list := make([][]byte, len(names))
		for k, name := range names {
			list[k] = append(jsontext.AppendText(nil, name), ':')
		}
		return list
	}
	f := &Format{start: []byte(`{"row":`), id: keys(id), input: keys(input), points: keys(points)}
	if lines {
		version, _ := result.Version{}.MarshalJSON() // a number cannot fail
		f.start = slices.Concat([]byte(`{"schema_version":`), version, []byte(`,"row":`))
	}
	return f
}

// Append appends a row to b.
func (f *Format) Append(b []byte, r *Row) []byte {
	b = strconv.AppendInt(append(b, f.start...), int64(r.Number), 10)
	switch len(r.ID) {
	case 0:
	case 1: // a name would say nothing
		b = appendValue(append(b, `,"id":`...), r.ID[0])
	default:
		b = appendMembers(append(b, `,"id":`...), f.id, r.ID)
	}
	if len(r.Input) > 0 {
		b = appendMembers(append(b, `,"input":`...), f.input, r.Input)
	}
	if r.Problem != nil {
		return append(append(append(b, `,"error":`...), r.Problem...), '}')
	}
	if m := r.Merged; m != nil {
		b = appendMember(b, "entity", m.Entity)
		if m.Day != "" {
			b = appendMember(b, "day", m.Day)
		}
		b = strconv.AppendInt(append(b, `,"rows":`...), int64(m.Rows), 10)
		b = strconv.AppendInt(append(b, `,"alerts":`...), int64(m.Alerts), 10)
	}
	b = jsontext.AppendNumber(append(b, `,"score":`...), r.Score)
	if r.Probability != nil {
		b = appendRounded(append(b, `,"probability":`...), *r.Probability)
	}
	if r.ExpectedValue != nil {
		b = appendRounded(append(b, `,"expected_value":`...), *r.ExpectedValue)
	}
	b = strconv.AppendBool(append(b, `,"decision":`...), r.Decision)
	b = append(b, `,"decisions":{`...)
	for k, decision := range r.Decisions {
		if k > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendBool(append(b, f.points[k]...), decision)
	}
	b = jsontext.AppendNumber(append(b, `},"threshold":`...), r.Threshold)
	if r.Tail > 0 {
		b = appendRounded(append(b, `,"tail":`...), r.Tail)
	}
	if r.MaxFalse != nil {
		b = strconv.AppendInt(append(b, `,"max_false":`...), int64(*r.MaxFalse), 10)
	}
	if r.HeldBack != "" {
		b = appendMember(b, "held_back", r.HeldBack)
	}
	if r.Explanation != nil {
		b = appendExplanation(b, r.Explanation)
	}
	b = appendNames(b, "imputed", r.Imputed)
	b = appendNames(b, "missing", r.Missing)
	return append(appendNames(b, "unknown", r.Unknown), '}')
}

// appendExplanation appends why a row has its score.
func appendExplanation(b []byte, e *result.Explanation) []byte {
	if e.AverageScore != nil {
		b = jsontext.AppendNumber(append(b, `,"average_score":`...), *e.AverageScore)
	}
	b = jsontext.AppendNumber(append(b, `,"offset":`...), e.Offset)
	b = append(b, `,"reasons":[`...)
	for i := range e.Reasons {
		r := &e.Reasons[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendText(append(b, `{"column":`...), r.Column)
		b = appendMember(b, "value", r.Value)
		b = jsontext.AppendNumber(append(b, `,"adds":`...), r.Adds)
		b = jsontext.AppendNumber(append(b, `,"above_average":`...), r.AboveAverage)
		b = append(b, '}')
	}
	return jsontext.AppendNumber(append(b, `],"rounding":`...), e.Rounding)
}

// appendRounded appends a number that is an estimate or a bound, with six significant digits.
func appendRounded(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', 6, 64) }

func appendMember(b []byte, name, text string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return jsontext.AppendText(b, text)
}

func appendValue(b []byte, v Value) []byte {
	if v.JSON {
		return append(b, v.Text...)
	}
	return jsontext.AppendText(b, v.Text)
}

// appendMembers appends an object.
func appendMembers(b []byte, keys [][]byte, values []Value) []byte {
	b = append(b, '{')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(append(b, keys[i]...), v)
	}
	return append(b, '}')
}

// appendNames appends a list of columns, or nothing without any.
func appendNames(b []byte, name string, columns []string) []byte {
	if len(columns) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":[`...)
	for i, column := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendText(b, column)
	}
	return append(b, ']')
}

// Texts appends texts to a list of values, whose memory it takes.
func Texts(list []Value, texts []string) []Value {
	list = slices.Grow(list[:0], len(texts))[:len(texts)]
	for i, text := range texts {
		list[i] = Value{Text: append(list[i].Text[:0], text...)}
	}
	return list
}
