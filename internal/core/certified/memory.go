package certified

import (
	"context"
	"slices"

	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/threshold"
)

// Memory is a source over a matrix in memory. It keeps the scores of recent points, so that one pass serves
// the threshold, the losses and the line search. It serves one goroutine at a time.
type Memory struct {
	x       *matrix.Matrix
	read    reader
	all     bool                    // the population is all rows
	weights []float64               // of all rows, positives first; nil: all 1
	shape   [2]threshold.Population // positives, population
	recent  []*Point                // those whose scores are kept, the last used at the end
	passes  int
	visits  float64 // rows read
}

// recentPoints is the number of points whose scores are kept: the best, the newest and the last of a line
// search.
const recentPoints = 3

// NewMemory returns a source over a matrix whose population is all rows or the negatives.
func NewMemory(x *matrix.Matrix, population method.Population) *Memory {
	return newMemory(x, direct{x}, population)
}

func newMemory(x *matrix.Matrix, read reader, population method.Population) *Memory {
	s := &Memory{x: x, read: read, all: population == method.AllRows}
	p, n := x.Positives, x.Negatives
	if p.Weights() != nil || n.Weights() != nil {
		s.weights = make([]float64, 0, x.Rows())
		for _, part := range []*matrix.ClassRows{p, n} {
			for i := range part.Rows() {
				if w := part.Weights(); w != nil {
					s.weights = append(s.weights, w[i])
				} else {
					s.weights = append(s.weights, 1)
				}
			}
		}
	}
	for k, first := range []int{0, s.first()} {
		end := []int{p.Rows(), x.Rows()}[k]
		var weights []float64
		if s.weights != nil {
			weights = s.weights[first:end]
		}
		s.shape[k] = threshold.NewPopulation(end-first, weights)
	}
	return s
}

// first is the number of the first row of the population, counted over both classes.
func (s *Memory) first() int {
	if s.all {
		return 0
	}
	return s.x.Positives.Rows()
}

// weight returns that of row i, counted over both classes.
func (s *Memory) weight(i int) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[i]
}

// Shape describes the data.
func (s *Memory) Shape() Shape {
	return Shape{Cols: s.x.Cols(), Positives: s.shape[0], Population: s.shape[1], KeepsScores: true}
}

// Readings counts the passes and rows read so far.
func (s *Memory) Readings() (int, float64) { return s.passes, s.visits / float64(s.x.Rows()) }

// Means makes one pass.
func (s *Memory) Means(ctx context.Context) (positives, population []float64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s.passes++
	s.visits += float64(s.x.Rows())
	sums, others := s.read.sumClasses()
	positives, population = slices.Clone(sums), slices.Clone(others)
	for j := range positives {
		if s.all {
			population[j] += positives[j]
		}
		positives[j] /= s.shape[0].Mass
		population[j] /= s.shape[1].Mass
	}
	return positives, population, nil
}

// touch marks a point as used last. The least recently used point loses its scores first.
func (s *Memory) touch(p *Point) {
	k := slices.Index(s.recent, p)
	s.recent = append(append(s.recent[:k:k], s.recent[k+1:]...), p)
}

// keep gives a point space for its scores. At most most points without pins have such space, so that others
// may lose theirs.
func (s *Memory) keep(p *Point, most int) {
	var z []float64
	free := 0 // points without pins
	for _, q := range s.recent {
		if q.pins == 0 {
			free++
		}
	}
	for k := 0; k < len(s.recent) && free >= most; {
		q := s.recent[k]
		if q.pins > 0 {
			k++
			continue
		}
		z, q.scores = q.scores, nil
		s.recent = append(s.recent[:k], s.recent[k+1:]...)
		free--
	}
	if z == nil {
		z = make([]float64, s.x.Rows())
	}
	p.scores = z
	s.recent = append(s.recent, p)
}

// prepare computes the scores of the queries' points that are not kept, all at once. It keeps them until the
// next call, and reports whether it read the data. Scores are linear in w, so those of a point of a line
// follow from those of its ends, if they are kept.
func (s *Memory) prepare(queries []Query) bool {
	for _, q := range queries {
		if q.At.kept() {
			s.touch(q.At) // so that no other point takes its place
		}
	}
	most := max(recentPoints, len(queries))
	var missing []*Point
	for _, q := range queries {
		p := q.At
		if p.kept() {
			continue
		}
		from, to := p.from, p.to
		if to == nil || !to.kept() || from != nil && !from.kept() {
			s.keep(p, most)
			missing = append(missing, p)
			continue
		}
		s.touch(to) // the ends are used last, so that they keep their scores
		if from == nil {
			s.keep(p, most)
			for i, v := range to.scores {
				p.scores[i] = p.alpha * v
			}
			continue
		}
		s.touch(from)
		s.keep(p, most)
		for i, v := range from.scores {
			p.scores[i] = v + float64(p.alpha*(to.scores[i]-v))
		}
	}
	if len(missing) > 0 {
		s.read.computeScores(missing)
		s.visits += float64(len(missing) * s.x.Rows())
	}
	for _, q := range queries {
		q.At.from, q.At.to = nil, nil
	}
	return len(missing) > 0
}

// Scan answers the queries.
func (s *Memory) Scan(ctx context.Context, queries []Query) ([]Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.prepare(queries) {
		s.passes++
	}
	answers := make([]Answer, len(queries))
	for k, q := range queries {
		s.touch(q.At)
		answers[k].Positives = s.answer(q.At.scores, 0, s.x.Positives.Rows(), &q.Positives)
		answers[k].Population = s.answer(q.At.scores, s.first(), s.x.Rows(), &q.Population)
	}
	return answers, nil
}

// answer answers for the rows from first to end-1 and the scores z of all rows.
func (s *Memory) answer(z []float64, first, end int, r *Request) ClassAnswer {
	c := classScores{z: z[first:end], held: r.Held}
	if s.weights != nil {
		c.weights = s.weights[first:end]
	}
	row := func(i int) Row {
		return Row{ID: i, Score: c.z[i], Weight: c.weight(i), Features: func(dst []float64) { s.copyRow(first+i, dst) }}
	}
	a := c.answer(r, row, func(wanted []int32) []Sum { return s.sumGroups(c, first, r, wanted) })
	for _, i := range slices.Sorted(slices.Values(r.Numbers)) {
		a.ByNumber = append(a.ByNumber, row(i))
	}
	return a
}

// copyRow writes row i, counted over both classes, to dst.
func (s *Memory) copyRow(i int, dst []float64) {
	if p := s.x.Positives.Rows(); i < p {
		s.x.Positives.Row(i, dst)
	} else {
		s.x.Negatives.Row(i-p, dst)
	}
}
