package certified

import (
	"context"
	"math"
	"slices"
	"sort"
	"sync"

	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
	"toptau/method"
	"toptau/threshold"
)

// Blocks is data that is read a block of rows at a time, because all of it does not fit into memory.
type Blocks interface {
	// Count returns the number of blocks.
	Count() int
	// Read returns the rows of a block. Their sources are their numbers in the whole data, which ascend within a
	// class and from block to block. It may be called by several goroutines.
	Read(ctx context.Context, block int) (*matrix.Matrix, error)
	// Done takes back the rows of a block, whose memory may be used for another one.
	Done(x *matrix.Matrix)
}

// BlockSource is a source over blocks. A pass reads all blocks, some of them at a time, and merges the answers in their
// order. Rows have the numbers that Blocks gives them. It keeps nothing, so its memory does not depend on the number of rows.
type BlockSource struct {
	blocks     Blocks
	population method.Population
	shape      Shape
	passes     int
	spaces     parallel.Spares[blockSpace]

	mu   sync.Mutex
	bins [][]Bin
}

// blocksAtOnce is the number of blocks that are read before their answers are merged. The highest scores among the
// blocks before bound what a block has to return, so it decides which rows are compared, but not the answer. It must
// not depend on the number of threads, because sums are added in this order.
const blocksAtOnce = 16

// NewBlockSource returns a source over blocks of rows with the given number of features and shape of each class. The
// population is all rows or the negatives.
func NewBlockSource(b Blocks, cols int, p method.Population, positives, population threshold.Population) *BlockSource {
	return &BlockSource{blocks: b, population: p, shape: Shape{Cols: cols, Positives: positives, Population: population}}
}

// Shape describes the data.
func (s *BlockSource) Shape() Shape { return s.shape }

// Readings counts the passes so far.
func (s *BlockSource) Readings() (int, float64) { return s.passes, float64(s.passes) }

// eachBlock calls read for each block, for some at a time, and add in their order.
func eachBlock[T any](ctx context.Context, blocks int, read func(block int) (T, error), add func(T)) error {
	return parallel.InOrder(blocks, blocksAtOnce, func(block int) (t T, err error) {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		return read(block)
	}, add)
}

// readBlock reads a block and calls use with its rows.
func (s *BlockSource) readBlock(ctx context.Context, block int, use func(x *matrix.Matrix)) error {
	x, err := s.blocks.Read(ctx, block)
	if err != nil {
		return err
	}
	defer s.blocks.Done(x)
	use(x)
	return nil
}

// Means makes one pass.
func (s *BlockSource) Means(ctx context.Context) (positives, population []float64, err error) {
	positives, population = make([]float64, s.shape.Cols), make([]float64, s.shape.Cols)
	type sums struct{ positives, negatives []float64 }
	s.passes++
	err = eachBlock(ctx, s.blocks.Count(), func(block int) (p sums, err error) {
		err = s.readBlock(ctx, block, func(x *matrix.Matrix) { p.positives, p.negatives = direct{x}.sumClasses() })
		return p, err
	}, func(p sums) {
		for j := range positives {
			positives[j] += p.positives[j]
			population[j] += p.negatives[j]
			if s.population == method.AllRows {
				population[j] += p.positives[j]
			}
		}
	})
	for j := range positives {
		positives[j] /= s.shape.Positives.Mass
		population[j] /= s.shape.Population.Mass
	}
	return positives, population, err
}

// Scan answers the queries in one pass.
func (s *BlockSource) Scan(ctx context.Context, queries []Query) ([]Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	whole := make([]merger, len(queries))
	find := make([][2]intervalFinder, len(queries))
	for k := range queries {
		whole[k] = newMerger(&queries[k], s.share())
		find[k] = [2]intervalFinder{newIntervalFinder(queries[k].Positives.Cuts), newIntervalFinder(queries[k].Population.Cuts)}
	}
	s.passes++
	err := eachBlock(ctx, s.blocks.Count(), func(block int) (answers []Answer, err error) {
		err = s.readBlock(ctx, block, func(x *matrix.Matrix) { answers = s.answer(x, queries, find, whole) })
		return answers, err
	}, func(answers []Answer) {
		for k := range answers {
			whole[k].add(answers[k])
			s.recycle(&answers[k])
		}
	})
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(queries))
	for k := range whole {
		answers[k] = whole[k].finish()
	}
	return answers, nil
}

