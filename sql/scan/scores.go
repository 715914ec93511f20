package scan

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	export "toptau/internal/export/sql"
	"toptau/internal/large"
	"toptau/internal/portable"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/model"
)

// Scores are the scores of a model for the rows of a part. The database computes them by the statement that toptau exports, so they
// have the bits of those of a file.
type Scores struct {
	rows  *Rows
	from  []string // for each server: the rows with their scores, as a subquery
	score string   // the column of the score
}

// Scores answers questions about the scores of a model.
//
// Errors: diag.Usage for a model that the database does not compute.
func (r *Rows) Scores(ctx context.Context, p large.Part, m *model.Model) (large.Scores, error) {
	program, err := portable.Of(m)
	if err != nil {
		return nil, err
	}
	if err := r.compile(ctx, false); err != nil { // models may have deep conditions
		return nil, err
	}
	l, d := r.layout, r.dialect
	s := &Scores{rows: r}
	keep := []string{l.label.name}
	if l.weight != nil && l.weight != l.label {
		keep = append(keep, l.weight.name)
	}
	s.score = "score" // as the export names it
	for slices.ContainsFunc(keep, func(name string) bool { return strings.EqualFold(name, s.score) }) {
		s.score += "_"
	}
	s.score = d.Quote(s.score)
	for k := range r.shards {
		var b strings.Builder
		o := export.Options{Dialect: d.Name, From: "(SELECT * FROM " + r.from(r.is.all, r.part(p), r.upTo(k)) + ")", Keep: keep, Booleans: l.booleans()}
		if err := export.Write(&b, program, o); err != nil {
			return nil, err
		}
		s.from = append(s.from, "("+plain(b.String())+") AS toptau_scores")
	}
	return s, nil
}

// plain returns a statement without its comments and its end.
func plain(statement string) string {
	lines := strings.Split(statement, "\n")
	for len(lines) > 0 && strings.HasPrefix(lines[0], "--") {
		lines = lines[1:]
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "; \n")
}

