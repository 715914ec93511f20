package score

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/rowset"
	"toptau/internal/training/tune"
	"toptau/model"
	"toptau/result"
)

// Open reads the first rows from r and returns a stream of scored rows. Rows are scored as they arrive: the
// stream waits for more only when it has yielded all complete rows. Unless r is a regular file, a goroutine
// reads r ahead; it ends with r, or with the first read that returns after the end of Rows. The memory does
// not grow with the input. Open returns an error if the input does not fit the model. Rows yields later errors. In errors the
// file is r.Name() if r has that method, otherwise "input".
func Open(ctx context.Context, m *model.Model, r io.Reader, o Options) (*Stream, error) {
	points, err := rowset.PointsFrom(m, o.At)
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
	s.nameExtra()
	s.totals.Points, s.totals.Positives = s.Points, make([]int, len(s.points))
	s.row.Decisions = make([]bool, len(s.points))
	s.watch = rowset.NewShiftWatch(&s.points[0], false)
	if s.first, err = s.reader.Next(rowset.ChunkRows); err == nil {
		err = s.bindColumns(s.first)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.reader.Close()
		return nil, err
	}
	return s, nil
}

// nameExtra lists the numbers of a row besides its score.
func (s *Stream) nameExtra() {
	for _, extra := range []struct {
		name string
		has  bool
	}{{"probability", s.probability != nil}, {"expected_value", s.options.RankByValue != ""}, {"max_false", s.lists != nil}} {
		if extra.has {
			s.Extra = append(s.Extra, extra.name)
		}
	}
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
	s.divider, s.row.Explanation = rowset.NewDivider(s.model, s.scorer), &result.Explanation{}
	return nil
}

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
			if t, err = s.reader.Next(rowset.ChunkRows); errors.Is(err, io.EOF) {
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
	err = rowset.AtScoring(err)
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
		s.watch.AddRow(t, row, z)
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
	segment := rowset.SegmentOf(t, row)
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
		return &diag.Error{Kind: diag.Data, Line: t.LineOf(row), Column: column.Name, Found: diag.Quote(column.Text(row)),
			Expected: "an amount of at least 0"}
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

// finishTotals adds the counts and warnings that are known after the last row.
func (s *Stream) finishTotals() {
	r := &s.totals
	r.Warnings = append(r.Warnings, s.reader.Warnings()...)
	counts := s.scorer.Row.Counts
	r.Warnings = append(r.Warnings, s.badRowWarnings()...)
	r.Missing = rowset.SumOf(counts.Missing)
	r.Unknown = rowset.SumOf(counts.Unknown) + counts.UnknownIndices
	if r.Unknown > 0 {
		r.Warnings = append(r.Warnings, rowset.UnknownWarning(s.scorer.Map, counts, r.Unknown))
	}
	if r.Missing > 0 && !s.imputes {
		r.Warnings = append(r.Warnings, diag.Warning{Code: "missing-values",
			Text: fmt.Sprintf("%s imputed (%s), in %s", text.Plural(r.Missing, "missing value"), s.scorer.Map.Impute,
				rowset.TalliesText(s.scorer.Map, counts, false))})
	}
	_, warnings := s.watch.Reports(s.model.Training())
	r.Warnings = append(r.Warnings, warnings...)
}

// Totals returns the counts and warnings of the rows so far. They are complete after the end of Rows.
func (s *Stream) Totals() result.Scoring { return s.totals }
