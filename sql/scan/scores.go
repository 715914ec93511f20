package scan

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/dialect"
	export "toptau/internal/models/export/sql"
	"toptau/internal/models/portable"
	"toptau/internal/training/large"
	"toptau/model"
)

// Scores are the scores of a model for the rows of a part. The database computes them by the statement that toptau exports, so they
// have the bits of those of a file.
type Scores struct {
	rows  *Rows
	from  []string // for each server: the rows with their scores, as a subquery
	score string   // the column of the score
}

// scoreBytes is what a score and its class take on their way, and later in memory. More of them than heldBytes stay in the database.
const scoreBytes = 16

// Scores answers questions about the scores of a model. It fetches them once, with their classes, if they fit into memory. Otherwise each
// question is a statement, which computes them again.
//
// Errors: diag.Usage for a model that the database does not compute; diag.Data for rows without a finite score.
func (r *Rows) Scores(ctx context.Context, p large.Part, m *model.Model) (large.Scores, error) {
	if few := r.partOfFew(ctx, p); few != nil {
		return few.Scores(ctx, p, m)
	}
	s, err := r.NewScores(ctx, p, m)
	if err != nil {
		return nil, err
	}
	positives, negatives, err := r.Count(ctx, p)
	if err != nil {
		return nil, err
	}
	if scoreBytes*(positives.Rows+negatives.Rows) > heldBytes {
		return s, nil
	}
	return s.hold(ctx)
}

