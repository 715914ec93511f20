package toptau

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/model"
)

// Load reads a saved model. A file that is truncated, edited, newer, or does not reproduce its probe scores is refused.
func Load(path string) (*model.Model, error) { return model.Load(path) }

// ScoreOptions are the choices of Score.
type ScoreOptions struct {
	Format
	At       string // the operating point whose decision comes first; "": the model's first
	Best     int    // 0: every row in the order of the input; otherwise only so many best rows, best first
	Keep     bool   // pass the input's columns through
	Explain  bool   // say what each column adds to the score
	Progress func(rows int)
}

// Scored is one row as Score gives it. It is valid until the next one, except with Best.
type Scored struct {
	Row       int      // 1-based
	ID        []string // the columns of Format.ID
	Fields    []string // with Keep: the input's other columns
	Score     float64
	Decisions []bool // score > threshold, one for each of Scoring.Points

	Contributions []float64 // with Explain: beside Scoring.Columns; with Offset they add up to Score
	Offset        float64   // with Explain: what belongs to no column
	Threshold     float64   // of the first of Scoring.Points, for this row
}

// Scoring is what holds for all rows of a file: the columns of the output, and at the end the counts.
type Scoring struct {
	ID     []string // names of the columns that identify a row; empty: the row's number
	Kept   []string // with Keep: names of the input's other columns
	Points []string // names of the operating points, the chosen one first

	Columns []string // with Explain: the columns that have weights; LIBSVM: the indices

	Rows     int       // rows scored
	Positive []int     // decisions for each of Points
	Missing  int       // values that were missing and treated by the model's policy
	Unknown  int       // categories and indices that training did not have
	Warnings []Warning // complete at the end
}

// scoreChunk is the number of rows that Score holds at a time.
const scoreChunk = 4096

// Score scores the rows of a file with a model, in the order of the file and in memory that does not grow with it. begin
// is called once before the first row; each row is passed to emit; an error from either ends it and is returned. Ties
// with Best go to the earlier row.
func Score(ctx context.Context, m *model.Model, path string, o ScoreOptions, begin func(*Scoring) error,
	emit func(*Scored) error) (*Scoring, error) {
	options, err := optionsFor(m, o.Format)
	if err != nil {
		return nil, err
	}
	options.Unlabelled, options.Raw = true, o.Keep
	points, err := pointsFrom(m, o.At)
	if err != nil {
		return nil, err
	}
	reader, err := table.Open(path, options)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	s := &scoreRun{scorer: m.TableScorer(feature.Key{}), points: points, options: o, emit: emit, file: path,
		watch: newShiftWatch(&points[0], false), training: m.Training()}
	if err := s.run(ctx, reader, begin); err != nil {
		return nil, err
	}
	return &s.scoring, nil
}

// pointsFrom returns the operating points, the named one first.
func pointsFrom(m *model.Model, name string) ([]model.Point, error) {
	all := m.Points()
	if len(all) == 0 {
		return nil, &diag.Error{Kind: diag.Model, Found: "a model without an operating point", Expected: "at least one"}
	}
	first, found := m.Point(name)
	if !found {
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		return nil, &diag.Error{Kind: diag.Usage, Found: "operating point " + diag.Quote(name),
			Expected: "one of the model's: " + strings.Join(names, ", ")}
	}
	points := []model.Point{first}
	for _, p := range all {
		if p.Name != first.Name {
			points = append(points, p)
		}
	}
	return points, nil
}

// scoreRun is the state of one Score.
type scoreRun struct {
	scorer  *feature.Scorer
	points  []model.Point
	options ScoreOptions
	emit    func(*Scored) error
	file    string
	scoring Scoring
	row     Scored
	kept    []int         // positions of the columns that are passed through
	explain func(*Scored) // with Explain: fills the contributions
	best    bestRows

	watch    *shiftWatch
	training model.Training
}

