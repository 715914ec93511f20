package toptau

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/reason"
	"toptau/internal/rowset"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/internal/tune"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// ScoreOptions are the options of Score. The zero value of each is its default.
type ScoreOptions struct {
	Format schema.Format // differences from the format of the training file
	At     string        // name of the operating point that comes first; "": the model's default
	Best   int           // yields only this many rows, highest scores first; 0: all rows in their order
	// MaxFalseDiscoveries yields the longest list, highest scores first, of which at most this fraction is negative on average over
	// inputs, by the calibration negatives of the operating point; zero: no list. With it or Best the rows have a MaxFalse, if the
	// point has calibration negatives.
	MaxFalseDiscoveries threshold.Rate
	// RankByValue is a column of amounts. Best then yields the rows with the highest expected amount, which is the probability that the row is
	// positive times its amount, and rows have an ExpectedValue. Such a list has no MaxFalse.
	RankByValue string
	Calibration *dataset.Data // labelled rows that did not train the model: their negatives take the place of the point's
	// Entity is a column that names entities. Their rows are merged: one row for each entity, or for each entity and
	// day if the input has the column Format.Time, at the end of the input; see result.Merged. "": rows.
	Entity string
	// OnlyAlerts yields only rows with an alert at the chosen operating point, as they come. With an entity, Entity or
	// else that of the point, it yields the first alert of each entity, or of each entity and day.
	OnlyAlerts bool
	Keep       bool // passes the other columns of the input through
	Explain    bool // also returns what each column adds to the score
	// Probability also returns the probability that a row is positive. Prevalence is the fraction of positives
	// among the rows that it assumes; zero: as in training.
	Probability bool
	Prevalence  threshold.Rate
	// HoldBack is called with each row of the stream that has a score, in their order. If it returns a reason, the row's
	// decisions are false, and the reason is its HeldBack. An error ends the stream.
	HoldBack func(*Stream, *result.Row) (reason string, err error)
	Impute   schema.Impute               // median or zero: imputes values that the model refuses if they are missing; see result.Row.Imputed
	OnError  schema.BadRows              // what becomes of rows that have no score
	OnReject func(result.Rejected) error // is called with each of these rows; an error ends the stream
	// Progress is called with the number of rows so far whenever the stream has yielded the rows that have
	// arrived, so before it waits for more.
	Progress func(rows int)
}

// Stream scores rows as it reads them. The exported fields name the parts of every row.
type Stream struct {
	Time   string   // the column of times; "": none
	ID     []string // columns that identify a row; empty: rows are identified by their number
	Kept   []string // with Keep: the input's other columns
	Points []string // operating points, the chosen one first
	Entity string   // the column by whose values rows are merged; "": rows are not merged
	Daily  bool     // rows are merged by day, too

	ctx         context.Context
	model       *model.Model
	options     ScoreOptions
	reader      *table.Reader
	first       *table.Table // the first chunk, which Score reads
	scorer      *feature.Scorer
	points      []model.Point
	totals      result.Scoring
	row         result.Row
	kept        []int                       // positions of the columns in Kept
	divider     *reason.Divider             // with Explain
	probability func(score float64) float64 // with Probability
	best        bestRows
	tied        int       // rows that are not among them and rank like the last
	lists       *lists    // nil: nothing is known about the best rows
	entities    *entities // nil: rows
	watch       *shiftWatch
	used        bool

	batch *feature.Batch // scores rows together; nil: with contributions
	ahead struct {
		space  [feature.BatchRows]float64
		first  int       // of the rows in scores
		scores []float64 // in space
		scored bool
	}

	imputes  bool  // rows with missing values are flagged
	firstBad error // of the first row without a score
}

// chunkRows is the number of rows that a stream holds at a time. Chosen by hand.
const chunkRows = 4096