// NewScores returns scores that stay in the database.
func (r *Rows) NewScores(ctx context.Context, p large.Part, m *model.Model) (*Scores, error) {
	program, err := portable.Of(m)
	if err != nil {
		return nil, err
	}
	positives, negatives, err := r.Count(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := r.compile(ctx, Compiles(program) && (positives.Rows+negatives.Rows)/len(r.shards) >= compiledRows); err != nil {
		return nil, err
	}
	l, d := r.layout, r.dialect
	s := &Scores{rows: r}
	keep := []string{l.label.name}
	s.score = "score" // as the export names it
	for strings.EqualFold(l.label.name, s.score) {
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

// Compiles reports whether compiling the scores of many rows pays: all terms are numbers. The conditions of others take seconds to compile.
func Compiles(p *portable.Program) bool {
	return !slices.ContainsFunc(p.Terms, func(t portable.Term) bool { _, number := t.(*portable.Number); return !number })
}

// plain returns a statement without its comments and its end.
func plain(statement string) string {
	lines := strings.Split(statement, "\n")
	for len(lines) > 0 && strings.HasPrefix(lines[0], "--") {
		lines = lines[1:]
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "; \n")
}

// hold fetches the scores, in one statement for each server.
func (s *Scores) hold(ctx context.Context) (large.Scores, error) {
	r := s.rows
	found, bad := make([][2][]float64, len(r.shards)), make([]int, len(r.shards))
	err := r.everywhere(ctx, func(ctx context.Context, k int) error {
		var z sql.NullFloat64
		var class float64
		statement := "SELECT " + s.score + " AS toptau_s, " + r.class() + " AS toptau_y FROM " + s.from[k]
		return r.query(ctx, k, statement, []any{&z, &class}, func() { found[k], bad[k] = [2][]float64{}, 0 }, func() error {
			if !z.Valid || !dialect.Finite(z.Float64) {
				bad[k]++
				return nil
			}
			found[k][int(class)] = append(found[k][int(class)], z.Float64)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	all := found[0]
	for k := range found[1:] {
		for class := range all {
			all[class] = append(all[class], found[k+1][class]...)
		}
	}
	r.count(func(t *Traffic) { t.Scans, t.Scores = t.Scans+1, t.Scores+len(all[0])+len(all[1]) })
	if err := s.refused(sumOf(bad)); err != nil {
		return nil, err
	}
	return large.HoldScores(all), nil
}

// refused is the error for rows without a finite score; nil: there are none.
func (s *Scores) refused(rows int) error {
	if rows == 0 {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: s.rows.title(), Found: text.Plural(rows, "row") + " without a finite score",
		Expected: "values that the model accepts", Hint: "the model refuses missing or very large values; train with an imputation policy"}
}

// Tally counts the rows between cuts, in one statement for each server.
func (s *Scores) Tally(ctx context.Context, cuts []float64) ([]large.Cell, error) {
	r := s.rows
	tallies := make([]tally, len(r.shards))
	err := r.everywhere(ctx, func(ctx context.Context, k int) error {
		tallies[k].reset(cuts)
		return s.tally(ctx, k, cuts, &tallies[k])
	})
	if err != nil {
		return nil, err
	}
	r.count(func(t *Traffic) { t.Scans++ })
	cells, bad := newCells(len(cuts)+1), 0
	for k := range tallies {
		bad += tallies[k].bad
		for i, o := range tallies[k].cells {
			c := &cells[i]
			for class := range c.Rows {
				c.Rows[class] += o.Rows[class]
				c.Low[class], c.High[class] = min(c.Low[class], o.Low[class]), max(c.High[class], o.High[class])
			}
		}
	}
	return cells, s.refused(bad)
}

// tally is what a server counted.
type tally struct {
	cells []large.Cell // between the cuts
	bad   int          // rows without a finite score
}

func (t *tally) reset(cuts []float64) { *t = tally{cells: newCells(len(cuts) + 1)} }

// tallyRow is the places for a row of the answer: an interval.
type tallyRow struct {
	interval, scored int64 // interval -1: scores that are not finite
	rows             [2]int64
	low, high        [2]sql.NullFloat64
}

// tally counts the rows of a server.
func (s *Scores) tally(ctx context.Context, k int, cuts []float64, to *tally) error {
	r := s.rows
	finite, first := finiteCuts(cuts)
	var q query
	var row tallyRow
	s.addTally(&q, &row)
	statement := "SELECT " + strings.Join(q.columns, ", ") + " FROM " + s.intervals(k, finite) + " GROUP BY toptau_i"
	return r.query(ctx, k, statement, q.dest, func() { to.reset(cuts) }, func() error {
		if row.interval < 0 {
			to.bad += int(row.scored)
			return nil
		}
		c := &to.cells[first+int(row.interval)]
		for class := range row.rows {
			c.Rows[class] += int(row.rows[class])
			if row.rows[class] > 0 {
				c.Low[class], c.High[class] = min(c.Low[class], row.low[class].Float64), max(c.High[class], row.high[class].Float64)
			}
		}
		return nil
	})
}

// intervals returns the rows of a server with score, class and the interval between cuts, -1 for a score that is not finite:
// z - z is 0 for finite z alone. Fences keep databases from computing the score once for each mention.
func (s *Scores) intervals(k int, cuts []float64) string {
	r, d := s.rows, s.rows.dialect
	bin := "0"
	if len(cuts) > 0 {
		bin = d.Bin(d, "toptau_s", cuts)
	}
	inner := s.score + " AS toptau_s, CASE WHEN " + r.is.positive + " THEN 1 ELSE 0 END AS toptau_y"
	fenced := "(SELECT " + inner + " FROM " + s.from[k] + d.Fence + ") AS toptau_q"
	return "(SELECT toptau_q.*, CASE WHEN toptau_s - toptau_s = " + d.Num(0) + " THEN " + d.Int(bin) + " ELSE -1 END AS toptau_i FROM " + fenced + d.Fence + ") AS toptau_r"
}

// addTally adds the aggregates of an interval.
func (s *Scores) addTally(q *query, row *tallyRow) {
	d := s.rows.dialect
	q.add("toptau_i", &row.interval)
	q.add(d.Int("count(*)"), &row.scored)
	for class, where := range []string{"toptau_y = " + d.Num(0), "toptau_y = " + d.Num(1)} {
		q.add(d.Int(d.CountIf(where)), &row.rows[class])
		q.add("min(CASE WHEN "+where+" THEN toptau_s END)", &row.low[class])
		q.add("max(CASE WHEN "+where+" THEN toptau_s END)", &row.high[class])
	}
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
