package feature

import (
	"math"
	"slices"
)

// Steps returns the exact contribution of an input as a function of its value, if that is a step function: adds
// has a value for each interval, from below edges[0] to above the last edge. An edge belongs to the interval
// below it. ok is false if a scale or a linear feature reads the input, or a tree reads it with another one.
func (c *Contributions) Steps(input int) (edges, adds []float64, ok bool) {
	if slices.Contains(c.column, input) {
		return nil, nil, false
	}
	var trees []*explainedTree
	for i := range c.trees {
		own, other := false, false
		for _, n := range c.trees[i].tree.nodes {
			own = own || n.input == int32(input)
			other = other || n.input >= 0 && n.input != int32(input)
			if n.input == int32(input) && n.at < math.MaxFloat64 {
				edges = append(edges, n.at)
			}
		}
		if own && other {
			return nil, nil, false
		}
		if own {
			trees = append(trees, &c.trees[i])
		}
	}
	if len(edges) == 0 {
		return nil, nil, false
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	numbers, dst := make([]float64, len(c.m.Inputs)), make([]float64, max(len(c.m.Inputs), len(c.Columns)))
	for k := range len(edges) + 1 {
		numbers[input] = math.MaxFloat64
		if k < len(edges) {
			numbers[input] = edges[k]
		}
		dst[input] = 0
		for _, t := range trees {
			t.walk(numbers, dst)
		}
		adds = append(adds, dst[input])
	}
	return edges, adds, true
}

// Pairs divides what trees add to a score among the pairs of inputs that lead to a leaf.
type Pairs struct {
	Inputs [][2]int // the pairs, in the order in which the trees have them

	trees []pairTree
}

// pairTree is a tree with the pair of each leaf.
type pairTree struct {
	block   *LeavesBlock
	tree    *Tree
	weights []float64
	pair    []int // by leaf: the position in Inputs; -1 if one input leads to it
}

// PairsOf returns the pairs of a weight vector, nil unless at most two inputs lead to each leaf of the trees, and
// two to some.
func PairsOf(m *Map, weights []float64) *Pairs {
	p := &Pairs{}
	known := map[[2]int]int{}
	for i, b := range m.Blocks {
		block, ok := b.(*LeavesBlock)
		if !ok {
			continue
		}
		first := m.runs[i].first
		for k := range block.Trees {
			tree := &block.Trees[k]
			t := pairTree{block: block, tree: tree, weights: weights[first : first+tree.leaves], pair: make([]int, tree.leaves)}
			first += tree.leaves
			if !p.read(&t, known, 0, nil) {
				return nil
			}
			p.trees = append(p.trees, t)
		}
	}
	if len(p.Inputs) == 0 {
		return nil
	}
	return p
}

// read finds the pairs below a node, which the inputs on the path lead to. It returns false if there are too
// many.
func (p *Pairs) read(t *pairTree, known map[[2]int]int, node int, path []int) bool {
	n := &t.tree.nodes[node]
	if n.input >= 0 {
		if !slices.Contains(path, int(n.input)) {
			path = append(path[:len(path):len(path)], int(n.input))
		}
		return len(path) <= 2 && p.read(t, known, node+1, path) && p.read(t, known, int(n.next), path)
	}
	t.pair[n.next] = -1
	if len(path) == 2 {
		key := [2]int{min(path[0], path[1]), max(path[0], path[1])}
		k, found := known[key]
		if !found {
			k = len(p.Inputs)
			known[key] = k
			p.Inputs = append(p.Inputs, key)
		}
		t.pair[n.next] = k
	}
	return true
}

// Row overwrites dst, one element for each pair, with what the pairs add to the score of an encoded row.
func (p *Pairs) Row(e *Encoded, dst []float64) {
	clear(dst)
	for i := range p.trees {
		t := &p.trees[i]
		t.block.readCodes(e)
		leaf := t.tree.leaf(e.numbers)
		if k := t.pair[leaf]; k >= 0 {
			dst[k] += t.weights[leaf]
		}
	}
}

// Grid returns the thresholds of the two inputs in the trees of a pair, and what the pair adds between them:
// values[j][i] is in the interval i of the first input and j of the second. Intervals are as in
// Contributions.Steps.
func (p *Pairs) Grid(pair int) (x, y []float64, values [][]float64) {
	a, b := p.Inputs[pair][0], p.Inputs[pair][1]
	var trees []*pairTree
	for i := range p.trees {
		t := &p.trees[i]
		if !slices.Contains(t.pair, pair) {
			continue
		}
		trees = append(trees, t)
		for _, n := range t.tree.nodes {
			switch {
			case n.input == int32(a) && n.at < math.MaxFloat64:
				x = append(x, n.at)
			case n.input == int32(b) && n.at < math.MaxFloat64:
				y = append(y, n.at)
			}
		}
	}
	slices.Sort(x)
	slices.Sort(y)
	x, y = slices.Compact(x), slices.Compact(y)
	at := func(edges []float64, k int) float64 {
		if k < len(edges) {
			return edges[k]
		}
		return math.MaxFloat64
	}
	for j := range len(y) + 1 {
		row := make([]float64, len(x)+1)
		for i := range row {
			for _, t := range trees {
				row[i] += t.at(pair, a, at(x, i), b, at(y, j))
			}
		}
		values = append(values, row)
	}
	return x, y, values
}

// at returns what the tree adds to a pair at two values.
func (t *pairTree) at(pair, a int, x float64, b int, y float64) float64 {
	for i := 0; ; {
		n := &t.tree.nodes[i]
		switch int(n.input) {
		case -1:
			if t.pair[n.next] == pair {
				return t.weights[n.next]
			}
			return 0
		case a:
			i = n.child(i, x)
		case b:
			i = n.child(i, y)
		default:
			return 0 // this side reads another input
		}
	}
}
