package feature

import (
	"math"
	"slices"
)

// mostSteps limits the thresholds times trees of a column whose steps are computed: a file may have any number. A
// model that train makes has one tree for each column and at most 254 thresholds.
const mostSteps = 1 << 24

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
	if len(edges) == 0 || len(edges)*len(trees) > mostSteps {
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
	weightedTree
	pair []int // by leaf: the position in Inputs; -1 if one input leads to it
}

// PairsOf returns the pairs of a weight vector, nil unless at most two inputs lead to each leaf of the trees, and
// two to some.
func PairsOf(m *Map, weights []float64) *Pairs {
	p := &Pairs{}
	known := map[[2]int]int{}
	for of := range m.trees(weights) {
		t := pairTree{of, make([]int, of.tree.leaves)}
		if !p.read(&t, known) {
			return nil
		}
		p.trees = append(p.trees, t)
	}
	if len(p.Inputs) == 0 {
		return nil
	}
	return p
}

// read finds the pairs of a tree. It returns false if more than two inputs lead to a leaf. It goes through the nodes
// in their order and not down the tree, which in a file may be as deep as it has nodes.
func (p *Pairs) read(t *pairTree, known map[[2]int]int) bool {
	const none = -1
	nodes := t.tree.nodes
	paths := make([][2]int, len(nodes)) // by node: the inputs that lead to it
	paths[0] = [2]int{none, none}
	for i := range nodes {
		n, path := &nodes[i], paths[i]
		if in := int(n.input); in >= 0 {
			switch {
			case path[0] == in || path[1] == in:
			case path[0] == none:
				path[0] = in
			case path[1] == none:
				path[1] = in
			default:
				return false
			}
			paths[i+1], paths[n.next] = path, path
			continue
		}
		t.pair[n.next] = none
		if path[1] == none {
			continue
		}
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

// Function returns the thresholds of the two inputs in the trees of a pair, and what the pair adds as a function of
// the two. It is constant between thresholds; a threshold belongs to the interval below it.
func (p *Pairs) Function(pair int) (x, y []float64, at func(x, y float64) float64) {
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
	return slices.Compact(x), slices.Compact(y), func(x, y float64) (adds float64) {
		for _, t := range trees {
			adds += t.at(pair, a, x, b, y)
		}
		return adds
	}
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
