package serve

import (
	"slices"
	"strconv"
	"strings"

	"toptau/calibrate"
	"toptau/internal/data/jsontext"
	"toptau/internal/data/scoredrow"
	"toptau/model"
)

// appendJSON appends the answer to a request as JSON.
func (r *rows) appendJSON(b []byte, point int) []byte {
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
		b = r.appendResult(b, r.b.inList, point, c, row, bad)
	})
	b = append(b, `],"warnings":[`...)
	if r.s.extra > 0 {
		b = append(b, `{"code":"extra-columns","text":`...)
		b = jsontext.AppendText(b, strconv.Itoa(r.s.extra)+" values of columns that the model does not have were ignored")
		b = append(b, '}')
	}
	if n := len(r.bad); n > 0 && r.rowOptions.bad == skipRows {
		b = append(b, `{"code":"rejected-rows","text":`...)
		b = jsontext.AppendText(b, strconv.Itoa(n)+" rows without a score were left out")
		b = append(b, '}')
	}
	return append(b, "]}\n"...)
}

// appendLines appends a line for each row.
func (r *rows) appendLines(b []byte, point int) []byte {
	r.each(func(c *chunk, row int, bad *rowProblem) {
		if bad == nil || r.rowOptions.bad != skipRows {
			b = append(r.appendResult(b, r.b.inLines, point, c, row, bad), '\n')
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
func (r *rows) appendResult(b []byte, f *scoredrow.Format, point int, c *chunk, row int, bad *rowProblem) []byte {
	out := &r.out
	if *out = (scoredrow.Row{ID: out.ID[:0], Decisions: out.Decisions[:0], Missing: out.Missing[:0], Unknown: out.Unknown[:0]}); bad != nil {
		out.Number, out.Problem = bad.row, bad.appendError(nil, r.terse)
		return f.Append(b, out)
	}
	out.Number = c.number[row]
	if id := c.id[row]; id.form != noID {
		out.ID = append(out.ID, scoredrow.Value{Text: c.textOf(id), JSON: id.form == rawID})
	}
	var segment []byte
	if r.b.plan.segment >= 0 {
		segment = c.textOf(c.segment[row])
	}
	v := &c.verdicts[row]
	out.Score, out.Decision, out.Threshold, out.HeldBack = v.Score, v.Alert, v.Threshold, v.HeldBack
	for k := range r.b.points {
		out.Decisions = append(out.Decisions, v.HeldBack == "" && r.b.alertAt(k, v.Score, segment))
	}
	out.Tail = tailOf(guaranteeOf(&r.b.points[point], segment), v.Score)
	if r.explain > 0 {
		out.Explanation = &c.explained[row]
	}
	first, _ := slices.BinarySearchFunc(c.odd, row, func(o oddValue, row int) int { return o.row - row })
	for _, o := range c.odd[first:] {
		switch {
		case o.row != row:
			return f.Append(b, out)
		case o.unknown:
			out.Unknown = append(out.Unknown, r.b.plan.inputName(o.input))
		default:
			out.Missing = append(out.Missing, r.b.plan.inputName(o.input))
		}
	}
	return f.Append(b, out)
}

// appendCSV appends the rows as `toptau score` prints them: the id or the number, the score, the decision,
// and those of the other operating points.
func (r *rows) appendCSV(b []byte, point int) []byte {
	withID, withError, held := false, r.rowOptions.bad == emptyRows, false
	for _, c := range r.chunks {
		for row := range c.rows {
			withID = withID || c.id[row].form != noID
			held = held || c.verdicts[row].HeldBack != ""
		}
	}
	b = r.appendHeader(b, point, withID, held, withError)
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
				e := *bad.shown(r.terse)
				e.Row = 0
				b = append(scoredrow.AppendField(append(b, ','), e.Error()), '\n')
			}
			return
		}
		if withID {
			b = scoredrow.AppendField(b, string(c.textOf(c.id[row])))
		} else {
			b = strconv.AppendInt(b, int64(c.number[row]), 10)
		}
		v := &c.verdicts[row]
		b = bit(jsontext.AppendNumber(append(b, ','), v.Score), v.Alert)
		for k := range r.b.points {
			if k != point {
				b = bit(b, v.HeldBack == "" && r.b.alertAt(k, v.Score, c.textOf(c.segment[row])))
			}
		}
		if held {
			b = scoredrow.AppendField(append(b, ','), v.HeldBack)
		}
		if withError {
			b = append(b, ',')
		}
		b = append(b, '\n')
	})
	return b
}

// appendHeader appends the names of the columns of appendCSV.
func (r *rows) appendHeader(b []byte, point int, withID, held, withError bool) []byte {
	name := "row"
	if withID {
		name = r.b.plan.fields[r.b.plan.id].name
	}
	b = append(scoredrow.AppendField(b, name), ",score,decision"...)
	for k := range r.b.points {
		if k != point {
			b = scoredrow.AppendField(append(b, ','), "decision_"+r.b.points[k].Name)
		}
	}
	if held {
		b = append(b, ",held_back"...)
	}
	if withError {
		b = append(b, ",error"...)
	}
	return append(b, '\n')
}

// guaranteeOf returns the guarantee of a point for a row, nil without one.
func guaranteeOf(p *model.Point, segment []byte) *calibrate.Guarantee {
	for i := range p.Segments {
		if p.Segments[i].Value == string(segment) {
			return p.Segments[i].Guarantee
		}
	}
	return p.Guarantee
}

// tailOf returns a bound on the fraction of calibration scores that are as high as a score: (1 + number at or
// above it) / (n + 1), where the number is rounded up to one that the model keeps. A later negative has a
// tail of at most x with probability at most x. It is 0 if it is not known.
func tailOf(g *calibrate.Guarantee, score float64) float64 {
	if g == nil || g.Calibration == nil {
		return 0
	}
	c := g.Calibration
	// The last kept score below this one: those at or above this one rank above it.
	i, _ := slices.BinarySearch(c.Scores, score)
	if i == 0 {
		return 1
	}
	return float64(1+c.Above[i-1]) / float64(c.Rows+1)
}

// resultWidth returns about the bytes of a result.
func (r *rows) resultWidth() int {
	const fixed, point, explanation, column = 200, 30, 100, 150
	if r.explain == 0 {
		return fixed + point*len(r.b.points)
	}
	return fixed + point*len(r.b.points) + explanation + column*min(r.explain, len(r.b.plan.columns))
}
