package certified

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"sync"

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
	// Done takes back the rows of a block, whose memory may be used for another one.
	Done(x *matrix.Matrix)
}

// BlockSource is a source over blocks. A pass reads all blocks, some of them at a time, and merges the answers in their
// order. Rows have the numbers that Blocks gives them.
//
// With Keep it answers most further questions about a point without a pass: those about scores from the scores of recent
// points, those about the positives and about the rows on top from copies of these rows. See keptScores and keptRows.
type BlockSource struct {
	blocks     Blocks
	population method.Population
	shape      Shape
	passes     int
	sizes      []blockSize // of the blocks that were read
	scores     *keptScores // nil: no scores are kept
	rows       *keptRows   // nil: no rows are kept

	spaces parallel.Spares[blockSpace]

	mu   sync.Mutex
	bins [][]Bin
}

// blockSize is what the source knows about a block that was read.
type blockSize struct {
	rows    [2]int // positives, negatives
	weights [2][]float64
	place   int64 // of the scores of its rows among those of all rows
	known   bool
}

func (b *blockSize) all() int { return b.rows[0] + b.rows[1] }

// blocksAtOnce is the number of blocks that are read before their answers are merged. The highest scores among the
// blocks before bound what a block has to return, so it decides which rows are compared, but not the answer. It must
// not depend on the number of threads, because sums are added in this order.
const blocksAtOnce = 16

// NewBlockSource returns a source over blocks of rows with the given number of features and shape of each class. The
// population is all rows or the negatives.
func NewBlockSource(b Blocks, cols int, p method.Population, positives, population threshold.Population) *BlockSource {
	return &BlockSource{blocks: b, population: p, shape: Shape{Cols: cols, Positives: positives, Population: population},
		sizes: make([]blockSize, b.Count())}
}

// Keep lets the source keep rows in about half of some bytes of memory, and the scores of recent points in the other
// half. Scores that do not fit go to a file in the directory scratch, and rows get all of the memory. The file has no
// name and ends with the process. Without a directory ("") scores that do not fit are not kept. Keep must be called
// before the first question.
func (s *BlockSource) Keep(bytes int64, scratch string) {
	s.rows = &keptRows{most: bytes / 2}
	s.scores = newKeptScores(int64(s.allRows()), bytes/2, scratch)
	if s.scores == nil || s.scores.memory == nil {
		s.rows.most = bytes
	}
	s.shape.KeepsScores = s.scores != nil
}

// Release frees what a source keeps for further questions. There must be none.
func Release(s Source) {
	if b, ok := s.(*BlockSource); ok && b.scores != nil {
		b.scores.close()
		b.scores = nil
	}
}

// allRows returns the number of rows of both classes.
func (s *BlockSource) allRows() int {
	if s.population == method.AllRows {
		return s.shape.Population.Rows
	}
	return s.shape.Positives.Rows + s.shape.Population.Rows
}

// Shape describes the data.
func (s *BlockSource) Shape() Shape { return s.shape }

// Readings counts the passes so far.
func (s *BlockSource) Readings() (int, float64) { return s.passes, float64(s.passes) }

// eachBlock calls read for each block, for some at a time, and add in their order.
func eachBlock[T any](ctx context.Context, blocks int, read func(block int) (T, error), add func(T) error) error {
	var failed error
	err := parallel.InOrder(blocks, blocksAtOnce, func(block int) (t T, err error) {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		return read(block)
	}, func(t T) {
		if failed == nil {
			failed = add(t)
		}
	})
	return cmp.Or(err, failed)
}

// readBlock reads a block and calls use with its rows.
func (s *BlockSource) readBlock(ctx context.Context, block int, use func(x *matrix.Matrix) error) error {
	x, err := s.blocks.Read(ctx, block)
	if err != nil {
		return err
	}
	defer s.blocks.Done(x)
	if b := &s.sizes[block]; !b.known {
		b.known, b.rows = true, [2]int{x.Positives.Rows(), x.Negatives.Rows()}
		b.weights = [2][]float64{slices.Clone(x.Positives.Weights()), slices.Clone(x.Negatives.Weights())}
		if s.scores != nil {
			b.place = s.scores.reserve(b.all())
		}
	}
	return use(x)
}

