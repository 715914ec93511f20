package feature

import "fmt"

// Contributions divides scores of one weight vector among the inputs.
//
//   - A product x w of a weight of an input belongs to that input.
//   - A leaf's weight is divided along the path to it. Let v(node) be the mean of the weights of the leaves below a node,
//     weighted by their mass in training. A step from a node that tests an input to its child adds v(child) - v(node) to
//     that input; v(root) belongs to no input (Saabas 2014).
//   - A raw index of LIBSVM belongs to the input with the same index if the map has inputs, otherwise to none.
//
// The contributions and the rest add up to the score without its offset, apart from rounding.
type Contributions struct {
	m       *Map
	weights []float64
	inputs  []int // by weight: its input, -1 or inTree
	trees   []explainedTree
}

type explainedTree struct {
	tree  *Tree
	means []float64 // by node
}

// NewContributions returns an error for a weight vector of the wrong length.
func NewContributions(m *Map, weights []float64) (*Contributions, error) {
	if len(weights) != m.Cols() {
		return nil, fmt.Errorf("%d weights for %d features", len(weights), m.Cols())
	}
	c := &Contributions{m: m, weights: weights, inputs: make([]int, 0, m.Cols())}
	for _, w := range m.Weights() {
		c.inputs = append(c.inputs, w.Input)
	}
	for i, b := range m.Blocks {
		block, ok := b.(*LeavesBlock)
		if !ok {
			continue
		}
		first := m.runs[i].first
		for k := range block.Trees {
			tree := &block.Trees[k]
			c.trees = append(c.trees, explainedTree{tree, tree.means(weights[first : first+tree.leaves])})
			first += tree.leaves
		}
		for col := m.runs[i].first; col < m.runs[i].end; col++ {
			c.inputs[col] = inTree
		}
	}
	return c, nil
}

// inTree marks a weight that is divided along a path.
const inTree = -2

// means returns v of every node.
func (t *Tree) means(w []float64) []float64 {
	means, masses := make([]float64, len(t.nodes)), make([]float64, len(t.nodes))
	for i := len(t.nodes) - 1; i >= 0; i-- { // children come after their parent
		n := &t.nodes[i]
		if n.input < 0 {
			means[i], masses[i] = w[n.next], t.Mass[n.next]
			continue
		}
		left, right := i+1, int(n.next)
		masses[i] = masses[left] + masses[right]
		means[i] = means[left] + float64((means[right]-means[left])*(masses[right]/masses[i]))
	}
	return means
}

// Row overwrites dst, one element for each of Map.Inputs, with the contributions to the score of an encoded row, and
// returns the rest.
func (c *Contributions) Row(e *Encoded, dst []float64) (rest float64) {
	clear(dst)
	for col, x := range c.m.values(e) {
		switch input := c.inputs[col]; {
		case input >= 0:
			dst[input] += float64(x * c.weights[col])
		case input != inTree:
			rest += float64(x * c.weights[col])
		}
	}
	for i := range c.trees {
		rest += c.trees[i].means[0]
		c.trees[i].walk(e.numbers, dst)
	}
	return rest
}

func (t *explainedTree) walk(numbers, dst []float64) {
	for i := 0; t.tree.nodes[i].input >= 0; {
		n := &t.tree.nodes[i]
		child := n.child(i, numbers[n.input])
		dst[n.input] += t.means[child] - t.means[i]
		i = child
	}
}
