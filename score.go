package toptau

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/model"
	"toptau/result"
)

// Load reads a model file. It returns an error of kind model if the file is truncated, edited or too new, or
// if the model does not reproduce the scores of its probe rows.
func Load(path string) (*Model, error) { return model.Load(path) }

// ScoreOptions are the options of Score. The zero value of each is its default.
type ScoreOptions struct {
	Format   Format         // differences from the format of the training file
	At       string         // name of the operating point that comes first; "": the model's default
	Best     int            // yields only this many rows, highest scores first; 0: all rows in their order
	Keep     bool           // passes the other columns of the input through
	Explain  bool           // also returns what each column adds to the score
	Progress func(rows int) // is called with the number of rows scored so far
}

// Stream scores rows as it reads them. The exported fields name the parts of every row.
type Stream struct {
	ID      []string // columns that identify a row; empty: rows are identified by their number
	Kept    []string // with Keep: the input's other columns
	Points  []string // operating points, the chosen one first
	Columns []string // with Explain: columns that have weights; LIBSVM: indices

	ctx     context.Context
	model   *model.Model
	options ScoreOptions
	reader  *table.Reader
	first   *table.Table // the first chunk, which Score reads
	scorer  *feature.Scorer
	points  []model.Point
	totals  result.Scoring
	row     result.Row
	kept    []int             // positions of the columns in Kept
	explain func(*result.Row) // with Explain: fills in the contributions
	best    bestRows
	watch   *shiftWatch
	used    bool
}

// chunkRows is the number of rows that a stream holds at a time. Chosen by hand.
const chunkRows = 4096

// Score reads the first rows from r and returns a stream of scored rows. Its memory does not grow with the
// input. Score returns an error if the input does not fit the model. Rows yields later errors. In errors the
// file is r.Name() if r has that method, otherwise "input".
func Score(ctx context.Context, m *Model, r io.Reader, o ScoreOptions) (*Stream, error) {
	options, err := tableOptions(m, o.Format)
	if err != nil {
		return nil, err
	}
	options.Unlabelled, options.Raw = true, o.Keep
	s := &Stream{ctx: ctx, model: m, options: o, scorer: m.TableScorer(feature.Key{})}
	if s.points, err = pointsFrom(m, o.At); err != nil {
		return nil, err
	}
	if s.reader, err = table.NewReader(readerName(r), r, options); err != nil {
		return nil, err
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

// readerName returns the name of r if it has one, otherwise "input".
func readerName(r io.Reader) string {
	if named, ok := r.(interface{ Name() string }); ok {
		return named.Name()
	}
	return "input"
}

// pointsFrom returns the operating points, the named one first.
func pointsFrom(m *Model, name string) ([]model.Point, error) {
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
	if s.options.Keep {
		for i, name := range s.reader.Names() {
			if !slices.ContainsFunc(t.ID, func(c table.Text) bool { return c.Number == i+1 }) {
				s.kept = append(s.kept, i)
				s.Kept = append(s.Kept, name)
			}
		}
	}
	if !s.options.Explain {
		return nil
	}
	c, err := feature.NewContributions(s.scorer.Map, s.scorer.Weights)
	if err != nil {
		return err
	}
	s.Columns = c.Columns
	s.row.Contributions = make([]float64, len(c.Columns))
	s.explain = func(r *result.Row) {
		r.Offset = s.scorer.Offset + c.Row(&s.scorer.Row, r.Contributions)
		sum := r.Offset
		for _, adds := range r.Contributions {
			sum += adds
		}
		r.Rounding = r.Score - sum
	}
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
			if t, err = s.reader.Next(chunkRows); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				yield(nil, err)
				return
			}
		}
		s.finishTotals()
		slices.SortFunc(s.best, compareRows)
		for i := range s.best {
			if !yield(&s.best[i], nil) {
				return
			}
		}
	}
}

// scoreChunk yields the rows of a chunk. more is false if the caller left the loop.
func (s *Stream) scoreChunk(t *table.Table, yield func(*result.Row, error) bool) (more bool, err error) {
	for row := range t.Rows() {
		if err := s.ctx.Err(); err != nil {
			return true, err
		}
		z, err := s.scorer.Score(t, row)
		if err != nil {
			return true, diag.At(err, diag.Error{File: t.File})
		}
		s.totals.Rows++
		s.watch.addRow(t, row, z)
		s.fillRow(t, row, z)
		if s.options.Best > 0 {
			s.best.offer(&s.row, s.options.Best)
		} else if !yield(&s.row, nil) {
			return false, nil
		}
	}
	return true, nil
}

// fillRow fills s.row with the row that was scored last.
func (s *Stream) fillRow(t *table.Table, row int, z float64) {
	r := &s.row
	r.Number, r.Score = s.totals.Rows, z
	r.ID = r.ID[:0]
	for _, c := range t.ID {
		r.ID = append(r.ID, c.Values[row])
	}
	r.Input = r.Input[:0]
	for _, i := range s.kept {
		r.Input = append(r.Input, t.Raw[row][i])
	}
	if s.explain != nil {
		s.explain(r)
	}
	segment := segmentOf(t, row)
	r.Threshold = s.points[0].ThresholdOf(segment)
	for k := range s.points {
		r.Decisions[k] = s.points[k].Decide(z, segment)
		if r.Decisions[k] {
			s.totals.Positives[k]++
		}
	}
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
	r.Missing = sumOf(counts.Missing)
	r.Unknown = sumOf(counts.Unknown) + counts.UnknownIndices
	if r.Unknown > 0 {
		r.Warnings = append(r.Warnings, diag.Warning{Code: "unknown-values",
			Text: text.Plural(r.Unknown, "value") + ` not seen in training (treated as "other")`})
	}
	if r.Missing > 0 {
		r.Warnings = append(r.Warnings, diag.Warning{Code: "missing-values",
			Text: fmt.Sprintf("%s imputed (%s)", text.Plural(r.Missing, "missing value"), s.scorer.Map.Impute)})
	}
	_, warnings := s.watch.reports(s.model.Training())
	r.Warnings = append(r.Warnings, warnings...)
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

// compareRows orders rows by falling score. The earlier row wins a tie.
func compareRows(a, b result.Row) int {
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

// offer keeps a copy of r if it is among the limit best rows so far.
func (h *bestRows) offer(r *result.Row, limit int) {
	full := len(*h) == limit
	if full && compareRows(*r, (*h)[0]) > 0 {
		return
	}
	if full {
		(*h)[0] = r.Clone()
		heap.Fix(h, 0)
		return
	}
	heap.Push(h, r.Clone())
}
