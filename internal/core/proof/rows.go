package proof

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
	"toptau/method"
)

// Blocks is rows that are read a block at a time. The sources of the rows are their numbers in the data.
type Blocks interface {
	Count() int
	Read(ctx context.Context, block int) (*matrix.Matrix, error)
	// Done takes back the rows of a block, whose memory may be used for another one.
	Done(x *matrix.Matrix)
}

// Rows returns data that is read in about six passes, which keep nothing for a row.
func Rows(b Blocks, population method.Population) Data {
	return &rows{b, population != method.Negatives}
}

// Kept returns blocks that are read once and stay in memory.
func Kept(b Blocks) Blocks { return &kept{b, make([]*matrix.Matrix, b.Count())} }

type kept struct {
	Blocks
	x []*matrix.Matrix
}

func (k *kept) Read(ctx context.Context, block int) (x *matrix.Matrix, err error) {
	if k.x[block] == nil {
		k.x[block], err = k.Blocks.Read(ctx, block)
	}
	return k.x[block], err
}

func (k *kept) Done(*matrix.Matrix) {}

type rows struct {
	blocks Blocks
	all    bool // the population is all rows
}

// blocksAtOnce is the number of blocks whose sums are in memory. Sums are added in the order of the blocks.
const blocksAtOnce = 16

// pass visits the rows of a class, and adds what it finds in each block in their order.
func pass[T any](ctx context.Context, d *rows, population bool, cols int, create func() T, visit func(T, *row) error, add func(T)) error {
	return parallel.InOrder(d.blocks.Count(), blocksAtOnce, func(k int) (t T, err error) {
		if ctx.Err() != nil {
			return t, context.Cause(ctx)
		}
		x, err := d.blocks.Read(ctx, k)
		if err != nil {
			return t, err
		}
		defer d.blocks.Done(x)
		if x.Cols() != cols && x.Rows() > 0 {
			return t, infeasible(fmt.Sprintf("w has %d elements", cols), fmt.Sprintf("%d, one for each column", x.Cols()))
		}
		t = create()
		if !population || d.all {
			err = eachRow(x.Positives, func(r *row) error { return visit(t, r) })
		}
		if population && err == nil {
			err = eachRow(x.Negatives, func(r *row) error { return visit(t, r) })
		}
		return t, err
	}, add)
}

// row is a row of a class.
type row struct {
	number int
	weight float64
	cols   []uint32
	values []float64
}

func eachRow(class *matrix.ClassRows, visit func(r *row) error) error {
	var r row
	weights := class.Weights()
	for i := range class.Rows() {
		r.cols, r.values = class.Entries(i, r.cols[:0], r.values[:0])
		r.number, r.weight = class.Source(i), 1
		if weights != nil {
			r.weight = weights[i]
		}
		if err := visit(&r); err != nil {
			return err
		}
	}
	return nil
}

// title is the row's name in errors.
func (r *row) title() string {
	if r.number < 0 {
		return "a row"
	}
	return fmt.Sprintf("row %d of the data", r.number+1)
}

// score encloses the score of a row.
func (r *row) score(w []float64) (approx, error) {
	var sum tally
	for k, x := range r.values {
		sum.add(exactly(x).times(exactly(w[r.cols[k]])))
	}
	z := sum.sum()
	if !z.finite() {
		return z, &diag.Error{Kind: diag.Data, Found: "the score of " + r.title() + " is not finite",
			Expected: "weights and rows whose products float64 can hold"}
	}
	return z, nil
}

// dot returns the score of a row, rounded after each operation.
func (r *row) dot(w []float64) float64 {
	z := 0.0
	for k, x := range r.values {
		z += float64(x * w[r.cols[k]])
	}
	return z
}

// norm returns the norm of a row, rounded up.
func (r *row) norm() float64 { return normAbove(r.values) }

func normAbove(x []float64) float64 {
	square := 0.0
	for _, v := range x {
		square += float64(v * v)
	}
	return float64(math.Sqrt(square)*(1+float64(float64(len(x)+2)*0x1p-52))) + 0x1p-500
}

// cellTally is a cell while rows are added.
type cellTally struct {
	mass, sum, square tally
	low, high         float64
}

func (d *rows) cells(ctx context.Context, population bool, w, cuts []float64, origin float64) (*cells, error) {
	type part struct {
		list []cellTally
		off  float64
	}
	empty := func() *part {
		return &part{list: slices.Repeat([]cellTally{{low: math.Inf(1), high: math.Inf(-1)}}, len(cuts)+1)}
	}
	whole := empty()
	err := pass(ctx, d, population, len(w), empty, func(p *part, r *row) error {
		z, err := r.score(w)
		if err != nil {
			return err
		}
		k, found := slices.BinarySearch(cuts, z.x)
		if found {
			k++
		}
		c, m, y := &p.list[k], exactly(r.weight), exactly(z.x).minus(exactly(origin))
		c.mass.add(m)
		m = m.times(y)
		c.sum.add(m)
		c.square.add(m.times(y))
		c.low, c.high = min(c.low, z.x), max(c.high, z.x)
		p.off = max(p.off, z.e)
		return nil
	}, func(p *part) {
		whole.off = max(whole.off, p.off)
		for k := range whole.list {
			c, o := &whole.list[k], &p.list[k]
			if o.low > o.high {
				continue
			}
			c.mass.add(o.mass.sum())
			c.sum.add(o.sum.sum())
			c.square.add(o.square.sum())
			c.low, c.high = min(c.low, o.low), max(c.high, o.high)
		}
	})
	out := newCells(cuts, origin)
	out.off = whole.off
	for k := range whole.list {
		c := &whole.list[k]
		out.list[k] = cell{c.mass.sum(), c.sum.sum(), c.square.sum(), c.low, c.high}
	}
	return out, err
}

func (d *rows) sums(ctx context.Context, population bool, cols int, m *Multipliers, c *caps) (*sums, error) {
	held := m.heldRows()
	whole := newSums(cols)
	err := pass(ctx, d, population, cols, func() *sums { return newSums(cols) }, func(s *sums, r *row) error {
		value, named := m.Single[r.number]
		if named {
			s.single++
		} else if len(m.Groups) > 0 && !held[r.number] {
			value = m.member(r)
		}
		return s.add(r, value, c)
	}, whole.merge)
	return whole, err
}

// heldRows returns the rows that are in no group.
func (m *Multipliers) heldRows() map[int]bool {
	held := make(map[int]bool, len(m.Held))
	for _, number := range m.Held {
		held[number] = true
	}
	return held
}

// member returns the multiplier of a row of a group, 0 for a row of none.
func (m *Multipliers) member(r *row) float64 {
	z := r.dot(m.At)
	k := sort.Search(len(m.Groups), func(i int) bool { return !(m.Groups[i].High <= z) })
	if k == len(m.Groups) || !(z >= m.Groups[k].Low) {
		return 0
	}
	g := &m.Groups[k]
	own := float64(r.weight * float64(g.Value*(g.Rate+float64(g.Slope*(z-g.Origin)))))
	if math.IsNaN(own) {
		return own
	}
	return max(0, own)
}