// share is the part of the rows that a block has, about.
func (s *BlockSource) share() float64 { return 1 / float64(max(1, s.blocks.Count())) }

// blockSpace is the memory for the scores of a block.
type blockSpace struct{ scores [][]float64 }

// scoresOf returns the k-th space for the scores of n rows.
func (b *blockSpace) scoresOf(k, n int) []float64 {
	for len(b.scores) <= k {
		b.scores = append(b.scores, nil)
	}
	if len(b.scores[k]) < n {
		b.scores[k] = make([]float64, n)
	}
	return b.scores[k][:n]
}

// borrow returns space that no other goroutine uses, until it is put back.
func (s *BlockSource) borrow() *blockSpace {
	if b := s.spaces.Take(); b != nil {
		return b
	}
	return &blockSpace{}
}

// newBins returns n bins without rows.
func (s *BlockSource) newBins(n int) (bins []Bin) {
	s.mu.Lock()
	for k := len(s.bins) - 1; k >= 0 && bins == nil; k-- {
		if cap(s.bins[k]) >= n {
			bins = s.bins[k][:n]
			s.bins = slices.Delete(s.bins, k, k+1)
		}
	}
	s.mu.Unlock()
	if bins == nil {
		bins = make([]Bin, n)
	}
	for k := range bins {
		bins[k] = Bin{Low: math.Inf(1), High: math.Inf(-1)}
	}
	return bins
}

// recycle takes back the bins of an answer of a block, which were merged.
func (s *BlockSource) recycle(a *Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, bins := range [][]Bin{a.Positives.Bins, a.Population.Bins} {
		if bins != nil && len(s.bins) < 4*blocksAtOnce {
			s.bins = append(s.bins, bins)
		}
	}
	a.Positives.Bins, a.Population.Bins = nil, nil
}

// binsOf sums the rows of a class into the bins that a request asks for, if any.
func (s *BlockSource) binsOf(c *classScores, r *Request, find *intervalFinder) []Bin {
	if !r.Sums && len(r.Cuts) == 0 {
		return nil
	}
	bins := s.newBins(len(r.Cuts) + 1)
	c.addTo(bins, r, find, 0, len(c.z))
	return bins
}

// classes returns the scores of the positives and of the population among those of the rows of a block, positives first.
func (s *BlockSource) classes(x *matrix.Matrix, z []float64) (positives, population classScores) {
	n := x.Positives.Rows()
	weights := [2][]float64{x.Positives.Weights(), x.Negatives.Weights()}
	positives = classScores{z: z[:n], weights: weights[0]}
	if s.population != method.AllRows {
		return positives, classScores{z: z[n:], weights: weights[1]}
	}
	population.z = z
	if weights[0] != nil || weights[1] != nil {
		population.weights = slices.Concat(ones(weights[0], n), ones(weights[1], x.Negatives.Rows()))
	}
	return positives, population
}

// ones returns weights, or n ones for nil.
func ones(weights []float64, n int) []float64 {
	if weights != nil {
		return weights
	}
	return slices.Repeat([]float64{1}, n)
}

// answer answers queries for a block. Only rows that whole does not rule out are returned.
func (s *BlockSource) answer(x *matrix.Matrix, queries []Query, find [][2]intervalFinder, whole []merger) []Answer {
	space := s.borrow()
	defer s.spaces.Put(space)
	m := NewMemory(x, s.population)
	scores := m.scoresOfPoints(queries, space)
	positives := blockRows{x.Positives, nil}
	population := blockRows{x.Negatives, nil}
	if s.population == method.AllRows {
		population = blockRows{x.Positives, x.Negatives}
	}
	answers := make([]Answer, len(queries))
	for k, q := range queries {
		z, a := scores[k], &answers[k]
		pos, pop := s.classes(x, z)
		a.Positives = m.part(z, 0, &positives, q.Positives, &whole[k].positives, s.shape.Cols)
		a.Population = m.part(z, m.first(), &population, q.Population, &whole[k].population, s.shape.Cols)
		a.Positives.Bins = s.binsOf(&pos, &q.Positives, &find[k][0])
		a.Population.Bins = s.binsOf(&pop, &q.Population, &find[k][1])
	}
	return answers
}

