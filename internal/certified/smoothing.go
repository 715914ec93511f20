package certified

import (
	"context"

	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
	"toptau/internal/certified/smoothed"
	"toptau/internal/matrix"
)

// evaluateSmoothed evaluates the problem at a point.
func (s *Memory) evaluateSmoothed(ctx context.Context, f form.Form, at *Point,
	width float64) (*smoothedPoint, error) {
	z, err := s.scoresInPass(ctx, at)
	if err != nil {
		return nil, err
	}
	mass := s.shape[0].Mass
	e := &smoothedPoint{smoothed.New(f, at.W, width, mass), at}
	first := s.first()
	var weights []float64
	if s.weights != nil {
		weights = s.weights[first:]
	}
	// The true problem first: its value is an upper bound, and its edge is near the level of the smoothed
	// one.
	f.Rule.At(z[first:], weights, &s.support)
	e.T, e.Edge, e.Above = s.support.T, s.support.Edge, len(s.support.Rows)
	s.setLevel(e, z)
	square := float64(f.Lambda / 2 * linalg.Dot(at.W, at.W))
	e.Exact = s.sumPositives(func(i int) float64 { return f.Loss(1 + e.T - z[i]) })/mass + square
	e.Value = s.sumPositives(func(i int) float64 { return e.Loss.Value(1 + e.Top - z[i]) })/mass + square
	return e, nil
}

// scoresInPass returns the scores at a point. Reading the data for them counts as a pass.
func (s *Memory) scoresInPass(ctx context.Context, p *Point) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	z, read := s.scores(p)
	if read {
		s.passes++
	}
	return z, nil
}

// sumPositives adds the weight of each positive times a term.
func (s *Memory) sumPositives(term func(i int) float64) float64 {
	return linalg.SumInBlocks(s.x.Positives.Rows(), func(i int) float64 { return float64(s.weight(i) * term(i)) })
}

// setLevel sets the level of the smoothed threshold from the scores that can matter to it.
func (s *Memory) setLevel(e *smoothedPoint, z []float64) {
	floor := e.Floor()
	// Count first: a slice that grows would take twice the memory of the largest population.
	count := 0
	for _, v := range z[s.first():] {
		if v > floor {
			count++
		}
	}
	scores := make([]float64, 0, count)
	var weights []float64
	for i := s.first(); i < len(z); i++ {
		if z[i] > floor {
			scores = append(scores, z[i])
			if s.weights != nil {
				weights = append(weights, s.weights[i])
			}
		}
	}
	e.SetLevel(scores, weights)
}

// differentiate reads the rows whose multipliers are not zero.
func (s *Memory) differentiate(ctx context.Context, e *smoothedPoint, limit int) error {
	z, err := s.scoresInPass(ctx, e.at)
	if err != nil {
		return err
	}
	positives, cols := s.x.Positives.Rows(), s.x.Cols()
	e.WeightedX, e.GradT = make([]float64, cols), make([]float64, cols)
	p := func(i int, z float64) float64 { return e.DualP(z, s.weight(i)) }
	a := func(i int, z float64) float64 { return e.DualA(z, s.weight(i)) }
	// X+'p and X'a: the multipliers of most rows are 0, and only the others are read.
	s.addClass(s.x.Positives, 0, e.at, p, e.WeightedX)
	if s.all {
		s.addClass(s.x.Positives, 0, e.at, a, e.GradT)
	}
	s.addClass(s.x.Negatives, positives, e.at, a, e.GradT)
	e.P = linalg.SumInBlocks(positives, func(i int) float64 { return p(i, z[i]) })
	if e.Loss.Square {
		e.Squares = s.sumPositives(func(i int) float64 { v := p(i, z[i]) / s.weight(i); return float64(v * v) })
	}
	ofLoss := func(i int) float64 { return e.Loss.Curvature(1 + e.Top - z[i]) }
	ofBand := func(i int) float64 { return e.Hinge.Curvature(z[i] - e.Level) }
	e.Losses = s.sampleSmooth(0, positives, limit, ofLoss)
	e.Band = s.sampleSmooth(s.first(), len(z), limit, ofBand)
	return nil
}

// addClass adds value(i, z[i]) times row i to g for the rows of a class, whose first row has number offset.
func (s *Memory) addClass(class *matrix.ClassRows, offset int, at *Point, value func(i int, z float64) float64,
	g []float64) {
	z := at.scores[offset : offset+class.Rows()]
	ofRow := func(i int, score float64) float64 { return value(offset+i, score) }
	s.visits += float64(s.read.addRows(class, at.W, z, ofRow, g))
}

// sampleSmooth returns about limit of the rows from first to end-1 whose curvature is not zero, evenly
// spaced.
func (s *Memory) sampleSmooth(first, end, limit int, curvature func(i int) float64) (b smoothed.Sample) {
	s.numbers = s.numbers[:0]
	for i := first; i < end; i++ {
		if curvature(i) > 0 && s.weight(i) > 0 {
			s.numbers = append(s.numbers, int32(i))
		}
	}
	b.Count = len(s.numbers)
	for k := 0; k < b.Count; k += max(1, (b.Count+limit-1)/limit) {
		i := int(s.numbers[k])
		features := func(dst []float64) { s.copyRow(i, dst) }
		b.Rows = append(b.Rows, smoothed.Row{Weight: s.weight(i), Features: features})
		b.Curvature = append(b.Curvature, s.weight(i)*curvature(i))
	}
	b.PerRow = float64(b.Count) / float64(max(1, len(b.Rows)))
	s.visits += float64(len(b.Rows))
	return b
}

// between returns a point with its scores, which are those between the scores of the ends.
func (s *Memory) between(from, to *Point, alpha float64) *Point {
	z0, z1 := s.bothScores(from, to)
	return s.interpolate(from, to, z0, z1, alpha)
}

// interpolate returns a point of a line with its scores. Scores are linear in w, so no row need be read.
func (s *Memory) interpolate(from, to *Point, z0, z1 []float64, alpha float64) *Point {
	p := newPoint(between(from.W, to.W, alpha))
	s.keep(p, recentPoints)
	for i, v := range z0 {
		p.scores[i] = v + float64(alpha*(z1[i]-v))
	}
	return p
}

// multipliers returns those of the smoothed problem, row by row.
func (s *Memory) multipliers(e *smoothedPoint, scale float64) (p, a Sparse) {
	z, read := s.scores(e.at)
	if read {
		s.passes++
	}
	first := s.first()
	p = sparseOf(z[:s.x.Positives.Rows()], func(i int, z float64) float64 { return scale * e.DualP(z, s.weight(i)) })
	a = sparseOf(z[first:], func(i int, z float64) float64 { return e.DualA(z, s.weight(first+i)) })
	return p, a
}