// Means makes one pass.
func (s *BlockSource) Means(ctx context.Context) (positives, population []float64, err error) {
	positives, population = make([]float64, s.shape.Cols), make([]float64, s.shape.Cols)
	type part struct {
		positives, negatives []float64
		taken                takenRows
	}
	taking := s.rows.begin(s, nil)
	s.passes++
	err = eachBlock(ctx, s.blocks.Count(), func(block int) (p part, err error) {
		err = s.readBlock(ctx, block, func(x *matrix.Matrix) error {
			p.positives, p.negatives = direct{x}.sumClasses()
			p.taken = taking.take(x, nil)
			return nil
		})
		return p, err
	}, func(p part) error {
		for j := range positives {
			positives[j] += p.positives[j]
			population[j] += p.negatives[j]
			if s.population == method.AllRows {
				population[j] += p.positives[j]
			}
		}
		return taking.add(p.taken)
	})
	for j := range positives {
		positives[j] /= s.shape.Positives.Mass
		population[j] /= s.shape.Population.Mass
	}
	if err == nil {
		taking.end()
	}
	return positives, population, err
}

// Scan answers the queries in one pass, or in none.
func (s *BlockSource) Scan(ctx context.Context, queries []Query) ([]Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers := make([]Answer, len(queries))
	left := make([]Query, len(queries)) // what is still to be answered
	scored := true                      // by the scores that are kept
	asked := false
	for k, q := range queries {
		left[k] = q
		q.At.settle(s.scores)
		if s.rows.answerPositives(&q, &answers[k].Positives) {
			left[k].Positives = Request{}
		}
		if s.rows.answerPopulation(s, &q, &answers[k].Population) {
			left[k].Population = Request{}
		}
		for _, r := range []*Request{&left[k].Positives, &left[k].Population} {
			asked = asked || !r.empty()
			scored = scored && (r.empty() || r.aboutScores() && s.scores.knows(q.At))
		}
	}
	if !asked {
		return answers, nil
	}
	rest, err := s.sweep(ctx, left, scored)
	if err != nil {
		return nil, err
	}
	for k := range queries {
		if !left[k].Positives.empty() {
			answers[k].Positives = rest[k].Positives
		}
		if !left[k].Population.empty() {
			answers[k].Population = rest[k].Population
		}
	}
	return answers, nil
}

// aboutScores reports whether the scores of the rows answer a request.
func (r *Request) aboutScores() bool { return len(r.Groups)+len(r.Want)+len(r.Numbers) == 0 }

