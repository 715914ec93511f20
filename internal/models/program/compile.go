package program

import (
	"fmt"
	"slices"

	"toptau/internal/models/feature"
	"toptau/schema"
)

// Compile returns the program of features and weights, one for each feature. Every block is a term.
//
// Errors: a kind of block that Compile does not know.
func Compile(m *feature.Map, weights []float64, offset float64) (*Program, error) {
	c := &compiler{features: m, weights: weights, p: &Program{Missing: m.Impute, Columns: []int{}, Derived: m.Derived, Terms: []Term{}, Offset: offset}}
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
	for k := range c.features.Inputs {
		in := &c.features.Inputs[k]
		c.p.Columns = append(c.p.Columns, in.Column)
		if in.Kind == schema.Categorical {
			c.p.Texts = append(c.p.Texts, Text{Input: k, Categories: in.Categories, Rare: in.Rare})
		}
		c.fill(k, in.Fill)
	}
}

// fill sets what stands for a missing value of an input.
func (c *compiler) fill(k int, x float64) {
	if x == 0 {
		return
	}
	if c.p.Fill == nil {
		c.p.Fill = make([]float64, max(len(c.features.Inputs), len(c.p.Columns)))
	}
	c.p.Fill[k] = x
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
			c.p.Known = appendPlaces(c.p.Known[:0], block.Constant)
		}
	}
	for _, list := range []*[]int{&c.p.Columns, &c.p.Known} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	c.input = make([]int, len(m.Inputs))
	for k, in := range m.Inputs {
		c.input[k], _ = slices.BinarySearch(c.p.Columns, in.Column)
		c.fill(c.input[k], in.Fill)
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
	w := c.weights[:n:n]
	c.weights = c.weights[n:]
	return w
}

func (c *compiler) add(t Term) { c.p.Terms = append(c.p.Terms, t) }

// block appends the term of a block.
func (c *compiler) block(block feature.Block) error {
	switch block := block.(type) {
	case *feature.NumericBlock:
		c.add(Term{Numbers: &Numbers{c.unlessAll(block.Inputs), block.Shift, block.Scale, c.take(len(block.Inputs))}})
	case *feature.SparseBlock:
		inputs := make([]int, len(block.Index))
		for i, index := range block.Index {
			inputs[i], _ = slices.BinarySearch(c.p.Columns, int(index)-1)
		}
		c.add(Term{Numbers: &Numbers{c.unlessAll(inputs), nil, block.Scale, c.take(len(inputs))}})
	case *feature.OneHotBlock:
		list := make([]Level, len(block.Columns))
		for i, from := range block.Columns {
			list[i] = Level{from.Input, from.Missing, from.Scale, c.take(from.Width(c.features))}
		}
		c.add(Term{Levels: list})
	case *feature.ScorecardBlock:
		list := make([]Card, len(block.Columns))
		for i, from := range block.Columns {
			list[i] = Card{c.at(from.Input), from.Knots, from.Atoms, from.Missing, c.take(from.Levels())}
		}
		c.add(Term{Cards: list})
	case *feature.LeavesBlock:
		t := &Trees{Inputs: make([]int, len(block.Inputs)), Codes: block.Codes, Trees: make([]Tree, len(block.Trees))}
		for i, k := range block.Inputs {
			t.Inputs[i] = c.at(k)
		}
		for i := range block.Trees {
			t.Trees[i] = Tree{block.Trees[i], c.take(block.Trees[i].Leaves())}
		}
		c.add(Term{Trees: t})
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
