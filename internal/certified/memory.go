package certified

import (
	"context"
	"math"
	"slices"

	"toptau/internal/matrix"
	"toptau/method"
	"toptau/threshold"
)

// Memory is a source over a matrix in memory. It keeps the scores of the last points it saw, so that one reading serves
// the threshold, the losses and the line search. One goroutine at a time.
type Memory struct {
	x       *matrix.Matrix
	read    reader
	all     bool                    // the population is all rows
	weights []float64               // of all rows, positives first; nil: all 1
	shape   [2]threshold.Population // positives, population
	recent  []scored
	passes  int
	visits  float64

	// Space that is reused from call to call.
	support threshold.Support
	numbers []int32
}

// recentPoints is how many points' scores are kept: the best, the newest and the last of a line search.
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
		for _, part := range []*matrix.Part{p, n} {
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

// first is the row, counted over both parts, at which the population begins.
func (s *Memory) first() int {
	if s.all {
		return 0
	}
	return s.x.Positives.Rows()
}

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

// Readings counts the readings so far.
func (s *Memory) Readings() (int, float64) { return s.passes, s.visits / float64(s.x.Rows()) }

// Means reads the data once.
func (s *Memory) Means(ctx context.Context) (positives, population []float64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s.passes++
	s.visits += float64(s.x.Rows())
	sums, others := s.read.sums()
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

// scores returns the scores of w, from the last points or by a reading.
func (s *Memory) scores(w []float64) (z []float64, read bool) {
	if z = s.remembered(w); z != nil {
		return z, false
	}
	z = s.slot(w, recentPoints)
	s.fill([]scored{{w, z}})
	return z, true
}

// remembered returns the scores of a recent point, or nil.
func (s *Memory) remembered(w []float64) []float64 {
	for k, p := range s.recent {
		if slices.Equal(p.w, w) {
			// Move to the end: the last used is dropped last.
			s.recent = append(append(s.recent[:k:k], s.recent[k+1:]...), p)
			return p.z
		}
	}
	return nil
}

// fill reads the scores of some points.
func (s *Memory) fill(points []scored) {
	s.read.scores(points)
	s.visits += float64(len(points) * s.x.Rows())
}

// slot returns space for the scores of w, remembered as w's beside those of most-1 other points.
func (s *Memory) slot(w []float64, most int) []float64 {
	var z []float64
	for len(s.recent) >= most {
		z = s.recent[0].z
		s.recent = append(s.recent[:0], s.recent[1:]...)
	}
	if z == nil {
		z = make([]float64, s.x.Rows())
	}
	s.recent = append(s.recent, scored{w: slices.Clone(w), z: z})
	return z
}

// prepare reads the scores that queries need, all at once, and remembers them until the next call. It reports whether it
// read any.
func (s *Memory) prepare(queries []Query) bool {
	for _, q := range queries {
		s.remembered(q.W) // so that no other point takes its place
	}
	var wanted []scored
	for _, q := range queries {
		if s.remembered(q.W) == nil {
			wanted = append(wanted, scored{q.W, s.slot(q.W, max(recentPoints, len(queries)))})
		}
	}
	if len(wanted) > 0 {
		s.fill(wanted)
	}
	return len(wanted) > 0
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
		z := s.remembered(q.W)
		if q.Population != nil {
			answers[k].Population = s.population(z, *q.Population, len(queries) == 1)
		}
		if q.Positives != nil {
			answers[k].Positives = s.positives(z, *q.Positives)
		}
	}
	return answers, nil
}

// population answers for scores z, which may become part of the answer if they are lasting.
func (s *Memory) population(z []float64, q PopulationQuery, lasting bool) (a PopulationAnswer) {
	first := s.first()
	s.copyAbove(z[first:], q.Above, lasting, &a)
	key := func(i int) float64 { return -z[i] }
	if q.Near {
		key = func(i int) float64 { return math.Abs(z[i] - q.Edge) }
	}
	a.Rows, a.Cut = s.best(first, len(z), q.Known, q.Limit, key, z)
	if q.Rest > 0 {
		a.Groups = s.groups(first, len(z), q.Known, a.Rows, func(i int) float64 { return z[i] - q.Edge }, q.Rest, false)
	}
	return a
}

// copyAbove answers with the scores z of the population at or above a limit; lasting ones need no copy if it is all of them.
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

func (s *Memory) positives(z []float64, q PositivesQuery) (a PositivesAnswer) {
	positives := s.x.Positives.Rows()
	a.Loss = sumInBlocks(positives, func(i int) float64 {
		return float64(s.weight(i) * lossAt(q.Squared, 1+q.T-z[i]))
	})
	a.Rows, _ = s.best(0, positives, q.Known, q.Limit, func(i int) float64 { return math.Abs(1 + q.T - z[i]) }, z)
	if q.Rest > 0 {
		a.Groups = s.groups(0, positives, q.Known, a.Rows, func(i int) float64 { return 1 + q.T - z[i] }, q.Rest, true)
	}
	return a
}

// sumInBlocks adds up n terms in blocks that depend on n alone.
func sumInBlocks(n int, term func(i int) float64) float64 {
	const block = 1 << 15
	parts := make([]float64, (n+block-1)/block)
	parallel(len(parts), 4*float64(n), func(b int) {
		var s float64
		for i := b * block; i < min((b+1)*block, n); i++ {
			s += term(i)
		}
		parts[b] = s
	})
	return sum(parts)
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

// best returns the limit rows from first to end of the smallest keys that are not known, in order, with their features,
// and whether there are more.
func (s *Memory) best(first, end int, known *Set, limit int, key func(i int) float64, z []float64) ([]Row, bool) {
	if limit == 0 {
		return nil, true
	}
	// A sample says which keys can be among the smallest, so that few rows are ranked.
	bound := math.Inf(1)
	if stride := (end - first) / 8192; stride > 0 && limit < (end-first)/4 {
		var sample []float64
		for i := first; i < end; i += stride {
			if !known.Has(i - first) {
				sample = append(sample, key(i))
			}
		}
		slices.Sort(sample)
		if k := limit/stride*3/2 + 40; k < len(sample) {
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
			Features: func(dst []float64) { s.row(first+id, dst) }}
	}
	return rows, more
}

// smallest returns the limit rows of the smallest keys up to bound, in some order, and whether there may be more.
func (s *Memory) smallest(first, end int, known *Set, limit int, bound float64, key func(i int) float64) (list []ranked, more bool) {
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
			// Of equal keys the first rows win: later ones need a smaller one.
			bound = math.Nextafter(slices.MaxFunc(list, ranked.compare).key, math.Inf(-1))
		}
	}
	if len(list) > limit {
		cut()
	}
	return list, more
}

func (s *Memory) row(i int, dst []float64) {
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
