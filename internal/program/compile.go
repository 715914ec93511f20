package program

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/feature"
	"toptau/schema"
)

// Compile returns the program of features and weights, one for each feature.
//
// Errors: a kind of block that Compile does not know.
func Compile(m *feature.Map, weights []float64, offset float64) (*Program, error) {
	c := &compiler{features: m, weights: weights, p: &Program{Missing: m.Impute, Derived: m.Derived, Terms: []Term{}, Offset: offset}}
	if m.Sparse {
		c.indices()
	} else {
		c.columns()
	}
	for _, block := range m.Blocks {
		if err := c.block(block); err != nil {
			return nil, err
		}
	}
	return c.p, nil
}

// compiler is the state of Compile.
type compiler struct {
	features *feature.Map
	weights  []float64 // those of the blocks that are still to come
	p        *Program
	input    []int // by position in features.Inputs; nil: the same
}

func (c *compiler) columns() {
	m := c.features
	c.p.Columns = make([]int, len(m.Inputs))
	for k := range m.Inputs {
		in := &m.Inputs[k]
		c.p.Columns[k] = in.Column
		if in.Kind == schema.Categorical {
			c.p.Texts = append(c.p.Texts, Text{Input: k, Categories: in.Categories, Rare: in.Rare})
		}
		if in.Fill != 0 {
			if c.p.Fill == nil {
				c.p.Fill = make([]float64, len(m.Inputs))
			}
			c.p.Fill[k] = in.Fill
		}
	}
}

// indices lists the indices of LIBSVM that have a weight.
func (c *compiler) indices() {
	m := c.features
	for _, in := range m.Inputs {
		c.p.Columns = append(c.p.Columns, in.Column)
	}
	for _, d := range m.Dropped {
		c.p.Known = append(c.p.Known, d.Column)
	}
	for _, block := range m.Blocks {
		if block, ok := block.(*feature.SparseBlock); ok {
			c.p.Columns = appendPlaces(c.p.Columns, block.Index)
			c.p.Known = appendPlaces(c.p.Known, block.Constant)
		}
	}
	for _, list := range []*[]int{&c.p.Columns, &c.p.Known} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	c.input = make([]int, len(m.Inputs))
	for k, in := range m.Inputs {
		c.input[k] = c.atPlace(in.Column)
	}
	if len(c.input) < len(c.p.Columns) {
		c.p.Named = c.input
	}
	c.p.Derived = slices.Clone(m.Derived)
	for i := range c.p.Derived {
		d := &c.p.Derived[i]
		d.A, d.B = c.input[d.A], c.input[d.B]
	}
}

func appendPlaces(list []int, indices []uint32) []int {
	list = slices.Grow(list, len(indices))
	for _, index := range indices {
		list = append(list, int(index)-1)
	}
	return list
}

func (c *compiler) atPlace(place int) int {
	k, _ := slices.BinarySearch(c.p.Columns, place)
	return k
}

// at returns the input of an input or derived column of the features.
func (c *compiler) at(k int) int {
	switch n := len(c.features.Inputs); {
	case k >= n:
		return len(c.p.Columns) + k - n
	case c.input != nil:
		return c.input[k]
	}
	return k
}

// take returns the next n weights.
func (c *compiler) take(n int) []float64 {
	w := c.weights[:n]
	c.weights = c.weights[n:]
	return w
}

func (c *compiler) add(t Term) { c.p.Terms = append(c.p.Terms, t) }

// block appends the terms of a block.
func (c *compiler) block(block feature.Block) error {
	switch block := block.(type) {
	case *feature.NumericBlock:
		c.add(Term{Numbers: &Numbers{c.unlessAll(block.Inputs), block.Shift, block.Scale, c.take(len(block.Inputs))}})
	case *feature.SparseBlock:
		inputs := make([]int, len(block.Index))
		for i, index := range block.Index {
			inputs[i] = c.atPlace(int(index) - 1)
		}
		c.add(Term{Numbers: &Numbers{c.unlessAll(inputs), nil, block.Scale, c.take(len(inputs))}})
	case *feature.OneHotBlock:
		for i := range block.Columns {
			c.level(&block.Columns[i])
		}
	case *feature.ScorecardBlock:
		for i := range block.Columns {
			c.card(&block.Columns[i])
		}
	case *feature.LeavesBlock:
		c.trees(block)
	default:
		return fmt.Errorf("a feature block of kind %q has no program", block.Kind())
	}
	return nil
}