// Score reads the first rows from r and returns a stream of scored rows. Rows are scored as they arrive: the
// stream waits for more only when it has yielded all complete rows. Unless r is a regular file, a goroutine
// reads r ahead; it ends with r, or with the first read that returns after the end of Rows. The memory does
// not grow with the input. Score returns an error if the input does not fit the model. Rows yields later errors. In errors the
// file is r.Name() if r has that method, otherwise "input".
func Score(ctx context.Context, m *model.Model, r io.Reader, o ScoreOptions) (*Stream, error) {
	points, err := pointsFrom(m, o.At)
	if err != nil {
		return nil, err
	}
	entities, err := newEntities(&points[0], &o)
	if err != nil {
		return nil, err
	}
	if err := checkList(&o); err != nil {
		return nil, err
	}
	if o.RankByValue != "" {
		o.Probability, o.Format.Kept = true, append(slices.Clip(o.Format.Kept), o.RankByValue)
	}
	options, err := rowset.TableOptions(m, o.Format)
	if err != nil {
		return nil, err
	}
	if err := o.OnError.Check(); err != nil {
		return nil, err
	}
	options.Unlabelled, options.Raw, options.Live, options.Undigested, options.Context = true, o.Keep, true, true, ctx
	options.Text = o.OnReject != nil
	if !o.OnError.Stop() {
		options.OnBadRow = table.KeepBadRow
	}
	s := &Stream{ctx: ctx, model: m, options: o, scorer: feature.ScorerOf(m), points: points, entities: entities}
	if s.probability, err = o.probabilities(m); err != nil {
		return nil, err
	}
	if err := s.imputeMap(); err != nil {
		return nil, err
	}
	if s.lists, err = newLists(m, &points[0], entities, &s.options); err != nil {
		return nil, err
	}
	if s.reader, err = table.NewReader(table.NameOf(r), r, options); err != nil {
		return nil, entities.explain(err)
	}
	for _, p := range s.points {
		s.Points = append(s.Points, p.Name)
	}
	s.totals.Points, s.totals.Positives = s.Points, make([]int, len(s.points))
	s.row.Decisions = make([]bool, len(s.points))
	s.watch = newShiftWatch(&s.points[0], false)
	if s.first, err = s.reader.Next(chunkRows); err == nil {
		err = s.bindColumns(s.first)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.reader.Close()
		return nil, err
	}
	return s, nil
}

// pointsFrom returns the operating points, the named one first.
func pointsFrom(m *model.Model, name string) ([]model.Point, error) {
	points := m.Points()
	if len(points) == 0 {
		return nil, &diag.Error{Kind: diag.Model, Found: "a model without an operating point", Expected: "at least one"}
	}
	first, found := m.Point(name)
	if !found {
		var names []string
		for _, p := range points {
			names = append(names, p.Name)
		}
		return nil, &diag.Error{Kind: diag.Usage, Param: "at", Found: diag.Quote(name),
			Expected: "an operating point of the model: " + strings.Join(names, ", ")}
	}
	points = slices.DeleteFunc(points, func(p model.Point) bool { return p.Name == first.Name })
	return append([]model.Point{first}, points...), nil
}

// bindColumns prepares the stream for the columns of the first chunk.
func (s *Stream) bindColumns(t *table.Table) error {
	if err := s.scorer.Map.Check(t); err != nil {
		return err
	}
	for _, c := range t.ID {
		s.ID = append(s.ID, c.Name)
	}
	if s.options.RankByValue != "" {
		if _, err := tune.FindColumn(t, "value", s.options.RankByValue); err != nil {
			return err
		}
	}
	if s.entities != nil {
		if err := s.entities.check(t); err != nil {
			return err
		}
		if !s.options.OnlyAlerts {
			s.Entity, s.Daily = s.entities.column, s.entities.daily
		}
	}
	if t.Time != nil {
		s.Time = t.Time.Name
	}
	if s.options.Keep {
		for i, name := range s.reader.Names() {
			if !slices.ContainsFunc(t.ID, func(c table.Text) bool { return c.Number == i+1 }) {
				s.kept = append(s.kept, i)
				s.Kept = append(s.Kept, name)
			}
		}
	}
	if !s.options.Explain {
		s.batch = feature.NewBatch(s.scorer)
		return nil
	}
	s.divider, s.row.Explanation = newDivider(s.model, s.scorer), &result.Explanation{}
	return nil
}

// HasMaxFalse reports whether rows have a MaxFalse.
func (s *Stream) HasMaxFalse() bool { return s.lists != nil }