func (s *scoreRun) run(ctx context.Context, reader *table.Reader, begin func(*Scoring) error) error {
	for {
		t, err := reader.Next(scoreChunk)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if s.scoring.Rows == 0 {
			if err := s.begin(t, reader, begin); err != nil {
				return err
			}
		}
		if err := s.chunk(ctx, t); err != nil {
			return err
		}
		if s.options.Progress != nil {
			s.options.Progress(s.scoring.Rows)
		}
	}
	if err := s.flushBest(); err != nil {
		return err
	}
	for _, w := range reader.Warnings() {
		s.scoring.Warnings = append(s.scoring.Warnings, w)
	}
	counts := s.scorer.Row.Counts
	s.scoring.Missing = sum(counts.Missing)
	s.scoring.Unknown = sum(counts.Unknown) + counts.UnknownIndices
	if s.scoring.Unknown > 0 {
		s.scoring.Warnings = append(s.scoring.Warnings, Warning{Code: "unknown-values", Text: fmt.Sprintf(
			"values unknown to the model, which count as none of the known ones: %d", s.scoring.Unknown)})
	}
	if s.scoring.Missing > 0 {
		s.scoring.Warnings = append(s.scoring.Warnings, Warning{Code: "missing-values", Text: fmt.Sprintf(
			"missing values, treated by the model's policy (%s): %d", s.scorer.Map.Impute, s.scoring.Missing)})
	}
	_, warnings := s.watch.reports(s.training)
	s.scoring.Warnings = append(s.scoring.Warnings, warnings...)
	return nil
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

func (s *scoreRun) begin(t *table.Table, reader *table.Reader, begin func(*Scoring) error) error {
	if err := s.scorer.Map.Check(t); err != nil {
		return err
	}
	for _, c := range t.ID {
		s.scoring.ID = append(s.scoring.ID, c.Name)
	}
	if s.options.Keep {
		for i, name := range reader.Names() {
			if !slices.ContainsFunc(t.ID, func(c table.Text) bool { return c.Number == i+1 }) {
				s.kept = append(s.kept, i)
				s.scoring.Kept = append(s.scoring.Kept, name)
			}
		}
	}
	if s.options.Explain {
		if err := s.explainBy(); err != nil {
			return err
		}
	}
	for _, p := range s.points {
		s.scoring.Points = append(s.scoring.Points, p.Name)
	}
	s.scoring.Positive = make([]int, len(s.points))
	s.row.Decisions = make([]bool, len(s.points))
	return begin(&s.scoring)
}

func (s *scoreRun) chunk(ctx context.Context, t *table.Table) error {
	for row := range t.Rows() {
		if err := ctx.Err(); err != nil {
			return err
		}
		z, err := s.scorer.Score(t, row)
		if err != nil {
			if e := diag.Of(err); e != nil && e.File == "" {
				e.File = s.file
			}
			return err
		}
		s.scoring.Rows++
		s.watch.add(t, row, z)
		s.fill(t, row, z)
		if s.options.Best > 0 {
			s.best.offer(&s.row, s.options.Best)
			continue
		}
		if err := s.emit(&s.row); err != nil {
			return err
		}
	}
	return nil
}

// explainBy prepares the division of scores among columns.
func (s *scoreRun) explainBy() error {
	c, err := feature.NewContributions(s.scorer.Map, s.scorer.Weights)
	if err != nil {
		return err
	}
	s.scoring.Columns = c.Columns
	s.row.Contributions = make([]float64, len(c.Columns))
	s.explain = func(r *Scored) { r.Offset = s.scorer.Offset + c.Row(&s.scorer.Row, r.Contributions) }
	return nil
}

// fill makes row the one that is being scored.
func (s *scoreRun) fill(t *table.Table, row int, z float64) {
	r := &s.row
	r.Row, r.Score = s.scoring.Rows, z
	r.ID = r.ID[:0]
	for _, c := range t.ID {
		r.ID = append(r.ID, c.Values[row])
	}
	r.Fields = r.Fields[:0]
	for _, i := range s.kept {
		r.Fields = append(r.Fields, t.Raw[row][i])
	}
	if s.options.Explain {
		s.explain(r)
	}
	r.Threshold = thresholdFor(&s.points[0], t, row)
	for k := range s.points {
		r.Decisions[k] = z > thresholdFor(&s.points[k], t, row)
		if r.Decisions[k] {
			s.scoring.Positive[k]++
		}
	}
}

// thresholdFor returns a point's threshold for a row of a table.
func thresholdFor(p *model.Point, t *table.Table, row int) float64 {
	if p.Segment == "" || t.Segment == nil {
		return p.Threshold
	}
	return p.ThresholdOf(t.Segment.Values[row])
}

func (s *scoreRun) flushBest() error {
	slices.SortFunc(s.best, better)
	for i := range s.best {
		if err := s.emit(&s.best[i]); err != nil {
			return err
		}
	}
	return nil
}

// better orders rows best first; the earlier row wins a tie.
func better(a, b Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row)) }

// bestRows is a heap with the worst of the best rows on top.
type bestRows []Scored

func (h bestRows) Len() int           { return len(h) }
func (h bestRows) Less(i, j int) bool { return better(h[i], h[j]) > 0 }
func (h bestRows) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *bestRows) Push(x any)        { *h = append(*h, x.(Scored)) }
func (h *bestRows) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// offer keeps a copy of r if it is among the limit best rows so far.
func (h *bestRows) offer(r *Scored, limit int) {
	full := len(*h) == limit
	if full && better(*r, (*h)[0]) > 0 {
		return
	}
	kept := *r
	kept.ID, kept.Fields, kept.Decisions = slices.Clone(r.ID), slices.Clone(r.Fields), slices.Clone(r.Decisions)
	kept.Contributions = slices.Clone(r.Contributions)
	if full {
		(*h)[0] = kept
		heap.Fix(h, 0)
		return
	}
	heap.Push(h, kept)
}