// unlessAll returns inputs, nil if they are all columns in order.
func (c *compiler) unlessAll(inputs []int) []int {
	for i, k := range inputs {
		if i != k {
			return inputs
		}
	}
	if len(inputs) < len(c.p.Columns) {
		return inputs
	}
	return nil
}

// level appends a column of a OneHotBlock.
func (c *compiler) level(from *feature.OneHot) {
	in := &c.features.Inputs[from.Input]
	level := 0
	term := func() float64 {
		x := 1.0
		if from.Scale != nil {
			x = 1 / from.Scale[level]
		}
		level++
		return float64(float64(float32(x))*c.take(1)[0]) + 0 // 0 has no sign
	}
	if in.Kind != schema.Categorical {
		if from.Missing {
			c.add(Term{Absent: &Absent{from.Input, term()}})
		}
		return
	}
	t := &Level{Input: from.Input, Terms: make([]float64, len(in.Categories))}
	for i := range t.Terms {
		t.Terms[i] = term()
	}
	if from.Missing {
		t.Missing = term()
	}
	if in.Rare {
		t.Other = term()
	}
	c.add(Term{Level: t})
}

// card appends a column of a ScorecardBlock.
func (c *compiler) card(from *feature.Card) {
	w := c.take(len(from.Knots) + len(from.Atoms))
	missing := 0.0
	if from.Missing {
		missing = c.take(1)[0] + 0
	}
	if input := c.at(from.Input); len(from.Knots) == 0 {
		c.add(Term{Steps: &Steps{input, Nearer(from.Atoms), w, missing}})
	} else {
		c.add(Term{Card: &Card{input, from.Knots, from.Atoms, w, missing}})
	}
}

// Nearer returns for each atom but the first the smallest number that belongs to it and not to the one before.
func Nearer(atoms []float64) (list []float64) {
	for i := 1; i < len(atoms); i++ {
		a, b := atoms[i-1], atoms[i]
		list = append(list, LastWith(math.Nextafter(a, b), b, func(x float64) bool { // halves, as in feature.Card
			return x == b || float64(b/2)-float64(x/2) < float64(x/2)-float64(a/2)
		}))
	}
	return list
}

// trees appends a LeavesBlock.
func (c *compiler) trees(block *feature.LeavesBlock) {
	t := &Trees{Codes: block.Codes, Trees: make([]Tree, len(block.Trees))}
	for i := range block.Trees {
		from := &block.Trees[i]
		ask := make([]int, len(from.Ask))
		for k, a := range from.Ask {
			if ask[k] = a; a >= 0 {
				ask[k] = c.at(block.Inputs[a])
			}
		}
		t.Trees[i] = Tree{ask, from.At, from.MissingLeft, c.take(len(from.Mass)), from.Mass}
	}
	c.add(Term{Trees: t})
}

// LastWith returns the number nearest to end, on the way from start to it, for which holds is true. It is true at start and
// changes once at most.
func LastWith(end, start float64, holds func(float64) bool) float64 {
	if holds(end) {
		return end
	}
	low, high := min(ordinal(start), ordinal(end)), max(ordinal(start), ordinal(end))
	for high-low > 1 {
		middle := low + (high-low)/2
		if holds(fromOrdinal(middle)) == (start < end) {
			low = middle
		} else {
			high = middle
		}
	}
	if start < end {
		return fromOrdinal(low)
	}
	return fromOrdinal(high)
}

const zeroOrdinal = 1 << 63

// ordinal numbers the floats in their order; both zeros are zeroOrdinal.
func ordinal(x float64) uint64 {
	n := math.Float64bits(math.Abs(x))
	if x < 0 {
		return zeroOrdinal - n
	}
	return zeroOrdinal + n
}

func fromOrdinal(n uint64) float64 {
	if n < zeroOrdinal {
		return -math.Float64frombits(zeroOrdinal - n)
	}
	return math.Float64frombits(n - zeroOrdinal)
}
