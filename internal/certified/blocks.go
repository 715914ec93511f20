package certified

import (
	"context"
	"math"
	"sort"

	"toptau/internal/matrix"
	"toptau/internal/parallel"
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
}

// BlockSource is a source over blocks. It keeps no scores and no rows: every Scan reads all blocks, some of them at a
// time, and merges the answers in their order. Rows have the numbers that Blocks gives them.
type BlockSource struct {
	blocks     Blocks
	population method.Population
	shape      Shape
	passes     int
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
func eachBlock[T any](ctx context.Context, s *BlockSource, read func(x *matrix.Matrix) (T, error), add func(T)) error {
	s.passes++
	return parallel.InOrder(s.blocks.Count(), blocksAtOnce, func(k int) (t T, err error) {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		x, err := s.blocks.Read(ctx, k)
		if err != nil {
			return t, err
		}
		return read(x)
	}, add)
}

// Means makes one pass.
func (s *BlockSource) Means(ctx context.Context) (positives, population []float64, err error) {
	positives, population = make([]float64, s.shape.Cols), make([]float64, s.shape.Cols)
	type sums struct{ positives, negatives []float64 }
	err = eachBlock(ctx, s, func(x *matrix.Matrix) (sums, error) {
		p, n := direct{x}.sumClasses()
		return sums{p, n}, nil
	}, func(b sums) {
		for j := range positives {
			positives[j] += b.positives[j]
			population[j] += b.negatives[j]
			if s.population == method.AllRows {
				population[j] += b.positives[j]
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
	whole := make([]merger, len(queries))
	for k := range queries {
		whole[k] = newMerger(&queries[k], s.share())
	}
	err := eachBlock(ctx, s, func(x *matrix.Matrix) ([]Answer, error) { return s.answer(ctx, x, queries, whole) },
		func(answers []Answer) {
			for k := range answers {
				whole[k].add(answers[k])
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

// answer answers for a block. Only rows that whole does not rule out are returned.
func (s *BlockSource) answer(ctx context.Context, x *matrix.Matrix, queries []Query, whole []merger) ([]Answer, error) {
	local := make([]Query, len(queries))
	positives := blockRows{x.Positives, nil}
	population := blockRows{x.Negatives, nil}
	if s.population == method.AllRows {
		population = blockRows{x.Positives, x.Negatives}
	}
	for k, q := range queries {
		local[k] = Query{At: newPoint(q.At.W), Positives: positives.within(&q.Positives), Population: population.within(&q.Population)}
		whole[k].positives.limit(&local[k].Positives)
		whole[k].population.limit(&local[k].Population)
	}
	answers, err := NewMemory(x, s.population).Scan(ctx, local)
	for k := range answers {
		positives.rename(&answers[k].Positives, s.shape.Cols)
		population.rename(&answers[k].Population, s.shape.Cols)
	}
	return answers, err
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

// within returns a request about the rows of the block, with their numbers there.
func (b *blockRows) within(r *Request) Request {
	out := *r
	if r.Held != nil {
		out.Held = NewSet(b.rows())
		for i := range b.rows() {
			if r.Held.Has(b.number(i)) {
				out.Held.Add(i)
			}
		}
	}
	out.Numbers = nil
	for _, number := range r.Numbers {
		if i, found := b.find(number); found {
			out.Numbers = append(out.Numbers, i)
		}
	}
	return out
}

// rename gives rows their numbers in the whole data, and memory of their own for their features.
func (b *blockRows) rename(a *ClassAnswer, cols int) {
	own := func(rows []Row) {
		features := make([]float64, cols*len(rows))
		for i := range rows {
			x := features[i*cols : (i+1)*cols]
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