// scoresOfPoints returns the scores of all rows at the points of queries, in memory of space.
func (s *Memory) scoresOfPoints(queries []Query, space *blockSpace) [][]float64 {
	scores := make([][]float64, len(queries))
	var points []*Point
	for k, q := range queries {
		if first := slices.IndexFunc(queries, func(o Query) bool { return o.At == q.At }); first < k {
			scores[k] = scores[first]
			continue
		}
		scores[k] = space.scoresOf(k, s.x.Rows())
		points = append(points, &Point{W: q.At.W, scores: scores[k]})
	}
	s.read.computeScores(points)
	return scores
}

// part answers a request about a class for the rows of a block, but for its bins. first is the number of the first row of
// the class among those of the block.
func (s *Memory) part(z []float64, first int, rows *blockRows, r Request, whole *classMerger, cols int) ClassAnswer {
	if len(r.Groups)+len(r.Want)+len(r.Numbers) == 0 {
		return ClassAnswer{}
	}
	local := rows.within(&r)
	local.Cuts, local.Sums = nil, false
	whole.limit(&local)
	a := s.answer(z, first, first+rows.rows(), &local)
	rows.rename(&a, cols)
	return a
}

// blockRows is the rows of a class in a block: one or two parts of a matrix.
type blockRows struct{ first, second *matrix.ClassRows }

func (b *blockRows) rows() int {
	if b.second == nil {
		return b.first.Rows()
	}
	return b.first.Rows() + b.second.Rows()
}

// number returns the number of row i in the whole data.
func (b *blockRows) number(i int) int {
	if n := b.first.Rows(); i >= n {
		return b.second.Source(i - n)
	}
	return b.first.Source(i)
}

// find returns the row with a number in the whole data, and whether it is here.
func (b *blockRows) find(number int) (int, bool) {
	before := 0
	for _, part := range []*matrix.ClassRows{b.first, b.second} {
		if part == nil {
			continue
		}
		i := sort.Search(part.Rows(), func(i int) bool { return part.Source(i) >= number })
		if i < part.Rows() && part.Source(i) == number {
			return before + i, true
		}
		before += part.Rows()
	}
	return 0, false
}

// span returns the smallest and the largest number of a row; low > high without rows.
func (b *blockRows) span() (low, high int) {
	low, high = math.MaxInt, -1
	for _, part := range []*matrix.ClassRows{b.first, b.second} {
		if part != nil && part.Rows() > 0 {
			low, high = min(low, part.Source(0)), max(high, part.Source(part.Rows()-1))
		}
	}
	return low, high
}

// within returns a request about the rows of the block, with their numbers there.
func (b *blockRows) within(r *Request) Request {
	out := *r
	out.Held = b.local(r.Held)
	out.Numbers = nil
	for _, number := range r.Numbers {
		if i, found := b.find(number); found {
			out.Numbers = append(out.Numbers, i)
		}
	}
	return out
}

// local returns the rows of the block that are in a set, with their numbers there.
func (b *blockRows) local(held *Set) *Set {
	if held == nil {
		return nil
	}
	out := NewSet(0)
	low, high := b.span()
	held.each(low, high, func(number int) {
		if i, found := b.find(number); found {
			out.Add(i)
		}
	})
	return out
}

// rename gives rows their numbers in the whole data, and features in memory of their own: few of them may be kept.
func (b *blockRows) rename(a *ClassAnswer, cols int) {
	own := func(rows []Row) {
		for i := range rows {
			x := make([]float64, cols)
			rows[i].Features(x)
			rows[i].ID = b.number(rows[i].ID)
			rows[i].Features = func(dst []float64) { copy(dst, x) }
		}
	}
	for _, rows := range a.Rows {
		own(rows)
	}
	own(a.ByNumber)
}

// limit makes a request to a further part no wider than the parts before allow.
func (m *classMerger) limit(r *Request) {
	r.bounds = make([]float64, len(r.Want))
	r.Want = append([]Want(nil), r.Want...)
	for k := range r.Want {
		w := &r.Want[k]
		r.bounds[k] = math.Inf(1)
		switch kept := m.kept[k]; {
		case w.Order == Spread:
			w.Limit = int(math.Ceil(float64(w.Limit) * m.share))
		case w.Limit > 0 && len(kept) == w.Limit:
			r.bounds[k] = math.Nextafter(w.key(&kept[len(kept)-1]), math.Inf(-1)) // of equal keys the first rows win
		}
	}
}
