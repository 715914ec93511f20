package feature

import (
	"math"
	"slices"
)

// maxSteps limits the thresholds times trees of a column whose steps are computed: a file may have any number. A
// model that train makes has one tree for each column and at most 254 thresholds.
const maxSteps = 1 << 24

// Steps returns the exact contribution of an input as a function of its value, if that is a step function: adds
// has a value for each interval, from below edges[0] to above the last edge. An edge belongs to the interval
// below it. ok is false if a scale, a linear feature or a derived column reads the input, or a tree reads it with another one.
func (c *Contributions) Steps(input int) (edges, adds []float64, ok bool) {
	derived := func(d Derived) bool { return d.A == input || d.B == input }
	if slices.Contains(c.column, input) || slices.ContainsFunc(c.m.Derived, derived) {
		return nil, nil, false
	}
	var trees []*explainedTree
	for i := range c.trees {
		own, other := false, false
		for in, at := range c.trees[i].tree.Tests() {
			own = own || in == input
			other = other || in != input
			if in == input && at < math.MaxFloat64 {
				edges = append(edges, at)
			}
		}
		if own && other {
			return nil, nil, false
		}
		if own {
			trees = append(trees, &c.trees[i])
		}
	}
	if len(edges) == 0 || len(edges)*len(trees) > maxSteps {
		return nil, nil, false
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	numbers, dst := make([]float64, numberCount(c.m)), make([]float64, max(numberCount(c.m), len(c.Columns)))
	for k := range len(edges) + 1 {
		numbers[input] = math.MaxFloat64
		if k < len(edges) {
			numbers[input] = edges[k]
		}
		dst[input] = 0
		for _, t := range trees {
			t.tree.AddSteps(numbers, t.means, dst)
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
// two to some. Derived columns are no inputs of which pairs could be shown.
func PairsOf(m *Map, weights []float64) *Pairs {
	if len(m.Derived) > 0 {
		return nil
	}
	p := &Pairs{}
	known := map[[2]int]int{}
	for of := range m.trees(weights) {
		t := pairTree{of, make([]int, of.tree.Leaves())}
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

// read finds the pairs of a tree. It returns false if more than two inputs lead to a leaf.
func (p *Pairs) read(t *pairTree, known map[[2]int]int) bool {
	pairs, ok := t.tree.PairsOfLeaves()
	for leaf, pair := range pairs {
		t.pair[leaf] = -1
		if pair[1] < 0 {
			continue
		}
		key := [2]int{min(pair[0], pair[1]), max(pair[0], pair[1])}
		k, found := known[key]
		if !found {
			k = len(p.Inputs)
			known[key] = k
			p.Inputs = append(p.Inputs, key)
		}
		t.pair[leaf] = k
	}
	return ok
}

// Row overwrites dst, one element for each pair, with what the pairs add to the score of an encoded row.
func (p *Pairs) Row(e *Encoded, dst []float64) {
	clear(dst)
	for i := range p.trees {
		t := &p.trees[i]
		t.block.readCodes(e)
		leaf := t.tree.Leaf(e.numbers)
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
	inputs := 0 // the largest that a test reads
	for i := range p.trees {
		t := &p.trees[i]
		if !slices.Contains(t.pair, pair) {
			continue
		}
		trees = append(trees, t)
		for in, at := range t.tree.Tests() {
			inputs = max(inputs, in)
			switch {
			case in == a && at < math.MaxFloat64:
				x = append(x, at)
			case in == b && at < math.MaxFloat64:
				y = append(y, at)
			}
		}
	}
	slices.Sort(x)
	slices.Sort(y)
	return slices.Compact(x), slices.Compact(y), func(x, y float64) (adds float64) {
		numbers := make([]float64, 1+max(a, b, inputs))
		numbers[a], numbers[b] = x, y
		for _, t := range trees {
			// A leaf of the pair is reached through tests of the two inputs alone.
			if leaf := t.tree.Leaf(numbers); t.pair[leaf] == pair {
				adds += t.weights[leaf]
			}
		}
		return adds
	}
}
