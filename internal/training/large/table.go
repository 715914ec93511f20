package large

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"runtime"
	"slices"

	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// tableRows are the rows of a table, whose features may stay in a packed file. Every pass reads and encodes the file
// again, some blocks at a time, so the memory does not depend on the number of rows apart from the labels.
type tableRows struct {
	f      *table.Frame
	t      *table.Table // the head of f
	schema schema.Schema
	name   string
}

// OfTable returns the rows of a table with its schema. A row without a group has the hash of its number.
func OfTable(f *table.Frame, s schema.Schema, name string) Rows {
	return &tableRows{f, f.Head(), s, name}
}

func (r *tableRows) Schema() schema.Schema { return r.schema }

func (r *tableRows) Name() string { return r.name }

// mix spreads the bits of a number over all bits (the finaliser of SplitMix64, Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// golden separates the two hashes of a row: the bits of the golden ratio.
const golden = 0x9e3779b97f4a7c15

// bucket returns the hash that decides the part of a row.
func (r *tableRows) bucket(row int) int {
	if g := r.t.Group; g != nil {
		h := fnv.New64a()
		h.Write([]byte(g.Values[row]))
		return int(mix(h.Sum64()) % Buckets)
	}
	return int(mix(uint64(row)*golden+1) % Buckets)
}

// in returns the function that reports whether a row is in a part and has a class.
func (r *tableRows) in(p Part) func(row int) bool {
	if p == All() {
		return func(row int) bool { return r.t.Label[row] != table.Unknown }
	}
	return func(row int) bool {
		if r.t.Label[row] == table.Unknown {
			return false
		}
		b, from := r.bucket(row), p.From
		if r.t.Label[row] == table.Positive {
			from -= p.Positives
		}
		return b >= from && b < p.To
	}
}

// all reports whether every row of the table is in.
func (r *tableRows) all(in func(row int) bool) bool {
	for row := range r.t.Rows() {
		if !in(row) {
			return false
		}
	}
	return true
}

func (r *tableRows) Count(ctx context.Context, p Part) (positives, negatives threshold.Population, err error) {
	in := r.in(p)
	var counts [2]int
	var weights [2][]float64
	for row, class := range r.t.Label {
		if !in(row) {
			continue
		}
		counts[class]++
		if r.t.Weight != nil {
			weights[class] = append(weights[class], r.t.Weight[row])
		}
	}
	return threshold.NewPopulation(counts[table.Positive], weights[table.Positive]),
		threshold.NewPopulation(counts[table.Negative], weights[table.Negative]), ctx.Err()
}

func (r *tableRows) Sample(ctx context.Context, p Part, rows int) (*Sample, error) {
	in := r.in(p)
	var counts [2]int
	for row, class := range r.t.Label {
		if in(row) {
			counts[class]++
		}
	}
	wanted := sampleSizes(counts, rows)
	var taken []int
	s := &Sample{}
	for class, n := range counts {
		some := r.hashed(in, table.Class(class), n, wanted[class])
		taken = append(taken, some...)
		s.Share[class] = float64(len(some)) / float64(max(1, n))
	}
	slices.Sort(taken)
	var err error
	if s.Table, err = r.f.Select(taken); err != nil {
		return nil, err
	}
	return s, ctx.Err()
}

func (r *tableRows) Measure(ctx context.Context, p Part, o feature.Options) (*feature.Measured, error) {
	return feature.Measure(ctx, r.f, r.in(p), o)
}

// sampleSizes divides the rows of a sample among the classes, negatives first: all positives up to half of it, and as
// many of the others as fit.
func sampleSizes(counts [2]int, rows int) (wanted [2]int) {
	wanted[table.Positive] = min(counts[table.Positive], max(rows/2, rows-counts[table.Negative]))
	wanted[table.Negative] = min(counts[table.Negative], rows-wanted[table.Positive])
	return wanted
}

