package feature

import (
	"fmt"
	"iter"
	"math"

	"toptau/diag"
	"toptau/internal/data/table"
)

// Scorer scores rows of tables with one weight vector:
//
//	score = (0 + x_1 w_1 + x_2 w_2 + ...) + offset
//
// with x encoded in float64 and rounded to float32, each product rounded, each sum rounded, in the order of the
// weights. These are the bits that matrix.ClassRows.Scores gives for the packed rows, plus the offset.
//
// A Scorer holds scratch memory and counts, so each goroutine needs a separate one.
type Scorer struct {
	Map     *Map
	Weights []float64 // Map.Cols() of them
	Offset  float64
	Row     Encoded // the last row; Row.Counts are over all rows
}

// NewScorer returns a Scorer, or an error for a weight vector of the wrong length.
func NewScorer(m *Map, weights []float64, offset float64) (*Scorer, error) {
	if len(weights) != m.Cols() {
		return nil, &diag.Error{Kind: diag.Model, Found: fmt.Sprintf("%d weights", len(weights)),
			Expected: fmt.Sprintf("%d, one for each feature", m.Cols())}
	}
	return &Scorer{Map: m, Weights: weights, Offset: offset}, nil
}

// Scores writes the score of every row of t to dst, which must have t.Rows() elements.
func (s *Scorer) Scores(t *table.Table, dst []float64) error {
	if err := s.Map.Check(t); err != nil {
		return err
	}
	return s.scoreRows(NewBatch(s), t, dst)
}

// ScoresOf is Scores for rows that may stay in a file.
func (s *Scorer) ScoresOf(f *table.Frame, dst []float64) error {
	if err := s.Map.Check(f.Shape()); err != nil {
		return err
	}
	b := NewBatch(s)
	return f.Scan(s.Map.InputColumns(), func(t *table.Table, first int) error { return s.scoreRows(b, t, dst[first:]) })
}

// scoreRows writes the score of every row of t to dst. The batch may be nil.
func (s *Scorer) scoreRows(b *Batch, t *table.Table, dst []float64) error {
	for first := 0; first < t.Rows(); first += BatchRows {
		z := dst[first:min(first+BatchRows, t.Rows())]
		if b != nil && b.Score(t, first, z) {
			continue
		}
		for i := range z {
			var err error
			if z[i], err = s.Score(t, first+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Score scores one row of a table that has passed Map.Check.
func (s *Scorer) Score(t *table.Table, row int) (float64, error) {
	if err := s.Map.Encode(t, row, &s.Row); err != nil {
		return 0, err
	}
	z := s.Map.dot(&s.Row, s.Weights) + s.Offset
	if math.IsNaN(z) || math.IsInf(z, 0) {
		e := errorAt(t, row)
		e.Found, e.Expected = "a score that is not finite", "values like those of the training data"
		return 0, e
	}
	return z, nil
}

// Values yields the encoded values of the last row, by weight in order, without the zeros of sparse and coded
// blocks. The products with the weights add up to the score without its offset.
func (s *Scorer) Values() iter.Seq2[int, float64] { return s.Map.values(&s.Row) }
