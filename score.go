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
	"toptau/schema"
)

// Load reads a model file. It refuses a file that is truncated, edited, too new, or does not reproduce its probe scores.
func Load(path string) (*model.Model, error) { return model.Load(path) }

// ScoreOptions are the options of Score.
type ScoreOptions struct {
	Format   schema.Format  // what differs from the training file
	At       string         // the operating point whose decision comes first; "": the model's first
	Best     int            // 0: every row, in the order of the input; otherwise only this many rows with the highest scores, best first
	Keep     bool           // pass the other columns of the input through
	Explain  bool           // also return what each column adds to the score
	Progress func(rows int) // is called with the number of rows scored
}

// Stream scores rows as they are read. Its fields hold for all rows.
type Stream struct {
	ID      []string // names of the columns that identify a row; empty: the row's number does
	Kept    []string // with Keep: names of the input's other columns
	Points  []string // names of the operating points, the chosen one first
	Columns []string // with Explain: the columns that have weights; LIBSVM: the indices

	ctx     context.Context
	model   *model.Model
	options ScoreOptions
	reader  *table.Reader
	first   *table.Table // the chunk that Score has read
	scorer  *feature.Scorer
	points  []model.Point
	totals  result.Scoring
	row     result.Row
	kept    []int             // positions of the columns that are passed through
	explain func(*result.Row) // with Explain: fills in the contributions
	best    bestRows
	watch   *shiftWatch
	used    bool
}

// chunkRows is the number of rows that a stream holds at a time.
const chunkRows = 4096

// Score reads the first rows from r and returns a stream of scored rows, in memory that does not grow with the input. An input
// that does not fit the model is an error of Score; Rows yields the errors of single rows. name stands for r in errors if r has
// no method Name.
func Score(ctx context.Context, m *model.Model, r io.Reader, o ScoreOptions) (*Stream, error) {
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
		err = s.begin(s.first)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.reader.Close()
		return nil, err
	}
	return s, nil
}

// readerName returns the name of a file, "input" for other readers.
func readerName(r io.Reader) string {
	if named, ok := r.(interface{ Name() string }); ok {
		return named.Name()
	}
	return "input"
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

// begin prepares the stream for the columns of the first chunk.
func (s *Stream) begin(t *table.Table) error {
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
	s.explain = func(r *result.Row) { r.Offset = s.scorer.Offset + c.Row(&s.scorer.Row, r.Contributions) }
	return nil
}

// Rows yields the scored rows, once. A row is valid until the next one; Clone keeps it. With Best they come when the input has
// ended, the best first, ties in the order of the input. A failed input yields (nil, err) and ends. Leaving the loop stops
// reading.
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

// scoreChunk yields the rows of a chunk. more is false when the loop was left.
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
		s.watch.add(t, row, z)
		s.fillRow(t, row, z)
		if s.options.Best > 0 {
			s.best.offer(&s.row, s.options.Best)
		} else if !yield(&s.row, nil) {
			return false, nil
		}
	}
	return true, nil
}

// fillRow makes s.row the row that was scored last.
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

// segmentOf returns the value of a row's segment column, "" without one.
func segmentOf(t *table.Table, row int) string {
	if t.Segment == nil {
		return ""
	}
	return t.Segment.Values[row]
}

// finishTotals adds the totals that need all rows.
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

// Totals returns the counts and warnings of the rows so far. They are complete when Rows has ended.
func (s *Stream) Totals() result.Scoring { return s.totals }

// compareRows orders rows best first. The earlier row wins a tie.
func compareRows(a, b result.Row) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Number, b.Number))
}

// bestRows is a heap with the worst of the best rows on top.
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