// hashed returns the rows of a class with the smallest hashes, about or exactly wanted of n.
func (r *tableRows) hashed(in func(row int) bool, class table.Class, n, wanted int) []int {
	type hash struct {
		value uint64
		row   int
	}
	// The number of hashes below a limit varies by its root: four times that, and some, leave too few once in 30,000.
	most := float64(wanted) + float64(4*math.Sqrt(float64(wanted))) + 10
	limit := uint64(math.MaxUint64)
	if share := most / float64(max(1, n)); share < 1 {
		limit = uint64(float64(share*(1<<63)) * 2)
	}
	var list []hash
	for row, c := range r.t.Label {
		if c != class || !in(row) {
			continue
		}
		if h := mix(^uint64(row) * golden); h <= limit {
			list = append(list, hash{h, row})
		}
	}
	if len(list) > wanted {
		slices.SortFunc(list, func(a, b hash) int { return cmp.Compare(a.value, b.value) })
		list = list[:wanted]
	}
	rows := make([]int, len(list))
	for i := range list {
		rows[i] = list[i].row
	}
	return rows
}

func (r *tableRows) Source(ctx context.Context, p Part, m *feature.Map, s matrix.Storage,
	of method.Population) (certified.Source, error) {
	positives, negatives, err := r.Count(ctx, p)
	if err != nil {
		return nil, err
	}
	blocks, err := m.InBlocks(r.f, s)
	if err != nil {
		return nil, err
	}
	if positives.Rows+negatives.Rows < r.t.Rows() {
		blocks = blocks.Where(r.in(p))
	}
	return certified.NewBlockSource(blocks, m.Cols(), of, positives, population(positives, negatives, of)), nil
}

// Populations returns the positives of a part, and its rows that determine a threshold.
func Populations(ctx context.Context, rows Rows, p Part, of method.Population) (positives, all threshold.Population, err error) {
	positives, negatives, err := rows.Count(ctx, p)
	return positives, population(positives, negatives, of), err
}

// population returns the rows that determine a threshold.
func population(positives, negatives threshold.Population, of method.Population) threshold.Population {
	if of == method.AllRows {
		return sum(positives, negatives)
	}
	return negatives
}

// sum returns the population of both.
func sum(a, b threshold.Population) threshold.Population {
	return threshold.Population{Rows: a.Rows + b.Rows, Mass: a.Mass + b.Mass, MinWeight: min(a.MinWeight, b.MinWeight),
		Whole: a.Whole && b.Whole}
}

func (r *tableRows) Scores(ctx context.Context, p Part, m *model.Model) (Scores, error) {
	if err := feature.MapOf(m.Features()).Check(r.f.Shape()); err != nil {
		return nil, err
	}
	in := r.in(p)
	return &tableScores{tableRows: r, model: m, in: in, whole: r.all(in)}, nil
}

// tableScores scores the rows of a table in each pass.
type tableScores struct {
	*tableRows
	model  *model.Model
	in     func(row int) bool
	whole  bool           // every row of the table is in
	values feature.Counts // of the rows of the last pass
}

// Values returns the counts of a pass over the whole table. Rows are encoded in batches, also for those of a part.
func (s *tableScores) Values() *feature.Counts {
	if !s.whole {
		return nil
	}
	return &s.values
}

// visit calls add for the rows of the part in a block, with their scores. It adds to the counts of the scorer.
func (s *tableScores) visit(scorer *feature.Scorer, batch *feature.Batch, block int, add func(row int, z float64)) error {
	t, err := s.f.Block(block, scorer.Map.InputColumns())
	if err != nil {
		return err
	}
	start := block * s.f.BlockRows()
	var scores [feature.BatchRows]float64
	var inside [feature.BatchRows]bool
	for first := 0; first < t.Rows(); first += feature.BatchRows {
		z := scores[:min(feature.BatchRows, t.Rows()-first)]
		some := false
		for i := range z {
			inside[i] = s.in(start + first + i)
			some = some || inside[i]
		}
		if !some {
			continue
		}
		done := batch != nil && batch.Score(t, first, z)
		for i := range z {
			if !inside[i] {
				continue
			}
			if !done {
				if z[i], err = scorer.Score(t, first+i); err != nil {
					return diag.At(err, diag.Error{File: t.File})
				}
			}
			add(start+first+i, z[i]+0) // -0 becomes 0
		}
	}
	return nil
}