// sweep answers queries from the scores that are kept, or in a pass, which keeps the scores of their points.
func (s *BlockSource) sweep(ctx context.Context, queries []Query, scored bool) ([]Answer, error) {
	whole := make([]merger, len(queries))
	find := make([][2]intervalFinder, len(queries))
	for k := range queries {
		whole[k] = newMerger(&queries[k], s.share())
		find[k] = [2]intervalFinder{newIntervalFinder(queries[k].Positives.Cuts), newIntervalFinder(queries[k].Population.Cuts)}
	}
	type part struct {
		answers []Answer
		taken   takenRows
	}
	var taking *taking
	read := func(block int) (p part, err error) {
		err = s.fromScores(block, queries, find, &p.answers)
		return p, err
	}
	if !scored {
		taking = s.rows.begin(s, queries)
		s.scores.begin(queries)
		s.passes++
		read = func(block int) (p part, err error) {
			err = s.readBlock(ctx, block, func(x *matrix.Matrix) error {
				p.answers, p.taken, err = s.fromRows(x, block, queries, find, whole, taking)
				return err
			})
			return p, err
		}
	}
	err := eachBlock(ctx, s.blocks.Count(), read, func(p part) error {
		for k := range p.answers {
			whole[k].add(p.answers[k])
			s.recycle(&p.answers[k])
		}
		return taking.add(p.taken)
	})
	if err != nil {
		return nil, err
	}
	if !scored {
		taking.end()
		s.scores.end()
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

// fromScores answers queries about scores for a block, from those that are kept.
func (s *BlockSource) fromScores(block int, queries []Query, find [][2]intervalFinder, answers *[]Answer) error {
	space := s.borrow()
	defer s.spaces.Put(space)
	size := &s.sizes[block]
	*answers = make([]Answer, len(queries))
	for k, q := range queries {
		if q.Positives.empty() && q.Population.empty() {
			continue
		}
		z := space.scoresOf(k, size.all())
		if err := s.scores.read(q.At, size.place, z); err != nil {
			return err
		}
		positives, population := size.classes(z, s.population)
		(*answers)[k].Positives.Bins = s.binsOf(&positives, &q.Positives, &find[k][0])
		(*answers)[k].Population.Bins = s.binsOf(&population, &q.Population, &find[k][1])
	}
	return nil
}

// classes returns the scores of the positives and of the population among those of the rows of a block, positives first.
func (b *blockSize) classes(z []float64, p method.Population) (positives, population classScores) {
	n := b.rows[0]
	positives = classScores{z: z[:n], weights: b.weights[0]}
	if p != method.AllRows {
		return positives, classScores{z: z[n:], weights: b.weights[1]}
	}
	population.z = z
	if b.weights[0] != nil || b.weights[1] != nil {
		population.weights = slices.Concat(ones(b.weights[0], n), ones(b.weights[1], b.rows[1]))
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

// fromRows answers queries for a block, keeps the scores of their points, and takes the rows that are to be kept. Only rows
// that whole does not rule out are returned.
func (s *BlockSource) fromRows(x *matrix.Matrix, block int, queries []Query, find [][2]intervalFinder, whole []merger,
	taking *taking) ([]Answer, takenRows, error) {
	space := s.borrow()
	defer s.spaces.Put(space)
	size := &s.sizes[block]
	m := NewMemory(x, s.population)
	scores := m.scoresOfPoints(queries, space)
	for k, q := range queries {
		if slices.IndexFunc(queries, func(o Query) bool { return o.At == q.At }) == k {
			s.scores.write(q.At, size.place, scores[k])
		}
	}
	positives := blockRows{x.Positives, nil}
	population := blockRows{x.Negatives, nil}
	if s.population == method.AllRows {
		population = blockRows{x.Positives, x.Negatives}
	}
	answers := make([]Answer, len(queries))
	for k, q := range queries {
		z, a := scores[k], &answers[k]
		pos, pop := size.classes(z, s.population)
		a.Positives = m.part(z, 0, &positives, q.Positives, &whole[k].positives, s.shape.Cols)
		a.Population = m.part(z, m.first(), &population, q.Population, &whole[k].population, s.shape.Cols)
		a.Positives.Bins = s.binsOf(&pos, &q.Positives, &find[k][0])
		a.Population.Bins = s.binsOf(&pop, &q.Population, &find[k][1])
	}
	return answers, taking.take(x, scores), nil
}

// scoresOfPoints returns the scores of all rows at the points of queries, in memory of space. Those of a point of a line
// follow from those of the ends.
func (s *Memory) scoresOfPoints(queries []Query, space *blockSpace) [][]float64 {
	var ends []*Point // the points whose scores are computed from the rows
	for _, q := range queries {
		ends = q.At.ends(ends)
	}
	local := make([]*Point, len(ends))
	for k, p := range ends {
		local[k] = &Point{W: p.W, scores: space.scoresOf(k, s.x.Rows())}
	}
	s.read.computeScores(local)
	scores := make([][]float64, len(queries))
	for k, q := range queries {
		first := slices.IndexFunc(queries, func(o Query) bool { return o.At == q.At })
		switch {
		case first < k:
			scores[k] = scores[first]
		case q.At.to == nil:
			scores[k] = local[slices.Index(ends, q.At)].scores
		default:
			scores[k] = space.scoresOf(len(ends)+k, s.x.Rows())
			q.At.combine(scores[k], func(end *Point, z []float64) { copy(z, local[slices.Index(ends, end)].scores) })
		}
	}
	return scores
}

// part answers a request about a class for the rows of a block, but for its bins. first is the number of the first row of
// the class among those of the block.
func (s *Memory) part(z []float64, first int, rows *blockRows, r Request, whole *classMerger, cols int) ClassAnswer {
	if r.empty() || r.aboutScores() {
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
