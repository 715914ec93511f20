package feature

import (
	"fmt"

	"toptau/internal/models/feature/trees"
)

// Contributions divides scores of one weight vector among columns: the inputs of the map, or if it has none,
// the raw indices of LIBSVM with a weight.
//
//   - A product x w of a weight of a column belongs to that column.
//   - A leaf's weight is divided along the path to it. Let v(node) be the mean of the weights of the leaves
//     below a node, weighted by their mass in training. A step from a node that tests an input to its child
//     adds v(child) - v(node) to that input; v(root) belongs to no input (Saabas 2014). What a derived column adds belongs
//     to its two inputs in equal parts.
//   - A raw index of LIBSVM in a map with inputs belongs to the input with the same index, or to none.
//
// The contributions and the rest add up to the score without its offset, apart from rounding.
type Contributions struct {
	Columns []string // names of the columns

	m       *Map
	weights []float64
	column  []int // by weight: its column, -1 or inTree
	trees   []explainedTree
	steps   [][]trees.Step // by weight of a leaf
}

type explainedTree struct {
	tree  *trees.Tree
	means []float64 // by node
}

// NewContributions returns an error for a weight vector of the wrong length.
func NewContributions(m *Map, weights []float64) (*Contributions, error) {
	if len(weights) != m.Cols() {
		return nil, fmt.Errorf("%d weights for %d features", len(weights), m.Cols())
	}
	c := &Contributions{m: m, weights: weights, column: make([]int, 0, m.Cols())}
	for _, in := range m.Inputs {
		c.Columns = append(c.Columns, in.Name)
	}
	for i, w := range m.Weights() {
		if len(m.Inputs) == 0 {
			c.Columns = append(c.Columns, w.Name)
			w.Input = i
		}
		c.column = append(c.column, w.Input)
	}
	var leaves [][]trees.Step // of all trees
	for t := range m.trees(weights) {
		explained := explainedTree{tree: t.tree, means: t.tree.Means(t.weights)}
		c.trees = append(c.trees, explained)
		leaves = append(leaves, t.tree.LeafSteps(explained.means)...)
	}
	c.steps = make([][]trees.Step, m.Cols())
	for i, b := range m.Blocks {
		if _, ok := b.(*LeavesBlock); !ok {
			continue
		}
		for col := m.runs[i].first; col < m.runs[i].end; col++ {
			c.column[col] = inTree
		}
		leaves = leaves[copy(c.steps[m.runs[i].first:m.runs[i].end], leaves):]
	}
	return c, nil
}

// inTree marks a weight that is divided along a path.
const inTree = -2

// Row overwrites dst, one element for each of Columns, with the contributions to the score of an encoded row,
// and returns the rest.
func (c *Contributions) Row(e *Encoded, dst []float64) (rest float64) {
	clear(dst)
	for col, x := range c.m.values(e) {
		switch column := c.column[col]; {
		case column >= 0:
			dst[column] += float64(x * c.weights[col])
		case column != inTree:
			rest += float64(x * c.weights[col])
		}
	}
	adds := dst
	if len(c.m.Derived) > 0 {
		e.adds = append(append(e.adds[:0], dst...), make([]float64, len(c.m.Derived))...)
		adds = e.adds
	}
	for i := range c.trees {
		rest += c.trees[i].means[0]
	}
	for col := range c.m.values(e) {
		for _, s := range c.steps[col] {
			adds[s.Input] += s.Add
		}
	}
	shareDerived(c.m, adds)
	copy(dst, adds)
	return rest
}