// runBlocks is the number of blocks that a goroutine counts before the counts are merged: blocks of a packed file have
// 32,768 rows, and the merging of some thousand cells should take less time than their rows.
const runBlocks = 4

// run is what a goroutine found in a run of rows.
type run struct {
	cells  []Cell
	scores []float64
	all    int
	values feature.Counts
	err    error
}

// eachRun visits runs of rows, some at a time, and calls merge for them in their order.
func (s *tableScores) eachRun(ctx context.Context, cells int, add func(r *run, row int, z float64), merge func(r *run)) error {
	n := (s.f.Blocks() + runBlocks - 1) / runBlocks
	s.values = feature.Counts{}
	ahead := parallel.NewOrdered(n, runtime.GOMAXPROCS(0), func() *run { return &run{cells: make([]Cell, cells)} },
		func(k int, r *run) {
			for i := range r.cells {
				r.cells[i] = emptyCell
			}
			r.scores, r.all = r.scores[:0], 0
			scorer := feature.ScorerOf(s.model)
			batch := feature.NewBatch(scorer)
			r.err = nil
			for block := k * runBlocks; block < min((k+1)*runBlocks, s.f.Blocks()) && r.err == nil; block++ {
				r.err = s.visit(scorer, batch, block, func(row int, z float64) { add(r, row, z) })
			}
			r.values = scorer.Row.Counts
		})
	defer ahead.Stop()
	for r := ahead.Next(); r != nil; r = ahead.Next() {
		if r.err != nil {
			return r.err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.values.Rows > 0 { // otherwise it does not know the inputs
			s.values.Add(r.values)
		}
		merge(r)
	}
	return nil
}

func (s *tableScores) Tally(ctx context.Context, cuts []float64) ([]Cell, error) {
	whole := slices.Repeat([]Cell{emptyCell}, len(cuts)+1)
	err := s.eachRun(ctx, len(whole), func(r *run, row int, z float64) {
		r.cells[cellOf(cuts, z)].add(s.t.Label[row], z)
	}, func(r *run) {
		for i := range whole {
			whole[i].merge(&r.cells[i])
		}
	})
	return whole, err
}

func (s *tableScores) Between(ctx context.Context, c table.Class, low, high float64, most int) (z []float64, all int, err error) {
	err = s.eachRun(ctx, 0, func(r *run, row int, x float64) {
		if s.t.Label[row] != c || x < low || x > high {
			return
		}
		r.all++
		r.scores = smallest(append(r.scores, x), most, false)
	}, func(r *run) {
		all += r.all
		z = smallest(append(z, r.scores...), most, false)
	})
	return smallest(z, most, true), all, err
}

// smallest returns the smallest scores, at most that number. It may leave some more if the list is short.
func smallest(z []float64, most int, exactly bool) []float64 {
	if !exactly && len(z) < 2*most+1000 {
		return z
	}
	slices.Sort(z)
	return z[:min(len(z), most)]
}

var emptyCell = Cell{Low: [2]float64{math.Inf(1), math.Inf(1)}, High: [2]float64{math.Inf(-1), math.Inf(-1)}}

// cellOf returns the cell of a score: the number of cuts that are not above it.
func cellOf(cuts []float64, z float64) int {
	low, high := 0, len(cuts)
	for low < high {
		if middle := int(uint(low+high) >> 1); cuts[middle] <= z {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (c *Cell) add(class table.Class, z float64) {
	c.Rows[class]++
	c.Low[class], c.High[class] = min(c.Low[class], z), max(c.High[class], z)
}

func (c *Cell) merge(other *Cell) {
	for class := range c.Rows {
		c.Rows[class] += other.Rows[class]
		c.Low[class], c.High[class] = min(c.Low[class], other.Low[class]), max(c.High[class], other.High[class])
	}
}
