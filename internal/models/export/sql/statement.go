package sql

import (
	"fmt"
	"slices"
	"strings"

	"toptau/internal/core/text"
	"toptau/internal/models/export"
)

// statement returns the whole text.
func (b *builder) statement() (string, error) {
	var keys, segments []string
	for _, name := range b.keep {
		keys = append(keys, b.at(levelTable, "toptau_k", b.Quote(name)))
	}
	for _, name := range b.p.Segments() {
		segments = append(segments, b.at(levelTable, "toptau_g", b.Trim(b.String(b.Quote(name)))))
	}
	score := b.addTerms()
	wanted, where := append(slices.Concat(keys, segments), score), ""
	if b.Once != "" {
		// Spark moves a condition on a score below all subqueries, and writes their expressions out at each mention: those of a scorecard
		// take gigabytes. It moves nothing below a column whose value is another one each time.
		once := b.at(len(b.levels)-1, "o", b.Once)
		wanted, where = append(wanted, once), "\nWHERE "+once+" >= 0"
	}
	queries, err := b.queries(wanted)
	if err != nil {
		return "", err
	}
	var s strings.Builder
	for _, line := range b.header() {
		s.WriteString("-- " + line + "\n")
	}
	if b.o.Name != "" {
		s.WriteString("CREATE VIEW " + b.path(b.o.Name) + " AS\n")
	}
	last := len(queries) - 1
	if b.Listed {
		for i, q := range queries {
			s.WriteString([]string{"WITH ", ", "}[min(i, 1)] + fmt.Sprintf("toptau_q%d AS (%s%s)\n", i, q.from(fmt.Sprintf("toptau_q%d", i-1), b.source()), b.Fence))
		}
		s.WriteString(b.outer(keys, segments, score, fmt.Sprintf("toptau_q%d", last)) + where)
	} else {
		inner := ""
		for i, q := range queries {
			inner = "(" + q.from(inner, b.source()) + b.Fence + fmt.Sprintf(") AS toptau_q%d", i)
		}
		s.WriteString(b.outer(keys, segments, score, inner) + where)
	}
	s.WriteString(";\n")
	if b.TextMax > 0 && s.Len() > b.TextMax {
		return "", b.refuse(fmt.Sprintf("a statement of %s bytes (its default limit is %s)", text.Count(s.Len()), text.Count(b.TextMax)), wayOut)
	}
	return s.String(), nil
}

// tableName is the default of Options.Table.
const tableName = "rows"

// source returns the table as SQL.
func (b *builder) source() string {
	switch {
	case b.o.From != "":
		return b.o.From + " AS toptau_rows"
	case b.o.Table == "":
		return b.path(tableName)
	}
	return b.path(b.o.Table)
}

// path quotes the parts of a name with dots.
func (b *builder) path(name string) string {
	parts := strings.Split(name, ".")
	for i := range parts {
		parts[i] = b.Quote(parts[i])
	}
	return strings.Join(parts, ".")
}

// addTerms adds levels with the sum and returns the column of the score.
func (b *builder) addTerms() string {
	sum := ""
	for level := len(b.levels); len(b.terms) > 0; level++ {
		n := min(termsPerLevel, len(b.terms))
		expr, uses := b.Number(0), []string(nil)
		if sum != "" {
			expr, uses = sum, []string{sum}
		}
		for _, t := range b.terms[:n] {
			expr += " + " + t.expr
			uses = append(uses, t.uses...)
		}
		b.terms = b.terms[n:]
		sum = b.at(level, "s", expr, uses...)
	}
	return sum
}

// query is one subquery.
type query struct {
	first   bool
	columns []string
}

func (q *query) from(below, table string) string {
	if q.first {
		below = table
	}
	return "SELECT " + strings.Join(q.columns, ", ") + "\nFROM " + below
}

// queries returns the subqueries from the table upwards. Each passes on what those above it need.
func (b *builder) queries(wanted []string) ([]query, error) {
	b.levels = slices.DeleteFunc(b.levels, func(level []column) bool { return len(level) == 0 })
	queries := make([]query, len(b.levels))
	need := wanted
	for i := len(b.levels) - 1; i >= 0; i-- {
		made := map[string]*column{}
		for k := range b.levels[i] {
			made[b.levels[i][k].name] = &b.levels[i][k]
		}
		var below []string
		taken := map[string]bool{}
		pass := func(name string) {
			if !taken[name] {
				taken[name] = true
				below = append(below, name)
			}
		}
		q := &queries[i]
		q.first = i == 0
		for _, name := range need {
			c := made[name]
			if c == nil {
				q.columns = append(q.columns, name)
				pass(name)
				continue
			}
			q.columns = append(q.columns, c.expr+" AS "+name)
			for _, use := range c.uses {
				pass(use)
			}
		}
		if len(q.columns) > b.Width {
			return nil, b.refuse("a subquery of "+text.Plural(len(q.columns), "column"), wayOut)
		}
		need = below
	}
	return queries, nil
}

// outer returns the SELECT of the score and the decisions.
func (b *builder) outer(keys, segments []string, score, from string) string {
	taken := map[string]bool{}
	var columns []string
	add := func(expr, name string) {
		for taken[strings.ToLower(name)] {
			name += "_"
		}
		taken[strings.ToLower(name)] = true
		columns = append(columns, expr+" AS "+b.Quote(name))
	}
	for i, name := range b.keep {
		add(keys[i], name)
	}
	add(score, "score")
	for i := range b.p.Points {
		p := &b.p.Points[i]
		threshold := b.Number(p.Threshold)
		if p.Segment >= 0 {
			var s strings.Builder
			s.WriteString("CASE")
			cases := 0
			for _, segment := range p.Segments {
				if literal, fits := b.Text(segment.Value); fits {
					fmt.Fprintf(&s, " WHEN %s = %s THEN %s", segments[p.Segment], literal, b.Number(segment.Threshold))
					cases++
				}
			}
			if cases > 0 {
				threshold = s.String() + " ELSE " + threshold + " END"
			}
		}
		name := "decision"
		if i > 0 {
			name += "_" + strings.ToLower(export.Identifier(p.Name))
		}
		add(score+" > "+threshold, name)
	}
	return "SELECT " + strings.Join(columns, ", ") + "\nFROM " + from
}

// header returns the comment at the start.
func (b *builder) header() []string {
	lines := export.Lines(b.p)
	names := make([]string, len(b.p.Points))
	for i := range names {
		names[i] = export.Quote(b.p.Points[i].Name)
	}
	if len(names) > 0 {
		lines = append(lines, "The columns from decision on are the decisions at "+strings.Join(names, ", ")+".")
	}
	lines = append(lines, "NULL, NaN and the empty text are missing. The score is NULL if the model refuses a value: infinite or too large, or missing where",
		"that is not allowed.")
	return append(lines, b.Notes...)
}
