package certified

import (
	"context"
	"math"
	"slices"

	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
	"toptau/internal/matrix"
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

	// Scratch.
	support threshold.Support
	numbers []int32
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
	return Shape{Cols: s.x.Cols(), Positives: s.shape[0], Population: s.shape[1]}
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

// scores returns the scores at a point. It reports whether it read the data for them.
func (s *Memory) scores(p *Point) (z []float64, read bool) {
	if p.kept() {
		s.touch(p)
		return p.scores, false
	}
	s.keep(p, recentPoints)
	s.fill([]*Point{p})
	return p.scores, true
}

// bothScores returns the scores at two points. Reading either or both is one pass.
func (s *Memory) bothScores(from, to *Point) (z0, z1 []float64) {
	z1, readTo := s.scores(to)
	z0, readFrom := s.scores(from)
	if readTo || readFrom {
		s.passes++
	}
	return z0, z1
}

// touch marks a point as used last. The least recently used point loses its scores first.
func (s *Memory) touch(p *Point) {
	k := slices.Index(s.recent, p)
	s.recent = append(append(s.recent[:k:k], s.recent[k+1:]...), p)
}

// keep gives a point space for its scores. At most most points have such space, so that others may lose
// theirs.
func (s *Memory) keep(p *Point, most int) {
	var z []float64
	for len(s.recent) >= most {
		z, s.recent[0].scores = s.recent[0].scores, nil
		s.recent = append(s.recent[:0], s.recent[1:]...)
	}
	if z == nil {
		z = make([]float64, s.x.Rows())
	}
	p.scores = z
	s.recent = append(s.recent, p)
}

// fill computes the scores of some points.
func (s *Memory) fill(points []*Point) {
	s.read.computeScores(points)
	s.visits += float64(len(points) * s.x.Rows())
}

// prepare computes the scores of the queries' points that are not kept, all at once. It keeps them until the
// next call, and reports whether it read the data.
func (s *Memory) prepare(queries []Query) bool {
	for _, q := range queries {
		if q.At.kept() {
			s.touch(q.At) // so that no other point takes its place
		}
	}
	var missing []*Point
	for _, q := range queries {
		if !q.At.kept() {
			s.keep(q.At, max(recentPoints, len(queries)))
			missing = append(missing, q.At)
		}
	}
	if len(missing) > 0 {
		s.fill(missing)
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
		z := q.At.scores
		if q.Population != nil {
			answers[k].Population = s.answerPopulation(z, *q.Population, len(queries) == 1)
		}
		if q.Positives != nil {
			answers[k].Positives = s.answerPositives(z, *q.Positives)
		}
	}
	return answers, nil
}

// answerPopulation answers for scores z. They may become part of the answer if they are lasting.
func (s *Memory) answerPopulation(z []float64, q PopulationQuery, lasting bool) (a PopulationAnswer) {
	first := s.first()
	s.copyAbove(z[first:], q.Above, lasting, &a)
	key := func(i int) float64 { return -z[i] }
	if q.Near {
		key = func(i int) float64 { return math.Abs(z[i] - q.Edge) }
	}
	a.Rows, a.Cut = s.bestRows(first, len(z), q.Known, q.Limit, key, z)
	if q.Rest > 0 {
		distance := func(i int) float64 { return z[i] - q.Edge }
		a.Groups = s.sumGroups(first, len(z), q.Known, a.Rows, distance, q.Rest, false)
	}
	return a
}

// copyAbove answers with the scores z of the population at or above a limit. Lasting ones are not copied if
// all are.
func (s *Memory) copyAbove(z []float64, above float64, lasting bool, a *PopulationAnswer) {
	var weights []float64
	if s.weights != nil {
		weights = s.weights[s.first():]
	}
	for i, v := range z {
		if v >= above {
			a.Count++
			a.Sum += float64(s.weight(s.first()+i) * v)
		}
	}
	if lasting && a.Count == len(z) {
		a.Scores, a.Weights = z, weights
		return
	}
	a.Scores = make([]float64, 0, a.Count)
	for i, v := range z {
		if v >= above {
			a.Scores = append(a.Scores, v)
			if weights != nil {
				a.Weights = append(a.Weights, weights[i])
			}
		}
	}
}

func (s *Memory) answerPositives(z []float64, q PositivesQuery) (a PositivesAnswer) {
	positives := s.x.Positives.Rows()
	a.Loss = linalg.SumInBlocks(positives, func(i int) float64 {
		return float64(s.weight(i) * form.Loss(q.Squared, 1+q.T-z[i]))
	})
	a.Rows, _ = s.bestRows(0, positives, q.Known, q.Limit, func(i int) float64 { return math.Abs(1 + q.T - z[i]) }, z)
	if q.Rest > 0 {
		distance := func(i int) float64 { return 1 + q.T - z[i] }
		a.Groups = s.sumGroups(0, positives, q.Known, a.Rows, distance, q.Rest, true)
	}
	return a
}

// ranked is a row that competes for a place in an answer: the smallest keys win, ties by number.
type ranked struct {
	key float64
	id  int32
}

func (r ranked) compare(o ranked) int {
	switch {
	case r.key < o.key:
		return -1
	case r.key > o.key:
		return 1
	}
	return int(r.id) - int(o.id)
}

const (
	// keySample is the number of keys in the sample that bounds the smallest ones.
	keySample = 8192
	// sampleSlack and sampleExtra are by how much the rank of the bound in the sample exceeds the expected
	// one: then almost never too few keys are below it. Too few cost another sweep over the keys, and no
	// error. Chosen by hand.
	sampleSlack, sampleExtra = 3, 40 // halves
)

// bestRows returns the limit rows from first to end-1 with the smallest keys, in order, with their features.
// It leaves out known rows, and reports whether there are more.
func (s *Memory) bestRows(first, end int, known *Set, limit int, key func(i int) float64, z []float64) ([]Row, bool) {
	if limit == 0 {
		return nil, true
	}
	// A sample bounds the keys that can be among the smallest, so that few rows are ranked.
	bound := math.Inf(1)
	if stride := (end - first) / keySample; stride > 0 && limit < (end-first)/4 {
		var sample []float64
		for i := first; i < end; i += stride {
			if !known.Has(i - first) {
				sample = append(sample, key(i))
			}
		}
		slices.Sort(sample)
		if k := limit/stride*sampleSlack/2 + sampleExtra; k < len(sample) {
			bound = sample[k]
		}
	}
	others, more := s.smallest(first, end, known, limit, bound, key)
	if len(others) < limit && !math.IsInf(bound, 1) {
		others, more = s.smallest(first, end, known, limit, math.Inf(1), key)
	}
	slices.SortFunc(others, ranked.compare)
	rows := make([]Row, len(others))
	for k, r := range others {
		id := int(r.id)
		rows[k] = Row{ID: id, Score: z[first+id], Weight: s.weight(first + id),
			Features: func(dst []float64) { s.copyRow(first+id, dst) }}
	}
	return rows, more
}

// smallest returns the limit rows with the smallest keys up to bound, in some order, and whether there may be
// more.
func (s *Memory) smallest(first, end int, known *Set, limit int, bound float64,
	key func(i int) float64) (list []ranked, more bool) {
	more = !math.IsInf(bound, 1)
	cut := func() {
		selectSmallest(list, limit, ranked.compare)
		list, more = list[:limit], true
	}
	for i := first; i < end; i++ {
		k := key(i)
		if !(k <= bound) || known.Has(i-first) || s.weight(i) == 0 {
			continue
		}
		if list = append(list, ranked{k, int32(i - first)}); len(list) == 4*limit+1024 {
			cut()
			// Of equal keys the first rows win: a later row needs a smaller key.
			bound = math.Nextafter(slices.MaxFunc(list, ranked.compare).key, math.Inf(-1))
		}
	}
	if len(list) > limit {
		cut()
	}
	return list, more
}

// copyRow writes row i, counted over both classes, to dst.
func (s *Memory) copyRow(i int, dst []float64) {
	if p := s.x.Positives.Rows(); i < p {
		s.x.Positives.Row(i, dst)
	} else {
		s.x.Negatives.Row(i-p, dst)
	}
}

// selectSmallest puts the k smallest elements first, in some order, by quickselect with the median of three.
func selectSmallest[T any](a []T, k int, less func(x, y T) int) {
	lo, hi := 0, len(a)
	for hi-lo > 16 && k > lo && k < hi {
		x, y, z := a[lo], a[lo+(hi-lo)/2], a[hi-1]
		if less(x, y) > 0 {
			x, y = y, x
		}
		if less(y, z) > 0 {
			y = z
			if less(x, y) > 0 {
				y = x
			}
		}
		i, j := lo, hi-1
		for i <= j {
			for less(a[i], y) < 0 {
				i++
			}
			for less(a[j], y) > 0 {
				j--
			}
			if i <= j {
				a[i], a[j] = a[j], a[i]
				i++
				j--
			}
		}
		switch {
		case k <= j+1:
			hi = j + 1
		case k >= i:
			lo = i
		default:
			return
		}
	}
	if k > lo && k < hi {
		slices.SortFunc(a[lo:hi], less)
	}
}
