package serve

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// media is a form of bodies and answers.
type media uint8

const (
	mediaJSON media = iota
	mediaLines
	mediaCSV
)

// contentTypes are the values of Content-Type of answers.
var contentTypes = [...][]string{{"application/json"}, {"application/x-ndjson"}, {"text/csv; charset=utf-8"}}

// appendText appends a text as JSON. Texts are valid UTF-8.
func appendText(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	done := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < 0x7f {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, text[done:i]...), `\ufffd`...)
				i++
				done = i
				continue
			}
			i += size
			continue
		}
		b = append(b, text[done:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		done = i
	}
	return append(append(b, text[done:]...), '"')
}

func appendNumber(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', -1, 64) }

// appendJSON appends the answer to a request as JSON.
func (s *Server) appendJSON(b []byte, r *rows, point int) []byte {
	b = slices.Grow(b, len(r.b.head)+r.n*r.resultWidth())
	b = append(append(b, r.b.head...), r.b.quoted[point]...)
	b = append(b, `,"results":[`...)
	first := true
	r.each(func(c *chunk, row int, bad *rowProblem) {
		if bad != nil && r.rowOptions.bad == skipRows {
			return
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = s.appendResult(b, r, point, c, row, bad)
	})
	b = append(b, `],"warnings":[`...)
	if r.s.extra > 0 {
		b = append(b, `{"code":"extra-columns","text":`...)
		b = appendText(b, strconv.Itoa(r.s.extra)+" values of columns that the model does not have were ignored")
		b = append(b, '}')
	}
	if n := len(r.bad); n > 0 && r.rowOptions.bad == skipRows {
		b = append(b, `{"code":"rejected-rows","text":`...)
		b = appendText(b, strconv.Itoa(n)+" rows without a score were left out")
		b = append(b, '}')
	}
	return append(b, "]}\n"...)
}

// appendLines appends a line for each row.
func (s *Server) appendLines(b []byte, r *rows, point int) []byte {
	r.each(func(c *chunk, row int, bad *rowProblem) {
		if bad == nil || r.rowOptions.bad != skipRows {
			b = append(s.appendResult(b, r, point, c, row, bad), '\n')
		}
	})
	return b
}

// each yields the rows of a request in their order: with a score, or as a problem.
func (r *rows) each(yield func(c *chunk, row int, bad *rowProblem)) {
	bad := r.bad
	for _, c := range r.chunks {
		for row := range c.rows {
			for ; len(bad) > 0 && bad[0].row < c.number[row]; bad = bad[1:] {
				yield(nil, 0, &bad[0])
			}
			if z := c.score[row]; z == z {
				yield(c, row, nil)
			} else if len(bad) > 0 {
				yield(nil, 0, &bad[0])
				bad = bad[1:]
			}
		}
	}
	for i := range bad {
		yield(nil, 0, &bad[i])
	}
}

// appendResult appends the result of a row.
func (s *Server) appendResult(b []byte, r *rows, point int, c *chunk, row int, bad *rowProblem) []byte {
	b = append(b, `{"row":`...)
	if bad != nil {
		b = strconv.AppendInt(b, int64(bad.row), 10)
		b = append(b, `,"error":`...)
		return append(bad.appendError(b, s.options.TerseErrors), '}')
	}
	b = strconv.AppendInt(b, int64(c.number[row]), 10)
	if id := c.id[row]; id.form != noID {
		b = append(b, `,"id":`...)
		if id.form == textID {
			b = appendText(b, string(c.textOf(id)))
		} else {
			b = append(b, c.textOf(id)...)
		}
	}
	v := &c.verdicts[row]
	b = append(b, `,"score":`...)
	b = appendNumber(b, v.Score)
	b = append(b, `,"decision":`...)
	b = strconv.AppendBool(b, v.Alert)
	b = append(b, `,"decisions":{`...)
	var segment []byte
	if r.b.plan.segment >= 0 {
		segment = c.textOf(c.segment[row])
	}
	for k := range r.b.points {
		if k > 0 {
			b = append(b, ',')
		}
		b = append(append(b, r.b.quoted[k]...), ':')
		b = strconv.AppendBool(b, v.HeldBack == "" && r.b.alertAt(k, v.Score, segment))
	}
	b = append(b, `},"threshold":`...)
	b = appendNumber(b, v.Threshold)
	if tail, known := tailOf(guaranteeOf(&r.b.points[point], segment), v.Score); known {
		b = append(b, `,"tail":`...)
		b = strconv.AppendFloat(b, tail, 'g', 6, 64)
	}
	if v.HeldBack != "" {
		b = append(b, `,"held_back":`...)
		b = appendText(b, v.HeldBack)
	}
	if r.explain > 0 {
		b = appendExplanation(b, r, c, row)
	}
	b = appendOddities(b, r, c, row, false)
	b = appendOddities(b, r, c, row, true)
	return append(b, '}')
}

// alertAt reports whether a score is above an operating point's threshold.
func (b *bundle) alertAt(point int, score float64, segment []byte) bool {
	p := &b.points[point]
	if p.Segment == "" {
		return score > p.Threshold
	}
	return p.Decide(score, string(segment))
}

func appendExplanation(b []byte, r *rows, c *chunk, row int) []byte {
	first := 0
	if row > 0 {
		first = c.ends[row-1]
	}
	columns := r.b.division().Columns
	average := r.b.model.Averages() != nil
	b = append(b, `,"explain":[`...)
	for i, t := range c.terms[first:c.ends[row]] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"column":`...)
		b = appendText(b, columns[t.column])
		b = append(b, `,"adds":`...)
		b = appendNumber(b, t.adds)
		if average {
			b = append(b, `,"above_average":`...)
			b = appendNumber(b, t.above)
		}
		b = append(b, '}')
	}
	b = append(b, `],"rest":`...)
	return appendNumber(b, c.rest[row])
}

// appendOddities appends the columns whose value is missing, or unknown.
func appendOddities(b []byte, r *rows, c *chunk, row int, unknown bool) []byte {
	none := true
	first, _ := slices.BinarySearchFunc(c.odd, row, func(o oddity, row int) int { return o.row - row })
	for _, o := range c.odd[first:] {
		if o.row != row {
			break
		}
		if o.unknown != unknown {
			continue
		}
		switch {
		case !none:
			b = append(b, ',')
		case unknown:
			b = append(b, `,"unknown":[`...)
		default:
			b = append(b, `,"missing":[`...)
		}
		none = false
		b = appendText(b, r.b.plan.inputName(o.input))
	}
	if none {
		return b
	}
	return append(b, ']')
}

// inputName returns the name of an input of the features.
func (p *plan) inputName(input int) string {
	if input == indexInput {
		return "index"
	}
	return p.inputs[input].Name
}

// appendCSV appends the rows as `toptau score` prints them: the id or the number, the score, the decision,
// and those of the other operating points.
func (s *Server) appendCSV(b []byte, r *rows, point int) []byte {
	withID, withError, held := false, false, false
	for _, c := range r.chunks {
		for row := range c.rows {
			withID = withID || c.id[row].form != noID
			held = held || c.verdicts[row].HeldBack != ""
		}
	}
	withError = r.rowOptions.bad == emptyRows
	name := "row"
	if withID {
		name = r.b.plan.fields[r.b.plan.id].name
	}
	b = append(appendField(b, name), ",score,decision"...)
	for k := range r.b.points {
		if k != point {
			b = appendField(append(b, ','), "decision_"+r.b.points[k].Name)
		}
	}
	if held {
		b = append(b, ",held_back"...)
	}
	if withError {
		b = append(b, ",error"...)
	}
	b = append(b, '\n')
	bit := func(b []byte, yes bool) []byte {
		if yes {
			return append(b, ",1"...)
		}
		return append(b, ",0"...)
	}
	r.each(func(c *chunk, row int, bad *rowProblem) {
		if bad != nil {
			if withError {
				if !withID {
					b = strconv.AppendInt(b, int64(bad.row), 10)
				}
				b = append(b, strings.Repeat(",", 1+len(r.b.points))...)
				if held {
					b = append(b, ',')
				}
				e := *bad.shown(s.options.TerseErrors)
				e.Row = 0
				b = append(appendField(append(b, ','), e.Error()), '\n')
			}
			return
		}
		if withID {
			b = appendField(b, string(c.textOf(c.id[row])))
		} else {
			b = strconv.AppendInt(b, int64(c.number[row]), 10)
		}
		v := &c.verdicts[row]
		b = bit(appendNumber(append(b, ','), v.Score), v.Alert)
		for k := range r.b.points {
			if k != point {
				b = bit(b, v.HeldBack == "" && r.b.alertAt(k, v.Score, c.textOf(c.segment[row])))
			}
		}
		if held {
			b = appendField(append(b, ','), v.HeldBack)
		}
		if withError {
			b = append(b, ',')
		}
		b = append(b, '\n')
	})
	return b
}

// appendField appends a field of CSV, in quotes where encoding/csv writes them.
func appendField(b []byte, field string) []byte {
	if field == "" {
		return b
	}
	quoted := field == `\.` || strings.ContainsAny(field, ",\"\r\n")
	if r, _ := utf8.DecodeRuneInString(field); !quoted && (r == ' ' || r == '\t' || r == 0x85 || r == 0xa0) {
		quoted = true
	}
	if !quoted {
		return append(b, field...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(field, `"`, `""`)...)
	return append(b, '"')
}