// HasExpectedValue reports whether rows have an ExpectedValue.
func (s *Stream) HasExpectedValue() bool { return s.options.RankByValue != "" }

// HasProbability reports whether rows have a probability.
func (s *Stream) HasProbability() bool { return s.probability != nil }

// Rows yields the scored rows. It can be used once. A row is valid until the next one is yielded, unless it
// is cloned. With Best, rows are yielded at the end of the input, highest scores first, ties in the order of
// the input. An error yields (nil, err) and ends the stream. Leaving the loop stops reading.
func (s *Stream) Rows() iter.Seq2[*result.Row, error] {
	return func(yield func(*result.Row, error) bool) {
		if s.used {
			yield(nil, &diag.Error{Kind: diag.Usage, Found: "a stream whose rows were read before", Expected: "one use of Rows"})
			return
		}
		s.used = true
		defer s.reader.Close()
		for t := s.first; t != nil; {
			if more, err := s.scoreChunk(t, yield); !more {
				return
			} else if err != nil {
				yield(nil, err)
				return
			}
			if s.options.Progress != nil {
				s.options.Progress(s.totals.Rows)
			}
			var err error
			if t, err = s.reader.Next(chunkRows); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				s.finishTotals()
				yield(nil, err)
				return
			}
		}
		if s.totals.Rows == s.totals.Failed && s.firstBad != nil {
			yield(nil, s.firstBad) // nothing fits: the file is probably not meant
			return
		}
		if s.entities != nil && !s.options.OnlyAlerts {
			clear(s.totals.Positives)
			for i := range s.entities.merged {
				r := &s.entities.merged[i]
				for k, decided := range r.Decisions {
					if decided {
						s.totals.Positives[k]++
					}
				}
				if more, err := s.pass(r, yield); !more {
					return
				} else if err != nil {
					yield(nil, err)
					return
				}
			}
		}
		s.finishTotals()
		slices.SortFunc(s.best, compareRows)
		s.best, s.totals.List = s.lists.finish(s.best)
		s.noteTies()
		for i := range s.best {
			if !yield(&s.best[i], nil) {
				return
			}
		}
	}
}

// noteTies adds a note if rows rank like the last one on the list.
func (s *Stream) noteTies() {
	if s.tied > 0 {
		s.totals.Warnings = append(s.totals.Warnings, diag.Warning{Code: "ties", Text: text.Plural(s.tied, "more row") +
			" with the score of the last one on the list: of equal scores the first in the input are listed"})
	}
}

// scoreChunk yields the rows of a chunk. more is false if the caller left the loop.
func (s *Stream) scoreChunk(t *table.Table, yield func(*result.Row, error) bool) (more bool, err error) {
	bad := t.Bad
	for row := range t.Rows() {
		if err := s.ctx.Err(); err != nil {
			return true, err
		}
		for ; len(bad) > 0 && bad[0].Before == row; bad = bad[1:] {
			if more, err := s.passBadRow(t.File, bad[0], yield); !more || err != nil {
				return more, err
			}
		}
		if more, err := s.scoreAndPass(t, row, yield); !more || err != nil {
			return more, err
		}
	}
	for _, b := range bad {
		if more, err := s.passBadRow(t.File, b, yield); !more || err != nil {
			return more, err
		}
	}
	return true, nil
}

// scoreAndPass scores a row and yields it, unless it is no alert or is merged with others of its entity.
func (s *Stream) scoreAndPass(t *table.Table, row int, yield func(*result.Row, error) bool) (more bool, err error) {
	z, err := s.scoreRow(t, row)
	err = atScoring(err)
	entity := result.Merged{}
	if s.entities != nil && err == nil {
		entity, err = s.entities.of(t, row)
	}
	if err != nil {
		return s.refuseRow(t, row, err, yield)
	}
	s.totals.Rows++
	s.fillImputed()
	if len(s.row.Imputed) == 0 {
		s.watch.addRow(t, row, z)
	}
	s.fillRow(t, row, z)
	if err := s.fillValue(t, row); err != nil {
		if !s.options.OnError.Stop() {
			s.totals.Rows--
		}
		return s.refuseRow(t, row, err, yield)
	}
	if s.options.OnlyAlerts && s.row.Decisions[0] && s.entities.alerted(entity) {
		return true, nil // no alert that a limit counts
	}
	if err := s.holdBack(); err != nil {
		return true, err
	}
	switch {
	case s.options.OnlyAlerts && !s.row.Decisions[0]:
		return true, nil
	case s.options.OnlyAlerts:
		s.entities.addAlert(entity)
	case s.entities != nil:
		s.totals.Units = s.entities.merge(&s.row, entity)
		return true, nil
	}
	return s.pass(&s.row, yield)
}