// Tally counts the rows between cuts, in one statement for each server.
func (s *Scores) Tally(ctx context.Context, cuts []float64) ([]large.Cell, error) {
	r, d := s.rows, s.rows.dialect
	cells := newCells(len(cuts) + 1)
	parts, bad := make([][]large.Cell, len(r.shards)), make([]int, len(r.shards))
	finite, first := finiteCuts(cuts)
	bin := "0"
	if len(finite) > 0 {
		bin = d.Bin(d, "toptau_s", finite)
	}
	err := r.everywhere(ctx, func(ctx context.Context, k int) error {
		var q query
		var i, scored int64
		var rows [2]int64
		var mass [2]sql.NullFloat64
		var low, high [2]sql.NullFloat64
		inner := s.score + " AS toptau_s, CASE WHEN " + r.is.positive + " THEN 1 ELSE 0 END AS toptau_y"
		if w := r.layout.weight; w != nil {
			inner += ", " + d.Cast(w.expr(d)) + " AS toptau_m"
		}
		fenced := "(SELECT " + inner + " FROM " + s.from[k] + d.Fence + ") AS toptau_q"
		from := "(SELECT toptau_q.*, CASE WHEN toptau_s - toptau_s = " + d.Num(0) + " THEN " + d.Int(bin) + " ELSE -1 END AS toptau_i FROM " + fenced + d.Fence + ") AS toptau_r"
		q.add("toptau_i", &i)
		q.add(d.Int("count(*)"), &scored)
		for class, where := range []string{"toptau_y = " + d.Num(0), "toptau_y = " + d.Num(1)} {
			q.add(d.Int(d.CountIf(where)), &rows[class])
			if r.layout.weight != nil {
				q.add(d.SumIf("toptau_m", where), &mass[class])
			}
			q.add("min(CASE WHEN "+where+" THEN toptau_s END)", &low[class])
			q.add("max(CASE WHEN "+where+" THEN toptau_s END)", &high[class])
		}
		parts[k] = newCells(len(cells))
		reset := func() { parts[k], bad[k] = newCells(len(cells)), 0 }
		return r.query(ctx, k, "SELECT "+strings.Join(q.columns, ", ")+" FROM "+from+" GROUP BY toptau_i", q.dest, reset, func() error {
			if i < 0 {
				bad[k] += int(scored)
				return nil
			}
			c := &parts[k][first+int(i)]
			for class := range rows {
				c.Rows[class] += int(rows[class])
				if r.layout.weight == nil {
					mass[class].Float64 = float64(rows[class])
				}
				c.Mass[class] += mass[class].Float64
				if rows[class] > 0 {
					c.Low[class], c.High[class] = min(c.Low[class], low[class].Float64), max(c.High[class], high[class].Float64)
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	r.count(func(t *Traffic) { t.Scans++ })
	total := 0
	for k, part := range parts {
		total += bad[k]
		for i := range part {
			c, o := &cells[i], &part[i]
			for class := range c.Rows {
				c.Rows[class] += o.Rows[class]
				c.Mass[class] += o.Mass[class]
				c.Low[class], c.High[class] = min(c.Low[class], o.Low[class]), max(c.High[class], o.High[class])
			}
		}
	}
	if total > 0 {
		return nil, &diag.Error{Kind: diag.Data, File: r.title(), Found: text.Plural(total, "row") + " without a finite score",
			Expected: "values that the model accepts", Hint: "the model refuses missing or very large values; train with an imputation policy"}
	}
	return cells, nil
}

// newCells returns cells without rows.
func newCells(n int) []large.Cell {
	cells := make([]large.Cell, n)
	for i := range cells {
		for class := range cells[i].Rows {
			cells[i].Low[class], cells[i].High[class] = math.Inf(1), math.Inf(-1)
		}
	}
	return cells
}

// finiteCuts leaves out infinite cuts. Intervals are counted from first.
func finiteCuts(cuts []float64) (finite []float64, first int) {
	for _, c := range cuts {
		switch {
		case math.IsInf(c, -1):
			first++
		case !math.IsInf(c, 1):
			finite = append(finite, c)
		}
	}
	return finite, first
}

// Between returns scores of a class, in one statement for each server, or two if there are more.
func (s *Scores) Between(ctx context.Context, c table.Class, low, high float64, most int) (z []float64, all int, err error) {
	r, d := s.rows, s.rows.dialect
	is := r.is.negative
	if c == table.Positive {
		is = r.is.positive
	}
	conditions := []string{is}
	if !math.IsInf(low, -1) {
		conditions = append(conditions, s.score+" >= "+d.Num(low))
	}
	if !math.IsInf(high, 1) {
		conditions = append(conditions, s.score+" <= "+d.Num(high))
	}
	where := strings.Join(conditions, " AND ")
	parts, counts := make([][]float64, len(r.shards)), make([]int64, len(r.shards))
	err = r.everywhere(ctx, func(ctx context.Context, k int) error {
		var x float64
		statement := "SELECT " + s.score + " AS toptau_s FROM " + s.from[k] + " WHERE " + where + " ORDER BY toptau_s LIMIT " + strconv.Itoa(most)
		err := r.query(ctx, k, statement, []any{&x}, func() { parts[k] = nil }, func() error {
			parts[k] = append(parts[k], x)
			return nil
		})
		if counts[k] = int64(len(parts[k])); err != nil || len(parts[k]) < most {
			return err
		}
		var q query
		q.add(d.Int("count(*)"), &counts[k])
		return r.one(ctx, k, &q, s.from[k]+" WHERE "+where)
	})
	if err != nil {
		return nil, 0, err
	}
	r.count(func(t *Traffic) { t.Scans++ })
	for k := range parts {
		z, all = append(z, parts[k]...), all+int(counts[k])
	}
	slices.Sort(z)
	return z[:min(len(z), most)], all, nil
}