// refuseRow ends the stream at a row that cannot be scored, or passes the row on as a bad one.
func (s *Stream) refuseRow(t *table.Table, row int, err error, yield func(*result.Row, error) bool) (more bool, _ error) {
	if s.options.OnError.Stop() {
		return true, diag.At(err, diag.Error{File: t.File})
	}
	return s.passBadRow(t.File, unscored(t, row, err), yield)
}

// pass yields a row, or keeps a copy if it is among the best ones. more is false if the caller left the loop.
func (s *Stream) pass(r *result.Row, yield func(*result.Row, error) bool) (more bool, err error) {
	limit := s.lists.length(&s.options)
	if limit == 0 {
		return yield(r, nil), nil
	}
	candidate, err := s.lists.add(r)
	if candidate {
		s.best.offer(r, limit, &s.tied)
	}
	return true, err
}

// scoreRow returns the score of a row. It scores rows together where none of them has a missing value.
func (s *Stream) scoreRow(t *table.Table, row int) (float64, error) {
	if s.batch == nil {
		return s.scorer.Score(t, row)
	}
	if row == 0 || row >= s.ahead.first+len(s.ahead.scores) {
		s.ahead.first, s.ahead.scores = row, s.ahead.space[:min(len(s.ahead.space), t.Rows()-row)]
		s.ahead.scored = s.batch.Score(t, row, s.ahead.scores)
	}
	if s.ahead.scored {
		return s.ahead.scores[row-s.ahead.first], nil
	}
	return s.scorer.Score(t, row)
}

// fillRow fills s.row with the row that was scored last.
func (s *Stream) fillRow(t *table.Table, row int, z float64) {
	r := &s.row
	r.Number, r.Score = s.totals.Rows, z
	r.ID = r.ID[:0]
	for _, c := range t.ID {
		r.ID = append(r.ID, c.Values[row])
	}
	if t.Time != nil {
		r.Time = t.Time.Values[row]
	}
	r.Input = r.Input[:0]
	for _, i := range s.kept {
		r.Input = append(r.Input, t.Raw[row][i])
	}
	if s.divider != nil {
		r.Explanation.Score = z
		s.divider.Explain(t, row, 0, r.Explanation)
	}
	if s.probability != nil {
		p := s.probability(z)
		r.Probability = &p
	}
	segment := segmentOf(t, row)
	r.Threshold = s.points[0].ThresholdOf(segment)
	for k := range s.points {
		r.Decisions[k] = s.points[k].Decide(z, segment)
	}
}

// fillValue adds the expected amount of the row that was scored last.
func (s *Stream) fillValue(t *table.Table, row int) error {
	if s.options.RankByValue == "" {
		return nil
	}
	column := t.Find(s.options.RankByValue)
	x, found := column.Number(row)
	if !found || !(x >= 0) || math.IsInf(x, 0) {
		return &diag.Error{Kind: diag.Data, Line: t.LineOf(row), Column: column.Name, Found: diag.Quote(column.Text(row)), Expected: "an amount of at least 0"}
	}
	expected := float64(*s.row.Probability * x)
	s.row.ExpectedValue = &expected
	return nil
}

// holdBack lets the caller hold back the row that was scored last, and counts its alerts.
func (s *Stream) holdBack() error {
	r := &s.row
	r.HeldBack = ""
	if s.options.HoldBack != nil {
		reason, err := s.options.HoldBack(s, r)
		if err != nil {
			return err
		}
		if r.HeldBack = reason; reason != "" {
			clear(r.Decisions)
			s.totals.HeldBack++
		}
	}
	for k, positive := range r.Decisions {
		if positive {
			s.totals.Positives[k]++
		}
	}
	return nil
}

// segmentOf returns a row's value in the segment column, "" without such a column.
func segmentOf(t *table.Table, row int) string {
	if t.Segment == nil {
		return ""
	}
	return t.Segment.Values[row]
}

// finishTotals adds the counts and warnings that are known after the last row.
func (s *Stream) finishTotals() {
	r := &s.totals
	r.Warnings = append(r.Warnings, s.reader.Warnings()...)
	counts := s.scorer.Row.Counts
	r.Warnings = append(r.Warnings, s.badRowWarnings()...)
	r.Missing = sumOf(counts.Missing)
	r.Unknown = sumOf(counts.Unknown) + counts.UnknownIndices
	if r.Unknown > 0 {
		r.Warnings = append(r.Warnings, unknownWarning(s.scorer.Map, counts, r.Unknown))
	}
	if r.Missing > 0 && !s.imputes {
		r.Warnings = append(r.Warnings, diag.Warning{Code: "missing-values",
			Text: fmt.Sprintf("%s imputed (%s), in %s", text.Plural(r.Missing, "missing value"), s.scorer.Map.Impute,
				talliesText(s.scorer.Map, counts, false))})
	}
	_, warnings := s.watch.reports(s.model.Training())
	r.Warnings = append(r.Warnings, warnings...)
}

// tallyColumns is the number of columns that a warning about unknown or missing values names. Chosen by hand.
const tallyColumns = 5

// unknownWarning returns the warning about values that were not seen in training.
func unknownWarning(m *feature.Map, counts feature.Counts, unknown int) diag.Warning {
	return diag.Warning{Code: "unknown-values",
		Text: text.Plural(unknown, "value") + ` not seen in training (treated as "other"), in ` + talliesText(m, counts, true)}
}

// talliesText lists the columns with the most unknown (otherwise missing) values: "service (12), flag (3) and 2
// other columns".
func talliesText(m *feature.Map, counts feature.Counts, unknown bool) string {
	count := func(t feature.Tally) int {
		if unknown {
			return t.Unknown
		}
		return t.Missing
	}
	list := slices.DeleteFunc(counts.Tallies(m), func(t feature.Tally) bool { return count(t) == 0 })
	slices.SortStableFunc(list, func(a, b feature.Tally) int { return cmp.Compare(count(b), count(a)) })
	var names []string
	for _, t := range list[:min(len(list), tallyColumns)] {
		name := diag.Quote(t.Column)
		if t.Column == "index" {
			name = "indices"
		}
		names = append(names, fmt.Sprintf("%s (%s)", name, text.Count(count(t))))
	}
	if others := len(list) - len(names); others > 0 {
		names = append(names, text.Plural(others, "other column"))
	}
	return text.List(names, "and")
}

func sumOf(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

// Totals returns the counts and warnings of the rows so far. They are complete after the end of Rows.
func (s *Stream) Totals() result.Scoring { return s.totals }

// compareRows orders rows by falling score, or by falling expected value. The earlier row wins a tie.
func compareRows(a, b result.Row) int {
	if a.ExpectedValue != nil && b.ExpectedValue != nil {
		if c := cmp.Compare(*b.ExpectedValue, *a.ExpectedValue); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Number, b.Number))
}

// bestRows is a heap of the best rows with the worst of them on top.
type bestRows []result.Row

func (h bestRows) Len() int           { return len(h) }
func (h bestRows) Less(i, j int) bool { return compareRows(h[i], h[j]) > 0 }
func (h bestRows) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *bestRows) Push(x any)        { *h = append(*h, x.(result.Row)) }
func (h *bestRows) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// offer keeps a copy of r if it is among the limit best rows so far. It counts the others that rank like the last one in tied.
func (h *bestRows) offer(r *result.Row, limit int, tied *int) {
	if len(*h) < limit {
		heap.Push(h, r.Clone())
		return
	}
	left, better := *r, compareRows(*r, (*h)[0]) < 0
	if better {
		left, (*h)[0] = (*h)[0], r.Clone()
		heap.Fix(h, 0)
	}
	last := (*h)[0]
	if left.Number = last.Number; compareRows(left, last) == 0 {
		*tied++
	} else if better {
		*tied = 0 // they ranked like a row that is not the last any more
	}
}
